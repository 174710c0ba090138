#include "features/compaction.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "features/column_classes.hpp"
#include "features/renumbering.hpp"
#include "features/rows.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

// Where an example has an entry for so many cells, it reads every other cache line in any order, which is not worth a copy of the entries.
constexpr std::size_t kDense = 16;

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

// Makes the members of each family neighbours first, where they are not.
template <class Word>
std::optional<CodedEntries> in_basis(const CodedRowsView<Word>& rows, const Families& families, const HelmertBasis& basis, int threads) {
  Array<std::uint32_t> order(rows.n_features), rank(rows.n_features), family, member;
  std::iota(order.begin(), order.end(), 0u);
  const auto by_place = [&](std::uint32_t a, std::uint32_t b) { return basis.place(a) < basis.place(b); };
  if (std::is_sorted(order.begin(), order.end(), by_place)) return rows_in_basis(rows, basis, threads);
  std::sort(order.begin(), order.end(), by_place);
  for (const std::uint32_t z : order) {
    rank[z] = static_cast<std::uint32_t>(family.size());
    family.push_back(families.family[z]);
    member.push_back(families.member[z]);
  }
  const HelmertBasis ordered({families.sizes, family, member});
  return renumbered(rows, std::span<const std::uint32_t>(rank), rows.n_features, threads)
      .visit(rows.scale, rows.n_features, rows.n_features, [&](const auto& view) { return rows_in_basis(view, ordered, threads); });
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
  run_shares(threads, [&](int p) {
    auto share = [&](int t) { return n_features_ * static_cast<std::size_t>(t) / static_cast<std::size_t>(threads); };
    for (std::size_t z = share(p); z < share(p + 1); ++z) {
      double* const out = weights + z * n_functions;
      std::fill_n(out, n_functions, 0.0);
      coordinates(z, [&](std::size_t cell, double factor) {
        if (factor == 0) return;  // features that occur in no row have no cell
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
    if ((out.entries = in_basis(rows, *families, basis, threads))) {
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
  const bool dense = out.n_shared == rows.n_features && kDense * rows.entries.size() >= rows.size() * rows.n_features;
  if (!dense && !std::is_sorted(counts.data(), counts.data() + counts.size(), std::greater<>())) {
    rank = by_falling_frequency({counts.data(), counts.size()});
    out.entries = renumbered(rows, std::span<const std::uint32_t>(rank), rows.n_features, threads);
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
