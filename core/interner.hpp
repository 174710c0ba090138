#pragma once
// Numbers for distinct sequences, in the order of first occurrence. Exact: see tag_index.hpp. Expected O(length) to look one up;
// 19 to 31 bytes per sequence besides its items.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "memory.hpp"
#include "tag_index.hpp"

namespace treille {

template <class T>
class Interner {
  auto equal_to(std::span<const T> sequence) const {
    return [this, sequence](std::uint32_t id) {
      const std::span<const T> known = (*this)[id];
      if (known.size() != sequence.size()) return false;
      // Sequences are short, mostly: a loop is faster than the call of memcmp that std::ranges::equal makes.
      for (std::size_t k = 0; k < sequence.size(); ++k)
        if (known[k] != sequence[k]) return false;
      return true;
    };
  }

 public:
  static constexpr std::uint32_t kAbsent = TagIndex::kAbsent;

  Interner() : starts_(1, 0) {}

  std::size_t size() const { return starts_.size() - 1; }
  std::span<const T> operator[](std::size_t id) const {
    return {items_.data() + starts_[id], static_cast<std::size_t>(starts_[id + 1] - starts_[id])};
  }

  std::uint32_t find(std::span<const T> sequence) const { return index_.find(tag(sequence), equal_to(sequence)); }

  // The number of a sequence, a new one if it has none.
  std::uint32_t add(std::span<const T> sequence) {
    return index_.find_or_add(tag(sequence), equal_to(sequence), [&] {
      items_.insert(items_.end(), sequence.begin(), sequence.end());
      starts_.push_back(static_cast<std::int64_t>(items_.size()));
    });
  }

  // Prefetches the memory for looking a sequence up: its slot in step 0, then, after some time each, its start and its items. Pays if many
  // sequences are looked up in a large table.
  void prefetch(std::span<const T> sequence, int step) const {
    const std::uint32_t sought = tag(sequence);
    if (step == 0) return index_.prefetch(sought);
    const std::uint32_t id = index_.candidate(sought);
    if (id == kAbsent) return;
    step == 1 ? request(&starts_[id]) : request(items_.data() + starts_[id]);
  }

 private:
  static std::uint32_t tag(std::span<const T> sequence) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(sequence.data());
    std::size_t left = sequence.size_bytes();
    std::uint64_t h = left * 0x9E3779B97F4A7C15u;
    for (; left >= 8; left -= 8, bytes += 8) {
      std::uint64_t word;
      std::memcpy(&word, bytes, 8);
      h = std::rotl((h ^ word) * 0xBF58476D1CE4E5B9u, 29);
    }
    if (left > 0) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes, sizeof(T) == 4 ? 4 : left);  // a constant is no call
      h = std::rotl((h ^ word) * 0xBF58476D1CE4E5B9u, 29);
    }
    return tag_of((h ^ h >> 32) * 0x94D049BB133111EBu);
  }

  Array<T> items_;
  Array<std::int64_t> starts_;
  TagIndex index_{"sequences"};
};

}  // namespace treille
