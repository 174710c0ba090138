#pragma once
// An exact map from keys to ids 0, 1, 2, ... A key is a pair: the id of a product of features, and one more feature.
//
// Space per key: 8 bytes, and 11 to 23 bytes of slots (load 0.35 to 0.7). A look-up reads one or two cache lines; ask for them ahead
// with prefetch_slot and prefetch_key.

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>

#include "interrupt.hpp"
#include "memory.hpp"

namespace treille {

inline std::uint64_t product_key(std::uint32_t prefix, std::uint32_t feature) { return std::uint64_t{prefix} << 32 | feature; }

class ProductTable {
 public:
  static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

  ProductTable() { resize_slots(6); }
  // Key k has the id k; they differ. Nothing can be found before build().
  explicit ProductTable(Array<std::uint64_t> keys) : keys_(std::move(keys)) {}
  void build() {
    if (!slots_.empty()) return;
    int bits = 6;
    while (size() * 10 > (std::size_t{7} << bits)) ++bits;
    resize_slots(bits);
    try {
      for (std::size_t id = 0; id < size(); ++id) {
        poll();
        if (id + kAhead < size()) prefetch_slot(tag_of(keys_[id + kAhead]));
        place({tag_of(keys_[id]), static_cast<std::uint32_t>(id)});
      }
    } catch (...) {
      slots_.clear();
      throw;
    }
  }

  static std::uint32_t tag_of(std::uint64_t key) { return static_cast<std::uint32_t>((key ^ key >> 31) * 0x9E3779B97F4A7C15u >> 32); }

  std::size_t size() const { return keys_.size(); }
  std::uint32_t prefix(std::size_t id) const { return static_cast<std::uint32_t>(keys_[id] >> 32); }
  std::uint32_t feature(std::size_t id) const { return static_cast<std::uint32_t>(keys_[id]); }

  void prefetch_slot(std::uint32_t tag) const { request(&slots_[tag >> shift_]); }
  void prefetch_key(std::uint32_t tag) const {
    if (const Slot slot = slots_[tag >> shift_]; slot.tag == tag && slot.id != kAbsent) request(&keys_[slot.id]);
  }

  std::uint32_t find(std::uint64_t key, std::uint32_t tag) const { return slots_[slot_of(key, tag)].id; }
  std::uint32_t find(std::uint64_t key) const { return find(key, tag_of(key)); }

  std::uint32_t insert(std::uint64_t key, std::uint32_t tag) {
    Slot& slot = slots_[slot_of(key, tag)];
    if (slot.id != kAbsent) return slot.id;
    const auto id = static_cast<std::uint32_t>(size());
    slot = {tag, id};
    keys_.push_back(key);
    if (size() * 10 > slots_.size() * 7) resize_slots(bits_ + 1);
    return id;
  }
  std::uint32_t insert(std::uint64_t key) { return insert(key, tag_of(key)); }

 private:
  struct Slot {
    std::uint32_t tag, id;
  };
  static constexpr std::size_t kAhead = 24;

  // The slot of the key, or the free slot where it belongs.
  std::size_t slot_of(std::uint64_t key, std::uint32_t tag) const {
    for (std::size_t at = tag >> shift_;; at = (at + 1) & (slots_.size() - 1)) {
      const Slot slot = slots_[at];
      if (slot.id == kAbsent || (slot.tag == tag && keys_[slot.id] == key)) return at;
    }
  }
  void place(Slot slot) {
    std::size_t at = slot.tag >> shift_;
    while (slots_[at].id != kAbsent) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
  // Slots are filled in the order of the tags' high bits, so growing re-reads and re-writes memory almost in sequence.
  void resize_slots(int bits) {
    if (bits > 32) throw std::length_error("more than 3 billion distinct products of features");
    poll();
    Array<Slot> old(std::size_t{1} << bits, Slot{0, kAbsent});
    old.swap(slots_);
    bits_ = bits;
    shift_ = 32 - bits;
    for (const Slot& slot : old)
      if (slot.id != kAbsent) place(slot);
  }

  int bits_ = 0, shift_ = 0;
  Array<Slot> slots_;
  Array<std::uint64_t> keys_;  // by id
};

}  // namespace treille
