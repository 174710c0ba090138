#pragma once
// Training rows of conjunction features: phi_P(x) = sqrt(c_|P|) for every frequent pattern P that x holds, else 0.
//
// With all patterns (min_support = 1) and c_k = sum_r C(d, r) c0^(d-r) k! S(r, k), the inner product is (c0 + |x and y|)^d - c0^d.
//
// Patterns that occur in the same rows have proportional columns, and one column can stand for all of them: a cell
// (features/column_classes.hpp says why that is exact). A row holds a cell or does not; the value of cell s is the square root of the
// sum of c_|P| over its patterns. What occurs in one row only is one cell for each row. Rows are written by cell, straight from the
// projections: rows by pattern, several times as long, are never made, nor are the patterns listed before `patterns` is called.
//
// Which patterns occur in the same rows is decided by sums of 64-bit hashes. The rows are then checked: each must hold as many patterns
// as its cells have. Where that fails the hashes are drawn again.

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "conjunctions/items.hpp"
#include "conjunctions/mine.hpp"
#include "conjunctions/patterns.hpp"
#include "features/coded_rows.hpp"
#include "memory.hpp"

namespace treille {

class ConjunctionCells {
 public:
  // `rows` must outlive the cells. Patterns have at most `degree` items.
  ConjunctionCells(const ItemRows& rows, int degree, std::size_t min_support, int threads);

  std::size_t n_shared() const { return table_.cells.size(); }  // cells that occur in several rows: the first ones, frequent ones before rare ones
  std::size_t n_cells() const { return table_.cells.size() + rows_.size(); }  // then one for each row
  std::size_t n_patterns() const { return n_patterns_; }

  // Rows by cell, cells rising, all values 1.
  CodedEntries take_rows() { return std::move(entries_); }

  // The sum of c_|P| over the patterns of each cell; `c` holds c_1 .. c_degree.
  std::vector<double> squares(std::span<const double> c) const;

  // The patterns whose cell is `kept`, those that lead to them, and the cell of each: kNoCell where it is not kept.
  static constexpr std::uint32_t kNoCell = ~std::uint32_t{0};
  std::pair<PatternTrees, Array<std::uint32_t>> patterns(std::span<const std::uint8_t> kept) const;

 private:
  // Cells by key, in no order. Open addressing, at most half full.
  struct Table {
    struct Cell {
      std::uint64_t key;
      std::uint32_t support;
    };
    Array<Cell> cells;
    Array<std::uint32_t> members;  // for each cell the number of its patterns of each level
    Array<std::uint32_t> slots;
    int degree = 0;

    std::size_t home(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15) >> (64 - std::countr_zero(slots.size())); }
    std::size_t find(std::uint64_t key) const;
    std::uint32_t add(std::uint64_t key, std::uint32_t support);
    void place_all(std::size_t n_slots);
  };
  void find_cells();
  bool write_rows();
  template <class Make>
  void mine_parts(Make&& make) const;

  ItemRows rows_;
  ItemIndex index_;
  int degree_, threads_;
  std::size_t min_support_, n_patterns_ = 0;
  std::uint64_t salt_ = 0;
  std::vector<std::size_t> cuts_;  // the roots of thread p are [cuts_[p], cuts_[p + 1])
  Table table_;
  Array<std::uint32_t> alone_;  // for each row the number of patterns of each level that occur there only
  CodedEntries entries_;
};

}  // namespace treille
