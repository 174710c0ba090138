#pragma once
// K linear functions of conjunctions:  f_k(x) = sum over the patterns P in x of c_|P| v_k(P),  for prediction.
//
// Patterns that occurred in the same training rows have equal v: they share a list of the weights that are not 0. Below an item, and
// below each pattern that others continue, a hash table of what may follow leads to the lists: one step for each pair of items that both
// occur, two cache lines for each pattern found.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "conjunctions/items.hpp"
#include "conjunctions/patterns.hpp"
#include "features/coded_rows.hpp"
#include "memory.hpp"

namespace treille {

// For each cell its K weights v. words[at[cell]] is a number n: n pairs of a function and its weight follow, or, where n is K, K weights.
struct WeightLists {
  Array<std::uint32_t> words;
  Array<std::uint32_t> at;  // 0: all weights are 0

  // v of a cell = sum of the coefficients of the rows that hold it, `n_functions` numbers for each row.
  WeightLists(const CodedRowsView<std::uint32_t>& rows, std::span<const double> coefficients, std::size_t n_functions);
};

class ConjunctionScorer {
 public:
  ConjunctionScorer() = default;
  // Nodes as in PatternTrees; `lists`: for each where its weights are in `words`, as in WeightLists. `c`: c_1 .. c_degree.
  // Throws std::invalid_argument where they are not. `words` must outlive the scorer.
  ConjunctionScorer(std::span<const std::uint8_t> levels, std::span<const Item> items, std::span<const std::uint32_t> lists,
                    std::span<const std::uint32_t> words, std::size_t n_items, std::size_t n_functions, std::span<const double> c);

  std::size_t n_functions() const { return n_functions_; }
  std::size_t n_items() const { return roots_.size(); }

  // What a thread needs to compute scores.
  struct Scratch {
    struct Hit {
      std::uint32_t list, level;
    };
    std::vector<Hit> hits;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open;  // tables below the patterns found, and their levels
  };

  // Adds the scores of all patterns in a row to `scores`, and keeps in scratch.open where patterns of the row may be continued.
  void add(std::span<const Item> row, Scratch& scratch, float* scores) const {
    scratch.hits.clear();
    scratch.open.clear();
    for (std::size_t r = 0; r < row.size(); ++r) {
      if (r + 1 < row.size()) request_root(row.subspan(r + 1));
      const Root& root = roots_[row[r]];
      if (root.list != 0) scratch.hits.push_back({root.list, 1});
      if (root.table == 0) continue;
      scratch.open.push_back({root.table, 1});
      follow(root.table, 1, row.subspan(r + 1), scratch);
    }
    sum(scratch, scores);
  }

  // Adds the scores of the patterns that hold some of `more`, items above all those of the row that `scratch` was left by.
  void add_more(std::span<const Item> more, Scratch& scratch, float* scores) const {
    scratch.hits.clear();
    const std::size_t n_open = scratch.open.size();
    for (std::size_t r = 0; r < more.size(); ++r) {
      const Root& root = roots_[more[r]];
      if (root.list != 0) scratch.hits.push_back({root.list, 1});
      if (root.table != 0) follow(root.table, 1, more.subspan(r + 1), scratch);
    }
    for (std::size_t o = 0; o < n_open; ++o) follow(scratch.open[o].first, scratch.open[o].second, more, scratch);
    scratch.open.resize(n_open);
    sum(scratch, scores);
  }

  // use(items, c v) for each pattern in a row, with its weight for function k: to explain a score.
  template <class Use>
  void each_pattern(std::span<const Item> row, std::size_t k, Use&& use) const {
    std::vector<Item> path;
    for (std::size_t r = 0; r < row.size(); ++r) {
      const Root& root = roots_[row[r]];
      path.assign(1, row[r]);
      use(path, c_[0] * weight(root.list, k));
      if (root.table != 0) each_below(root.table, row.subspan(r + 1), k, path, use);
    }
  }

