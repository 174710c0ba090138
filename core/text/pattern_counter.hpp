#pragma once
// Sums the values of the distinct patterns of one sequence, exactly: patterns are compared cell by cell. Expected O(cells) an occurrence.

#include <cstdint>
#include <vector>

#include "interrupt.hpp"
#include "tag_index.hpp"
#include "text/ngram_counter.hpp"

namespace treille {

// 32 bits of hash of a pattern: a place to search, never an identity.
inline std::uint32_t pattern_tag(const std::int32_t* cells, int n) {
  std::uint64_t h = 0;
  for (int j = 0; j < n; ++j) h = h * RollingHash::kBase + static_cast<std::uint64_t>(cells[j]) + 1;
  return RollingHash::tag(h, 0xD1342543DE82EF95u * static_cast<std::uint64_t>(n));
}

class PatternCounter {
 public:
  struct Entry {
    std::uint32_t tag;
    std::int32_t n;
    std::size_t first;  // of its cells
    double value;
  };

  void clear() {
    index_.clear();
    entries_.clear();
    pool_.clear();
  }

  void add(const std::int32_t* cells, int n, double value) {
    poll();
    const std::uint32_t tag = pattern_tag(cells, n);
    const auto add_to = [&](std::uint32_t id) {
      Entry& entry = entries_[id];
      const bool same = entry.n == n && same_symbols(pool_.data() + entry.first, cells, static_cast<std::size_t>(n));
      if (same) entry.value += value;
      return same;
    };
    index_.find_or_add(tag, add_to, [&] {
      entries_.push_back({tag, n, pool_.size(), value});
      pool_.insert(pool_.end(), cells, cells + n);
    });
  }

  // In the order of first occurrence; valid until the next call of clear().
  const std::vector<Entry>& entries() const { return entries_; }
  const std::int32_t* cells(const Entry& entry) const { return pool_.data() + entry.first; }

 private:
  TagIndex index_{"patterns", 25};
  std::vector<Entry> entries_;
  std::vector<std::int32_t> pool_;
};

}  // namespace treille
