#pragma once
// Compaction: equivalent rows that solvers read faster. Inner products stay the same, and so do the iterates of a solver, up to rounding.
//
// - Columns are ordered by falling frequency, so that most reads of W' hit its cached head; singletons (columns that occur in one row)
//   come last, and solvers keep one number per row for all of them (rows.hpp).
// - Optionally, proportional columns are merged into one (column_classes.hpp).
// - Where families of nearly equal columns are given and rows are long, the rows are expressed in the families' Helmert basis
//   (helmert_basis.hpp), if they have fewer entries there. Nothing else is done in this case.
//
// The columns of the result are called cells. `read` computes the weights of the features from the weights of the cells.
// Scales of rows are separate and never change. Cost: a few passes over the entries.

#include <cstdint>
#include <optional>
#include <span>

#include "features/coded_rows.hpp"
#include "features/helmert_basis.hpp"
#include "memory.hpp"

namespace treille {

class CellMap {
 public:
  CellMap() = default;
  explicit CellMap(std::size_t n_features) : n_features_(n_features), n_cells_(n_features) {}
  // Feature z is factor[z] times cell[z]; empty factors: all 1.
  CellMap(Array<std::uint32_t> cell, Array<double> factor, std::size_t n_cells)
      : n_features_(cell.size()), n_cells_(n_cells), cell_(std::move(cell)), factor_(std::move(factor)) {}
  explicit CellMap(HelmertBasis basis) : n_features_(basis.n_features()), n_cells_(basis.n_cells()), basis_(std::move(basis)) {}

  std::size_t n_features() const { return n_features_; }
  std::size_t n_cells() const { return n_cells_; }
  std::size_t n_families() const { return basis_ ? basis_->n_families() : 0; }  // 0 if the basis is not changed
  // The weights of the features from the weights of the cells, `n_functions` columns each.
  void read(std::span<const double> cells, std::size_t n_functions, int threads, double* weights) const;
  // The adjoint of `read`: the cells of a vector that is a linear combination of rows.
  Buffer<double> project(std::span<const double> vector) const;

 private:
  // Calls use(cell, factor) for each cell that feature z reads.
  template <class Use>
  void coordinates(std::size_t z, Use&& use) const;

  std::size_t n_features_ = 0, n_cells_ = 0;
  Array<std::uint32_t> cell_;
  Array<double> factor_;
  std::optional<HelmertBasis> basis_;
};

struct CompactRows {
  std::optional<CodedEntries> entries;  // empty: the entries given are kept
  std::size_t n_shared = 0;             // cells from here on occur in at most one row
  std::size_t n_entries = 0;            // entries of shared cells, which a solver reads in one pass
  CellMap cells;
};

// Any coded rows, ids in any order. rows.n_shared is ignored.
template <class Word>
CompactRows compact(const CodedRowsView<Word>& rows, const std::optional<Families>& families, bool merge, int threads);

}  // namespace treille
