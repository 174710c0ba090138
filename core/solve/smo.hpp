#pragma once
// Sequential minimal optimisation, for support vector machines with an unregularised bias and a kernel known by its values.
//
//   min_a  1/2 a'Qa + p'a,   y'a = t,   0 <= a_i <= C_i,     Q_ij = y_i y_j K(e_i, e_j), plus d_i on the diagonal
//
// y_i is +1 or -1, e_i the example that variable i belongs to (two variables an example in regression), t what the start gives. d_i > 0
// is a squared loss and comes with C_i = inf. It is the dual of
//
//   min_{w,b}  1/2 |w|^2 + b t + sum_i loss_i(-p_i - y_i (w.x_i + b)),    loss_i(s) = C_i max(0, s)  or  max(0, s)^2 / (2 d_i)
//
// classification: p = -1; regression: p = eps -+ target; one class: p = 0, y = 1, t = nu n.
//
// Inside, everything is in beta = y a and g = y * gradient: then the signs are gone,
//
//   min  1/2 beta'K beta + q'beta,   sum(beta) = t,   lo <= beta <= hi,    g = (K + d) beta + q,
//
// and a step moves beta_i up and beta_j down by the same amount. i has the lowest g of those that may rise, j gives the largest
// decrease of the objective's second-order model. A step costs two rows of K and two passes over the variables at work; an epoch is
// as many steps as there are variables.
// Fan, Chen, Lin, JMLR 2005 (WSS 2); Chang, Lin, "LIBSVM", section 5.1 (shrinking, reconstruction of gradients).
//
// Variables firmly at a bound are set aside (shrinking); their gradients are summed anew from the rows of the free variables, and
// `bounded_`, what the variables at a bound give to each example's output, which is kept up to date.
//
// It stops when the violation max_up(-g) - min_low(-g) is at most tol (LIBSVM's rule), or when the duality gap is at most tol of
// the primal value. The gap is a sum of one non-negative term per variable at any b; those set aside have none, as long as they
// belong there, so that the gap of the others is looked at now and then (O(n)), and of all before the end.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "solve/best_bias.hpp"
#include "solve/gram_rows.hpp"
#include "solve/monitor.hpp"

namespace treille {

struct SMOProblem {
  std::span<const std::int64_t> examples;  // e_i
  std::span<const double> y, p, C, d, start;
};

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
  std::int64_t epochs = 0;
  Status status = Status::max_epochs;
};

template <GramRows R>
class SMO {
 public:
  // diagonal[e] = K(e, e). Variables with C_i = 0 take no part.
  SMO(R& rows, std::span<const double> diagonal, const SMOProblem& problem, const SMOOptions& options, Monitor& monitor)
      : rows_(rows), problem_(problem), options_(options), monitor_(monitor), bounded_(rows.size(), 0.0) {
    for (std::size_t i = 0; i < problem.y.size(); ++i) {
      if (!(problem.C[i] > 0)) continue;
      const auto e = static_cast<std::size_t>(problem.examples[i]);
      const double y = problem.y[i], beta = y * problem.start[i];
      variables_.push_back({i, y, problem.C[i], problem.d[i], y * problem.p[i]});
      example_.push_back(e);
      diagonal_.push_back(diagonal[e] + problem.d[i]);
      beta_.push_back(beta);
      lo_.push_back(y > 0 ? 0.0 : -problem.C[i]);
      hi_.push_back(y > 0 ? problem.C[i] : 0.0);
      g_.push_back(y * problem.p[i] + problem.d[i] * beta);
      total_ += beta;
    }
    all_ = active_ = g_.size();
    gains_.resize(all_);
    for (std::size_t k = 0; k < all_; ++k) in_order_ &= example_[k] == k;
    may_rise_.resize(all_);
    may_fall_.resize(all_);
    for (std::size_t k = 0; k < all_; ++k) mark(k);
  }

  SMOSolution solve() {
    start();
    const std::int64_t n = std::max<std::int64_t>(static_cast<std::int64_t>(all_), 1), pause = std::min<std::int64_t>(n, 1000);
    std::int64_t until_check = pause;
    Status status = Status::max_epochs;
    std::int64_t steps = 0;
    for (select_first(); steps < options_.max_epochs * n; ++steps) {
      if (monitor_.stop.load(std::memory_order_relaxed)) {
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
          wake_all();
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
        wake_all();
        until_check = std::max<std::int64_t>(until_check, 2);  // one step at least with all awake
        continue;
      }
      step(pair);
    }
    if (active_ < all_) wake_all();
    small_gap();
    return finish(status, (steps + n - 1) / n);
  }

 private:
  struct Variable {
    std::size_t id;
    double y, C, d, q;
  };
  struct Pair {
    std::size_t i = 0, j = 0;
    double violation = 0;
    typename std::remove_cvref_t<decltype(std::declval<R&>().row(0))> row_i{};
  };

