// core/spaces for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include "arrays.hpp"
#include "spaces/code_rows.hpp"
#include "spaces/csr.hpp"
#include "spaces/gram.hpp"
#include "spaces/outputs.hpp"

using namespace nb::literals;

namespace treille {
namespace {

using Words = std::variant<Out<std::uint32_t>, Out<std::uint64_t>>;

// use(data) with the rows' word type.
template <class Use>
auto with_rows(In<std::int64_t> indptr, const WordsIn& entries, int code_bits, In<double> palette, In<double> scale, std::size_t n_features,
               std::size_t n_shared, Use&& use) {
  return std::visit(
      [&]<class Word>(const In<Word>& words) {
        nb::gil_scoped_release release;
        return use.template operator()<Word>({view(indptr), view(words), code_bits, view(palette), view(scale), n_features, n_shared});
      },
      entries);
}

}  // namespace

void bind_spaces(nb::module_& m) {
  m.def(
      "outputs",
      [](In<std::int64_t> indptr, WordsIn entries, int code_bits, In<double> palette, In<double> scale, In<double> weights,
         std::size_t n_functions, int threads) {
        Buffer<double> out((indptr.size() - 1) * n_functions);
        std::visit(
            [&]<class Word>(const In<Word>& words) {
              nb::gil_scoped_release release;
              outputs<Word>(view(indptr), view(words), code_bits, view(palette), view(scale), view(weights), n_functions, threads,
                            out.data());
            },
            entries);
        return give(std::move(out));
      },
      "indptr"_a, "entries"_a, "code_bits"_a, "palette"_a, "scale"_a, "weights"_a, "n_functions"_a, "threads"_a,
      "Values of n_functions linear functions on each row, row by row; `weights` holds n_functions numbers a feature.");

  m.def(
      "combine",
      [](In<std::int64_t> indptr, WordsIn entries, int code_bits, In<double> palette, In<double> scale, In<double> coefficients,
         std::size_t n_functions, InOut<double> out, int threads) {
        std::visit(
            [&]<class Word>(const In<Word>& words) {
              nb::gil_scoped_release release;
              combine<Word>(view(indptr), view(words), code_bits, view(palette), view(scale), view(coefficients), n_functions, threads,
                            {out.data(), out.size()});
            },
            entries);
      },
      "indptr"_a, "entries"_a, "code_bits"_a, "palette"_a, "scale"_a, "coefficients"_a, "n_functions"_a, "out"_a, "threads"_a,
      "Writes n_functions sums of rows, feature by feature; `coefficients` holds n_functions numbers a row.");

  m.def(
      "expand",
      [](In<std::int64_t> indptr, WordsIn entries, int code_bits, In<double> palette, In<double> scale, int threads) {
        return std::visit(
            [&]<class Word>(const In<Word>& words) {
              Buffer<std::uint32_t> ids(words.size());
              Buffer<double> values(words.size());
              {
                nb::gil_scoped_release release;
                expand<Word>(view(indptr), view(words), code_bits, view(palette), view(scale), threads, ids.data(), values.data());
              }
              return std::tuple(give(std::move(ids)), give(std::move(values)));
            },
            entries);
      },
      "indptr"_a, "entries"_a, "code_bits"_a, "palette"_a, "scale"_a, "threads"_a, "Column ids and values of the entries.");

  m.def(
      "code_rows",
      [](In<std::int64_t> indptr, In<std::int32_t> columns, In<double> values, In<std::uint32_t> ids, std::size_t n_ids, int threads) {
        CodedEntries coded;
        {
          nb::gil_scoped_release release;
          coded = RowCoder(view(indptr), view(columns), view(values), view(ids), n_ids, threads).code();
        }
        Words words = std::visit([](auto& entries) { return Words(give(std::move(entries))); }, coded.entries);
        return std::tuple(give(std::move(coded.indptr)), std::move(words), coded.code_bits, give(std::move(coded.palette)));
      },
      "indptr"_a, "columns"_a, "values"_a, "ids"_a, "n_ids"_a, "threads"_a,
      "indptr, entries, code_bits and palette of a CSR matrix, column j as feature ids[j]; left out where that is 2^32 - 1.");

  nb::class_<GramIndex>(m, "GramIndex", "For each feature of coded rows, who holds it: for inner products of many rows.")
      .def_static(
          "of",
          [](In<std::int64_t> indptr, WordsIn entries, int code_bits, In<double> palette, In<double> scale, std::size_t n_features,
             std::size_t n_shared) {
            return with_rows(
                indptr, entries, code_bits, palette, scale, n_features, n_shared,
                [&]<class Word>(const typename CodedRows<Word>::Data& data) { return GramIndex(std::type_identity<Word>{}, data); });
          },
          "indptr"_a, "entries"_a, "code_bits"_a, "palette"_a, "scale"_a, "n_features"_a, "n_shared"_a)
      .def(
          "gram",
          [](const GramIndex& self, In<std::int64_t> indptr, WordsIn entries, int code_bits, In<double> palette, In<double> scale,
             std::size_t n_features, std::size_t n_shared, int threads) {
            Buffer<double> out(self.size() * self.size());
            with_rows(indptr, entries, code_bits, palette, scale, n_features, n_shared,
                      [&]<class Word>(const typename CodedRows<Word>::Data& data) { self.gram<Word>(data, threads, out.data()); });
            return give(std::move(out));
          },
          "indptr"_a, "entries"_a, "code_bits"_a, "palette"_a, "scale"_a, "n_features"_a, "n_shared"_a, "threads"_a,
          "All products of the indexed rows, which are given again.")
      .def(
          "row",
          [](const GramIndex& self, In<std::int64_t> indptr, WordsIn entries, int code_bits, In<double> palette, In<double> scale,
             std::size_t n_features, std::size_t n_shared, std::size_t i) {
            Buffer<double> out(self.size());
            with_rows(indptr, entries, code_bits, palette, scale, n_features, n_shared,
                      [&]<class Word>(const typename CodedRows<Word>::Data& data) { self.own_row<Word>(data, i, 0, out.data()); });
            return give(std::move(out));
          },
          "indptr"_a, "entries"_a, "code_bits"_a, "palette"_a, "scale"_a, "n_features"_a, "n_shared"_a, "i"_a,
          "Products of the i-th of the indexed rows with all of them.")
      .def(
          "block",
          [](const GramIndex& self, In<std::int64_t> indptr, WordsIn entries, int code_bits, In<double> palette, In<double> scale,
             std::size_t n_features, std::size_t n_shared, int threads) {
            Buffer<double> out(scale.size() * self.size());
            with_rows(indptr, entries, code_bits, palette, scale, n_features, n_shared,
                      [&]<class Word>(const typename CodedRows<Word>::Data& data) { self.block<Word>(data, threads, out.data()); });
            return give(std::move(out));
          },
          "indptr"_a, "entries"_a, "code_bits"_a, "palette"_a, "scale"_a, "n_features"_a, "n_shared"_a, "threads"_a,
          "Products of other rows with the indexed ones.");
}

}  // namespace treille
