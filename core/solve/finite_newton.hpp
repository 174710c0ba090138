#pragma once
// Newton's method in the primal for losses with a continuous slope: the squared losses, Huber's, the logistic loss.
//
//   primal     min_w  P(w) = 1/2 |w|^2 + sum_i loss_i(f_i),     f_i = w.x_i
//   gradient   g = w - sum_i a_i s_i x_i,        a_i = -s_i loss_i'(f_i):   squared hinge  2 C_i max(0, 1 - y_i f_i)
//   Hessian    H = 1 + sum_i c_i x_i x_i',       c_i = loss_i''(f_i):       squared hinge  2 C_i where y_i f_i < 1, else 0
// where s_i is y_i for classes and 1 for regression (solve/losses.hpp)
//
// A Newton step has three parts, and three kinds of passes over the rows:
//   1. a and g from f: one axpy for each example with a_i != 0, the active ones
//   2. H s = -g by some steps of conjugate gradients, preconditioned by M = 1 + 0.01 diag(H - 1): for each, one dot and one axpy per
//      active example
//   3. w <- w + t s,  f <- f + t X s,  where t minimises P(w + t s) exactly: one dot for each example
// Except for the logistic loss P is piecewise quadratic: once the active examples remain the same, a step solves the problem.
//
// The proof is free. The a_i are feasible for the dual, D(a) = -1/2 |sum_i a_i s_i x_i|^2 - sum_i loss_i*(-a_i s_i), and since they are
// slopes of the losses at f, loss_i(f_i) + loss_i*(-a_i s_i) = -a_i s_i f_i. So the gap is half a square:  P(w) - D(a) = 1/2 |g|^2.
// It is always measured at f = X w, computed anew.
//
// Keerthi, DeCoste, "A modified finite Newton method for fast solution of large scale linear SVMs", JMLR 2005, section 3. The end of the
// conjugate gradients: Nash, Sofer, "Assessing a search direction within a truncated-Newton method", Operations Research Letters 1990. The
// preconditioner: Hsia, Chiang, Lin, "Preconditioned conjugate gradient methods in truncated Newton frameworks for large-scale linear
// classification", ACML 2018.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "features/any_rows.hpp"
#include "memory.hpp"
#include "parallel.hpp"
#include "solve/dual_cd.hpp"
#include "solve/losses.hpp"
#include "solve/monitor.hpp"
#include "solve/watch.hpp"

namespace treille {

struct FiniteNewtonOptions {
  double bias;  // value of the constant feature; 0: none
  double tol;   // on gap / primal
  std::int64_t max_epochs;
  int threads;  // threads for this problem; the answer does not depend on their number
};

// argmin_t of  slope t + curvature t^2 / 2 + sum_i [loss_i(f_i + t d_i) - loss_i(f_i) - t loss_i'(f_i) d_i],  where `slope` < 0 is that
// of P at t = 0. Newton's method on the slope, which rises, within the bracket known so far: exact after finitely many steps where the
// slope is piecewise linear.
template <DualLoss Loss>
double line_minimum(const Loss& loss, double slope, double curvature, std::span<const typename Loss::Target> targets,
                    std::span<const double> f, std::span<const double> d) {
  double low = 0, high = std::numeric_limits<double>::infinity(), t = 1;
  for (int k = 0; k < 60; ++k) {
    double there = slope + curvature * t, bend = curvature;
    for (std::size_t i = 0; i < f.size(); ++i) {
      const auto& target = targets[i];
      if (d[i] == 0 || !(target.C() > 0)) continue;
      there -= loss.sign(target) * d[i] * (loss.alpha(target, f[i] + t * d[i]) - loss.alpha(target, f[i]));
      bend += d[i] * d[i] * loss.curvature(target, f[i] + t * d[i]);
    }
    (there > 0 ? high : low) = t;
    if (std::abs(there) <= 1e-12 * std::abs(slope) || !(bend > 0)) break;
    double next = t - there / bend;
    if (!(next > low && next < high)) next = std::isinf(high) ? 2 * t : 0.5 * (low + high);
    if (std::abs(next - t) <= 1e-14 * t) break;
    t = next;
  }
  return t;
}

template <DualLoss Loss>
class FiniteNewton {
 public:
  using Weights = AnyRows::Weights;

