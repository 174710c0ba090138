#pragma once
// The semirings of weights, as types: operations on machines are templates over them, so that each is written once.

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "automata/scaled.hpp"

namespace treille {

// The field of the reals: weights may be negative, as those of W' are.
template <class W>
struct Field {
  using Weight = W;
  static constexpr W zero() { return 0; }
  static constexpr W one() { return 1; }
  static W plus(W a, W b) { return a + b; }
  static W times(W a, W b) { return a * b; }
  static W divide(W a, W b) { return a / b; }
};
using Real = Field<double>;
using ScaledReal = Field<Scaled>;  // for intermediate numbers that doubles cannot hold (in_range.hpp)

template <class S>
constexpr bool kIsReal = std::is_same_v<S, Real> || std::is_same_v<S, ScaledReal>;

// Costs -log p: plus adds the probabilities.
struct Log {
  using Weight = double;
  static constexpr double zero() { return std::numeric_limits<double>::infinity(); }
  static constexpr double one() { return 0; }
  static double plus(double a, double b) {
    const double least = std::min(a, b), most = std::max(a, b);
    return most == zero() ? least : least - std::log1p(std::exp(least - most));
  }
  static double times(double a, double b) { return a + b; }
  static double divide(double a, double b) { return a - b; }
};

// Costs of which the least counts: shortest paths.
struct Tropical {
  using Weight = double;
  static constexpr double zero() { return std::numeric_limits<double>::infinity(); }
  static constexpr double one() { return 0; }
  static double plus(double a, double b) { return std::min(a, b); }
  static double times(double a, double b) { return a + b; }
  static double divide(double a, double b) { return a - b; }
};

}  // namespace treille
