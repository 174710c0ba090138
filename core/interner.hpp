#pragma once
// Sequences with numbers, given in the order in which they are first met. Exact: a hash only says where to look, sequences are then
// compared item by item. Expected O(length) to look one up; 16 to 24 bytes a sequence besides its items.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "memory.hpp"

namespace treille {

template <class T>
class Interner {
 public:
  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

  Interner() : starts_(1, 0), slots_(16, kAbsent) {}

  std::size_t size() const { return tags_.size(); }
  std::span<const T> operator[](std::size_t id) const {
    return {items_.data() + starts_[id], static_cast<std::size_t>(starts_[id + 1] - starts_[id])};
  }

  std::uint32_t find(std::span<const T> sequence) const { return slots_[slot_of(sequence, hash(sequence))]; }

  // The number of a sequence, a new one if it has none.
  std::uint32_t add(std::span<const T> sequence) {
    const std::uint64_t h = hash(sequence);
    const std::size_t slot = slot_of(sequence, h);
    if (slots_[slot] != kAbsent) return slots_[slot];
    const auto id = static_cast<std::uint32_t>(size());
    slots_[slot] = id;
    tags_.push_back(static_cast<std::uint32_t>(h));
    items_.insert(items_.end(), sequence.begin(), sequence.end());
    starts_.push_back(static_cast<std::int64_t>(items_.size()));
    if (2 * size() > slots_.size()) grow();
    return id;
  }

 private:
  static std::uint64_t hash(std::span<const T> sequence) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(sequence.data());
    std::size_t left = sequence.size_bytes();
    std::uint64_t h = left * 0x9E3779B97F4A7C15u;
    for (; left > 0; left -= std::min<std::size_t>(left, 8), bytes += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes, std::min<std::size_t>(left, 8));
      h = std::rotl((h ^ word) * 0xBF58476D1CE4E5B9u, 29);
    }
    return (h ^ h >> 32) * 0x94D049BB133111EBu;
  }

  // The top bits choose the slot, the low ones are the tag: they are independent of each other.
  std::size_t slot_of(std::span<const T> sequence, std::uint64_t h) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = static_cast<std::size_t>(h >> 32) & mask;
    for (; slots_[slot] != kAbsent; slot = (slot + 1) & mask)
      if (tags_[slots_[slot]] == static_cast<std::uint32_t>(h) && std::ranges::equal((*this)[slots_[slot]], sequence)) break;
    return slot;
  }

  void grow() {
    slots_.assign(2 * slots_.size(), kAbsent);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t id = 0; id < size(); ++id) {
      std::size_t slot = static_cast<std::size_t>(hash((*this)[id]) >> 32) & mask;
      while (slots_[slot] != kAbsent) slot = (slot + 1) & mask;
      slots_[slot] = static_cast<std::uint32_t>(id);
    }
  }

  Array<T> items_;
  Array<std::int64_t> starts_;
  Array<std::uint32_t> tags_, slots_;
};

}  // namespace treille