  FiniteNewton(const AnyVectorRows& rows, const Loss& loss, const FiniteNewtonOptions& options, Monitor& monitor)
      : rows_(rows), loss_(loss), options_(options), monitor_(monitor) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto target = loss.target(i);
      if (!(target.C() > 0)) continue;
      all_.push_back(static_cast<ExampleIndex>(i));
      targets_.push_back(target);
    }
    f_.resize(all_.size());
    for (std::vector<double>* array : {&step_, &alpha_}) array->resize(all_.size());
    // Each block of rows has its own sum, so blocks are few: the sums take at most half the memory of the rows, and little time. Their
    // number does not depend on the number of threads.
    const std::size_t entries = rows.n_entries(), cells = rows.n_cells();
    if (entries >= std::max(kManyEntries, 4 * cells)) n_blocks_ = std::clamp<std::size_t>(entries / (16 * cells + 1), 2, kMostBlocks);
  }

  // `start`: alphas whose w to begin from, or empty. Values that are not feasible are clipped.
  Solution<Weights> solve(std::span<const double> start) {
    begin(start);
    for (;;) {
      evaluate();
      const bool stopped = monitor_.stopped(), late = visits_ + size() > options_.max_epochs * size();  // a step takes one pass at least
      const bool over = small_gap() || stopped || late || stuck();
      if (over && (!exact_ || (stopped && !closing_))) {
        closing_ = stopped;
        multiply(w_, f_);
        exact_ = true;
        continue;
      }
      if (over) return finish(small_gap() ? Status::converged : stopped ? Status::stopped : late ? Status::max_epochs : Status::rounding);
      if (find_direction()) advance();
    }
  }

 private:
  // One number for each feature, in the layout of the rows, and one for the constant feature.
  struct Vector {
    Weights w;
    double b = 0;
  };

  void begin(std::span<const double> start) {
    for (Vector* v : {&w_, &g_, &s_, &r_, &p_, &q_, &z_, &d_}) v->w = rows_.zero();
    for (std::size_t block = 1; block < n_blocks_; ++block) blocks_.push_back({rows_.zero()});
    if (start.empty()) return;
    for (std::size_t k = 0; k < all_.size(); ++k) alpha_[k] = loss_.feasible(targets_[k], start[all_[k]]);
    active_.resize(all_.size());
    for (std::size_t k = 0; k < all_.size(); ++k) active_[k] = static_cast<ExampleIndex>(k);
    add_active(w_, [&](std::size_t k) { return alpha_[k] * sign(k); });
    multiply(w_, f_);
  }

  // a, the active examples, their curvatures, g, and with them the primal value and the gap, all from f.
  void evaluate() {
    active_.clear();
    c_.clear();
    double losses = 0;
    for (std::size_t k = 0; k < all_.size(); ++k) {
      losses += loss_.value(targets_[k], f_[k]);
      alpha_[k] = loss_.alpha(targets_[k], f_[k]);
      if (alpha_[k] != 0) {
        active_.push_back(static_cast<ExampleIndex>(k));
        c_.push_back(loss_.curvature(targets_[k], f_[k]));
      }
    }
    combine(0, g_, 1, w_);
    add_active(g_, [&](std::size_t j) { return -alpha_[active_[j]] * sign(active_[j]); });
    primal_ = 0.5 * inner(w_, w_) + losses;
    gap_ = 0.5 * inner(g_, g_);
    monitor_.relative_gap = primal_ > 0 ? gap_ / primal_ : 0.0;
    monitor_.record(primal_, primal_ - gap_);
  }

  // H s = -g. The residual r is minus the gradient at w + s if the active examples remain the same, so the steps end when it is small. They
  // end earlier if a step gains little compared with the mean gain of the quadratic model.
  bool find_direction() {
    set_preconditioner();
    combine(0, s_, 0, s_);
    combine(0, r_, -1, g_);
    double rz = divide_residual(), gained = 0;
    combine(0, p_, 1, z_);
    const double enough = kEnough * options_.tol * primal_;
    for (int step = 1;; ++step) {
      combine(0, q_, 1, p_);
      add_active(q_, [&](std::size_t j) { return c_[j] * dot(active_[j], p_); });
      if (stopped()) return false;
      const double a = rz / inner(p_, q_), gain = 0.5 * a * rz, before = rz;
      if (!(a > 0)) break;
      combine(1, s_, a, p_);
      combine(1, r_, -a, q_);
      gained += gain;
      if (0.5 * inner(r_, r_) <= enough || step * gain <= kLittle * gained || visits_ >= options_.max_epochs * size()) break;
      rz = divide_residual();
      combine(rz / before, p_, 1, z_);
    }
    return true;
  }

  // M - 1; kept from step to step while the curvatures remain much the same.
  void set_preconditioner() {
    const double total = std::accumulate(c_.begin(), c_.end(), 0.0);
    if (std::abs(total - curvatures_) <= 0.2 * curvatures_) return;
    curvatures_ = total;
    combine(0, d_, 0, d_);
    sum_active(d_, [&](std::size_t j, Vector& to) {
      const double a = kPreconditioner * c_[j];
      rows_.add_squares(all_[active_[j]], a, to.w);
      to.b += a * options_.bias * options_.bias;
    });
  }

  // z = M^-1 r, and returns r.z.
  double divide_residual() {
    combine(0, z_, 1, r_);
    rows_.divide(z_.w, d_.w);
    z_.b /= 1 + d_.b;
    return inner(r_, z_);
  }

  void advance() {
    multiply(s_, step_);
    if (stopped()) return;
    const double slope = inner(g_, s_), t = slope < 0 ? line_minimum<Loss>(loss_, slope, inner(s_, s_), targets_, f_, step_) : 1.0;
    combine(1, w_, t, s_);
    for (std::size_t k = 0; k < f_.size(); ++k) f_[k] += t * step_[k];
    exact_ = false;
  }

  bool small_gap() const { return gap_ <= options_.tol * primal_; }

  // Returns whether neither value has improved for some steps: then only rounding changes them.
  bool stuck() {
    const bool better = primal_ < least_primal_ * (1 - 1e-14) || gap_ < 0.9 * least_gap_;
    least_primal_ = std::min(least_primal_, primal_);
    least_gap_ = std::min(least_gap_, gap_);
    idle_ = better ? 0 : idle_ + 1;
    return idle_ > 5;
  }

  Solution<Weights> finish(Status status) {
    Solution<Weights> solution;
    solution.alpha.resize(rows_.size());
    for (std::size_t k = 0; k < all_.size(); ++k) solution.alpha[all_[k]] = alpha_[k];
    solution.w = std::move(w_.w);
    solution.b = w_.b;
    solution.primal = primal_;
    solution.dual = primal_ - gap_;
    solution.epochs = monitor_.epochs;
    solution.status = status;
    solution.history = std::move(monitor_.history);
    return solution;
  }

  // v += sum of coefficient(j) x_i over the active examples, i the j-th of them.
  template <class Coefficient>
  void add_active(Vector& v, Coefficient&& coefficient) {
    sum_active(v, [&](std::size_t j, Vector& to) {
      const double a = coefficient(j);
      rows_.axpy(all_[active_[j]], a, to.w);
      to.b += a * options_.bias;
    });
  }

  // add(j, v) for the j-th active example, for all of them. A block of rows has its own sum.
  template <class Add>
  void sum_active(Vector& v, Add&& add) {
    const std::size_t m = active_.size();
    for_blocks([&](std::size_t block) {
      Vector& to = block > 0 ? blocks_[block - 1] : v;
      if (block > 0) combine(0, to, 0, to);
      auto which = [&](std::size_t j) { return active_[j]; };
      read(m * block / n_blocks_, m * (block + 1) / n_blocks_, which, to, [&](std::size_t j) { add(j, to); });
    });
    for (const Vector& sum : blocks_) combine(1, v, 1, sum);
    count(m);
  }

  // out = X v, for all examples.
  void multiply(const Vector& v, std::vector<double>& out) {
    const std::size_t n = all_.size();
    for_blocks([&](std::size_t block) {
      read(
          n * block / n_blocks_, n * (block + 1) / n_blocks_, [&](std::size_t k) { return k; }, v,
          [&](std::size_t k) { out[k] = dot(k, v); });
    });
    count(n);
  }

  template <class Work>
  void for_blocks(Work&& work) const {
    const int shares = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(options_.threads), n_blocks_));
    run_shares(shares, [&](int p) {
      for (auto block = static_cast<std::size_t>(p); block < n_blocks_; block += static_cast<std::size_t>(shares)) work(block);
    });
  }

  // use(j) for first <= j < last, with the rows requested from memory ahead.
  template <class Which, class Use>
  void read(std::size_t first, std::size_t last, Which&& which, const Vector& v, Use&& use) const {
    for (std::size_t j = first; j < last && (j % kUnasked != 0 || !stopped()); ++j) {
      if (j + kRecordsAhead < last) rows_.prefetch_record(all_[which(j + kRecordsAhead)], v.w);
      if (j + kEntriesAhead < last) rows_.prefetch(all_[which(j + kEntriesAhead)]);
      use(j);
    }
  }

  void count(std::size_t visits) {
    visits_ += static_cast<std::int64_t>(visits);
    monitor_.epochs = (visits_ + size() - 1) / size();
  }

  std::int64_t size() const { return static_cast<std::int64_t>(std::max<std::size_t>(all_.size(), 1)); }
  bool stopped() const { return !closing_ && monitor_.stopped(); }
  double sign(std::size_t k) const { return loss_.sign(targets_[k]); }
  double dot(std::size_t k, const Vector& v) const { return rows_.dot(all_[k], v.w) + options_.bias * v.b; }
  double inner(const Vector& v, const Vector& w) const { return rows_.inner(v.w, w.w) + v.b * w.b; }
  void combine(double a, Vector& w, double b, const Vector& v) const {  // w <- a w + b v
    rows_.combine(a, w.w, b, v.w);
    w.b = a * w.b + b * v.b;
  }

  static constexpr double kEnough = 0.25, kLittle = 0.1, kPreconditioner = 0.01;
  static constexpr std::size_t kMostBlocks = 16, kManyEntries = 1 << 18, kRecordsAhead = 8, kEntriesAhead = 4, kUnasked = 16;

  const AnyVectorRows& rows_;
  const Loss& loss_;
  const FiniteNewtonOptions& options_;
  Monitor& monitor_;
  std::vector<ExampleIndex> all_;     // examples that take part; what follows is indexed by positions in it
  std::vector<ExampleIndex> active_;  // positions with a_i != 0
  std::vector<typename Loss::Target> targets_;
  std::vector<double> f_, step_;  // step_: X s
  std::vector<double> alpha_;
  std::vector<double> c_;  // curvatures of the active examples
  Vector w_, g_, s_, r_, p_, q_, z_, d_;
  std::vector<Vector> blocks_;
  std::size_t n_blocks_ = 1;
  double primal_ = 0, gap_ = 0;
  double curvatures_ = 0;  // their sum when the preconditioner was computed
  double least_primal_ = std::numeric_limits<double>::infinity(), least_gap_ = std::numeric_limits<double>::infinity();
  std::int64_t visits_ = 0;
  int idle_ = 0;
  bool exact_ = true, closing_ = false;  // f is X w, computed anew; the last passes, which are never ended early
};

// Problem k has the loss `loss_of(k)`. The problems are distributed among the threads; those that remain are used within a problem.
// `start` and `keep` as in solve_problems.
template <class LossOf, class Keep>
void newton_problems(const AnyVectorRows& rows, std::size_t n_problems, LossOf&& loss_of, std::span<const double> start,
                     FiniteNewtonOptions options, const Poll& poll, Keep&& keep) {
  const std::size_t n = rows.size();
  const int at_once = std::max(1, std::min(options.threads, static_cast<int>(std::min<std::size_t>(n_problems, 1 << 20))));
  options.threads /= at_once;
  std::mutex mutex;
  solve_watched(n_problems, at_once, poll, [&](std::size_t k, Monitor& monitor) {
    const auto loss = loss_of(k);
    auto solution = FiniteNewton(rows, loss, options, monitor).solve(start.empty() ? start : start.subspan(k * n, n));
    const std::lock_guard lock(mutex);
    keep(k, std::move(solution));
  });
}

}  // namespace treille
