// core/spaces for Python.

#include <nanobind/nanobind.h>

#include "rows.hpp"
#include "spaces/code_rows.hpp"
#include "spaces/csr.hpp"
#include "spaces/gram.hpp"
#include "spaces/outputs.hpp"
#include "spaces/turn.hpp"

using namespace nb::literals;

namespace treille {

void bind_spaces(nb::module_& m) {
  nb::class_<CodedIn>(m, "CodedRows", "Coded rows as the core takes them.")
      .def(nb::init<In<std::int64_t>, std::variant<In<std::uint32_t>, In<std::uint64_t>>, int, In<double>, In<double>, std::size_t,
                    std::size_t>(),
           "indptr"_a, "entries"_a, "code_bits"_a, "palette"_a, "scale"_a, "n_features"_a, "n_shared"_a);

  nb::class_<Turn>(m, "Turn", "A basis of features in families, the mean of each first.")
      .def_prop_ro("n_families", &Turn::n_families)
      .def_prop_ro("n_cells", &Turn::n_cells)
      .def(
          "read",
          [](const Turn& self, In<double> cells, std::size_t n_functions) {
            if (cells.size() != self.n_cells() * n_functions) throw std::length_error("the weights are not those of the turned cells");
            Buffer<double> weights(self.n_features() * n_functions);
            {
              nb::gil_scoped_release release;
              self.read(cells.data(), n_functions, weights.data());
            }
            return give(std::move(weights));
          },
          "cells"_a, "n_functions"_a, "The weights of all features, a row each, from those of the cells.");

  m.def(
      "outputs",
      [](const CodedIn& rows, In<double> weights, std::size_t n_functions, int threads) {
        Buffer<double> out(rows.size() * n_functions);
        {
          nb::gil_scoped_release release;
          with_words(rows, [&]<class Word>(const typename CodedRows<Word>::Data& d) {
            outputs<Word>(d.indptr, d.entries, d.code_bits, d.palette, d.scale, view(weights), n_functions, threads, out.data());
          });
        }
        return give(std::move(out));
      },
      "rows"_a, "weights"_a, "n_functions"_a, "threads"_a,
      "Values of n_functions linear functions on each row, row by row; `weights` holds n_functions numbers a feature.");

  m.def(
      "combine",
      [](const CodedIn& rows, In<double> coefficients, std::size_t n_functions, InOut<double> out, int threads) {
        nb::gil_scoped_release release;
        with_words(rows, [&]<class Word>(const typename CodedRows<Word>::Data& d) {
          combine<Word>(d.indptr, d.entries, d.code_bits, d.palette, d.scale, view(coefficients), n_functions, threads,
                        {out.data(), out.size()});
        });
      },
      "rows"_a, "coefficients"_a, "n_functions"_a, "out"_a, "threads"_a,
      "Writes n_functions sums of rows, feature by feature; `coefficients` holds n_functions numbers a row.");

  m.def(
      "expand",
      [](const CodedIn& rows, int threads) {
        return with_words(rows, [&]<class Word>(const typename CodedRows<Word>::Data& d) {
          Buffer<std::uint32_t> ids(d.entries.size());
          Buffer<double> values(d.entries.size());
          {
            nb::gil_scoped_release release;
            expand<Word>(d.indptr, d.entries, d.code_bits, d.palette, d.scale, threads, ids.data(), values.data());
          }
          return std::tuple(give(std::move(ids)), give(std::move(values)));
        });
      },
      "rows"_a, "threads"_a, "Column ids and values of the entries.");

  m.def(
      "code_rows",
      [](In<std::int64_t> indptr, In<std::int32_t> columns, In<double> values, In<std::uint32_t> ids, std::size_t n_ids, int threads) {
        CodedEntries coded;
        {
          nb::gil_scoped_release release;
          coded = RowCoder(view(indptr), view(columns), view(values), view(ids), n_ids, threads).code();
        }
        return give_entries(std::move(coded));
      },
      "indptr"_a, "columns"_a, "values"_a, "ids"_a, "n_ids"_a, "threads"_a,
      "indptr, entries, code_bits and palette of a CSR matrix, column j as feature ids[j]; left out where that is 2^32 - 1.");

  nb::class_<GramIndex>(m, "GramIndex", "For each feature of coded rows, who holds it: for inner products of many rows.")
      .def_static(
          "of",
          [](const CodedIn& rows) {
            nb::gil_scoped_release release;
            return with_words(
                rows, []<class Word>(const typename CodedRows<Word>::Data& data) { return GramIndex(std::type_identity<Word>{}, data); });
          },
          "rows"_a)
      .def(
          "gram",
          [](const GramIndex& self, const CodedIn& rows, int threads) {
            Buffer<double> out(self.size() * self.size());
            {
              nb::gil_scoped_release release;
              with_words(rows, [&]<class Word>(const typename CodedRows<Word>::Data& data) { self.gram<Word>(data, threads, out.data()); });
            }
            return give(std::move(out));
          },
          "rows"_a, "threads"_a, "All products of the indexed rows, which are given again.")
      .def(
          "row",
          [](const GramIndex& self, const CodedIn& rows, std::size_t i) {
            Buffer<double> out(self.size());
            {
              nb::gil_scoped_release release;
              with_words(rows, [&]<class Word>(const typename CodedRows<Word>::Data& data) { self.own_row<Word>(data, i, 0, out.data()); });
            }
            return give(std::move(out));
          },
          "rows"_a, "i"_a, "Products of the i-th of the indexed rows with all of them.")
      .def(
          "block",
          [](const GramIndex& self, const CodedIn& rows, int threads) {
            Buffer<double> out(rows.size() * self.size());
            {
              nb::gil_scoped_release release;
              with_words(rows,
                         [&]<class Word>(const typename CodedRows<Word>::Data& data) { self.block<Word>(data, threads, out.data()); });
            }
            return give(std::move(out));
          },
          "rows"_a, "threads"_a, "Products of other rows with the indexed ones.");
}

}  // namespace treille
