#pragma once
// Hash tables for prediction: they find the patterns that a row holds, and a number for each.
//
// Below an item, and below each pattern that others continue, there is a hash table of the items that may follow. Its buckets are cache
// lines of eight items and their numbers, about three quarters full: one line for nearly every pair of items, requested while the pairs of
// the item before are looked up, and no branch that depends on the result.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "conjunctions/items.hpp"
#include "conjunctions/patterns.hpp"
#include "memory.hpp"
#include "simd.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace treille {

class PatternTables {
 public:
  static constexpr std::size_t kSlots = 8, kFilled = 6;  // slots of a bucket, and the most in use on average

  struct Bucket {
    std::array<Item, kSlots> items;
    std::array<std::uint32_t, kSlots> numbers;
  };
  struct Table {
    std::uint32_t begin = 0, size = 0;  // in buckets; 0: nothing follows
  };
  struct Hit {
    std::uint32_t number, level;
  };
  // The work space of a thread that looks rows up.
  struct Scratch {
    std::vector<Hit> hits;  // the first n_hits count
    std::size_t n_hits = 0;
    std::vector<std::pair<Table, std::uint32_t>> open;  // tables below the patterns found, and their levels
    std::vector<std::uint32_t> hashes;
    std::span<const Hit> found() const { return {hits.data(), n_hits}; }
  };

  PatternTables() = default;
  // Nodes as in PatternTrees, at most `degree` levels; each has a number; nodes of number 0 are not found, though nodes below them are.
  // Items from `first_late` on are those that rows are continued with: unless patterns are deep, they have separate tables.
  PatternTables(std::span<const std::uint8_t> levels, std::span<const Item> items, std::span<const std::uint32_t> numbers,
                std::size_t n_items, std::size_t degree, Item first_late = kNoItem);

  std::size_t n_items() const { return roots_.size(); }
  bool deep() const { return !below_.empty(); }  // whether some pattern has more than two items
  std::size_t n_bytes() const { return sizeof(Bucket) * buckets_.size() + sizeof(Table) * below_.size() + sizeof(Root) * roots_.size(); }

  // The patterns of a row, in scratch.hits, and in scratch.open where they may be continued; wanted(number) as soon as one is found.
  template <class Wanted>
  TREILLE_INLINE void find(std::span<const Item> row, Scratch& scratch, Wanted&& wanted) const {
    begin(row, scratch, row.size() * (row.size() + 1) / 2);
    scratch.open.clear();
    for (std::size_t r = 0; r < row.size(); ++r) {
      if (r + 1 < row.size()) request_pairs(row, r + 1);
      const Root& root = roots_[row[r]];
      if (deep() && root.table.size != 0) scratch.open.push_back({root.table, 1});
      find_pairs(row, r, scratch, wanted);
    }
    if (!deep()) open(row, scratch);
  }

  // Finds only the patterns that begin with row[r].
  template <class Wanted>
  TREILLE_INLINE void find_root(std::span<const Item> row, std::size_t r, Scratch& scratch, Wanted&& wanted) const {
    begin(row, scratch, row.size());
    find_pairs(row, r, scratch, wanted);
  }
  void request_pairs(std::span<const Item> row, std::size_t r) const {
    const Table table = roots_[row[r]].table;
    if (table.size == 0) return;
    for (const Item item : row.subspan(r + 1)) request(&buckets_[place(table, hash(item))]);
  }

  // Leaves in scratch.open where the single items of a row may be continued, which suffices if no pattern is deep.
  void open(std::span<const Item> row, Scratch& scratch) const {
    scratch.open.clear();
    for (const Item item : row)
      if (roots_[item].late.size != 0) scratch.open.push_back({roots_[item].late, 1});
  }
  // Prefetches most of the memory that find_late will read after `open`.
  void request_late(std::span<const Item> row) const {
    for (const Item item : row) {
      const Table table = roots_[item].late;
      for (std::uint32_t b = 0; b < std::min(table.size, kRequested); ++b) request(&buckets_[table.begin + b]);
    }
  }

  // The patterns that begin with one of those in scratch.open, which stays, and continue with some of `more`, items above its items.
  template <class Wanted>
  TREILLE_INLINE void find_below(std::span<const Item> more, Scratch& scratch, Wanted&& wanted) const {
    const std::size_t n_open = scratch.open.size();
    begin(more, scratch, more.size() * n_open);
    for (std::size_t o = 0; o < n_open; ++o) {
      const auto [table, level] = scratch.open[o];
      follow(table, level, more, 0, more.size(), scratch, wanted);
    }
    scratch.open.resize(n_open);
  }

