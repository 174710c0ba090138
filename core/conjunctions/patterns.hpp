#pragma once
// Conjunctions of items, matched against rows.
//
// All patterns that begin with one item are a tree, written in depth-first order as an array of (level, item): the level-label sequences
// of the paper (section 3.1). Pattern k is the path to node k. A row is matched in one of two ways, root by root:
// - a scan of the array, which leaves out what is below an item that the row lacks (the paper says "could be found", which must read
//   "could not be found"), and ends at an item above the row's largest;
// - where the array is long, a lookup of each pair of the root and a later item of the row in a hash table, and a scan below each hit.
// Either way the patterns found rise.

#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "conjunctions/items.hpp"
#include "memory.hpp"

namespace treille {

// Trees of patterns in depth-first order: the level of each node, from 1, and its item; roots rise, and so do the children of a node,
// above its own item.
struct PatternTrees {
  Array<std::uint8_t> levels;
  Array<Item> items;
};

// Returns whether arrays are such trees, with items below n_items and at most `degree` levels.
inline bool are_trees(std::span<const std::uint8_t> levels, std::span<const Item> items, std::size_t n_items, std::size_t degree) {
  if (levels.size() != items.size()) return false;
  std::vector<Item> last(degree + 2, kNoItem);  // of each level, below the same parent
  std::size_t level = 0;
  for (std::size_t k = 0; k < items.size(); ++k) {
    if (levels[k] == 0 || levels[k] > degree || levels[k] > level + 1 || items[k] >= n_items) return false;
    if (levels[k] > level && level > 0 && items[k] <= last[level]) return false;
    if (levels[k] <= level && items[k] <= last[levels[k]]) return false;
    level = levels[k];
    last[level] = items[k];
  }
  return true;
}

class Patterns {
 public:
  // A root with more nodes below it than this is looked up, not scanned. A scan reads about 1 ns a node; a lookup takes about 5 ns, for
  // some 20 later items of a row: benchmarks/papers/polynomial.py, Table 3.
  static constexpr std::size_t kLongArray = 128;

  static constexpr std::size_t kLongestArray = std::size_t{1} << 31;  // so that the number of a node fits in a slot

  Patterns() = default;
  Patterns(PatternTrees trees, std::size_t n_items, std::size_t long_array = kLongArray)
      : levels_(std::move(trees.levels)), items_(std::move(trees.items)), roots_(n_items + 1, 0), tables_(n_items) {
    if (items_.size() >= std::numeric_limits<std::uint32_t>::max()) throw std::length_error("more than 2^32 conjunctions");
    for (std::size_t k = 0; k < items_.size(); ++k)
      if (levels_[k] == 1) roots_[items_[k] + 1] = k + 1;
    // roots_[z + 1] held the node after root z; now it holds the end of the array of z.
    std::size_t end = items_.size();
    for (std::size_t z = n_items; z-- > 0;) {
      const std::size_t after = roots_[z + 1];
      roots_[z + 1] = end;
      if (after > 0) end = after - 1;
    }
    std::vector<std::uint32_t> children;
    for (std::size_t z = 0; z < n_items; ++z)
      if (roots_[z + 1] - roots_[z] > long_array + 1 && roots_[z + 1] - roots_[z] < kLongestArray) index(static_cast<Item>(z), children);
  }

  std::size_t size() const { return items_.size(); }
  std::size_t n_items() const { return tables_.size(); }
  int level(std::size_t node) const { return levels_[node]; }
  Item item(std::size_t node) const { return items_[node]; }
  std::span<const std::uint8_t> levels() const { return levels_; }
  std::span<const Item> items() const { return items_; }
  std::size_t n_bytes() const { return 5 * items_.size() + 4 * slots_.size() + 24 * tables_.size(); }

  // use(node) for every pattern in the row, whose items `present` must hold.
  template <class Use>
  void match(std::span<const Item> row, const ItemSet& present, Use&& use) const {
    match(row, 0, row.size(), present, use);
  }

