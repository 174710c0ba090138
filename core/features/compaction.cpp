#include "features/compaction.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "features/column_classes.hpp"
#include "features/row_builder.hpp"
#include "features/rows.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

// The same rows with column z as rank[z].
template <class Word>
CodedEntries renumbered(const CodedRowsView<Word>& rows, const Array<std::uint32_t>& rank, int threads) {
  CodedEntries out;
  out.code_bits = rows.code_bits;
  out.indptr = Buffer<std::int64_t>(rows.indptr.size());
  std::copy(rows.indptr.begin(), rows.indptr.end(), out.indptr.data());
  out.codebook = Buffer<double>(rows.codebook.size());
  std::copy(rows.codebook.begin(), rows.codebook.end(), out.codebook.data());
  Buffer<Word> entries(rows.entries.size());
  const auto cuts = balanced_cuts(rows.indptr, threads);
  run_parts(threads, [&](int p) {
    RowSorter<Word> sorter(rows.n_features, rows.code_bits);
    std::vector<Word> row;
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) {
      row.clear();
      for (const Word e : rows.row(i)) row.push_back(static_cast<Word>(Word{rank[rows.id(e)]} << rows.code_bits | rows.code(e)));
      sorter.sort(row);
      std::copy(row.begin(), row.end(), entries.data() + rows.indptr[i]);
    }
  });
  out.entries = std::move(entries);
  return out;
}

// Rows whose columns are ordered by frequency; `rank` is the order already applied, or empty.
template <class Word>
CompactRows merged(const CodedRowsView<Word>& rows, const Array<std::uint32_t>& rank, int threads) {
  ClassFinder<Word> finder(rows, threads);
  const FeatureClasses classes = finder.find();
  CompactRows out;
  out.entries = finder.merged_rows(classes);
  out.n_shared = classes.n_shared;
  out.n_entries = static_cast<std::size_t>(out.entries->indptr[rows.size()]) - (classes.n_classes - classes.n_shared);
  Array<std::uint32_t> cell(rows.n_features);
  Array<double> factor(rows.n_features, 0.0);
  for (std::size_t z = 0; z < rows.n_features; ++z) {
    const std::size_t column = rank.empty() ? z : rank[z];
    cell[z] = classes.of[column];
    if (classes.value[column] != 0) factor[z] = classes.value[column] / std::sqrt(classes.square[cell[z]]);
  }
  out.cells = CellMap(std::move(cell), std::move(factor), classes.n_classes);
  return out;
}

}  // namespace

template <class Use>
void CellMap::coordinates(std::size_t z, Use&& use) const {
  if (basis_)
    basis_->coordinates(z, use);
  else
    use(cell_.empty() ? z : cell_[z], factor_.empty() ? 1.0 : factor_[z]);
}

void CellMap::read(std::span<const double> cells, std::size_t n_functions, int threads, double* weights) const {
  run_parts(threads, [&](int p) {
    auto share = [&](int part) { return n_features_ * static_cast<std::size_t>(part) / static_cast<std::size_t>(threads); };
    for (std::size_t z = share(p); z < share(p + 1); ++z) {
      double* const out = weights + z * n_functions;
      std::fill_n(out, n_functions, 0.0);
      coordinates(z, [&](std::size_t cell, double factor) {
        if (factor == 0) return;  // a feature of no row may name no cell
        for (std::size_t k = 0; k < n_functions; ++k) out[k] += factor * cells[cell * n_functions + k];
      });
    }
  });
}

Buffer<double> CellMap::project(std::span<const double> vector) const {
  auto cells = Buffer<double>::zeros(n_cells_);
  for (std::size_t z = 0; z < n_features_; ++z)
    coordinates(z, [&](std::size_t cell, double factor) {
      if (factor != 0) cells[cell] += factor * vector[z];
    });
  return cells;
}

template <class Word>
CompactRows compact(const CodedRowsView<Word>& rows, const std::optional<Families>& families, bool merge, int threads) {
  CompactRows out;
  if (families && rows.entries.size() >= kLongRow * rows.size()) {
    HelmertBasis basis(*families);
    if ((out.entries = rows_in_basis(rows, basis, threads))) {
      out.n_shared = basis.n_cells();
      out.n_entries = static_cast<std::size_t>(out.entries->indptr[rows.size()]);
      out.cells = CellMap(std::move(basis));
      return out;
    }
  }
  const auto counts = column_counts(rows, threads);
  for (std::size_t z = 0; z < rows.n_features; ++z)
    if (counts[z] > 1) {
      ++out.n_shared;
      out.n_entries += counts[z];
    }
  Array<std::uint32_t> rank;
  CodedRowsView<Word> ordered = rows;
  ordered.n_shared = out.n_shared;
  if (!std::is_sorted(counts.data(), counts.data() + counts.size(), std::greater<>())) {
    rank = by_falling_frequency({counts.data(), counts.size()});
    out.entries = renumbered(rows, rank, threads);
    const auto& words = std::get<Buffer<Word>>(out.entries->entries);
    ordered.entries = {words.data(), words.size()};
  }
  if (merge) return merged(ordered, rank, threads);
  out.cells = rank.empty() ? CellMap(rows.n_features) : CellMap(std::move(rank), {}, rows.n_features);
  return out;
}

template CompactRows compact(const CodedRowsView<std::uint32_t>&, const std::optional<Families>&, bool, int);
template CompactRows compact(const CodedRowsView<std::uint64_t>&, const std::optional<Families>&, bool, int);

}  // namespace treille
