#pragma once
// Whole numbers in as many bits each as the largest needs; written once, from the first to the last, and read in any order.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "memory.hpp"

namespace treille {

class Packed {
 public:
  Packed() : Packed(0, 0) {}
  Packed(std::size_t size, std::uint64_t largest) : bits_(std::bit_width(largest)), words_((size * at(bits_) + 63) / 64 + 1, 0) {}

  std::uint64_t operator[](std::size_t i) const {
    const std::size_t bit = i * at(bits_), word = bit / 64, shift = bit % 64;
    const std::uint64_t low = words_[word] >> shift, high = shift == 0 ? 0 : words_[word + 1] << (64 - shift);
    return (low | high) & ((std::uint64_t{1} << bits_) - 1);
  }
  // Entry i, which has not been written before; at most 63 bits.
  void write(std::size_t i, std::uint64_t value) {
    const std::size_t bit = i * at(bits_), word = bit / 64, shift = bit % 64;
    words_[word] |= value << shift;
    if (shift > 0) words_[word + 1] |= value >> (64 - shift);
  }
  // The first of the entries from `first` to `last`, which rise, that is above `value`; `last` where none is.
  std::size_t upper_bound(std::size_t first, std::size_t last, std::uint64_t value) const {
    while (first < last) {
      const std::size_t middle = (first + last) / 2;
      ((*this)[middle] > value ? last : first) = (*this)[middle] > value ? middle : middle + 1;
    }
    return first;
  }
  std::size_t n_bytes() const { return 8 * words_.size(); }

 private:
  static std::size_t at(int bits) { return static_cast<std::size_t>(bits); }

  int bits_;
  Array<std::uint64_t> words_;
};

}  // namespace treille