  // The pairs of an item of a row that `open` was called for, and of each of `late`, one late item after the other: ends[r] hits up to r.
  template <class Wanted>
  TREILLE_INLINE void find_late(std::span<const Item> late, Scratch& scratch, std::vector<std::size_t>& ends, Wanted&& wanted) const {
    begin(late, scratch, late.size() * scratch.open.size());
    for (const auto& [table, level] : scratch.open)
      if (table.size > kRequested)
        for (const std::uint32_t hash : scratch.hashes) request(&buckets_[place(table, hash)]);
    ends.clear();
    for (std::size_t r = 0; r < late.size(); ++r) {
      for (const auto& [table, level] : scratch.open) follow(table, level, late, r, r + 1, scratch, wanted);
      ends.push_back(scratch.n_hits);
    }
  }

  // use(items, number) for each pattern in a row.
  template <class Use>
  void each_pattern(std::span<const Item> row, Use&& use) const {
    std::vector<Item> path;
    for (std::size_t r = 0; r < row.size(); ++r) {
      const Root& root = roots_[row[r]];
      path.assign(1, row[r]);
      if (root.number != 0) use(path, root.number);
      each_below(root.table, row.subspan(r + 1), path, use);
      each_below(root.late, row.subspan(r + 1), path, use);
    }
  }

 private:
  struct Root {
    std::uint32_t number = 0;
    Table table, late;  // late: of late items alone
  };
  static constexpr std::uint32_t kRequested = 3;

  static std::uint32_t hash(Item item) { return item * 0x9e3779b1u; }
  static std::size_t place(Table table, std::uint32_t hash) {
    return table.begin + static_cast<std::size_t>(std::uint64_t{hash} * table.size >> 32);
  }
  static std::size_t after(Table table, std::size_t bucket) { return bucket + 1 == table.begin + table.size ? table.begin : bucket + 1; }

  // The slot of a bucket that has the item; kSlots if none has.
  static std::size_t slot(const Bucket& bucket, Item item) {
#if defined(__SSE2__)
    const __m128i own = _mm_set1_epi32(static_cast<int>(item));
    const auto* items = reinterpret_cast<const __m128i*>(bucket.items.data());
    const __m128i low = _mm_cmpeq_epi32(own, _mm_loadu_si128(items)), high = _mm_cmpeq_epi32(own, _mm_loadu_si128(items + 1));
    const int found = _mm_movemask_epi8(_mm_packs_epi32(low, high));  // two bits for each
    return static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(found) | 1u << 2 * kSlots)) / 2;
#else
    return static_cast<std::size_t>(std::find(bucket.items.begin(), bucket.items.end(), item) - bucket.items.begin());
