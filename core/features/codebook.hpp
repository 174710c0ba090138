#pragma once
// The distinct values of coded rows (coded_rows.hpp): an entry holds the code of its value.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "memory.hpp"
#include "tag_index.hpp"

namespace treille {

// Codes in order of first appearance. If most values differ, the values of a row are neighbours in the codebook, so that reading
// the row reads one run of memory.
class Codebook {
 public:
  std::uint32_t code_of(double value) {
    return index_.find_or_add(
        tag_of(std::bit_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15u), [&](std::uint32_t code) { return values_[code] == value; },
        [&] { values_.push_back(value); });
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
  // The number of bits that the codes need.
  int bits() const { return static_cast<int>(std::bit_width(std::max<std::size_t>(size(), 2) - 1)); }
  Buffer<double> values() const {
    Buffer<double> copy(size());
    std::copy(values_.begin(), values_.end(), copy.data());
    return copy;
  }

 private:
  TagIndex index_{"values"};
  Array<double> values_;
};

}  // namespace treille