  void mark(std::size_t k) {
    may_rise_[k] = beta_[k] < hi_[k] ? 0.0 : kInfinity;
    may_fall_[k] = beta_[k] > lo_[k] ? 0.0 : -kInfinity;
  }
  // What a variable at a bound gives; 0 for the others.
  double at_bound(std::size_t k) const { return beta_[k] > lo_[k] && beta_[k] < hi_[k] ? 0.0 : beta_[k]; }

  void start() {
    for (std::size_t k = 0; k < all_; ++k) {
      if (beta_[k] == 0) continue;
      const auto held = rows_.row(example_[k]);
      const double* K = &*held;
      for (std::size_t l = 0; l < all_; ++l) g_[l] += beta_[k] * K[example_[l]];
      if (options_.shrinking && at_bound(k) != 0) add_bounded(beta_[k], K);
    }
    for (std::size_t k = 0; k < all_; ++k) dual_ -= 0.5 * beta_[k] * (g_[k] + variables_[k].q);
  }

  void add_bounded(double amount, const double* K) {
    for (std::size_t e = 0; e < bounded_.size(); ++e) bounded_[e] += amount * K[e];
  }

  double scale() const { return std::max(1.0, std::abs(lowest_)); }

  // first_: the variable with the lowest g of those that may rise; highest_: the highest g of those that may fall.
  void select_first() {
    lowest_ = kInfinity;
    highest_ = -kInfinity;
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
    pair.row_i = rows_.row(example_[first_]);
    const double* K = &*pair.row_i;
    if (in_order_)
      weigh(K, [](std::size_t k) { return k; });
    else
      weigh(K, [this](std::size_t k) { return example_[k]; });
    double best = 0;
    for (std::size_t k = 0; k < active_; ++k)
      if (gains_[k] > best) {
        best = gains_[k];
        pair.j = k;
      }
    return pair;
  }

  // gains_[k]: twice what a step with first_ and k would gain, by the second-order model; 0 where it is no pair. Without a branch: half of
  // the variables are a pair, and the other half unforeseeable.
  template <class Example>
  void weigh(const double* K, Example&& example) {
    const double own = diagonal_[first_], lowest = lowest_;
    const double *g = g_.data(), *may_fall = may_fall_.data(), *diagonal = diagonal_.data();
    double* gains = gains_.data();
    for (std::size_t k = 0; k < active_; ++k) {
      const double difference = g[k] + may_fall[k] - lowest, positive = difference > 0 ? difference : 0.0;
      const double curvature = own + diagonal[k] - 2 * K[example(k)];
      gains[k] = positive * positive / (curvature > kTau ? curvature : kTau);
    }
  }

  // g += amount * (Ki - Kj), for those at work.
  template <class Example>
  void follow(double amount, const double* Ki, const double* Kj, Example&& example) {
    double* g = g_.data();
    for (std::size_t k = 0; k < active_; ++k) g[k] += amount * (Ki[example(k)] - Kj[example(k)]);
  }

