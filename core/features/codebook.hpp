#pragma once
// The distinct values of coded rows (coded_rows.hpp): an entry holds the code of its value.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>

#include "memory.hpp"

namespace treille {

// Codes by order of first appearance. Where most values differ, those of a row are neighbours in the codebook, so that reading
// the row reads one run of memory. Open addressing, at most half full.
class Codebook {
 public:
  std::uint32_t code_of(double value) {
    std::size_t slot = first_slot(value);
    for (; codes_[slot] != kFree; slot = (slot + 1) & (codes_.size() - 1))
      if (values_[codes_[slot]] == value) return codes_[slot];
    if (values_.size() + 1 >= kFree) throw std::length_error("more than 2^32 distinct values");
    const auto code = static_cast<std::uint32_t>(values_.size());
    codes_[slot] = code;
    values_.push_back(value);
    if (2 * values_.size() > codes_.size()) grow();
    return code;
  }

  // Adds the values of another codebook; returns their codes here. Codebooks of contiguous parts of the rows, added from the first
  // to the last, give the codes of all rows read at once.
  Array<std::uint32_t> add(const Codebook& other) {
    Array<std::uint32_t> codes(other.size());
    for (std::size_t code = 0; code < codes.size(); ++code) codes[code] = code_of(other.values_[code]);
    return codes;
  }

  std::size_t size() const { return values_.size(); }
  double operator[](std::size_t code) const { return values_[code]; }
  // How many bits the codes need.
  int bits() const { return static_cast<int>(std::bit_width(std::max<std::size_t>(size(), 2) - 1)); }
  Buffer<double> values() const {
    Buffer<double> copy(size());
    std::copy(values_.begin(), values_.end(), copy.data());
    return copy;
  }

 private:
  static constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();

  std::size_t first_slot(double value) const { return std::bit_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15u >> shift_; }
  void grow() {
    codes_.assign(2 * codes_.size(), kFree);
    --shift_;
    for (std::uint32_t code = 0; code < values_.size(); ++code) {
      std::size_t slot = first_slot(values_[code]);
      while (codes_[slot] != kFree) slot = (slot + 1) & (codes_.size() - 1);
      codes_[slot] = code;
    }
  }

  int shift_ = 64 - 8;
  Array<std::uint32_t> codes_ = Array<std::uint32_t>(256, kFree);
  Array<double> values_;
};

}  // namespace treille
