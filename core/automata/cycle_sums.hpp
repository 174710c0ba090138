#pragma once
// The weights of all paths inside a strongly connected component: d = b + d M, where b_i is the weight of what enters at its state i and
// M_ij that of its arcs from i to j. False where the sum b (I + M + M^2 + ...) diverges, that is where the spectral radius of M reaches 1.
//   real     Gaussian elimination of d (I - M) = b. Component of n states: O(n^3) time, n^2 numbers.
//   log      the same on probabilities: all are non-negative there.
//   tropical shortest paths, Bellman and Ford: O(n arcs); diverges on a cycle of negative cost.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "automata/machine.hpp"
#include "automata/semiring.hpp"
#include "memory.hpp"

namespace treille {

// An arc of a component, its states numbered from 0.
struct InnerArc {
  State source, target;
  double weight;
};

class SquareMatrix {
 public:
  explicit SquareMatrix(std::size_t n) : n_(n), cells_(n * n, 0.0) {}
  std::size_t size() const { return n_; }
  double* operator[](std::size_t row) { return cells_.data() + row * n_; }
  const double* operator[](std::size_t row) const { return cells_.data() + row * n_; }

 private:
  std::size_t n_;
  Array<double> cells_;
};

// Solves A x = b for two b at once, in place, with partial pivoting; false where A is singular.
inline bool solve_both(SquareMatrix A, std::span<double> b, std::span<double> c) {
  const std::size_t n = A.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(A[i][k]) > std::abs(A[pivot][k])) pivot = i;
    if (A[pivot][k] == 0) return false;
    if (pivot != k) {
      std::swap_ranges(A[k] + k, A[k] + n, A[pivot] + k);
      std::swap(b[k], b[pivot]);
      std::swap(c[k], c[pivot]);
    }
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = A[i][k] / A[k][k];
      if (factor == 0) continue;
      for (std::size_t j = k + 1; j < n; ++j) A[i][j] -= factor * A[k][j];
      b[i] -= factor * b[k];
      c[i] -= factor * c[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) {
      b[k] -= A[k][j] * b[j];
      c[k] -= A[k][j] * c[j];
    }
    b[k] /= A[k][k];
    c[k] /= A[k][k];
  }
  return true;
}

// 1 / (1 - radius) beyond which no digit of a sum could be trusted: weights that add up to 1 but for their rounding count as 1.
constexpr double kLargestSum = 1e14;

// d (I - M) = d, in place, for M as given by its transpose. For M >= 0 the radius is below 1 if and only if e (I - M) = 1 has a solution
// e >= 1 (Collatz, Wielandt); `converges` tells which it was.
inline bool solve_series(const SquareMatrix& transposed, std::span<double> d, bool& converges) {
  const std::size_t n = transposed.size();
  SquareMatrix A = transposed;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) A[i][j] = (i == j ? 1.0 : 0.0) - A[i][j];
  std::vector<double> ones(n, 1.0);
  const bool solved = solve_both(std::move(A), d, ones);
  converges = solved && std::ranges::all_of(ones, [](double e) { return e > 0.5 && e < kLargestSum; });
  return solved;
}

// Whether M^k -> 0, by repeated squaring: the logarithm of the norm of M^(2^k) falls below 0 if and only if it does.
inline bool powers_vanish(SquareMatrix M) {
  const std::size_t n = M.size();
  double log_norm = 0;
  for (int k = 0; k <= 40; ++k) {
    double norm = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double row = 0;
      for (std::size_t j = 0; j < n; ++j) row += std::abs(M[i][j]);
      norm = std::max(norm, row);
    }
    if (norm == 0) return true;
    log_norm = 2 * log_norm + std::log(norm);
    if (log_norm < 0) return true;
    SquareMatrix squared(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t l = 0; l < n; ++l) {
        const double factor = M[i][l] / norm;
        if (factor == 0) continue;
        for (std::size_t j = 0; j < n; ++j) squared[i][j] += factor * (M[l][j] / norm);
      }
    M = std::move(squared);
  }
  return false;
}

inline bool sum_cycles(Real, std::span<const InnerArc> arcs, std::span<double> d) {
  SquareMatrix transposed(d.size());
  for (const InnerArc& arc : arcs) transposed[static_cast<std::size_t>(arc.target)][static_cast<std::size_t>(arc.source)] += arc.weight;
  bool converges = false, signed_weights = false;
  SquareMatrix magnitudes = transposed;
  for (std::size_t i = 0; i < d.size(); ++i)
    for (std::size_t j = 0; j < d.size(); ++j) {
      signed_weights |= magnitudes[i][j] < 0;
      magnitudes[i][j] = std::abs(magnitudes[i][j]);
    }
  if (!signed_weights) return solve_series(transposed, d, converges) && converges;
  std::vector<double> unused(d.size(), 1.0);
  solve_series(magnitudes, unused, converges);
  if (!converges && !powers_vanish(transposed)) return false;
  return solve_series(transposed, d, converges);
}

inline bool sum_cycles(Log, std::span<const InnerArc> arcs, std::span<double> d) {
  SquareMatrix transposed(d.size());
  for (const InnerArc& arc : arcs)
    transposed[static_cast<std::size_t>(arc.target)][static_cast<std::size_t>(arc.source)] += std::exp(-arc.weight);
  const double least = *std::ranges::min_element(d);
  for (double& cost : d) cost = std::exp(least - cost);
  bool converges = false;
  solve_series(transposed, d, converges);
  for (double& sum : d) sum = least - std::log(std::max(sum, 0.0));
  return converges;
}

inline bool sum_cycles(Tropical, std::span<const InnerArc> arcs, std::span<double> d) {
  for (std::size_t round = 0; round <= d.size(); ++round) {
    bool better = false;
    for (const InnerArc& arc : arcs) {
      const double cost = d[static_cast<std::size_t>(arc.source)] + arc.weight;
      double& best = d[static_cast<std::size_t>(arc.target)];
      if (best - cost > 1e-13 * std::abs(cost)) {  // a gain of rounding alone would go on for ever
        best = cost;
        better = true;
      }
    }
    if (!better) return true;
  }
  return false;
}

}  // namespace treille
