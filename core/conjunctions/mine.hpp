#pragma once
// Frequent conjunctions by PrefixSpan: sequences of single items, projected databases, patterns of at most `degree` items that occur in
// at least `min_support` rows (Pei et al., 2004; Wu, Yang, Lee, "An approximate approach for training polynomial kernel SVMs in linear
// time", ACL 2007, section 3).
//
// The projection of the rows on a pattern is the list of rows that hold it: in a row, the items above the last one of the pattern may
// follow. Since rare items come first, projections are short, and items that may follow are frequent.
// Cost: one step for each pattern in each row that holds it, at degree 2 |x| (|x| + 1) / 2 a row.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "conjunctions/items.hpp"
#include "interrupt.hpp"
#include "memory.hpp"
#include "tag_index.hpp"

namespace treille {

// The rows that hold each item.
class ItemIndex {
 public:
  explicit ItemIndex(const ItemRows& rows) : begin_(rows.n_items + 1, 0), rows_(rows.items.size()) {
    for (const Item item : rows.items) ++begin_[item + 1];
    for (std::size_t z = 0; z < rows.n_items; ++z) begin_[z + 1] += begin_[z];
    std::vector<std::int64_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (const Item item : rows.row(i)) rows_[static_cast<std::size_t>(next[item]++)] = static_cast<std::uint32_t>(i);
  }
  std::span<const std::uint32_t> holders(Item item) const {
    return {rows_.data() + begin_[item], static_cast<std::size_t>(begin_[item + 1] - begin_[item])};
  }

 private:
  std::vector<std::int64_t> begin_;
  Buffer<std::uint32_t> rows_;
};

// A frequent pattern: `level` items, the last one `item`. `key` is a sum over the rows that hold it, `row` one of them.
struct Pattern {
  int level;
  Item item;
  std::uint32_t support, row;
  std::uint64_t key;
};

// The optional methods of a visitor of patterns, empty. Items of one level rise or fall; the items of a row are visited falling.
template <bool Rising>
struct PatternVisitor {
  static constexpr bool rising = Rising;
  void expect(std::uint64_t) const {}
  void each(std::uint32_t, std::uint32_t) const {}
};

class Miner {
 public:
  Miner(const ItemRows& rows, const ItemIndex& index, int degree, std::size_t min_support, std::uint64_t salt)
      : rows_(rows), index_(index), degree_(degree), min_support_(min_support), salt_(salt), bits_(rows.n_items / 64 + 1, 0) {
    levels_.resize(static_cast<std::size_t>(std::max(degree - 1, 0)));
    for (Level& level : levels_) {
      level.found.resize(rows.n_items);
      level.marks.resize(rows.n_items, 0);
    }
  }

  // visitor.decide(pattern) for each frequent pattern that begins with `root`, depth first. Where it returns a number other than 0,
  // visitor.each(row, number) follows for every row that holds the pattern. visitor.expect(key) comes some time before decide, to request
  // memory.
  template <class Visitor>
  void mine(Item root, Visitor& visitor) {
    const auto holders = index_.holders(root);
    if (holders.empty() || holders.size() < min_support_) return;
    std::uint64_t key = 0;
    for (const std::uint32_t i : holders) key += hash(i);
    if (const std::uint32_t mark = visitor.decide(Pattern{1, root, static_cast<std::uint32_t>(holders.size()), holders[0], key}); mark != 0)
      for (const std::uint32_t i : holders) visitor.each(i, mark);
    if (degree_ > 1) extend(2, root, holders, visitor);
  }

 private:
  struct Found {
    std::uint64_t key = 0;
    std::uint32_t support = 0, row = 0;
  };
  struct Level {
    std::vector<Found> found;          // all 0 between calls
    std::vector<std::uint32_t> marks;  // all 0 between calls
    std::vector<Item> items;
    std::vector<std::uint32_t> projected;  // the projections on all patterns of this level, one after another
    std::vector<std::size_t> begin;
  };

