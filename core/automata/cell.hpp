#pragma once
// When two weights count as equal: both fall in one cell. Over the reals the mantissa is rounded to `bits` bits, so that weights in a cell
// differ by a relative 2^-bits at most; costs are rounded to multiples of 2^-bits. Numbers that are exact, such as counts, lie in the
// middle of their cells, where noise does no harm; others may be parted by noise, which makes a machine larger, never wrong.

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "automata/semiring.hpp"

namespace treille {

constexpr int kCellBits = 40;  // 9e-13

template <class S>
std::uint64_t cell(double weight, int bits = kCellBits) {
  if constexpr (std::is_same_v<S, Real>)
    return (std::bit_cast<std::uint64_t>(weight) + (std::uint64_t{1} << (51 - bits))) >> (52 - bits);
  else
    return std::bit_cast<std::uint64_t>(std::nearbyint(weight * static_cast<double>(std::uint64_t{1} << bits)) + 0.0);  // + 0.0: no -0
}

}  // namespace treille
