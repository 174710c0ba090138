#pragma once
// The variables of SMO (smo.hpp) with their bounds and gradients, and the intercept and the gap at them.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "solve/best_bias.hpp"

namespace treille {

struct SMOProblem {
  std::span<const std::int64_t> examples;  // e_i
  std::span<const double> y, p, C, d, start;
  double intercept;  // s; infinity: b is free
};

class SMOVariables {
 protected:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  struct Variable {
    std::size_t id;
    double y, C, d, q;
  };
  // diagonal[e] = K(e, e). Variables with C_i = 0 take no part.
  SMOVariables(const SMOProblem& problem, std::span<const double> diagonal) : problem_(problem) {
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
    if (has_intercept()) {  // at index all_, after the variables of examples
      const double s = problem.intercept, beta = -total_;
      variables_.push_back({0, 1.0, kInfinity, s, 0.0});
      example_.push_back(0);  // not read
      diagonal_.push_back(s);
      beta_.push_back(beta);
      lo_.push_back(-kInfinity);
      hi_.push_back(kInfinity);
      g_.push_back(s * beta);
      total_ = 0;
    }
    for (std::size_t k = 0; k < all_; ++k) in_order_ &= example_[k] == k;
    may_rise_.resize(g_.size());
    may_fall_.resize(g_.size());
    for (std::size_t k = 0; k < g_.size(); ++k) mark(k);
  }

  bool has_intercept() const { return problem_.intercept < kInfinity; }
  void mark(std::size_t k) {
    may_rise_[k] = beta_[k] < hi_[k] ? 0.0 : kInfinity;
    may_fall_[k] = beta_[k] > lo_[k] ? 0.0 : -kInfinity;
  }
  // The value of a variable at a bound; 0 for the others.
  double at_bound(std::size_t k) const { return beta_[k] > lo_[k] && beta_[k] < hi_[k] ? 0.0 : beta_[k]; }

  void measure_dual() {
    dual_ = 0;
    for (std::size_t k = 0; k < g_.size(); ++k) dual_ -= 0.5 * beta_[k] * (g_[k] + variables_[k].q);
  }

  // Moves variable order[k] to index k, for the first order.size() indices. Active variables stay in the order of their examples, so
  // that rows of K are read sequentially.
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

  // slack at b: -y (r + b), where r = w.x + q
  double r(std::size_t k) const { return g_[k] - variables_[k].d * beta_[k]; }
  double loss(const Variable& v, double slack) const {
    if (slack <= 0) return 0;
    const double a = v.d > 0 ? std::min(slack / v.d, v.C) : v.C;
    return a * (slack - 0.5 * v.d * a);
  }
  double b_of_variable() const { return 0.0 - g_[all_]; }  // not -g: b is 0, not -0, without intercept
  double gap_at(double b) const {
    double gap = 0;
    if (has_intercept() && problem_.intercept > 0) gap = (b - b_of_variable()) * (b - b_of_variable()) / (2 * problem_.intercept);
    for (std::size_t k = 0; k < active_; ++k) {
      const Variable& v = variables_[k];
      const double slack = -v.y * (r(k) + b);
      gap += loss(v, slack) + beta_[k] * (r(k) + b) + 0.5 * v.d * beta_[k] * beta_[k];
    }
    return gap;
  }

  // LIBSVM's bias: -g is the same for all free variables at the optimum; without any, the middle of the allowed range.
  double middle() const {
    if (has_intercept()) return b_of_variable();
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

  // argmin_b of the primal, w fixed. Its slope is t - sum_i y_i loss_i'(slack_i). Inactive variables are at a bound and stay there.
  double bias_of_least_primal() {
    Line line{total_, has_intercept() ? 1 / problem_.intercept : 0.0};
    for (std::size_t k = active_; k < all_; ++k) line.constant -= beta_[k];  // at 0, or at y C with a positive slack
    undecided_.resize(active_);
    std::iota(undecided_.begin(), undecided_.end(), std::size_t{0});
    return best_bias(
        b_, line, undecided_,
        [&](std::size_t k, double b) {
          const Variable& v = variables_[k];
          const double slack = -v.y * (r(k) + b);
          return slack <= 0 ? 0 : slack < v.d * v.C ? 1 : 2;
        },
        [&](std::size_t k, int piece) -> Line {
          const Variable& v = variables_[k];
          if (piece == 0) return {0, 0};
          return piece == 1 ? Line{r(k) / v.d, 1 / v.d} : Line{-v.y * v.C, 0};
        });
  }

  const SMOProblem& problem_;
  std::vector<Variable> variables_;  // active ones first; all vectors are in this order
  std::vector<std::size_t> example_;
  std::vector<double> diagonal_, beta_, lo_, hi_, g_;
  std::vector<double> may_rise_, may_fall_;  // 0, or an infinity that excludes the variable from the search
  std::vector<std::size_t> undecided_;       // work space of best_bias
  std::size_t all_ = 0, active_ = 0;
  double total_ = 0;  // t
  double dual_ = 0, b_ = 0;
  bool in_order_ = true;  // variable k belongs to example k: rows of K are read sequentially
};

}  // namespace treille
