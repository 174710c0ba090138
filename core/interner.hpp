#pragma once
// Sequences with numbers, given in the order in which they are first met. Exact: a hash only says where to look, sequences are then
// compared item by item. Expected O(length) to look one up; 24 to 40 bytes a sequence besides its items.

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

  Interner() : starts_(1, 0), slots_(16, kFree) {}

  std::size_t size() const { return starts_.size() - 1; }
  std::span<const T> operator[](std::size_t id) const {
    return {items_.data() + starts_[id], static_cast<std::size_t>(starts_[id + 1] - starts_[id])};
  }

  std::uint32_t find(std::span<const T> sequence) const { return id_of(slots_[slot_of(sequence, hash(sequence))]); }

  // The number of a sequence, a new one if it has none.
  std::uint32_t add(std::span<const T> sequence) {
    const std::uint32_t h = hash(sequence);
    const std::size_t slot = slot_of(sequence, h);
    if (slots_[slot] != kFree) return id_of(slots_[slot]);
    const auto id = static_cast<std::uint32_t>(size());
    slots_[slot] = std::uint64_t{h} << 32 | id;
    items_.insert(items_.end(), sequence.begin(), sequence.end());
    starts_.push_back(static_cast<std::int64_t>(items_.size()));
    if (2 * size() > slots_.size()) grow();
    return id;
  }

  // Requests the memory that looking a sequence up reads: in step 0 that of its slot, then, each after a while, that of its start and
  // of its items. Worth it where many sequences are looked up in a large table.
  void prefetch(std::span<const T> sequence, int step) const {
    const std::uint32_t h = hash(sequence);
    const std::uint64_t& slot = slots_[h & (slots_.size() - 1)];
    if (step == 0) return request(&slot);
    if (slot == kFree || slot >> 32 != h) return;
    step == 1 ? request(&starts_[id_of(slot)]) : request(items_.data() + starts_[id_of(slot)]);
  }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};

  static std::uint32_t id_of(std::uint64_t slot) { return static_cast<std::uint32_t>(slot); }  // kAbsent of a free one

  static std::uint32_t hash(std::span<const T> sequence) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(sequence.data());
    std::size_t left = sequence.size_bytes();
    std::uint64_t h = left * 0x9E3779B97F4A7C15u;
    for (; left > 0; left -= std::min<std::size_t>(left, 8), bytes += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes, std::min<std::size_t>(left, 8));
      h = std::rotl((h ^ word) * 0xBF58476D1CE4E5B9u, 29);
    }
    return static_cast<std::uint32_t>((h ^ h >> 32) * 0x94D049BB133111EBu >> 32);
  }

  std::size_t slot_of(std::span<const T> sequence, std::uint32_t h) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = h & mask;
    for (; slots_[slot] != kFree; slot = (slot + 1) & mask)
      if (slots_[slot] >> 32 == h && std::ranges::equal((*this)[id_of(slots_[slot])], sequence)) break;
    return slot;
  }

  void grow() {
    Array<std::uint64_t> old(2 * slots_.size(), kFree);
    old.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (const std::uint64_t each : old) {
      if (each == kFree) continue;
      std::size_t slot = (each >> 32) & mask;
      while (slots_[slot] != kFree) slot = (slot + 1) & mask;
      slots_[slot] = each;
    }
  }

  Array<T> items_;
  Array<std::int64_t> starts_;
  Array<std::uint64_t> slots_;  // hash and number
};

}  // namespace treille
