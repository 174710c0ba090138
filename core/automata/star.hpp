#pragma once
// The star of a square matrix of weights, M* = I + M + M^2 + ...: what all paths inside a component sum to. Kleene's elimination,
// O(n^3) in place; over the reals it is Gauss-Jordan on I - M. A sum over paths has no order, so it must converge absolutely: over the
// reals the spectral radius of |M| must be below 1. What the pivots of M hold are sums over paths too, no larger than those of |M|, which
// then stay below 1: no row need be exchanged. Lehmann 1977.

#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "automata/semiring.hpp"

namespace treille {

// 1 + a + a^2 + ...; false where it diverges.
inline bool star(Real, double a, double& sum) {
  sum = 1 / (1 - a);
  return std::abs(a) < 1;
}
inline bool star(Log, double a, double& sum) {
  sum = std::log1p(-std::exp(-a));
  return a > 0;
}
inline bool star(Tropical, double a, double& sum) {
  sum = 0;
  return a >= 0;
}

template <class S>
bool eliminate(std::vector<double>& matrix, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    double loops;
    if (!star(S{}, matrix[k * n + k], loops)) return false;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k || matrix[i * n + k] == S::zero()) continue;
      const double to = S::times(matrix[i * n + k], loops);
      for (std::size_t j = 0; j < n; ++j)
        if (j != k) matrix[i * n + j] = S::plus(matrix[i * n + j], S::times(to, matrix[k * n + j]));
      matrix[i * n + k] = to;
    }
    for (std::size_t j = 0; j < n; ++j)
      if (j != k) matrix[k * n + j] = S::times(loops, matrix[k * n + j]);
    matrix[k * n + k] = loops;
  }
  return true;
}

// M (row by row) becomes M*; false where the sum diverges.
template <class S>
bool star(std::vector<double>& matrix, std::size_t n) {
  if constexpr (std::is_same_v<S, Real>) {
    std::vector<double> sizes(matrix.size());
    for (std::size_t k = 0; k < matrix.size(); ++k) sizes[k] = std::abs(matrix[k]);
    if (sizes != matrix && !eliminate<Real>(sizes, n)) return false;
  }
  return eliminate<S>(matrix, n);
}

}  // namespace treille
