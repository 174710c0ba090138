#pragma once
// The weights of all paths between the states of a component: M* = I + M + M^2 + ..., M_ij the weight of the arcs from i to j.
// Kleene's elimination, O(n^3); over the reals it is Gauss-Jordan on I - M, without exchange of rows: the pivots are 1 - a for sums a over
// paths, no larger than those of |M|, which stay below 1 where the sum converges absolutely. Where weights of both signs converge only
// in order of length, each row is a system of its own (cycle_sums.hpp), O(n^4). Lehmann 1977.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "automata/cycle_sums.hpp"
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

// In place; false where a sum diverges.
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

// M* of n states, row by row; false where it diverges.
template <class S>
bool star(std::span<const InnerArc> arcs, std::size_t n, std::vector<double>& sums) {
  sums.assign(n * n, S::zero());
  for (const InnerArc& arc : arcs) {
    double& cell = sums[static_cast<std::size_t>(arc.source) * n + static_cast<std::size_t>(arc.target)];
    cell = S::plus(cell, arc.weight);
  }
  if constexpr (std::is_same_v<S, Real>) {
    std::vector<double> sizes(sums.size());
    std::ranges::transform(sums, sizes.begin(), [](double weight) { return std::abs(weight); });
    if (!eliminate<Real>(sizes, n) || *std::ranges::max_element(sizes) >= kLargestSum) {
      std::ranges::fill(sums, 0.0);
      for (std::size_t i = 0; i < n; ++i) {
        sums[i * n + i] = 1;
        if (!sum_cycles(Real{}, arcs, {sums.data() + i * n, n})) return false;
      }
      return true;
    }
  }
  return eliminate<S>(sums, n);
}

}  // namespace treille
