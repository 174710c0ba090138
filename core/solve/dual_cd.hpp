#pragma once
// Dual coordinate descent for support vector machines.
//
//   primal   min_w  1/2 |w|^2 + sum_i C_i loss(1 - y_i w.x_i),     loss(t) = max(0, t)  or  max(0, t)^2
//   dual     max_a  sum(a) - 1/2 |w(a)|^2 - sum_i d_i a_i^2 / 2,   0 <= a_i <= U_i,      w(a) = sum_i a_i y_i x_i
//            hinge: U_i = C_i, d_i = 0        squared hinge: U_i = inf, d_i = 1 / (2 C_i)
//
// One step is exact in a_i:  g = y_i w.x_i - 1 + d_i a_i,  a_i <- clip(a_i - g / (|x_i|^2 + d_i), 0, U_i),  and w follows.
// An epoch costs one dot, and one axpy where a_i moves, per example that is awake. With a bias, every x_i has one more
// coordinate of value `bias` (regularised, as in LIBLINEAR).
//
// Hsieh et al., ICML 2008, Algorithm 1; Allauzen, Cortes, Mohri, "SVM optimization for lattice kernels", Algorithm 2, with three
// slips mended: the free step ends at C - a_i, x_i = 0 sends a_i to C, and w moves by y_i.
//
// Three things differ from both:
// - Rest. An example that sits at a bound with a gradient that keeps it there sleeps for some epochs: longer each time, and the
//   longer the stronger the gradient. After a few epochs nearly every visit moves something. (LIBLINEAR shrinks such
//   examples instead, for good, and starts over at the end.)
// - The gap, primal - dual, is a sum of one non-negative term per example, so that each epoch adds up an estimate for free. When
//   that says the end is near, one pass of dots over all examples measures the gap exactly, and wakes whoever has a share in it.
// - The gap is measured at the best bias for the weights at hand (see measure()).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "solve/monitor.hpp"
#include "spaces/rows.hpp"

namespace treille {

struct DualCDOptions {
  bool squared_hinge;
  double bias;          // value of the constant feature; 0: none
  double tol;           // on gap / primal; with gradient_stop LIBLINEAR's eps, on the spread of projected gradients
  std::int64_t max_epochs;
  bool shrinking;       // let examples rest
  bool gradient_stop;
  std::uint64_t seed;
};

enum class Status { converged, max_epochs, stopped };

template <class Weights>
struct Solution {
  std::vector<double> alpha;
  Weights w;
  double b = 0;  // weight of the constant feature
  double primal = 0, dual = 0;
  std::int64_t epochs = 0;
  Status status = Status::max_epochs;

  double gap() const { return std::max(0.0, primal - dual); }
};

template <FeatureRows R>
class DualCD {
 public:
  using Weights = typename R::Weights;

  // y_i is +1 or -1, C_i >= 0; an example with C_i = 0 takes no part.
  DualCD(const R& rows, std::span<const double> y, std::span<const double> C, const DualCDOptions& options, Monitor& monitor)
      : rows_(rows), y_(y), C_(C), options_(options), monitor_(monitor), random_(options.seed) {}

  // `start`: alphas to begin from, or empty. Values outside the box are clipped.
  Solution<Weights> solve(std::span<const double> start) {
    begin(start);
    double ratio = 1.0 / 3;  // of the gap at an epoch's end to the sum of the terms met on the way; learnt from measurements
    while (s_.epochs < options_.max_epochs) {
      const Epoch epoch = run_epoch();
      monitor_.epochs = ++s_.epochs;
      monitor_.relative_gap = epoch.primal > 0 ? ratio * epoch.gap / epoch.primal : 0.0;
      if (monitor_.stop) {
        s_.status = Status::stopped;
        break;
      }
      if (options_.gradient_stop ? epoch.spread > options_.tol : ratio * epoch.gap > options_.tol * epoch.primal) continue;
      measure();
      if (options_.gradient_stop ? epoch.complete : s_.gap() <= options_.tol * s_.primal) {
        s_.status = Status::converged;
        return std::move(s_);
      }
      if (options_.gradient_stop)
        for (Rest& rest : rest_) rest = {};
      else if (epoch.gap > 0)
        ratio = std::min(1.0, 0.9 * s_.gap() / epoch.gap);
    }
    measure();
    return std::move(s_);
  }

 private:
  struct Epoch {
    double gap = 0, primal = 0;  // sums over the examples awake, each at the moment of its visit
    double spread = 0;           // of projected gradients
    bool complete = false;       // all were awake
  };
  struct Rest {
    std::int64_t length = 0, until = 0;
  };

  double diagonal(std::size_t i) const { return options_.squared_hinge ? 0.5 / C_[i] : 0.0; }
  double upper(std::size_t i) const { return options_.squared_hinge ? kInfinity : C_[i]; }
  double loss(std::size_t i, double slack) const {
    if (slack <= 0) return 0;
    return C_[i] * (options_.squared_hinge ? slack * slack : slack);
  }
  // The example's share of the gap, never negative; slack = 1 - y_i w.x_i. Hinge: (C_i - a_i) slack, or a_i (-slack).
  double term(std::size_t i, double slack) const {
    const double a = s_.alpha[i];
    return loss(i, slack) - a * slack + 0.5 * diagonal(i) * a * a;
  }

  void begin(std::span<const double> start) {
    const std::size_t n = rows_.size();
    s_.alpha.assign(n, 0.0);
    s_.w = rows_.zero();
    rest_.assign(n, {});
    for (std::size_t i = 0; i < n; ++i) {
      if (C_[i] <= 0) continue;
      all_.push_back(i);
      if (!start.empty() && start[i] > 0) move(i, std::min(start[i], upper(i)));
    }
  }