  void step(const Pair& pair) {
    const std::size_t i = pair.i, j = pair.j;
    const auto row_j = rows_.row(example_[j]);
    const double* Ki = &*pair.row_i;
    const double* Kj = &*row_j;
    const double curvature = std::max(diagonal_[i] + diagonal_[j] - 2 * Ki[example_[j]], kTau), slope = g_[j] - g_[i];
    const double up = hi_[i] - beta_[i], down = beta_[j] - lo_[j];
    const double amount = std::min({slope / curvature, up, down});
    const double before_i = at_bound(i), before_j = at_bound(j);
    beta_[i] = amount == up ? hi_[i] : beta_[i] + amount;  // bounds are met exactly
    beta_[j] = amount == down ? lo_[j] : beta_[j] - amount;
    dual_ += amount * (slope - 0.5 * amount * (diagonal_[i] + diagonal_[j] - 2 * Ki[example_[j]]));
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

  // Sets aside the variables at a bound whose gradient lies beyond those of all that could be their partner.
  void shrink() {
    if (!woken_ && highest_ - lowest_ <= 10 * options_.tol && options_.violation_stop) {  // near the end all are looked at once
      woken_ = true;
      wake_all();
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

  // Puts variable order[k] at place k, for the first order.size() places. Those at work stay in the order of their examples: rows of K are
  // then read straight on, and the memory keeps up.
  void arrange(const std::vector<std::size_t>& order) {
    auto permute = [&](auto& each) {
      const auto before = each;
      for (std::size_t k = 0; k < order.size(); ++k) each[k] = before[order[k]];
    };
    permute(variables_);
    permute(example_);
    for (std::vector<double>* each : {&diagonal_, &beta_, &lo_, &hi_, &g_, &may_rise_, &may_fall_}) permute(*each);
    in_order_ = true;
    for (std::size_t k = 0; k < active_; ++k) in_order_ &= example_[k] == k;
  }

  // Gradients of those set aside, by the rows of the free variables or by their own, whichever are fewer; then all are at work.
  void wake_all() {
    std::vector<std::size_t> free;
    for (std::size_t k = 0; k < active_; ++k)
      if (beta_[k] > lo_[k] && beta_[k] < hi_[k]) free.push_back(k);
    for (std::size_t l = active_; l < all_; ++l) g_[l] = variables_[l].q + variables_[l].d * beta_[l] + bounded_[example_[l]];
    if (free.size() <= all_ - active_) {
      for (const std::size_t k : free) {
        const auto held = rows_.row(example_[k]);
        const double* K = &*held;
        for (std::size_t l = active_; l < all_; ++l) g_[l] += beta_[k] * K[example_[l]];
      }
    } else {
      for (std::size_t l = active_; l < all_; ++l) {
        const auto held = rows_.row(example_[l]);
        const double* K = &*held;
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

  // slack at b: -y (r + b), where r = w.x + q
  double r(std::size_t k) const { return g_[k] - variables_[k].d * beta_[k]; }
  double loss(const Variable& v, double slack) const {
    if (slack <= 0) return 0;
    return v.d > 0 ? slack * slack / (2 * v.d) : v.C * slack;
  }
  double gap_at(double b) const {
    double gap = 0;
    for (std::size_t k = 0; k < active_; ++k) {
      const Variable& v = variables_[k];
      const double slack = -v.y * (r(k) + b);
      gap += loss(v, slack) + beta_[k] * (r(k) + b) + 0.5 * v.d * beta_[k] * beta_[k];
    }
    return gap;
  }

  // Whether the gap of those at work is small enough. With all at work, the primal and dual values are exact.
  bool small_gap() {
    if (active_ == all_) {
      dual_ = 0;
      for (std::size_t k = 0; k < all_; ++k) dual_ -= 0.5 * beta_[k] * (g_[k] + variables_[k].q);
    }
    b_ = middle();
    double gap = gap_at(b_);
    if (!options_.violation_stop) {
      const double other = bias_of_least_primal(), smaller = gap_at(other);
      if (smaller < gap - 1e-12 * std::abs(dual_)) {
        b_ = other;
        gap = smaller;
      }
    }
    gap = std::max(gap, 0.0);
    primal_ = dual_ + gap;
    monitor_.relative_gap = primal_ != 0 ? gap / std::abs(primal_) : 0.0;
    return !options_.violation_stop && gap <= (active_ == all_ ? 1.0 : trust_) * options_.tol * std::abs(primal_);
  }

  // LIBSVM's bias: -g is the same for all free variables at the optimum; without any, the middle of what is allowed.
  double middle() const {
    double sum = 0, low = -kInfinity, high = kInfinity;
    std::int64_t count = 0;
    for (std::size_t k = 0; k < active_; ++k) {
      const bool rises = beta_[k]<hi_[k], falls = beta_[k]> lo_[k];
      if (rises && falls) {
        sum -= g_[k];
        ++count;
      } else if (rises) {
        low = std::max(low, -g_[k]);
      } else {
        high = std::min(high, -g_[k]);
      }
    }
    if (count > 0) return sum / static_cast<double>(count);
    if (low > -kInfinity && high < kInfinity) return 0.5 * (low + high);
    return low > -kInfinity ? low : high < kInfinity ? high : 0.0;
  }

  // argmin_b of the primal, w fixed. Its slope is t - sum_i y_i loss_i'(slack_i). Those set aside are at a bound and stay on their side.
  double bias_of_least_primal() {
    Line line{total_, 0};
    for (std::size_t k = active_; k < all_; ++k) line.constant -= beta_[k];  // at 0, or at y C with a positive slack
    undecided_.resize(active_);
    std::iota(undecided_.begin(), undecided_.end(), std::size_t{0});
    return best_bias(
        b_, line, undecided_, [&](std::size_t k, double b) { return -variables_[k].y * (r(k) + b) > 0 ? 1 : 0; },
        [&](std::size_t k, int positive) -> Line {
          const Variable& v = variables_[k];
          if (!positive) return {0, 0};
          return v.d > 0 ? Line{r(k) / v.d, 1 / v.d} : Line{-v.y * v.C, 0};
        });
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
    return s;
  }

  static constexpr double kTau = 1e-12;    // stands for a curvature that is not positive, as in LIBSVM
  static constexpr double kFloor = 1e-13;  // a violation below this, relative to g, is rounding
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  R& rows_;
  const SMOProblem& problem_;
  const SMOOptions& options_;
  Monitor& monitor_;
  std::vector<Variable> variables_;  // those at work first; all vectors are in this order
  std::vector<std::size_t> example_;
  std::vector<double> diagonal_, beta_, lo_, hi_, g_;
  std::vector<double> may_rise_, may_fall_;  // 0, or an infinity that takes the variable out of the search
  std::vector<double> bounded_;              // by example: what the variables at a bound give to its output
  std::vector<double> gains_;                // work space of select
  std::vector<std::size_t> undecided_;       // work space of best_bias
  std::size_t all_ = 0, active_ = 0, first_ = 0;
  double total_ = 0;  // t
  double lowest_ = 0, highest_ = 0, dual_ = 0, primal_ = 0, b_ = 0;
  double trust_ = 1;  // in the gap of those at work, halved each time that of all was larger than asked for
  bool woken_ = false;
  bool in_order_ = true;  // variable k belongs to example k: rows are read straight on
};

}  // namespace treille
