#pragma once
// Sequential minimal optimisation, for support vector machines with a kernel known by its values and any kind of intercept.
//
//   min_a  1/2 a'Qa + p'a,   y'a = t,   0 <= a_i <= C_i,     Q_ij = y_i y_j K(e_i, e_j), plus d_i on the diagonal
//
// y_i is +1 or -1, e_i the example of variable i (in regression an example has two variables), t is y'a at the start. d_i > 0
// means a squared loss, linear from d_i C_i on. It is the dual of
//
//   min_{w,b}  1/2 |w|^2 + b t + sum_i loss_i(-p_i - y_i (w.x_i + b)),    loss_i(s) = max over 0 <= a <= C_i of a s - d_i a^2 / 2
//
// classification: p = -1; regression: p = eps -+ target; one class: p = 0, y = 1, t = nu n.
//
// Internally, beta = y a and g = y * gradient remove the signs:
//
//   min  1/2 beta'K beta + q'beta,   sum(beta) = t,   lo <= beta <= hi,    g = (K + d) beta + q,
//
// and a step moves beta_i up and beta_j down by the same amount. i has the lowest g of those that may rise, j gives the largest
// decrease of the objective's second-order model. A step costs two rows of K and two passes over the active variables; an epoch is
// as many steps as there are variables.
//
// The equality constraint belongs to a free b. A regularised b, which adds b^2 / (2 s) to the primal, is one more variable without
// bounds, with a row of zeros in K and d = s: the constraint makes it -sum(beta), so that s/2 beta_0^2 is what K + s adds to the dual,
// and b = -g_0 = s sum(beta). No intercept is s = 0.
// Fan, Chen, Lin, JMLR 2005 (WSS 2); Chang, Lin, "LIBSVM", section 5.1 (shrinking, reconstruction of gradients).
//
// Shrinking removes variables firmly at a bound from the active ones. Their gradients are later recomputed from the rows of the free
// variables and `bounded_`, the contribution of the variables at a bound to each example's decision value, which is kept up to date.
//
// It stops when the violation max_up(-g) - min_low(-g) is at most tol (LIBSVM's rule), or when the duality gap is at most tol of
// the primal value. The gap is a sum of one non-negative term per variable at any b. Variables correctly removed contribute nothing,
// so the gap of the active ones is measured now and then (O(n)), and the gap of all before the end.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "solve/gram_rows.hpp"
#include "solve/monitor.hpp"
#include "solve/smo_variables.hpp"

namespace treille {

struct SMOOptions {
  double tol;
  bool violation_stop;
  std::int64_t max_epochs;
  bool shrinking;
};

struct SMOSolution {
  std::vector<double> alpha;
  double b = 0;
  double primal = 0, dual = 0;
  std::vector<Moment> history;
  std::int64_t epochs = 0;
  Status status = Status::max_epochs;
};

class SMO : SMOVariables {
 public:
  SMO(GramRows& rows, std::span<const double> diagonal, const SMOProblem& problem, const SMOOptions& options, Monitor& monitor)
      : SMOVariables(problem, diagonal), rows_(rows), options_(options), monitor_(monitor), bounded_(rows.size(), 0.0) {
    if (has_intercept()) zeros_.assign(rows.size(), 0.0);
    gains_.resize(all_);
  }

  SMOSolution solve() {
    start();
    const std::int64_t n = std::max<std::int64_t>(static_cast<std::int64_t>(all_), 1), pause = std::min<std::int64_t>(n, 1000);
    std::int64_t until_check = pause;
    Status status = Status::max_epochs;
    std::int64_t steps = 0;
    for (select_first(); steps < options_.max_epochs * n; ++steps) {
      if (monitor_.stopped()) {
        status = Status::stopped;
        break;
      }
      if (--until_check <= 0) {
        until_check = pause;
        monitor_.epochs = steps / n;
        if (small_gap()) {
          if (active_ == all_) {
            status = Status::converged;
            break;
          }
          activate_all();
          if (small_gap()) {
            status = Status::converged;
            break;
          }
          trust_ *= 0.5;
        }
        if (options_.shrinking) shrink();
      }
      const Pair pair = select();
      if (pair.violation <= (options_.violation_stop ? options_.tol : kFloor * scale())) {
        if (active_ == all_) {
          status = options_.violation_stop || small_gap() ? Status::converged : Status::rounding;
          break;
        }
        activate_all();
        until_check = std::max<std::int64_t>(until_check, 2);  // one step at least with all variables active
        continue;
      }
      step(pair);
    }
    if (active_ < all_) activate_all();
    small_gap();
    return finish(status, (steps + n - 1) / n);
  }

 private:
  struct Pair {
    std::size_t i = 0, j = 0;
    double violation = 0;
    GramRows::Handle row_i;
  };

