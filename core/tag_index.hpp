#pragma once
// Numbers 0, 1, 2, ... for distinct items, found by 32 bits of an item's hash, its tag. The caller keeps the items and compares them, so
// that no collision is mistaken for an equal item.
//
// Linear probing, 8 bytes a slot: 16 to 32 bytes per item in a table that is at most half full. Slots follow the high bits of the tags, so
// that growing reads and writes memory almost in sequence. A lookup reads one or two cache lines: request them ahead with prefetch().

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "interrupt.hpp"
#include "memory.hpp"

namespace treille {

// Adds a value to a hash.
inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

// The last steps of SplitMix (solve/random.hpp): each bit of the result depends on all bits.
inline std::uint64_t scrambled(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

// The high 32 bits of a hash, which `mix` mixes best.
inline std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

constexpr std::uint32_t kAbsent = ~std::uint32_t{0};  // the number of items that are not in a table

class TagIndex {
 public:
  static constexpr std::uint32_t kAbsent = treille::kAbsent;

  // `items` names the items in the message if there are too many. Up to `percent` of the slots are used: 70 takes 11 to 23
  // bytes per item instead, and half as long again to find one.
  explicit TagIndex(const char* items, std::size_t percent = 50) : items_(items), percent_(percent) { clear(0); }

  std::size_t size() const { return size_; }

  // The number of the item with this tag for which same(number) holds, or kAbsent.
  template <class Same>
  std::uint32_t find(std::uint32_t tag, Same&& same) const {
    return slots_[slot_of(tag, same)].number;
  }

  // Like find, but an item that is not found gets the next number, which is returned after a call of add().
  template <class Same, class Add>
  std::uint32_t find_or_add(std::uint32_t tag, Same&& same, Add&& add) {
    for (std::size_t at = tag >> shift_;; at = (at + 1) & mask_) {
      const Slot slot = slots_[at];
      if (slot.number == kAbsent) {
        const auto number = static_cast<std::uint32_t>(size_);
        slots_[at] = {tag, number};
        if (++size_ > most_) resize(bits_ + 1);
        add();
        return number;
      }
      if (slot.tag == tag && same(slot.number)) return slot.number;
    }
  }

  // Gives the next number to an item that differs from all earlier ones.
  std::uint32_t add(std::uint32_t tag) {
    return find_or_add(tag, [](std::uint32_t) { return false; }, [] {});
  }

  void prefetch(std::uint32_t tag) const { request(&slots_[tag >> shift_]); }

  // The item that a lookup probably compares, if any, for callers that prefetch it, too.
  std::uint32_t candidate(std::uint32_t tag) const {
    const Slot slot = slots_[tag >> shift_];
    return slot.tag == tag ? slot.number : kAbsent;
  }

  // Makes room for n items.
  void reserve(std::size_t n) {
    if (n > most_) resize(bits_for(n));
  }

  // Forgets all items, and makes room for n. Costs O(n), however large the table was.
  void clear(std::size_t n) {
    size_ = 0;
    set_bits(bits_for(n));
    slots_.assign(mask_ + 1, Slot());
  }
  // Keeps the memory, unless few items were in a large table.
  void clear() { clear(8 * size_ < slots_.size() ? size_ : most_); }

  // Gives each item the number renamed[old number], a permutation; parts 0 .. n - 1 of the work may run at the same time.
  void rename(std::span<const std::uint32_t> renamed, std::size_t part, std::size_t n) {
    for (std::size_t at = slots_.size() * part / n; at < slots_.size() * (part + 1) / n; ++at)
      if (slots_[at].number != kAbsent) slots_[at].number = renamed[slots_[at].number];
  }

 private:
  struct Slot {
    std::uint32_t tag = 0, number = kAbsent;
  };

  std::size_t capacity(int bits) const { return (std::size_t{1} << bits) * percent_ / 100; }
  int bits_for(std::size_t n) const {
    int bits = 4;
    while (bits < 32 && n > capacity(bits)) ++bits;
    return bits;
  }

  // The slot of the item, or the free slot where it belongs.
  template <class Same>
  std::size_t slot_of(std::uint32_t tag, Same&& same) const {
    for (std::size_t at = tag >> shift_;; at = (at + 1) & mask_) {
      const Slot slot = slots_[at];
      if (slot.number == kAbsent || (slot.tag == tag && same(slot.number))) return at;
    }
  }

  void set_bits(int bits) {
    if (bits > 32) throw std::length_error("more than " + std::to_string(most_) + " distinct " + items_);
    bits_ = bits;
    shift_ = 32 - bits;
    mask_ = (std::size_t{1} << bits) - 1;
    most_ = capacity(bits);
  }

  [[gnu::noinline]] void resize(int bits) {
    poll();
    set_bits(bits);
    const Array<Slot> old = std::exchange(slots_, Array<Slot>(mask_ + 1));
    for (const Slot& slot : old)
      if (slot.number != kAbsent) slots_[slot_of(slot.tag, [](std::uint32_t) { return false; })] = slot;
  }

  const char* items_;
  std::size_t percent_;
  std::size_t size_ = 0, mask_ = 0, most_ = 0;
  int bits_ = 0, shift_ = 0;
  Array<Slot> slots_;
};

}  // namespace treille
