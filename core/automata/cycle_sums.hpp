#pragma once
// The weights of all paths inside a strongly connected component: d = b + d M, where b_i is the weight that enters at state i and M_ij the
// weight of the arcs from i to j. False where the sum b (I + M + M^2 + ...) diverges, that is where the spectral radius of M reaches 1.
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
template <class W>
struct InnerArc {
  State source, target;
  W weight;
};

template <class W>
class SquareMatrix {
 public:
  explicit SquareMatrix(std::size_t n) : n_(n), cells_(n * n, W{}) {}
  std::size_t size() const { return n_; }
  W* operator[](std::size_t row) { return cells_.data() + row * n_; }
  const W* operator[](std::size_t row) const { return cells_.data() + row * n_; }

 private:
  std::size_t n_;
  Array<W> cells_;
};

// Solves A x = b for two b at once, in place, with partial pivoting; false where A is singular.
template <class W>
bool solve_both(SquareMatrix<W> A, std::span<W> b, std::span<W> c) {
  using std::abs;
  const std::size_t n = A.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (abs(A[i][k]) > abs(A[pivot][k])) pivot = i;
    if (A[pivot][k] == W{}) return false;
    if (pivot != k) {
      std::swap_ranges(A[k] + k, A[k] + n, A[pivot] + k);
      std::swap(b[k], b[pivot]);
      std::swap(c[k], c[pivot]);
    }
    for (std::size_t i = k + 1; i < n; ++i) {
      const W factor = A[i][k] / A[k][k];
      if (factor == W{}) continue;
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

// The largest 1 / (1 - a), a the sum over all ways from a state back to it, at which digits of a sum can be trusted: weights that
// add up to 1 up to rounding count as 1.
constexpr double kLargestSum = 1e14;

// 1 + a + a^2 + ...; false where it diverges.
template <class W>
bool star(Field<W>, const W& a, W& sum) {
  using std::abs;
  sum = 1.0 / (1.0 - a);
  return abs(a) < W(1.0) && abs(sum) < W(kLargestSum);
}
inline bool star(Log, double a, double& sum) {
  sum = std::log1p(-std::exp(-a));
  return a > 0;
}
inline bool star(Tropical, double a, double& sum) {
  sum = 0;
  return a >= 0;
}

// I + M + M^2 + ..., in place, row by row; false where a sum diverges. Kleene's elimination, O(n^3); over the reals it is Gauss-Jordan on
// I - M without exchange of rows: the pivots are 1 - a for sums a over paths, no larger than the sums for |M|, which stay below 1 if the
// sum converges absolutely. Lehmann 1977.
template <class S>
bool eliminate(std::vector<typename S::Weight>& matrix, std::size_t n) {
  using W = typename S::Weight;
  for (std::size_t k = 0; k < n; ++k) {
    W loops;
    if (!star(S{}, matrix[k * n + k], loops)) return false;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k || matrix[i * n + k] == S::zero()) continue;
      const W to = S::times(matrix[i * n + k], loops);
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

// Tests whether the sum of |weights| over all paths converges. The weight of all ways from a state back to itself, unlike the weight of
// ways to another state, does not depend on how the weight of a cycle is distributed over its arcs.
template <class W>
bool converges_absolutely(std::span<const InnerArc<W>> arcs, std::size_t n) {
  using std::abs;
  std::vector<W> sizes(n * n, W{});
  for (const auto& arc : arcs) sizes[static_cast<std::size_t>(arc.source) * n + static_cast<std::size_t>(arc.target)] += arc.weight;
  for (W& size : sizes) size = abs(size);
  if (!eliminate<Field<W>>(sizes, n)) return false;
  for (std::size_t i = 0; i < n; ++i)
    if (sizes[i * n + i] >= W(kLargestSum)) return false;
  return true;
}

// d (I - M) = d, in place, for M as given by its transpose. For M >= 0 the radius is below 1 if and only if e (I - M) = 1 has a solution
// e >= 1 (Collatz, Wielandt); `converges` tells which it was.
template <class W>
bool solve_series(const SquareMatrix<W>& transposed, std::span<W> d, bool& converges) {
  const std::size_t n = transposed.size();
  SquareMatrix<W> A = transposed;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) A[i][j] = W(i == j ? 1.0 : 0.0) - A[i][j];
  std::vector<W> ones(n, W(1.0));
  const bool solved = solve_both<W>(std::move(A), d, ones);
  converges = solved && std::ranges::all_of(ones, [](const W& e) { return e > W(0.5) && e < W(kLargestSum); });
  return solved;
}

// Tests whether M^k -> 0, by repeated squaring: the logarithm of the norm of M^(2^k) falls below any bound if and only if it does.
template <class W>
bool powers_vanish(SquareMatrix<W> M) {
  using std::abs, std::log;
  const std::size_t n = M.size();
  double log_norm = 0;
  for (int k = 0; k <= 40; ++k) {
    W norm = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      W row = 0.0;
      for (std::size_t j = 0; j < n; ++j) row += abs(M[i][j]);
      if (norm < row) norm = row;
    }
    if (norm == W{}) return true;
    log_norm = 2 * log_norm + log(norm);
    if (log_norm < -1) return true;  // not 0: there rounding would decide for radius 1
    SquareMatrix<W> squared(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t l = 0; l < n; ++l) {
        const W factor = M[i][l] / norm;
        if (factor == W{}) continue;
        for (std::size_t j = 0; j < n; ++j) squared[i][j] += factor * (M[l][j] / norm);
      }
    M = std::move(squared);
  }
  return false;
}

template <class W>
bool sum_cycles(Field<W>, std::span<const InnerArc<W>> arcs, std::span<W> d) {
  using std::abs;
  SquareMatrix<W> transposed(d.size());
  for (const auto& arc : arcs) transposed[static_cast<std::size_t>(arc.target)][static_cast<std::size_t>(arc.source)] += arc.weight;
  bool converges = false, signed_weights = false;
  SquareMatrix<W> magnitudes = transposed;
  for (std::size_t i = 0; i < d.size(); ++i)
    for (std::size_t j = 0; j < d.size(); ++j) {
      signed_weights |= magnitudes[i][j] < W{};
      magnitudes[i][j] = abs(magnitudes[i][j]);
    }
  if (!signed_weights) return solve_series<W>(transposed, d, converges) && (converges || converges_absolutely(arcs, d.size()));
  std::vector<W> unused(d.size(), W(1.0));
  solve_series<W>(magnitudes, unused, converges);
  if (!converges && !converges_absolutely(arcs, d.size()) && !powers_vanish(transposed)) return false;
  return solve_series<W>(transposed, d, converges);
}

inline bool sum_cycles(Log, std::span<const InnerArc<double>> arcs, std::span<double> d) {
  SquareMatrix<double> transposed(d.size());
  for (const auto& arc : arcs)
    transposed[static_cast<std::size_t>(arc.target)][static_cast<std::size_t>(arc.source)] += std::exp(-arc.weight);
  const double least = *std::ranges::min_element(d);
  for (double& cost : d) cost = std::exp(least - cost);
  bool converges = false;
  solve_series<double>(transposed, d, converges);
  for (double& sum : d) sum = least - std::log(std::max(sum, 0.0));
  return converges;
}

inline bool sum_cycles(Tropical, std::span<const InnerArc<double>> arcs, std::span<double> d) {
  for (std::size_t round = 0; round <= d.size(); ++round) {
    bool better = false;
    for (const auto& arc : arcs) {
      const double cost = d[static_cast<std::size_t>(arc.source)] + arc.weight;
      double& best = d[static_cast<std::size_t>(arc.target)];
      if (best - cost > 1e-13 * std::abs(cost)) {  // gains by rounding alone would never end
        best = cost;
        better = true;
      }
    }
    if (!better) return true;
  }
  return false;
}

}  // namespace treille
