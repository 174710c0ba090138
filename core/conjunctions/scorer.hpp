#pragma once
// K linear functions of conjunctions:  f_k(x) = sum over the patterns P in x of c_|P| v_k(P),  for prediction.
//
// Patterns that occurred in the same training rows have equal v: they share a list of the weights that are not 0. A row takes one cache
// line for each pair of its items, and one or two for each pattern found.

#include <cstdint>
#include <span>
#include <vector>

#include "conjunctions/items.hpp"
#include "conjunctions/pattern_tables.hpp"
#include "features/coded_rows.hpp"
#include "memory.hpp"

namespace treille {

// For each cell, its weights v that are not 0, from words[at[cell]] on. Up to 32 functions: the set of functions as bits, and a weight for
// each. More functions: a number n, and n pairs of a function and its weight, or K weights if n is K.
struct WeightLists {
  static constexpr std::size_t kMasked = 32;  // up to this many functions are bits
  static constexpr std::size_t kSpare = 8;    // words behind the last list, which may be read

  Array<std::uint32_t> words;
  Array<std::uint32_t> at;  // 0: all weights are 0

  // v of a cell = sum of the coefficients of the rows that hold it, `n_functions` numbers for each row.
  WeightLists(const CodedRowsView<std::uint32_t>& rows, std::span<const double> coefficients, std::size_t n_functions);

 private:
  void append(std::span<const double> weights, std::size_t used);
};

class ConjunctionScorer {
 public:
  // The work space of a thread that computes scores.
  struct Scratch {
    PatternTables::Scratch row, more;
    std::vector<Item> known;  // items whose sums of pairs with the items of the row are in `sums`, K each
    std::vector<float> sums;
    std::vector<std::size_t> ends;
  };

  ConjunctionScorer() = default;
  // Nodes as in PatternTrees; `lists`: for each node, the place of its weights in `words`, as in WeightLists. `c`: c_1 .. c_degree. Throws
  // std::invalid_argument if they are inconsistent. `words` must outlive the scorer. Items from `first_late` on are for add_more.
  ConjunctionScorer(std::span<const std::uint8_t> levels, std::span<const Item> items, std::span<const std::uint32_t> lists,
                    std::span<const std::uint32_t> words, std::size_t n_items, std::size_t n_functions, std::span<const double> c,
                    Item first_late);

  std::size_t n_functions() const { return n_functions_; }
  std::size_t n_items() const { return tables_.n_items(); }
  std::size_t n_bytes() const { return 4 * words_.size() + tables_.n_bytes(); }

  bool deep() const { return tables_.deep(); }

  // Adds the scores of all patterns in a row to `scores`, and keeps in `scratch` the data for add_more.
  void add(std::span<const Item> row, Scratch& scratch, float* scores) const;

  // The same for many rows at once, K scores each, in less time; nothing is kept.
  void add_rows(const ItemRows& rows, float* scores) const;

  // Keeps the data that `add` keeps, without computing scores, if no pattern is deep.
  void open(std::span<const Item> row, Scratch& scratch) const;

  // Adds the scores of the patterns that hold some of `more`, late items, and otherwise items of the row that `scratch` belongs to.
  void add_more(std::span<const Item> more, Scratch& scratch, float* scores) const;

  // Computes the data of these late items for add_more, all at once, which takes less time. Only if no pattern is deep.
  void prepare(std::span<const Item> late, Scratch& scratch) const;
  void request_late(std::span<const Item> row) const { tables_.request_late(row); }

  // use(items, c v) for each pattern in a row, with its weight for function k: to explain a score.
  template <class Use>
  void each_pattern(std::span<const Item> row, std::size_t k, Use&& use) const {
    tables_.each_pattern(row, [&](const std::vector<Item>& path, std::uint32_t list) {
      use(path, c_[path.size() - 1] * static_cast<float>(weight(list, k)));
    });
  }

 private:
  float weight(std::uint32_t list, std::size_t k) const;
  void find(std::span<const Item> row, PatternTables::Scratch& scratch) const;
  void find_below(std::span<const Item> more, PatternTables::Scratch& scratch) const;
  void sum(std::span<const PatternTables::Hit> hits, float* scores) const;
  void sum_masked(std::span<const PatternTables::Hit> hits, float* scores) const;
  void sum_pairs(std::span<const PatternTables::Hit> hits, float* scores) const;

  std::size_t n_functions_ = 0;
  std::span<const std::uint32_t> words_;
  std::vector<float> c_;
  PatternTables tables_;
};

}  // namespace treille
