#pragma once
// Sums the values of the distinct patterns of one sequence, exactly: patterns are told apart cell by cell. Expected O(cells) an occurrence.

#include <cstdint>
#include <vector>

#include "interrupt.hpp"
#include "text/ngram_counter.hpp"

namespace treille {

// 32 bits of hash of a pattern: a place to look, never an identity.
inline std::uint32_t pattern_tag(const std::int32_t* cells, int n) {
  std::uint64_t h = 0;
  for (int j = 0; j < n; ++j) h = h * RollingHash::kBase + static_cast<std::uint64_t>(cells[j]) + 1;
  h += 0xD1342543DE82EF95u * static_cast<std::uint64_t>(n);
  h ^= h >> 32;
  h *= 0xBEA225F9EB34556Du;
  h ^= h >> 29;
  h *= 0x9E3779B97F4A7C15u;
  return static_cast<std::uint32_t>(h >> 32);
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
    // Few patterns in a large table: empty their slots only.
    if (entries_.size() * 8 < slots_.size())
      for (const std::size_t slot : used_) slots_[slot] = kEmpty;
    else
      slots_.assign(slots_.size(), kEmpty);
    used_.clear();
    entries_.clear();
    pool_.clear();
  }

  void add(const std::int32_t* cells, int n, double value) {
    poll();
    const std::uint32_t tag = pattern_tag(cells, n);
    std::size_t at = tag >> (32 - bits_);
    for (;; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == kEmpty) break;
      Entry& entry = entries_[slots_[at]];
      if (entry.tag == tag && entry.n == n && same_symbols(pool_.data() + entry.first, cells, static_cast<std::size_t>(n))) {
        entry.value += value;
        return;
      }
    }
    slots_[at] = static_cast<std::uint32_t>(entries_.size());
    used_.push_back(at);
    entries_.push_back({tag, n, pool_.size(), value});
    pool_.insert(pool_.end(), cells, cells + n);
    if (entries_.size() * 2 > slots_.size()) grow();
  }

  // By first occurrence; until the next call of clear().
  const std::vector<Entry>& entries() const { return entries_; }
  const std::int32_t* cells(const Entry& entry) const { return pool_.data() + entry.first; }

 private:
  static constexpr std::uint32_t kEmpty = 0xFFFFFFFFu;

  void grow() {
    if (++bits_ > 32) throw std::length_error("a sequence with more than 2 billion distinct patterns");
    slots_.assign(std::size_t{1} << bits_, kEmpty);
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      std::size_t at = entries_[e].tag >> (32 - bits_);
      while (slots_[at] != kEmpty) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = static_cast<std::uint32_t>(e);
      used_[e] = at;
    }
  }

  int bits_ = 10;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(std::size_t{1} << 10, kEmpty);
  std::vector<std::size_t> used_;
  std::vector<Entry> entries_;
  std::vector<std::int32_t> pool_;
};

}  // namespace treille
