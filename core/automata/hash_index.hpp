#pragma once
// Numbers 0, 1, 2, ... by the 64-bit hash of what they stand for, which the caller holds and compares: open addressing, at most half full.

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>

#include "automata/machine.hpp"
#include "memory.hpp"

namespace treille {

inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

class HashIndex {
 public:
  // The number with this hash for which same(number) holds; where there is none, the next, size() as it was, is entered and returned.
  template <class Same>
  State find_or_add(std::uint64_t hash, Same&& same) {
    std::size_t at = static_cast<std::size_t>(hash >> shift_);
    for (; slots_[at].number >= 0; at = (at + 1) & mask_)
      if (slots_[at].hash == hash && same(slots_[at].number)) return slots_[at].number;
    if (size_ == std::numeric_limits<State>::max()) throw std::length_error("the result has more than 2^31 - 1 states");
    slots_[at] = {hash, size_};
    if (2 * ++entered_ > slots_.size()) grow();
    return size_++;
  }

  // Enters the next number without a hash: it is never found.
  State add() {
    if (size_ == std::numeric_limits<State>::max()) throw std::length_error("the result has more than 2^31 - 1 states");
    return size_++;
  }

  void prefetch(std::uint64_t hash) const { request(&slots_[static_cast<std::size_t>(hash >> shift_)]); }

  State size() const { return size_; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    State number = -1;
  };

  void grow() {
    const Array<Slot> old = std::exchange(slots_, Array<Slot>(2 * slots_.size()));
    --shift_;
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.number < 0) continue;
      std::size_t at = static_cast<std::size_t>(slot.hash >> shift_);
      while (slots_[at].number >= 0) at = (at + 1) & mask_;
      slots_[at] = slot;
    }
  }

  State size_ = 0;
  std::size_t entered_ = 0;
  int shift_ = 64 - 8;
  std::size_t mask_ = 255;
  Array<Slot> slots_ = Array<Slot>(256);
};

}  // namespace treille
