#pragma once
// Weights up to rounding: sums that cancel, and weights that count as equal.

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "automata/semiring.hpp"
#include "tag_index.hpp"

namespace treille {

// A sum of weights that knows when it has cancelled: over the reals, a sum of terms of total size z is rounding noise if it is below 2^-50
// z, as in 0.1 + 0.2 - 0.3, and counts as zero. In the other semirings nothing cancels.
template <class S>
class TermSum {
 public:
  using Weight = typename S::Weight;

  void add(Weight term) {
    using std::abs;
    value_ = S::plus(value_, term);
    if constexpr (kIsReal<S>) size_ += abs(term);
  }
  Weight value() const {
    using std::abs;
    if constexpr (kIsReal<S>)
      if (abs(value_) < 0x1p-50 * size_) return 0;
    return value_;
  }
  Weight size() const { return size_; }  // total size of the terms, over the reals

 private:
  Weight value_ = S::zero(), size_ = 0;
};

// When two weights count as equal: both fall in one cell. Over the reals the mantissa is rounded to `bits` bits, so that weights in a cell
// differ by a relative 2^-bits at most; costs are rounded to multiples of 2^-bits. Numbers that are exact, such as counts, lie in the
// middle of their cells, where noise does no harm; others may be parted by noise, which makes a machine larger, never wrong.
constexpr int kCellBits = 40;  // 9e-13

struct ScaledCell {
  std::uint64_t mantissa;
  std::int64_t exponent;
  bool operator==(const ScaledCell&) const = default;
};

inline std::uint64_t mix(std::uint64_t hash, const ScaledCell& cell) {
  return mix(mix(hash, cell.mantissa), static_cast<std::uint64_t>(cell.exponent));
}

template <class S>
auto cell(typename S::Weight weight, int bits = kCellBits) {
  if constexpr (std::is_same_v<S, ScaledReal>) {  // a mantissa that is rounded up to 1 belongs to 1/2 of the next power
    const double grid = static_cast<double>(std::uint64_t{1} << bits);
    const Scaled rounded(std::nearbyint(weight.mantissa() * grid), weight.exponent());
    return ScaledCell{std::bit_cast<std::uint64_t>(rounded.mantissa()), rounded.exponent()};
  } else if constexpr (std::is_same_v<S, Real>)
    return (std::bit_cast<std::uint64_t>(weight) + (std::uint64_t{1} << (51 - bits))) >> (52 - bits);
  else
    return std::bit_cast<std::uint64_t>(std::nearbyint(weight * static_cast<double>(std::uint64_t{1} << bits)) + 0.0);  // + 0.0: no -0
}

}  // namespace treille