  // Row of K of a variable, held in `held`; zeros for the intercept's variable.
  const double* row(std::size_t k, GramRows::Handle& held) {
    if (k == all_) return zeros_.data();
    held = rows_.row(example_[k]);
    return held.get();
  }
  double curvature(std::size_t i, std::size_t j, const double* Ki) const {
    return diagonal_[i] + diagonal_[j] - (i == all_ || j == all_ ? 0.0 : 2 * Ki[example_[j]]);
  }
  // Replaces a curvature that is not positive, as in LIBSVM, but relative to the diagonal.
  static double positive(double curvature, double diagonal) { return std::max(curvature, kTau * (diagonal > 0 ? diagonal : 1.0)); }

  void start() {
    for (std::size_t k = 0; k < all_; ++k) {
      if (beta_[k] == 0) continue;
      const auto held = rows_.row(example_[k]);
      const double* K = held.get();
      for (std::size_t l = 0; l < all_; ++l) g_[l] += beta_[k] * K[example_[l]];
      if (options_.shrinking && at_bound(k) != 0) add_bounded(beta_[k], K);
    }
    measure_dual();
  }

  void add_bounded(double amount, const double* K) {
    for (std::size_t e = 0; e < bounded_.size(); ++e) bounded_[e] += amount * K[e];
  }

  double scale() const { return std::max(1.0, std::abs(lowest_)); }

  // first_: the variable with the lowest g of those that may rise; highest_: the highest g of those that may fall.
  void select_first() {
    lowest_ = kInfinity;
    highest_ = -kInfinity;
    if (has_intercept()) {
      lowest_ = highest_ = g_[all_];
      first_ = all_;
    }
    for (std::size_t k = 0; k < active_; ++k) {
      if (g_[k] + may_rise_[k] < lowest_) {
        lowest_ = g_[k] + may_rise_[k];
        first_ = k;
      }
      if (g_[k] + may_fall_[k] > highest_) highest_ = g_[k] + may_fall_[k];
    }
  }

  Pair select() {
    Pair pair;
    pair.violation = lowest_ < kInfinity ? std::max(highest_ - lowest_, 0.0) : 0.0;
    if (pair.violation == 0) return pair;
    pair.i = first_;
    const double* K = row(first_, pair.row_i);
    if (in_order_)
      weigh(K, [](std::size_t k) { return k; });
    else
      weigh(K, [this](std::size_t k) { return example_[k]; });
    double best = 0;
    if (has_intercept() && g_[all_] > lowest_) {
      best = (g_[all_] - lowest_) * (g_[all_] - lowest_) / positive(curvature(first_, all_, K), diagonal_[first_] + diagonal_[all_]);
      pair.j = all_;
    }
    for (std::size_t k = 0; k < active_; ++k)
      if (gains_[k] > best) {
        best = gains_[k];
        pair.j = k;
      }
    return pair;
  }

  // gains_[k]: twice the gain of a step with first_ and k by the second-order model; 0 where they are no pair. Without a branch, which
  // would be unpredictable: about half of the variables qualify.
  template <class Example>
  void weigh(const double* K, Example&& example) {
    const double own = diagonal_[first_], lowest = lowest_;
    const double *g = g_.data(), *may_fall = may_fall_.data(), *diagonal = diagonal_.data();
    double* gains = gains_.data();
    for (std::size_t k = 0; k < active_; ++k) {
      const double difference = g[k] + may_fall[k] - lowest, violation = difference > 0 ? difference : 0.0;
      const double both = own + diagonal[k];
      gains[k] = violation * violation / positive(both - 2 * K[example(k)], both);
    }
  }

  // g += amount * (Ki - Kj), for the active variables.
  template <class Example>
  void follow(double amount, const double* Ki, const double* Kj, Example&& example) {
    double* g = g_.data();
    for (std::size_t k = 0; k < active_; ++k) g[k] += amount * (Ki[example(k)] - Kj[example(k)]);
  }

  void step(const Pair& pair) {
    const std::size_t i = pair.i, j = pair.j;
    GramRows::Handle row_j;
    const double* Ki = i == all_ ? zeros_.data() : pair.row_i.get();
    const double* Kj = row(j, row_j);
    const double bend = curvature(i, j, Ki), slope = g_[j] - g_[i];
    const double up = hi_[i] - beta_[i], down = beta_[j] - lo_[j];
    const double amount = std::min({slope / positive(bend, diagonal_[i] + diagonal_[j]), up, down});
    const double before_i = at_bound(i), before_j = at_bound(j);
    beta_[i] = amount == up ? hi_[i] : beta_[i] + amount;  // bounds are met exactly
    beta_[j] = amount == down ? lo_[j] : beta_[j] - amount;
    dual_ += amount * (slope - 0.5 * amount * bend);
    mark(i);
    mark(j);
    g_[i] += amount * variables_[i].d;
    g_[j] -= amount * variables_[j].d;
    if (in_order_)
      follow(amount, Ki, Kj, [](std::size_t k) { return k; });
    else
      follow(amount, Ki, Kj, [this](std::size_t k) { return example_[k]; });
    select_first();
    if (options_.shrinking) {
      if (at_bound(i) != before_i) add_bounded(at_bound(i) - before_i, Ki);
      if (at_bound(j) != before_j) add_bounded(at_bound(j) - before_j, Kj);
    }
  }

