#pragma once
// Dual coordinate descent for support vector machines, classification and regression.
//
//   primal   min_w  1/2 |w|^2 + sum_i loss_i(w.x_i)
//   dual     one variable a_i for each example,  w(a) = sum_i a_i sign_i x_i;  the losses and their duals: solve/losses.hpp
//
// One step is exact in a_i, and w follows. For the hinge loss, with y_i = +1 or -1 and 0 <= a_i <= C_i:
//   g = y_i w.x_i - 1,   a_i <- clip(a_i - g / |x_i|^2, 0, C_i),   w <- w + (change of a_i) y_i x_i
// A visit costs one dot, and one axpy where a_i moves; an epoch is as many visits as there are examples. With a bias, every x_i has one
// more coordinate of value `bias` (regularised, as in LIBLINEAR).
//
// Hsieh et al., ICML 2008, Algorithm 1; Allauzen, Cortes, Mohri, "SVM optimization for lattice kernels", Algorithm 2, with three
// errors corrected: the free step ends at C - a_i, x_i = 0 sends a_i to C, and w moves by y_i. Ho and Lin, JMLR 2012, for regression.
//
// The gap, primal - dual, is a sum of one non-negative term per example, so each sweep adds up an estimate at no cost. The answer's gap is
// always measured at w(a), summed anew. DualCDRules lists the other differences from the papers.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "features/rows.hpp"
#include "memory.hpp"
#include "solve/losses.hpp"
#include "solve/monitor.hpp"
#include "solve/random.hpp"
#include "solve/shrinking.hpp"

namespace treille {

// Rules that make it fast. The answer is the same without a rule, but takes longer: benchmarks/peers/portfolio.py measures how much.
struct DualCDRules {
  bool rest = true;  // examples held at a bound are visited more and more rarely: solve/shrinking.hpp
  // An example whose gradient is below this fraction of the last sweep's mean is skipped until the next sweep, to save an axpy. 0: none is.
  double small_gradient_skip = 0.6;
  std::size_t records_ahead = 8, entries_ahead = 4;  // visits by which memory is requested in advance; 0: not at all
};

struct DualCDOptions {
  double bias;  // value of the constant feature; 0: none
  double tol;   // on gap / primal; with gradient_stop LIBLINEAR's eps, on the spread of projected gradients
  std::int64_t max_epochs;
  bool shrinking;  // false: without `rest` and `small_gradient_skip`
  bool gradient_stop;
  std::uint64_t seed;
  DualCDRules rules = {};
};

// The visits of a sweep, here and in part_cd.hpp.
template <DualLoss Loss>
struct Visits {
  const Loss loss;       // a copy of its own, which no step can change
  double bias, skipped;  // steps for gradients below `skipped` are left to the next sweep
  double gap = 0;        // sum of the examples' terms, each at the moment of its visit
  double gradients = 0, violators = 0;

  double mean_gradient() const { return violators > 0 ? gradients / violators : 0.0; }

  // Example i, where a_i = a and f_i = f: calls note with its gradient and, where a step is due, move(the best a_i). `sq_norm` is |x_i|^2,
  // or -1 before the first step. Returns the term of the gap.
  template <class R, class Note, class Move>
  double visit(const R& rows, std::size_t i, const typename Loss::Target& target, double a, double f, double& sq_norm, Note&& note,
               Move&& move) {
    const double term = loss.term(target, a, f);
    const auto [projected, hold] = loss.gradient(target, a, f);
    const double strength = std::abs(projected);
    gap += term;
    note(projected, hold);
    if (projected == 0) return term;
    gradients += strength;
    ++violators;
    if (strength < skipped || strength < 1e-12 * loss.scale()) return term;
    if (sq_norm < 0) sq_norm = rows.sq_norm(i);
    move(loss.step(target, a, f, sq_norm + bias * bias + loss.diagonal(target)));
    return term;
  }
};

template <class Weights>
struct Solution {
  std::vector<double> alpha;
  Weights w;     // w(alpha)
  double b = 0;  // weight of the constant feature
  double primal = 0, dual = 0;
  std::int64_t epochs = 0;
  Status status = Status::max_epochs;
  bool separates = false;  // converged, and no example has a loss: optimal for every larger C, too
  std::vector<Moment> history;

