// core/features for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include "features/compaction.hpp"
#include "features/count_transform.hpp"
#include "features/csr.hpp"
#include "features/gram_index.hpp"
#include "features/number_records.hpp"
#include "features/products.hpp"
#include "native.hpp"
#include "rows.hpp"

using namespace nb::literals;

namespace treille {
namespace {

using FamiliesIn = std::tuple<In<std::uint32_t>, In<std::uint32_t>, In<std::uint32_t>>;

CompactIn compact_rows(const CodedIn& rows, const std::optional<FamiliesIn>& families, bool merge, int threads) {
  std::optional<Families> read;
  if (families) read = {view(std::get<0>(*families)), view(std::get<1>(*families)), view(std::get<2>(*families))};
  if (read && (read->family.size() != rows.n_features || read->member.size() != rows.n_features))
    throw std::length_error("expected a family and a member for each feature");
  auto compacted = unlocked_rows(rows, [&](const auto& view) { return compact(view, read, merge, threads); });
  CompactIn out{rows, std::move(compacted.cells), compacted.n_entries};
  out.rows.n_features = out.cells.n_cells();
  out.rows.n_shared = compacted.n_shared;
  if (compacted.entries) {
    CodedEntries& entries = *compacted.entries;
    out.rows.indptr = keep(std::move(entries.indptr));
    out.rows.code_bits = entries.code_bits;
    out.rows.codebook = keep(std::move(entries.codebook));
    std::visit([&](auto& words) { out.rows.entries = keep(std::move(words)); }, entries.entries);
  }
  return out;
}

CodedIn weighted(CodedIn rows, const CellMap& cells, In<double> column_weights) {
  if (column_weights.size() != cells.n_features()) throw std::length_error("expected a weight for each column");
  rows.column_weights = keep(cells.project(view(column_weights)));
  return rows;
}

Out<double> read_cells(const CellMap& map, In<double> cells, std::size_t n_functions, int threads) {
  if (cells.size() != map.n_cells() * n_functions) throw std::length_error("the weights are not those of the cells");
  Buffer<double> weights(map.n_features() * n_functions);
  unlocked([&] { map.read(view(cells), n_functions, threads, weights.data()); });
  return give(std::move(weights));
}

Out<double> matvec_rows(const CodedIn& rows, In<double> weights, std::size_t n_functions, int threads) {
  Buffer<double> out(rows.size() * n_functions);
  unlocked_rows(rows, [&](const auto& data) { matvec(data, view(weights), n_functions, threads, out.data()); });
  return give(std::move(out));
}

void rmatvec_rows(const CodedIn& rows, In<double> coefficients, std::size_t n_functions, InOut<double> out, int threads) {
  unlocked_rows(rows, [&](const auto& data) { rmatvec(data, view(coefficients), n_functions, threads, {out.data(), out.size()}); });
}

}  // namespace

void bind_features(nb::module_& m) {
  nb::enum_<Counts>(m, "Counts", "How numbers of occurrences become values of features.")
      .value("raw", Counts::raw)
      .value("log", Counts::log)
      .value("binary", Counts::binary);

  using Entries = std::variant<In<std::uint32_t>, In<std::uint64_t>>;
  nb::class_<CodedIn>(m, "CodedRows", "Coded rows as the core takes them.")
      .def(
          "__init__",
          [](CodedIn* self, In<std::int64_t> indptr, Entries entries, int code_bits, In<double> codebook, In<double> scale,
             std::size_t n_features,
             std::size_t n_shared) { new (self) CodedIn{indptr, entries, code_bits, codebook, scale, n_features, n_shared}; },
          "indptr"_a, "entries"_a, "code_bits"_a, "codebook"_a, "scale"_a, "n_features"_a, "n_shared"_a,
          "Columns from n_shared on occur in at most one row; n_features where that is unknown.")
      .def(
          "weighted", [](const CodedIn& self, In<double> weights) { return weighted(self, CellMap(self.n_features), weights); },
          "column_weights"_a, "The same rows for solvers, column j multiplied by column_weights[j]; nothing is copied.");

  nb::class_<CompactIn>(m, "CompactRows", "Equivalent rows that solvers read faster. Their columns are called cells.")
      .def_prop_ro("n_features", [](const CompactIn& self) { return self.cells.n_features(); })
      .def_prop_ro("n_cells", [](const CompactIn& self) { return self.cells.n_cells(); })
      .def_prop_ro(
          "n_shared", [](const CompactIn& self) { return self.rows.n_shared; }, "Cells that occur in more than one row.")
      .def_ro("n_entries", &CompactIn::n_entries, "Entries of shared cells, which a solver reads in one pass.")
      .def_prop_ro(
          "n_families", [](const CompactIn& self) { return self.cells.n_families(); },
          "Families of columns in their Helmert basis; 0 where the columns are kept.")
      .def(
          "read",
          [](const CompactIn& self, In<double> cells, std::size_t n_functions) { return read_cells(self.cells, cells, n_functions, 1); },
          "cells"_a, "n_functions"_a, "The weights of the features, one row each, from those of the cells.")
      .def(
          "weighted",
          [](const CompactIn& self, In<double> weights) {
            return CompactIn{weighted(self.rows, self.cells, weights), self.cells, self.n_entries};
          },
          "column_weights"_a, "The same for weights of features, if each feature has its own cell.");
  m.def("compact", &compact_rows, "rows"_a, "families"_a.none(), "merge"_a, "threads"_a,
        "Columns by falling frequency, singletons last; proportional columns merged if `merge`; families of nearly equal columns (sizes, "
        "and the family and member of each feature) in a Helmert basis where rows are long and have fewer entries there.");

  m.def(
      "weigh_columns",
      [](const CodedIn& rows, In<double> weights, int threads) {
        if (weights.size() != rows.n_features) throw std::length_error("expected a weight for each column");
        return give(unlocked_rows(rows, [&](const auto& data) { return weigh_columns(data, view(weights), threads); }));
      },
      "rows"_a, "weights"_a, "threads"_a,
      "indptr, entries, code_bits and codebook of the rows with column j multiplied by weights[j]; columns of weight 0 are left out.");

  m.def("matvec", &matvec_rows, "rows"_a, "weights"_a, "n_functions"_a, "threads"_a,
        "The rows times n_functions columns, row by row; `weights` holds n_functions numbers per feature.");
  m.def(
      "row_squares",
      [](const CodedIn& rows, In<double> column_weights, int threads) {
        if (column_weights.size() != 0 && column_weights.size() != rows.n_features)
          throw std::length_error("expected a weight for each column, or none");
        Buffer<double> out(rows.size());
        unlocked_rows(rows, [&](const auto& data) { squares(data, view(column_weights), threads, out.data()); });
        return give(std::move(out));
      },
      "rows"_a, "column_weights"_a, "threads"_a, "Squared norms of the rows, unscaled, with columns weighted.");
  m.def("rmatvec", &rmatvec_rows, "rows"_a, "coefficients"_a, "n_functions"_a, "out"_a, "threads"_a,
        "Writes n_functions sums of rows, feature by feature; `coefficients` holds n_functions numbers per row.");

  auto csr = [](const CodedIn& rows, int threads) {
    return with_words(rows, [&](const auto& data) {
      Buffer<std::uint32_t> ids(data.entries.size());
      Buffer<double> values(data.entries.size());
      unlocked([&] { to_csr(data, threads, ids.data(), values.data()); });
      return std::tuple(give(std::move(ids)), give(std::move(values)));
    });
  };
  m.def("to_csr", csr, "rows"_a, "threads"_a, "Column ids and values of the entries.");

  m.def("code_rows", native(&from_csr), "indptr"_a, "columns"_a, "values"_a, "ids"_a, "n_ids"_a, "threads"_a,
        "indptr, entries, code_bits and codebook of a CSR matrix, column j as feature ids[j]; left out where that is 2^32 - 1.");

  m.def("number_records", native(&number_records), "cells"_a, "starts"_a, "own"_a,
        "Numbers of records, the same for equal ones, in the order in which they are first met; cells after the first `own` of a record "
        "are numbers of records before it, or -1.");

  nb::class_<GramIndex>(m, "GramIndex", "The rows that have each feature of coded rows, for inner products of many rows.")
      .def_static(
          "of",
          [](const CodedIn& rows, bool singletons) {
            return unlocked_rows(rows, [&](const auto& data) { return GramIndex(data, singletons); });
          },
          "rows"_a, "singletons"_a)
      .def(
          "gram",
          [](const GramIndex& self, const CodedIn& rows, int threads) {
            Buffer<double> out(self.size() * self.size());
            unlocked_rows(rows, [&](const auto& data) { self.gram(data, threads, out.data()); });
            return give(std::move(out));
          },
          "rows"_a, "threads"_a, "All products of the indexed rows, which are given again.")
      .def(
          "row",
          [](const GramIndex& self, const CodedIn& rows, std::size_t i) {
            Buffer<double> out(self.size());
            unlocked_rows(rows, [&](const auto& data) { self.own_row(data, i, 0, out.data()); });
            return give(std::move(out));
          },
          "rows"_a, "i"_a, "Products of the i-th of the indexed rows with all of them.")
      .def(
          "block",
          [](const GramIndex& self, const CodedIn& rows, int threads) {
            Buffer<double> out(rows.size() * self.size());
            unlocked_rows(rows, [&](const auto& data) { self.block(data, threads, out.data()); });
            return give(std::move(out));
          },
          "rows"_a, "threads"_a, "Products of other rows with the indexed ones.");
}

}  // namespace treille
