#pragma once
// The semirings of weights, as types: operations on machines are templates over them, so that each is written once.

#include <algorithm>
#include <cmath>
#include <limits>

namespace treille {

// The field of the reals: weights may be negative, as those of W' are.
struct Real {
  static constexpr double zero() { return 0; }
  static constexpr double one() { return 1; }
  static double plus(double a, double b) { return a + b; }
  static double times(double a, double b) { return a * b; }
  static double divide(double a, double b) { return a / b; }
};

// Costs -log p: plus adds the probabilities.
struct Log {
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
  static constexpr double zero() { return std::numeric_limits<double>::infinity(); }
  static constexpr double one() { return 0; }
  static double plus(double a, double b) { return std::min(a, b); }
  static double times(double a, double b) { return a + b; }
  static double divide(double a, double b) { return a - b; }
};

}  // namespace treille