  // Deactivates the variables at a bound whose gradient lies beyond the gradients of all possible partners.
  void shrink() {
    if (!activated_ && highest_ - lowest_ <= 10 * options_.tol && options_.violation_stop) {  // near the end all are checked once
      activated_ = true;
      activate_all();
      return;
    }
    std::vector<std::size_t> order, aside;
    for (std::size_t k = 0; k < active_; ++k) {
      const bool firm = (may_fall_[k] < 0 && g_[k] > highest_) || (may_rise_[k] > 0 && g_[k] < lowest_);
      (firm ? aside : order).push_back(k);
    }
    if (aside.empty()) return;
    active_ = order.size();
    order.insert(order.end(), aside.begin(), aside.end());
    arrange(order);
    select_first();
  }

  // Recomputes the gradients of inactive variables from the rows of the free variables or from their own rows, whichever are fewer, and
  // activates all.
  void activate_all() {
    std::vector<std::size_t> free;
    for (std::size_t k = 0; k < active_; ++k)
      if (beta_[k] > lo_[k] && beta_[k] < hi_[k]) free.push_back(k);
    for (std::size_t l = active_; l < all_; ++l) g_[l] = variables_[l].q + variables_[l].d * beta_[l] + bounded_[example_[l]];
    if (free.size() <= all_ - active_) {
      for (const std::size_t k : free) {
        const auto held = rows_.row(example_[k]);
        const double* K = held.get();
        for (std::size_t l = active_; l < all_; ++l) g_[l] += beta_[k] * K[example_[l]];
      }
    } else {
      for (std::size_t l = active_; l < all_; ++l) {
        const auto held = rows_.row(example_[l]);
        const double* K = held.get();
        for (const std::size_t k : free) g_[l] += beta_[k] * K[example_[k]];
      }
    }
    active_ = all_;
    std::vector<std::size_t> order(all_);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t k, std::size_t l) { return variables_[k].id < variables_[l].id; });
    arrange(order);
    select_first();
  }

  // Returns whether the gap of the active variables is small enough. With all active, the primal and dual values are exact.
  bool small_gap() {
    if (active_ == all_) measure_dual();
    b_ = middle();
    double gap = gap_at(b_);
    if (!options_.violation_stop && problem_.intercept > 0) {
      const double other = bias_of_least_primal(), smaller = gap_at(other);
      if (smaller < gap - 1e-12 * std::abs(dual_)) {
        b_ = other;
        gap = smaller;
      }
    }
    gap = std::max(gap, 0.0);
    primal_ = dual_ + gap;
    monitor_.relative_gap = primal_ != 0 ? gap / std::abs(primal_) : 0.0;
    if (monitor_.due()) monitor_.record(primal_, dual_);
    return !options_.violation_stop && gap <= (active_ == all_ ? 1.0 : trust_) * options_.tol * std::abs(primal_);
  }

  SMOSolution finish(Status status, std::int64_t epochs) {
    SMOSolution s;
    s.alpha.assign(problem_.y.size(), 0.0);
    for (std::size_t k = 0; k < all_; ++k) s.alpha[variables_[k].id] = variables_[k].y * beta_[k];
    s.b = b_;
    s.primal = primal_;
    s.dual = dual_;
    s.epochs = epochs;
    s.status = status;
    if (status != Status::converged && !options_.violation_stop && primal_ - dual_ <= options_.tol * std::abs(primal_))
      s.status = Status::converged;
    monitor_.record(s.primal, s.dual);
    s.history = std::move(monitor_.history);
    return s;
  }

  static constexpr double kTau = 1e-12;
  static constexpr double kFloor = 1e-13;  // a violation below this, relative to g, is rounding

  GramRows& rows_;
  const SMOOptions& options_;
  Monitor& monitor_;
  std::vector<double> bounded_;  // by example: contribution of the variables at a bound to its decision value
  std::vector<double> zeros_;    // the row of K of the intercept's variable
  std::vector<double> gains_;    // work space of select
  std::size_t first_ = 0;
  double lowest_ = 0, highest_ = 0, primal_ = 0;
  double trust_ = 1;  // share of the gap of the active variables, halved whenever the gap of all was too large
  bool activated_ = false;
};

}  // namespace treille