  double gap() const { return primal - dual; }
};

template <FeatureRows R, DualLoss Loss>
class DualCD {
 public:
  using Weights = typename R::Weights;

  DualCD(const R& rows, const Loss& loss, const DualCDOptions& options, Monitor& monitor)
      : rows_(rows), loss_(&loss), options_(options), rules_(options.rules), monitor_(monitor), random_(options.seed) {
    if (!options.shrinking) rules_.rest = false, rules_.small_gradient_skip = 0;
  }

  // `start`: alphas to begin from, or empty. Values outside the box are clipped.
  Solution<Weights> solve(std::span<const double> start) {
    begin(start);
    if (!start.empty() && !options_.gradient_stop) {
      measure();
      if (small_gap()) return finish(Status::converged);
    }
    return sweep_until_small();
  }

  // The same problem with other C, from the last solution: variables that were at their bound move to the new one. Examples at rest stay at
  // rest until the gap is measured, so that mostly examples that may move are visited.
  Solution<Weights> solve_next(const Loss& loss) {
    s_ = Solution<Weights>();
    visits_ = 0, evaluated_ = -1, ratio_ = 1, sq_norm_ = std::numeric_limits<double>::quiet_NaN();
    std::vector<bool> moved(examples_.size());
    for (const ExampleIndex i : all_) {
      Example& e = examples_[i];
      const bool bound = e.alpha != 0 && loss_->feasible(e.target, 2 * e.alpha) == e.alpha;
      e.target = loss.target(i);
      s_.primal += loss.value(e.target, 0.0);
      if (bound) moved[i] = true, move(i, loss.feasible(e.target, std::copysign(std::numeric_limits<double>::infinity(), e.alpha)));
    }
    loss_ = &loss;
    schedule_.wake([&](ExampleIndex i) { return moved[i]; });
    return sweep_until_small();
  }

 private:
  Solution<Weights> sweep_until_small() {
    const auto n = static_cast<std::int64_t>(std::max<std::size_t>(all_.size(), 1));
    while (visits_ < options_.max_epochs * n) {
      const Sweep sweep = visit_awake();
      if (monitor_.due()) record();
      monitor_.epochs = s_.epochs = (visits_ + n - 1) / n;
      if (monitor_.stopped()) break;
      if (options_.gradient_stop ? small_gradients(sweep) : small_gap(sweep)) return finish(Status::converged);
    }
    measure();
    return finish(!options_.gradient_stop && small_gap() ? Status::converged : monitor_.stopped() ? Status::stopped : Status::max_epochs);
  }

  using Target = typename Loss::Target;
  // The state of an example, 32 bytes for classes.
  struct Example {
    double alpha;
    Target target;
    double sq_norm;      // |x_i|^2, or -1 before the first move, when the row is at hand: many examples never move
    float output;        // w.x_i without bias, as last read: for estimates of the gap
    std::uint32_t rest;  // length of the last one in sweeps, 0 once it has moved
  };
  struct Sweep {
    double gap = 0;         // sum over the examples awake, each at the moment of its visit
    double spread = 0;      // of projected gradients
    Margins margins;        // of the examples awake
    bool complete = false;  // all were awake
  };

  void begin(std::span<const double> start) {
    w_ = rows_.zero();
    examples_.resize(rows_.size());
    outputs_.resize(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      Example& e = examples_[i] = {0.0, loss_->target(i), -1.0, 0.0f, 0};
      if (!(e.target.C() > 0)) continue;
      all_.push_back(static_cast<ExampleIndex>(i));
      schedule_.visit_after(0, all_.back());
      s_.primal += loss_->value(e.target, 0.0);  // at w = 0: too large, so that the first look comes early
      if (!start.empty() && start[i] != 0) move(i, loss_->feasible(e.target, start[i]));
    }
    if (start.empty()) monitor_.record(s_.primal, 0.0), sq_norm_ = 0;
  }

  double move(std::size_t i, double alpha) {
    Example& e = examples_[i];
    const double step = (alpha - e.alpha) * loss_->sign(e.target);
    e.alpha = alpha;
    rows_.axpy(i, step, w_);
    b_ += step * options_.bias;
    return step;
  }

