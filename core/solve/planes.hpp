#pragma once
// The two small problems of a round of cutting planes, see solvers/cutting_plane.py: how to mix the planes, and how far to go.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "solve/best_bias.hpp"
#include "solve/losses.hpp"

namespace treille {

// The best mixture of planes:  min_a  1/2 a'Ga - b'a,   a >= 0,  sum(a) = 1,   G_st = g_s.g_t.
// With r = Ga - b its duality gap is  sum_t a_t r_t - min_t r_t.
//
// An active-set method: the plane of the lowest r joins those that have weight; a Newton step goes to the best mixture of these, or as far
// as all weights stay positive, and then without the first that would not. Planes grow nearly alike towards the end, so G is nearly
// singular: too small a pivot is raised, which leaves a direction downhill, and the next step corrects it.
// A step costs s^3 / 6 for s planes with weight, and their share of G.
class PlaneMixture {
 public:
  PlaneMixture(std::span<const double> G, std::span<const double> b) : G_(G), b_(b), r_(b.size()) {}

  // Starts from `a`, made feasible, and ends at a gap of `tol` or where rounding allows no better.
  void solve(std::span<double> a, double tol) {
    const std::size_t n = b_.size();
    for (std::size_t step = 0; step < 100 + 10 * n; ++step) {
      refresh(a);
      const auto lowest = static_cast<std::size_t>(std::min_element(r_.begin(), r_.end()) - r_.begin());
      if (std::inner_product(a.begin(), a.end(), r_.begin(), 0.0) - r_[lowest] <= tol) return;
      free_.clear();
      for (std::size_t t = 0; t < n; ++t)
        if (a[t] > 0 || t == lowest) free_.push_back(t);
      while (free_.size() > 1 && !newton_step(a)) refresh(a);
    }
  }

 private:
  double G(std::size_t s, std::size_t t) const { return G_[s * b_.size() + t]; }

  // Puts `a` back on the simplex, off which rounding drives it, and takes r anew.
  void refresh(std::span<double> a) {
    double sum = 0;
    for (double& weight : a) sum += weight = std::max(weight, 0.0);
    for (double& weight : a) weight /= sum;
    for (std::size_t t = 0; t < r_.size(); ++t) r_[t] = std::inner_product(a.begin(), a.end(), &G_[t * r_.size()], -b_[t]);
  }

  // Moves towards the best mixture of the free planes; false if one of them was dropped on the way. In differences to the plane p of
  // most weight the sum stays 1:  M_st = (g_s - g_p).(g_t - g_p),  M d = -(r - r_p),  d_p = -sum(d).
  bool newton_step(std::span<double> a) {
    const auto at = std::max_element(free_.begin(), free_.end(), [&](std::size_t s, std::size_t t) { return a[s] < a[t]; });
    std::iter_swap(at, free_.end() - 1);
    const std::size_t m = free_.size() - 1, p = free_[m];
    M_.resize(m * m);
    d_.resize(m + 1);
    for (std::size_t i = 0; i < m; ++i) {
      const std::size_t s = free_[i];
      d_[i] = r_[p] - r_[s];
      for (std::size_t j = i; j < m; ++j) M_[i * m + j] = (G(s, free_[j]) - G(s, p)) + (G(p, p) - G(p, free_[j]));
    }
    factor_and_solve(m);
    d_[m] = -std::accumulate(d_.begin(), d_.end() - 1, 0.0);
    double downhill = 0, curvature = 0;
    for (std::size_t i = 0; i <= m; ++i) {
      downhill -= d_[i] * r_[free_[i]];
      for (std::size_t j = 0; j <= m; ++j) curvature += d_[i] * d_[j] * G(free_[i], free_[j]);
    }
    if (!(downhill > 0)) return true;
    double step = curvature > 0 ? downhill / curvature : std::numeric_limits<double>::infinity();
    std::size_t gone = m + 1;
    for (std::size_t i = 0; i <= m; ++i)
      if (d_[i] < 0 && -a[free_[i]] / d_[i] < step) {
        step = -a[free_[i]] / d_[i];
        gone = i;
      }
    for (std::size_t i = 0; i <= m; ++i) a[free_[i]] += step * d_[i];
    if (gone > m) return true;
    a[free_[gone]] = 0;
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(gone));
    return false;
  }

  // d_ <- M_^-1 d_ on the first m entries, by Cholesky: M_, of which the upper half is read, becomes U with U'U = M_.
  void factor_and_solve(std::size_t m) {
    double largest = 0;
    for (std::size_t i = 0; i < m; ++i) largest = std::max(largest, M_[i * m + i]);
    const double least = largest > 0 ? kLeastPivot * largest : 1.0;
    for (std::size_t j = 0; j < m; ++j) {
      double* row = &M_[j * m];
      const double root = std::sqrt(std::max(row[j], least));
      for (std::size_t k = j; k < m; ++k) row[k] /= root;
      row[j] = root;
      d_[j] /= root;
      for (std::size_t i = j + 1; i < m; ++i) {
        const double factor = row[i];
        d_[i] -= factor * d_[j];
        for (std::size_t k = i; k < m; ++k) M_[i * m + k] -= factor * row[k];
      }
    }
    for (std::size_t j = m; j-- > 0;) {
      const double* row = &M_[j * m];
      d_[j] = (d_[j] - std::inner_product(row + j + 1, row + m, d_.begin() + static_cast<std::ptrdiff_t>(j) + 1, 0.0)) / row[j];
    }
  }

  static constexpr double kLeastPivot = 1e-13;

  std::span<const double> G_, b_;
  std::vector<double> r_, M_, d_;
  std::vector<std::size_t> free_;
};

// argmin_k of  1/2 |w + k v|^2 + sum_i loss_i(f_i + k d_i)  over all k, where `norm` is the slope of the first term by k.
// Exact, by the pieces of the losses: O(n), mostly.
// Franc, Sonnenburg, "Optimized cutting plane algorithm for large-scale risk minimization", JMLR 2009, section 3.1.
template <PiecewiseQuadraticLoss Loss>
double best_step(const Loss& loss, Line norm, std::span<const double> f, std::span<const double> d) {
  std::vector<std::size_t> undecided;
  for (std::size_t i = 0; i < f.size(); ++i)
    if (loss.target(i).C() > 0 && d[i] != 0) undecided.push_back(i);
  return best_bias(
      1.0, norm, undecided, [&](std::size_t i, double k) { return loss.piece(loss.target(i), f[i] + k * d[i]); },
      [&](std::size_t i, int piece) -> Line {
        const Line slope = loss.slope(loss.target(i), piece);
        return {d[i] * (slope.constant + slope.factor * f[i]), d[i] * slope.factor * d[i]};
      });
}

}  // namespace treille
