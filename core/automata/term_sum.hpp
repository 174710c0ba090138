#pragma once
// A sum of weights that knows when it has cancelled: over the reals, what is left of terms of total size z is noise of rounding when it is
// below 2^-50 z, as in 0.1 + 0.2 - 0.3, and counts as zero. The other semirings have nothing that cancels.

#include <cmath>
#include <type_traits>

#include "automata/semiring.hpp"

namespace treille {

template <class S>
class TermSum {
 public:
  void add(double term) {
    value_ = S::plus(value_, term);
    if constexpr (std::is_same_v<S, Real>) size_ += std::abs(term);
  }
  double value() const {
    if constexpr (std::is_same_v<S, Real>)
      if (std::abs(value_) < 0x1p-50 * size_) return 0;
    return value_;
  }
  double size() const { return size_; }  // of the terms together, over the reals

 private:
  double value_ = S::zero(), size_ = 0;
};

}  // namespace treille