  Sweep visit_awake() {
    schedule_.next(awake_);
    const std::size_t m =
        std::min(awake_.size(), static_cast<std::size_t>(options_.max_epochs * static_cast<std::int64_t>(all_.size()) - visits_));
    for (std::size_t k = 0; k < m; ++k) std::swap(awake_[k], awake_[k + random_.below(awake_.size() - k)]);
    Visits<Loss> visits{*loss_, options_.bias, rules_.small_gradient_skip * mean_gradient_};
    Sweep sweep;
    sweep.complete = m == all_.size();
    double highest = 0, lowest = 0;
    const std::size_t visited = read(std::span(awake_).first(m), w_, [&](std::size_t i, double output) {
      Example& e = examples_[i];
      const double f = output + visits.bias * b_;
      e.output = static_cast<float>(output);
      visits.loss.add_to(sweep.margins, e.target, e.alpha, f);
      auto note = [&](double projected, double hold) {
        e.rest = projected == 0 && rules_.rest ? ShrinkingSchedule::longer(e.rest, hold / visits.loss.scale()) : 0;
        schedule_.visit_after(e.rest + (projected != 0 && std::abs(projected) < visits.skipped), static_cast<ExampleIndex>(i));
        highest = std::max(highest, projected);
        lowest = std::min(lowest, projected);
      };
      visits.visit(rows_, i, e.target, e.alpha, f, e.sq_norm, note, [&](double alpha) {
        const double step = move(i, alpha);
        sq_norm_ += step * (2 * output + step * e.sq_norm);
      });
    });
    // A limit ended the sweep: the others stay awake, for the next C.
    for (std::size_t k = visited; k < awake_.size(); ++k) schedule_.visit_after(0, awake_[k]);
    sweep.gap = visits.gap;
    sweep.spread = highest - lowest;
    visits_ += static_cast<std::int64_t>(m);
    mean_gradient_ = visits.mean_gradient();
    return sweep;
  }

  // use(i, w.x_i) for some examples, until stopped; returns for how many. Later examples are prefetched meanwhile: first the place of a
  // row, then the row.
  template <class W, class Use>
  std::size_t read(std::span<const ExampleIndex> some, const W& w, Use&& use) {
    const std::size_t m = some.size(), records = rules_.records_ahead, entries = rules_.entries_ahead;
    std::size_t k = 0;
    for (; k < m && (k % kUnasked != 0 || !monitor_.stopped()); ++k) {
      if (records > 0 && k + records < m) {
        __builtin_prefetch(&examples_[some[k + records]]);
        if constexpr (requires { rows_.prefetch_record(0, w); }) rows_.prefetch_record(some[k + records], w);
      }
      if (entries > 0 && k + entries < m) rows_.prefetch(some[k + entries]);
      use(some[k], rows_.dot(some[k], w));
    }
    return k;
  }

  // LIBLINEAR's rule, for which all must be awake at once.
  bool small_gradients(const Sweep& sweep) {
    if (sweep.spread > options_.tol) return false;
    if (sweep.complete) measure();
    schedule_.wake([](ExampleIndex) { return true; });
    return sweep.complete;
  }

  // The sum of a sweep indicates when the gap may be small enough. Then the gap is estimated from all outputs as last read, at most every n
  // / 8 visits; if this estimate agrees, one pass over all examples measures the gap, and wakes the examples that contribute to it.
  bool small_gap(const Sweep& sweep) {
    monitor_.relative_gap = s_.primal > 0 ? ratio_ * sweep.gap / s_.primal : 0.0;
    const bool separated = sweep.margins.separate() && sweep.margins.gap() <= options_.tol * sweep.margins.primal();
    if (!separated && ratio_ * sweep.gap > options_.tol * s_.primal) return false;
    if (evaluated_ >= 0 && visits_ - evaluated_ < static_cast<std::int64_t>(all_.size() / 8)) return false;
    evaluated_ = visits_;
    const bool estimated = options_.tol >= kEstimated;
    if (estimated) {
      for (const ExampleIndex i : all_) outputs_[i] = examples_[i].output;
      evaluate();
      ratio_ = sweep.gap > 0 ? std::min(terms_gap_ / sweep.gap, 4.0) : 1.0;  // a sweep of few visits says little
    }
    if (!estimated || small_gap()) {
      measure();
      if (small_gap()) return true;
      w_ = s_.w;
    }
    schedule_.wake([&](ExampleIndex i) {
      const Example& e = examples_[i];
      return e.rest > 0 && loss_->term(e.target, e.alpha, outputs_[i] + options_.bias * s_.b) > 0;
    });
    return false;
  }