#endif
  }
  // The slot of an item, counted over all buckets; below 0: it does not follow.
  std::ptrdiff_t find_slot(Table table, Item item) const {
    if (table.size == 0) return -1;
    for (std::size_t b = place(table, hash(item));; b = after(table, b)) {
      if (const std::size_t s = slot(buckets_[b], item); s < kSlots) return static_cast<std::ptrdiff_t>(b * kSlots + s);
      if (buckets_[b].items.back() == kNoItem) return -1;
    }
  }

  void begin(std::span<const Item> row, Scratch& scratch, std::size_t most) const {
    scratch.n_hits = 0;
    if (scratch.hits.size() < most + 1) scratch.hits.resize(most + 1);
    scratch.hashes.resize(row.size());
    for (std::size_t r = 0; r < row.size(); ++r) scratch.hashes[r] = hash(row[r]);
  }

  template <class Wanted>
  static TREILLE_INLINE void hit(std::uint32_t number, std::uint32_t level, Scratch& scratch, Wanted&& wanted) {
    scratch.hits[scratch.n_hits] = {number, level};
    scratch.n_hits += number != 0;
    wanted(number);
  }

  template <class Wanted>
  TREILLE_INLINE void find_pairs(std::span<const Item> row, std::size_t r, Scratch& scratch, Wanted&& wanted) const {
    const Root& root = roots_[row[r]];
    hit(root.number, 1, scratch, wanted);
    std::size_t late = row.size();
    while (late > r + 1 && row[late - 1] >= first_late_) --late;
    if (root.table.size != 0) follow(root.table, 1, row, r + 1, late, scratch, wanted);
    if (root.late.size != 0) follow(root.late, 1, row, late, row.size(), scratch, wanted);
  }

  template <class Wanted>
  TREILLE_INLINE void follow(Table table, std::uint32_t level, std::span<const Item> row, std::size_t first, std::size_t last,
                             Scratch& scratch, Wanted&& wanted) const {
    if (deep()) {
      follow_deep(table, level, row.subspan(first, last - first), scratch);
      return;
    }
    for (std::size_t r = first; r < last; ++r) {
      for (std::size_t b = place(table, scratch.hashes[r]);; b = after(table, b)) {
        const Bucket& bucket = buckets_[b];
        const std::size_t s = slot(bucket, row[r]);
        const std::uint32_t number = bucket.numbers[s % kSlots];
        hit(s < kSlots ? number : 0, level + 1, scratch, wanted);
        if (s < kSlots || bucket.items.back() == kNoItem) [[likely]]
          break;
      }
    }
  }

  void follow_deep(Table table, std::uint32_t level, std::span<const Item> later, Scratch& scratch) const {
    for (std::size_t r = 0; r < later.size(); ++r) {
      const std::ptrdiff_t at = find_slot(table, later[r]);
      if (at < 0) continue;
      const auto slot = static_cast<std::size_t>(at);
      if (scratch.n_hits + 1 >= scratch.hits.size()) scratch.hits.resize(2 * scratch.hits.size());
      hit(buckets_[slot / kSlots].numbers[slot % kSlots], level + 1, scratch, [](std::uint32_t) {});
      if (below_[slot].size == 0) continue;
      scratch.open.push_back({below_[slot], level + 1});
      follow_deep(below_[slot], level + 1, later.subspan(r + 1), scratch);
    }
  }

  template <class Use>
  void each_below(Table table, std::span<const Item> later, std::vector<Item>& path, Use&& use) const {
    for (std::size_t r = 0; r < later.size(); ++r) {
      const std::ptrdiff_t at = find_slot(table, later[r]);
      if (at < 0) continue;
      const auto slot = static_cast<std::size_t>(at);
      path.push_back(later[r]);
      if (const std::uint32_t number = buckets_[slot / kSlots].numbers[slot % kSlots]; number != 0) use(path, number);
      if (deep()) each_below(below_[slot], later.subspan(r + 1), path, use);
      path.pop_back();
    }
  }

  Item first_late_ = kNoItem;
  std::vector<Root> roots_;
  Array<Bucket> buckets_;
  Array<Table> below_;  // for each slot the table below it; empty where no pattern has more than two items
};

// use(row, place, next row, next place) for every item of the rows [first, last), the same items together in each block of rows: the data
// of an item stays in the cache for the next row. The items of a row come in their order.
template <class Use>
void by_item(const ItemRows& rows, std::size_t first, std::size_t last, Use&& use) {
  constexpr std::size_t block = std::size_t{1} << 14;
  struct Place {
    Item item;
    std::uint32_t place;
    std::size_t row;
  };
  std::vector<std::size_t> begin;
  std::vector<Place> places, sorted;
  for (; first < last; first = std::min(last, first + block)) {
    places.clear();
    for (std::size_t i = first; i < std::min(last, first + block); ++i)
      for (std::size_t r = 0; r < rows.row(i).size(); ++r) places.push_back({rows.row(i)[r], static_cast<std::uint32_t>(r), i});
    if (8 * places.size() > rows.n_items) {  // else counting would take longer than it saves
      begin.assign(rows.n_items + 1, 0);
      for (const Place& own : places) ++begin[own.item + 1];
      for (std::size_t z = 0; z < rows.n_items; ++z) begin[z + 1] += begin[z];
      sorted.resize(places.size());
      for (const Place& own : places) sorted[begin[own.item]++] = own;
      std::swap(places, sorted);
    }
    for (std::size_t e = 0; e < places.size(); ++e) {
      const Place &own = places[e], &next = places[std::min(e + 1, places.size() - 1)];
      use(own.row, own.place, next.row, next.place);
    }
  }
}

}  // namespace treille
