#pragma once
// Feature rows from Python to the core, and back.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include <optional>

#include "arrays.hpp"
#include "features/coded_rows.hpp"
#include "features/compaction.hpp"
#include "features/interned_features.hpp"

namespace treille {

// Coded rows as Python holds them.
struct CodedIn {
  In<std::int64_t> indptr;
  std::variant<In<std::uint32_t>, In<std::uint64_t>> entries;
  int code_bits;
  In<double> codebook, scale;
  std::size_t n_features, n_shared;
  std::optional<In<double>> column_weights = std::nullopt;  // only solvers read them

  std::size_t size() const { return indptr.size() - 1; }
};

// use(view) with the rows' own type of words.
template <class Use>
auto with_words(const CodedIn& in, Use&& use) {
  return std::visit(
      [&]<class Word>(const In<Word>& words) {
        return use(
            CodedRowsView<Word>{view(in.indptr), view(words), in.code_bits, view(in.codebook), view(in.scale), in.n_features, in.n_shared});
      },
      in.entries);
}

// The same with the GIL released.
template <class Use>
auto unlocked_rows(const CodedIn& in, Use&& use) {
  return unlocked([&] { return with_words(in, use); });
}

// Compact rows: `rows` are those of the cells.
struct CompactIn {
  CodedIn rows;
  CellMap cells;
  std::size_t n_entries;

  std::size_t size() const { return rows.size(); }
};

using Words = std::variant<Out<std::uint32_t>, Out<std::uint64_t>>;
// indptr, entries, code_bits, codebook
using EntriesOut = std::tuple<Out<std::int64_t>, Words, int, Out<double>>;
// the same, and squared norms
using RowsOut = std::tuple<Out<std::int64_t>, Words, int, Out<double>, Out<double>>;

inline EntriesOut give(CodedEntries&& e) {
  Words words = std::visit([](auto& entries) { return Words(give(std::move(entries))); }, e.entries);
  return {give(std::move(e.indptr)), std::move(words), e.code_bits, give(std::move(e.codebook))};
}

inline RowsOut give(RowsWithNorms&& rows) { return std::tuple_cat(give(std::move(rows.entries)), std::tuple(give(rows.sq_norms))); }

inline auto give(InternedFeatures::Arrays&& from) { return std::tuple(give(from.cells), give(from.starts), give(from.features)); }

// Features that fit(rows) computes with the GIL released, and the rows of the examples they were fitted on.
template <class Fit>
auto give_fit(Fit&& fit) {
  RowsWithNorms rows;
  auto features = unlocked([&] { return fit(rows); });
  return std::tuple(std::move(features), give(std::move(rows)));
}

}  // namespace treille