  void sum_weights() {
    s_.w = rows_.zero();
    b_ = 0;
    for (const ExampleIndex i : all_) {
      const double a = examples_[i].alpha * loss_->sign(examples_[i].target);
      if (a != 0) rows_.axpy(i, a, s_.w);
      b_ += a * options_.bias;
    }
  }

  void measure() {
    sum_weights();
    sq_norm_ = 0;
    for (const ExampleIndex i : all_) {
      outputs_[i] = rows_.dot(i, s_.w);
      sq_norm_ += examples_[i].alpha * loss_->sign(examples_[i].target) * outputs_[i];
    }
    evaluate();
  }

  // For the history: the dual value, and the primal value of the outputs as last read. At f = 0, an example's part of the dual is its
  // loss minus its term of the gap.
  void record() {
    if (std::isnan(sq_norm_)) return;
    const double half = 0.5 * (sq_norm_ + b_ * b_);
    double losses = 0, own = 0;
    for (const ExampleIndex i : all_) {
      const Example& e = examples_[i];
      losses += loss_->value(e.target, e.output + options_.bias * b_);
      own += loss_->term(e.target, e.alpha, 0.0) - loss_->value(e.target, 0.0);
    }
    monitor_.record(half + losses, -half - own);
  }

  // Primal and dual value, from the outputs and the bias; at a multiple of alpha if these prove more.
  void evaluate() {
    const double b = s_.b = b_;
    double gap = 0;
    Margins margins;
    s_.primal = 0.5 * b * b;
    for (const ExampleIndex i : all_) {
      const auto& [alpha, target, sq_norm, output, rest] = examples_[i];
      const double f = outputs_[i] + options_.bias * b;
      s_.primal += 0.5 * alpha * loss_->sign(target) * outputs_[i] + loss_->value(target, f);
      gap += loss_->term(target, alpha, f);
      loss_->add_to(margins, target, alpha, f);
    }
    terms_gap_ = gap;
    multiple_ = 1;
    if (margins.separate() && margins.gap() * s_.primal < gap * margins.primal())
      multiple_ = 1 / margins.least, s_.primal = margins.primal(), gap = margins.gap();
    s_.dual = s_.primal - gap;
    monitor_.relative_gap = s_.primal > 0 ? gap / s_.primal : 0.0;
  }

  bool small_gap() const { return s_.gap() <= options_.tol * s_.primal; }

  Solution<Weights> finish(Status status) {
    s_.status = status;
    if (multiple_ != 1) {
      for (const ExampleIndex i : all_) examples_[i].alpha *= multiple_;
      sum_weights();
      s_.b = b_;
      s_.separates = status == Status::converged;
    }
    s_.alpha.resize(examples_.size());
    std::transform(examples_.begin(), examples_.end(), s_.alpha.begin(), [](const Example& e) { return e.alpha; });
    w_ = s_.w;  // for solve_next
    return std::move(s_);
  }

  static constexpr std::size_t kUnasked = 16;  // visits: a look at the clock takes as long as a short row
  static constexpr double kEstimated = 1e-5;   // a smaller gap is not seen in outputs of 7 digits

  const R& rows_;
  const Loss* loss_;
  const DualCDOptions& options_;
  DualCDRules rules_;
  Monitor& monitor_;
  SplitMix random_;
  Solution<Weights> s_;  // its w: as last measured; its b: as last evaluated
  Weights w_;            // w(alpha)
  double b_ = 0;         // and its bias
  // |w|^2 without it, from the steps since it was 0 or measured.
  double sq_norm_ = std::numeric_limits<double>::quiet_NaN();
  Array<Example> examples_;
  Array<double> outputs_;                  // as last evaluated
  std::vector<ExampleIndex> all_, awake_;  // examples that take part; those to visit now
  ShrinkingSchedule schedule_;
  std::int64_t visits_ = 0, evaluated_ = -1;
  double mean_gradient_ = 0;             // absolute, projected, of the examples that were not at rest in the last sweep
  double ratio_ = 1;                     // of the gap after a sweep to the sum of the terms met during the sweep
  double terms_gap_ = 0, multiple_ = 1;  // as last evaluated: the sum of the terms; the multiple of alpha whose values s_ has
};

}  // namespace treille
