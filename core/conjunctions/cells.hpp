#pragma once
// Training rows of conjunction features: phi_P(x) = sqrt(c_|P|) for every frequent pattern P that x holds, else 0.
//
// With all patterns (min_support = 1) and c_k = sum_r C(d, r) c0^(d-r) k! S(r, k), the inner product is (c0 + |x and y|)^d - c0^d.
//
// Patterns that occur in the same rows have proportional columns, and one column can stand for all of them: a cell
// (features/column_classes.hpp says why that is exact). A row holds a cell or does not; the value of cell s is the square root of the
// sum of c_|P| over its patterns. The patterns that occur in one row only form one cell for each row. Rows are written by cell, straight
// from the projections: rows by pattern, several times as long, are never made, nor are the patterns listed before `patterns` is called.
//
// Items that occur in the same rows, such as a rare word and its affixes, are twins: only the first of them is mined, and represents all.
// A pattern of j such items represents as many patterns of k items as there are ways to choose k of their twins, at least one of each.
//
// Sums of 64-bit hashes decide which patterns occur in the same rows. The rows are then checked: each must hold as many patterns
// as its cells have. Where that fails the hashes are drawn again.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "conjunctions/items.hpp"
#include "conjunctions/mine.hpp"
#include "conjunctions/patterns.hpp"
#include "features/coded_rows.hpp"
#include "memory.hpp"
#include "tag_index.hpp"

namespace treille {

class ConjunctionCells {
 public:
  // `rows` must outlive the cells. Patterns have at most `degree` items.
  ConjunctionCells(const ItemRows& rows, int degree, std::size_t min_support, int threads);

  std::size_t n_shared() const { return table_.cells.size(); }                    // cells that occur in several rows: the first ones
  std::size_t n_cells() const { return table_.cells.size() + all_.rows.size(); }  // then one for each row
  std::size_t n_patterns() const { return n_patterns_; }

  // Rows by cell, cells rising, all values 1.
  CodedEntries take_rows() { return std::move(entries_); }

  // The sum of c_|P| over the patterns of each cell; `c` holds c_1 .. c_degree.
  std::vector<double> squares(std::span<const double> c) const;

  // The patterns whose cell has a number in `marks` other than 0, and those that lead to them; and the number of each pattern's cell.
  std::pair<PatternTrees, Array<std::uint32_t>> patterns(std::span<const std::uint32_t> marks) const;

 private:
  // Cells by key.
  struct Table {
    struct Cell {
      std::uint64_t key;
      std::uint32_t support, mined;  // patterns of first twins
    };
    Array<Cell> cells;
    Array<double> members;  // for each cell the number of its patterns of 1, 2, ... items
    TagIndex index{"cells of conjunctions"};
    int degree;

    explicit Table(int degree) : degree(degree) {}
    static std::uint32_t tag(std::uint64_t key) { return tag_of(mix(0, key)); }
    auto same(std::uint64_t key) const {
      return [this, key](std::uint32_t cell) { return cells[cell].key == key; };
    }
    // The cell of a key that is there.
    std::uint32_t operator[](std::uint64_t key) const { return index.find(tag(key), same(key)); }
    // The cell of a key, and whether it is new.
    std::pair<std::uint32_t, bool> add(std::uint64_t key, std::uint32_t support);
    void expect(std::uint64_t key) const { index.prefetch(tag(key)); }
  };
  // The cells of one thread.
  struct Share {
    Table table;
    Array<double> alone;
    Array<std::uint32_t> lengths, met;  // in each row: cells that this thread found first; its patterns that occur in several rows
    Array<std::uint32_t> marks;         // of each pattern in several rows: 1 + the cell that it is the first of, or 0
    std::size_t next = 0;
  };
  // The rows, the rows of each item, and the roots of each thread: thread p has the roots [cuts[p], cuts[p + 1]).
  struct Database {
    ItemRows rows;
    ItemIndex index;
    std::vector<std::size_t> cuts;
    Database(const ItemRows& given, int threads);
  };
  class Ways;

  RecodedItems find_twins();
  std::vector<Share> find_cells();
  void join_cells(std::vector<Share>& shares);
  bool write_rows(std::vector<Share>& shares);
  template <class Make>
  void mine_shares(const Database& database, Make&& make) const;

  Database all_;
  int degree_, threads_;
  std::size_t min_support_, n_patterns_ = 0;
  std::uint64_t salt_ = 0;
  std::vector<std::uint32_t> twins_;  // number of twins of each item, including itself; 0 if it is not the first
  RecodedItems first_items_;          // the rows without other twins
  Database first_;
  Table table_;
  Array<double> alone_;  // for each row the number of patterns of 1, 2, ... items that occur there only
  CodedEntries entries_;
};

}  // namespace treille