  std::size_t n_bytes() const {
    return 4 * words_.size() + sizeof(Slot) * slots_.size() + 4 * below_.size() + sizeof(Table) * tables_.size() +
           sizeof(Root) * roots_.size();
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Slot {
    Item item = kNoItem;
    std::uint32_t list = 0;
  };
  struct Table {
    std::size_t begin;
    std::uint32_t size;
  };
  struct Root {
    std::uint32_t list = 0, table = 0;
  };

  static std::size_t place(const Table& table, Item item) {
    return table.begin + static_cast<std::size_t>(std::uint64_t{item * 0x9e3779b1u} * table.size >> 32);
  }

  std::size_t find(const Table& table, Item item) const {
    for (std::size_t slot = place(table, item);;) {
      if (slots_[slot].item == item) return slot;
      if (slots_[slot].item == kNoItem) return kNone;
      if (++slot == table.begin + table.size) slot = table.begin;
    }
  }

  void follow(std::uint32_t table, std::uint32_t level, std::span<const Item> later, Scratch& scratch) const {
    const Table& own = tables_[table];
    for (std::size_t r = 0; r < later.size(); ++r) {
      const std::size_t slot = find(own, later[r]);
      if (slot == kNone) continue;
      if (slots_[slot].list != 0) scratch.hits.push_back({slots_[slot].list, level + 1});
      if (below_.empty() || below_[slot] == 0) continue;
      scratch.open.push_back({below_[slot], level + 1});
      follow(below_[slot], level + 1, later.subspan(r + 1), scratch);
    }
  }

  double weight(std::uint32_t list, std::size_t k) const {
    if (list == 0) return 0;
    const std::uint32_t* words = &words_[list];
    const std::uint32_t n = *words++;
    if (n == n_functions_) return std::bit_cast<float>(words[k]);
    for (const std::uint32_t* const end = words + 2 * n; words < end; words += 2)
      if (words[0] == k) return std::bit_cast<float>(words[1]);
    return 0;
  }

  template <class Use>
  void each_below(std::uint32_t table, std::span<const Item> later, std::size_t k, std::vector<Item>& path, Use&& use) const {
    for (std::size_t r = 0; r < later.size(); ++r) {
      const std::size_t slot = find(tables_[table], later[r]);
      if (slot == kNone) continue;
      path.push_back(later[r]);
      use(path, c_[path.size() - 1] * weight(slots_[slot].list, k));
      if (!below_.empty() && below_[slot] != 0) each_below(below_[slot], later.subspan(r + 1), k, path, use);
      path.pop_back();
    }
  }

  void request_root(std::span<const Item> row) const {
    const Root& root = roots_[row[0]];
    if (root.table == 0) return;
    const Table& table = tables_[root.table];
    for (const Item item : row.subspan(1)) request(&slots_[place(table, item)]);
  }

  void sum(const Scratch& scratch, float* scores) const {
    constexpr std::size_t ahead = 8;
    const auto& hits = scratch.hits;
    for (std::size_t h = 0; h < hits.size(); ++h) {
      if (h + ahead < hits.size()) request(&words_[hits[h + ahead].list]);
      const std::uint32_t* list = &words_[hits[h].list];
      const auto c = static_cast<float>(c_[hits[h].level - 1]);
      const std::uint32_t n = *list++;
      if (n == n_functions_) {
        for (std::size_t k = 0; k < n_functions_; ++k) scores[k] += c * std::bit_cast<float>(list[k]);
      } else {
        for (const std::uint32_t* const end = list + 2 * n; list < end; list += 2) scores[list[0]] += c * std::bit_cast<float>(list[1]);
      }
    }
  }

  std::size_t n_functions_ = 0;
  std::span<const std::uint32_t> words_;
  std::vector<double> c_;
  std::vector<Root> roots_;
  std::vector<Table> tables_;
  Array<Slot> slots_;
  Array<std::uint32_t> below_;  // for each slot the table below it, 0: none; empty where no pattern has more than two items
};

}  // namespace treille