  // The hash of a row: sums of hashes distinguish sets of rows.
  std::uint64_t hash(std::uint64_t row) const { return scrambled((row + 1 + (salt_ << 32)) * 0x9e3779b97f4a7c15); }

  // Through a set of bits: faster than comparisons for more than a few items.
  void sort(std::vector<Item>& items, bool rising) {
    if (items.size() < 40) {
      std::sort(items.begin(), items.end());
    } else {
      const auto [low, high] = std::minmax_element(items.begin(), items.end());
      const std::size_t first = *low / 64, last = *high / 64;
      for (const Item item : items) bits_[item / 64] |= std::uint64_t{1} << item % 64;
      items.clear();
      for (std::size_t word = first; word <= last; ++word)
        for (std::uint64_t bits = std::exchange(bits_[word], 0); bits != 0; bits &= bits - 1)
          items.push_back(static_cast<Item>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }
    if (!rising) std::reverse(items.begin(), items.end());
  }

  template <class Use>
  void following(std::uint32_t i, Item last, Use&& use) const {
    const auto row = rows_.row(i);
    for (const Item* e = row.data() + row.size() - 1; *e != last; --e) use(*e);
  }

  // Patterns of `size` items that continue one whose last item is `last` and whose rows are `holders`.
  template <class Visitor>
  void extend(int size, Item last, std::span<const std::uint32_t> holders, Visitor& visitor) {
    Level& level = levels_[static_cast<std::size_t>(size) - 2];
    auto& [found, marks, items, projected, begin] = level;
    items.clear();
    for (const std::uint32_t i : holders) {
      poll();
      const std::uint64_t own = hash(i);
      following(i, last, [&](Item item) {
        Found& seen = found[item];
        if (seen.support++ == 0) items.push_back(item);
        seen.key += own;
        seen.row = i;
      });
    }
    std::erase_if(items, [&](Item item) {
      const bool rare = found[item].support < min_support_;
      if (rare) found[item] = {};
      return rare;
    });
    for (const Item item : items) visitor.expect(found[item].key);
    sort(items, Visitor::rising);
    if (size == degree_) {
      bool wanted = false;
      for (const Item item : items) {
        const Found seen = std::exchange(found[item], {});
        marks[item] = visitor.decide(Pattern{size, item, seen.support, seen.row, seen.key});
        wanted |= marks[item] != 0;
      }
      if (!wanted) return;
      for (const std::uint32_t i : holders)
        following(i, last, [&](Item item) {
          if (const std::uint32_t mark = marks[item]; mark != 0) visitor.each(i, mark);
        });
      for (const Item item : items) marks[item] = 0;
      return;
    }
    begin.assign(1, 0);
    std::vector<Found> own;
    for (std::size_t k = 0; k < items.size(); ++k) {
      own.push_back(std::exchange(found[items[k]], {}));
      marks[items[k]] = static_cast<std::uint32_t>(k) + 1;
      begin.push_back(begin.back() + own.back().support);
    }
    projected.resize(begin.back());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (const std::uint32_t i : holders)
      following(i, last, [&](Item item) {
        if (const std::uint32_t k = marks[item]; k != 0) projected[next[k - 1]++] = i;
      });
    for (const Item item : items) marks[item] = 0;
    for (std::size_t k = 0; k < own.size(); ++k) {
      const auto rows = std::span<const std::uint32_t>(projected).subspan(begin[k], own[k].support);
      if (const std::uint32_t mark = visitor.decide(Pattern{size, items[k], own[k].support, own[k].row, own[k].key}); mark != 0)
        for (const std::uint32_t i : rows) visitor.each(i, mark);
      extend(size + 1, items[k], rows, visitor);
    }
  }

  const ItemRows& rows_;
  const ItemIndex& index_;
  int degree_;
  std::size_t min_support_;
  std::uint64_t salt_;
  std::vector<Level> levels_;
  std::vector<std::uint64_t> bits_;  // all 0 between calls
};

}  // namespace treille