  void move(std::size_t i, double alpha) {
    const double step = (alpha - s_.alpha[i]) * y_[i];
    s_.alpha[i] = alpha;
    rows_.axpy(i, step, s_.w);
    b_ += step * options_.bias;
  }

  Epoch run_epoch() {
    awake_.clear();
    for (const std::size_t i : all_)
      if (rest_[i].until <= s_.epochs) awake_.push_back(i);
    for (std::size_t k = 0; k < awake_.size(); ++k) std::swap(awake_[k], awake_[k + random_below(awake_.size() - k)]);
    Epoch epoch;
    epoch.complete = awake_.size() == all_.size();
    double highest = 0, lowest = 0, w_dot_w = 0;
    for (std::size_t k = 0; k < awake_.size() && !monitor_.stop.load(std::memory_order_relaxed); ++k) {
      const std::size_t i = awake_[k];
      if (k + 1 < awake_.size()) rows_.prefetch(awake_[k + 1]);
      const double margin = y_[i] * (rows_.dot(i, s_.w) + options_.bias * b_), slack = 1 - margin;
      const double a = s_.alpha[i], U = upper(i), g = diagonal(i) * a - slack;
      epoch.gap += term(i, slack);
      epoch.primal += loss(i, slack);
      w_dot_w += a * margin;
      const double projected = a == 0 ? std::min(g, 0.0) : a == U ? std::max(g, 0.0) : g;
      if (projected == 0) {
        if (options_.shrinking) rest(i, std::abs(g));
        continue;
      }
      rest_[i] = {};
      highest = std::max(highest, projected);
      lowest = std::min(lowest, projected);
      const double q = rows_.sq_norm(i) + options_.bias * options_.bias + diagonal(i);
      if (std::abs(projected) > 1e-12) move(i, q > 0 ? std::clamp(a - g / q, 0.0, U) : U);
    }
    epoch.primal += 0.5 * std::max(w_dot_w, 0.0);
    epoch.spread = highest - lowest;
    return epoch;
  }

  // The numbers are not delicate: full passes are the cost of too short a rest, hidden violators that of too long a one.
  void rest(std::size_t i, double strength) {
    Rest& rest = rest_[i];
    rest.length = std::min(2 * rest.length + 1 + static_cast<std::int64_t>(8 * std::min(strength, 16.0)), std::int64_t{127});
    rest.until = s_.epochs + 1 + rest.length;
  }

  // The exact gap, at the best bias for these weights. Any (w, b) gives a valid primal value; and while w settles, each single
  // step still shifts b and with it all outputs, a noise that would hide how good w is already.
  void measure() {
    double w_dot_w = 0, quadratic = 0, alphas = 0;
    outputs_.resize(all_.size());
    for (std::size_t k = 0; k < all_.size(); ++k) {
      const std::size_t i = all_[k];
      const double f = rows_.dot(i, s_.w), a = s_.alpha[i];
      outputs_[k] = f;
      if (term(i, 1 - y_[i] * (f + options_.bias * b_)) > 0) rest_[i] = {};
      w_dot_w += a * y_[i] * f;
      quadratic += diagonal(i) * a * a;
      alphas += a;
    }
    s_.b = options_.bias > 0 ? best_bias() : 0.0;
    s_.primal = 0.5 * (w_dot_w + s_.b * s_.b);
    for (std::size_t k = 0; k < all_.size(); ++k) s_.primal += loss(all_[k], 1 - y_[all_[k]] * (outputs_[k] + options_.bias * s_.b));
    s_.dual = alphas - 0.5 * (w_dot_w + b_ * b_ + quadratic);
    monitor_.relative_gap = s_.primal > 0 ? s_.gap() / s_.primal : 0.0;
  }

  // argmin_b of the primal, the rest of w fixed. It is convex: its slope, b - B sum_i C_i y_i loss'(slack_i), is bisected.
  double best_bias() const {
    const double B = options_.bias;
    auto slope = [&](double b) {
      double sum = b;
      for (std::size_t k = 0; k < all_.size(); ++k) {
        const std::size_t i = all_[k];
        const double slack = 1 - y_[i] * (outputs_[k] + B * b);
        if (slack > 0) sum -= B * C_[i] * y_[i] * (options_.squared_hinge ? 2 * slack : 1.0);
      }
      return sum;
    };
    const double first = 1e-6 + 1e-3 * std::abs(b_);
    double low = b_, high = b_;
    for (double step = first; slope(low) > 0; step *= 4) low -= step;
    for (double step = first; slope(high) < 0; step *= 4) high += step;
    for (int k = 0; k < 60 && high - low > 1e-13 * (1 + std::abs(b_)); ++k) {
      const double middle = 0.5 * (low + high);
      (slope(middle) > 0 ? high : low) = middle;
    }
    return 0.5 * (low + high);
  }

  // std::uniform_int_distribution differs between standard libraries; results must not.
  std::size_t random_below(std::size_t n) {
    return static_cast<std::size_t>((static_cast<unsigned __int128>(random_()) * n) >> 64);
  }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  const R& rows_;
  std::span<const double> y_, C_;
  const DualCDOptions& options_;
  Monitor& monitor_;
  std::mt19937_64 random_;
  Solution<Weights> s_;
  double b_ = 0;                          // bias of w(alpha); s_.b is the best one for the same w
  std::vector<std::size_t> all_, awake_;  // examples with C_i > 0; those to visit in this epoch
  std::vector<Rest> rest_;
  std::vector<double> outputs_;
};

}  // namespace treille