  // The same for the patterns that begin with one of row[first .. last).
  template <class Use>
  void match(std::span<const Item> row, std::size_t first, std::size_t last, const ItemSet& present, Use&& use) const {
    for (std::size_t r = first; r < last; ++r) {
      if (r + 1 < row.size()) request_root(row, r + 1);
      const Item root = row[r];
      const std::size_t begin = roots_[root], end = roots_[root + 1];
      if (begin == end) continue;
      use(begin);
      if (end - begin == 1) continue;
      const auto later = row.subspan(r + 1);
      if (tables_[root].size == 0)
        scan(begin + 1, end, 1, present, row.back(), use);
      else
        for (const Item item : later)
          if (const std::size_t node = child(root, item); node != kNone) {
            use(node);
            scan(node + 1, end, 2, present, row.back(), use);
          }
    }
  }

  static constexpr std::size_t kNone = ~std::size_t{0};

 private:
  // Children of a long root by hash, at most two thirds full: in a slot the number of the child, counted from 1, above it bits of the hash.
  // One TagIndex for all roots takes three times the memory, and 1.6 times as long on five million pairs: the slots of a root lie together.
  struct Table {
    std::size_t begin = 0;
    std::uint32_t size = 0, shift = 0;  // the number fills `shift` bits
  };

  struct Place {
    std::size_t slot;
    std::uint32_t mark;  // the bits of a slot with this item above the number
  };
  static Place place(const Table& table, Item item) {
    const std::uint32_t hash = item * 0x9e3779b1u;
    return {static_cast<std::size_t>(std::uint64_t{hash} * table.size >> 32), (hash * 0x85ebca6bu) >> table.shift};
  }

  void index(Item root, std::vector<std::uint32_t>& children) {
    children.clear();
    for (std::size_t k = roots_[root] + 1; k < roots_[root + 1]; ++k)
      if (levels_[k] == 2) children.push_back(static_cast<std::uint32_t>(k - roots_[root]));
    // Below a child there may be others: a slot counts nodes.
    const auto largest = static_cast<std::uint32_t>(roots_[root + 1] - roots_[root]);
    Table& table = tables_[root];
    table = {slots_.size(), static_cast<std::uint32_t>(children.size() + children.size() / 2 + 1),
             static_cast<std::uint32_t>(std::bit_width(largest))};
    slots_.resize(slots_.size() + table.size, 0);
    std::uint32_t* const slots = slots_.data() + table.begin;
    for (const std::uint32_t child : children) {
      auto [slot, mark] = place(table, items_[roots_[root] + child]);
      while (slots[slot] != 0) slot = slot + 1 == table.size ? 0 : slot + 1;
      slots[slot] = mark << table.shift | child;
    }
  }

  std::size_t child(Item root, Item item) const {
    const Table& table = tables_[root];
    const std::uint32_t* const slots = slots_.data() + table.begin;
    for (auto [slot, mark] = place(table, item);; slot = slot + 1 == table.size ? 0 : slot + 1) {
      const std::uint32_t found = slots[slot];
      if (found == 0) return kNone;
      if (found >> table.shift != mark) continue;
      const std::size_t node = roots_[root] + (found & ((1u << table.shift) - 1));
      if (items_[node] == item) return node;
    }
  }

  // Nodes from `begin` on whose levels are above `above`.
  template <class Use>
  void scan(std::size_t begin, std::size_t end, int above, const ItemSet& present, Item largest, Use&& use) const {
    int skip = std::numeric_limits<int>::max();
    for (std::size_t k = begin; k < end; ++k) {
      const int level = levels_[k];
      if (level <= above) return;
      if (level > skip) continue;
      if (present.holds(items_[k])) {
        skip = std::numeric_limits<int>::max();
        use(k);
      } else {
        if (level == above + 1 && items_[k] > largest) return;
        skip = level;
      }
    }
  }

  // Prefetches the memory that the next root of a row reads.
  void request_root(std::span<const Item> row, std::size_t r) const {
    const Item root = row[r];
    const Table& table = tables_[root];
    if (table.size == 0) {
      request(items_.data() + roots_[root]);
      request(levels_.data() + roots_[root]);
    } else {
      for (const Item item : row.subspan(r + 1)) request(slots_.data() + table.begin + place(table, item).slot);
    }
  }

  Array<std::uint8_t> levels_;
  Array<Item> items_;
  std::vector<std::size_t> roots_;  // the array of root z is [roots_[z], roots_[z + 1])
  std::vector<Table> tables_;
  Array<std::uint32_t> slots_;
};

}  // namespace treille
