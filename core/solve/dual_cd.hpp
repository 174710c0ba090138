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
// slips mended: the free step ends at C - a_i, x_i = 0 sends a_i to C, and w moves by y_i. Ho and Lin, JMLR 2012, for regression.
//
// Five things differ from these:
// - Rest. An example that sits at a bound with a gradient that keeps it there sleeps for some sweeps: longer each time, and the
//   longer the stronger the gradient. After a few sweeps nearly every visit moves something. (LIBLINEAR shrinks such
//   examples instead, for good, and starts over at the end.) Moves far below the average are left for a later
//   sweep, and, late in a run, examples that moved less than the average rest, too.
// - The gap, primal - dual, is a sum of one non-negative term per example, so that each sweep adds up an estimate for free. When
//   that says the end may be near, the terms of the few examples not at rest are taken anew; when those agree, one pass of
//   dots over all examples measures the gap exactly, and wakes whoever has a share in it.
// - While on the way, w may be kept in float (`Real`): half the memory to move. The gap is always measured at w(a), summed anew in double.
// - Late in a run the dual is nearly best while w still trembles, each step for the sake of one example, and the primal with it. The
//   mean of the alphas of recent sweeps, a feasible point, is steadier: its gap is often half as large. Where its gap looks small
//   enough first, that is the answer.
// - The gap is measured at the best bias for the weights at hand. Any (w, b) gives a valid primal value; and while w settles, each
//   single step still shifts b and with it all outputs, a noise that would hide how good w is already.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "features/rows.hpp"
#include "solve/losses.hpp"
#include "solve/monitor.hpp"

namespace treille {

struct DualCDOptions {
  double bias;  // value of the constant feature; 0: none
  double tol;   // on gap / primal; with gradient_stop LIBLINEAR's eps, on the spread of projected gradients
  std::int64_t max_epochs;
  bool shrinking;  // let examples rest
  bool gradient_stop;
  std::uint64_t seed;
};

template <class Weights>
struct Solution {
  std::vector<double> alpha;
  Weights w;     // w(alpha)
  double b = 0;  // weight of the constant feature
  double primal = 0, dual = 0;
  std::int64_t epochs = 0;
  Status status = Status::max_epochs;

  double gap() const { return primal - dual; }
};

template <FeatureRows R, DualLoss Loss, class Real>
class DualCD {
 public:
  using Weights = typename R::template Weights<double>;

  DualCD(const R& rows, const Loss& loss, const DualCDOptions& options, Monitor& monitor)
      : rows_(rows), loss_(loss), options_(options), monitor_(monitor), random_(options.seed) {}

  // `start`: alphas to begin from, or empty. Values outside the box are clipped.
  Solution<Weights> solve(std::span<const double> start) {
    begin(start);
    const auto n = static_cast<std::int64_t>(std::max<std::size_t>(all_.size(), 1));
    double ratio = 0.25;  // of the gap at a sweep's end to the sum of the terms met on the way; learnt from each measurement
    double trust = 0.94;  // in the mean's gap as the outputs met on the way tell it; learnt likewise
    while (visits_ < options_.max_epochs * n) {
      const Sweep sweep = visit_those_awake();
      monitor_.epochs = s_.epochs = (visits_ + n - 1) / n;
      monitor_.relative_gap = sweep.primal > 0 ? ratio * sweep.gap / sweep.primal : 0.0;
      if (monitor_.stop) break;
      if (stuck(sweep)) return finish(at_, Status::rounding);
      if (options_.gradient_stop) {
        if (sweep.spread > options_.tol) continue;
        if (sweep.complete) {
          measure(at_);
          return finish(at_, Status::converged);
        }
        rest_.assign(rows_.size(), {});  // LIBLINEAR's rule: all must agree, awake at once
      } else {
        const double estimate = ratio * sweep.gap, bound = options_.tol * sweep.primal;
        const bool near = estimate <= bound;
        if (!near && (sweeps_ <= kLate || estimate > kMeanFrom * bound)) continue;
        Point& found = near ? at_ : mean_;
        near ? peek() : average();
        const double expected = s_.gap();
        if (expected <= (near ? 1.0 : trust) * options_.tol * s_.primal) {
          measure(found);
          if (small_gap()) return finish(found, Status::converged);
          if (near)
            rows_.round(s_.w, w_);
          else
            trust *= 0.95 * expected / s_.gap();
        }
        if (near && sweep.gap > 0) ratio = std::min(0.3, 0.95 * s_.gap() / sweep.gap);
      }
    }
    measure(at_);
    return finish(at_, !options_.gradient_stop && small_gap() ? Status::converged : monitor_.stop ? Status::stopped : Status::max_epochs);
  }

 private:
  struct Sweep {
    double gap = 0, primal = 0;  // sums over the examples awake, each at the moment of its visit
    double spread = 0;           // of projected gradients
    bool complete = false;       // all were awake
  };
  struct Rest {
    std::int64_t length = 0, until = 0;
  };
  struct Point {
    std::vector<double> alpha, outputs;  // w(alpha).x_i without bias, as last read
    double b = 0;                        // bias of w(alpha)
    std::int64_t sweeps = 0;             // that it is the mean of
  };

  // Q_ii, computed at the first move, when the row is at hand: many examples never move.
  double q(std::size_t i) {
    if (q_[i] < 0) q_[i] = rows_.sq_norm(i) + options_.bias * options_.bias + loss_.diagonal(i);
    return q_[i];
  }
  bool small_gap() const { return s_.gap() <= options_.tol * s_.primal; }

  void begin(std::span<const double> start) {
    const std::size_t n = rows_.size();
    at_ = {std::vector<double>(n, 0.0), std::vector<double>(n, 0.0)};
    w_ = rows_.template zero<Real>();
    rest_.assign(n, {});
    q_.assign(n, -1.0);
    for (std::size_t i = 0; i < n; ++i) {
      if (!loss_.takes_part(i)) continue;
      all_.push_back(i);
      if (!start.empty() && start[i] != 0) move(i, loss_.feasible(i, start[i]));
    }
  }

  void move(std::size_t i, double alpha) {
    const double step = (alpha - at_.alpha[i]) * loss_.sign(i);
    at_.alpha[i] = alpha;
    rows_.axpy(i, step, w_);
    at_.b += step * options_.bias;
  }

  Sweep visit_those_awake() {
    awake_.clear();
    for (const std::size_t i : all_)
      if (rest_[i].until <= sweeps_) awake_.push_back(i);
    shuffle();
    awake_.resize(std::min(awake_.size(), static_cast<std::size_t>(options_.max_epochs) * all_.size() - static_cast<std::size_t>(visits_)));
    Sweep sweep;
    sweep.complete = awake_.size() == all_.size();
    const double scale = loss_.scale();
    double highest = 0, lowest = 0, w_dot_w = 0, gradients = 0;
    std::int64_t violators = 0;
    for (std::size_t k = 0; k < awake_.size() && !monitor_.stop.load(std::memory_order_relaxed); ++k) {
      const std::size_t i = awake_[k];
      if (k + 1 < awake_.size()) rows_.prefetch(awake_[k + 1]);
      at_.outputs[i] = rows_.dot(i, w_);
      const double a = at_.alpha[i], f = at_.outputs[i] + options_.bias * at_.b;
      sweep.gap += loss_.term(i, a, f);
      sweep.primal += loss_.value(i, f);
      w_dot_w += a * loss_.sign(i) * f;
      const auto [projected, hold] = loss_.gradient(i, a, f);
      if (projected == 0) {
        if (options_.shrinking) rest(i, hold / scale);
        continue;
      }
      const double strength = std::abs(projected);
      rest_[i] = {};
      gradients += strength;
      ++violators;
      highest = std::max(highest, projected);
      lowest = std::min(lowest, projected);
      if (options_.shrinking && strength < kFaint * mean_gradient_) {
        rest_[i].until = sweeps_ + 2 + static_cast<std::int64_t>(random_() % 2);  // by chance, lest all come back at once
        continue;
      }
      if (options_.shrinking && sweeps_ >= kLate && strength < mean_gradient_) rest_[i].until = sweeps_ + 1 + kShortRest;
      if (strength > 1e-12 * scale) move(i, loss_.step(i, a, f, q(i)));
    }
    sweep.primal += 0.5 * std::max(w_dot_w, 0.0);
    sweep.spread = highest - lowest;
    ++sweeps_;
    visits_ += static_cast<std::int64_t>(awake_.size());
    mean_gradient_ = violators > 0 ? gradients / static_cast<double>(violators) : 0.0;
    return sweep;
  }

  // A random order of the examples awake. The first sweep meets them all, and there rows that lie side by side in memory stay together,
  // kNeighbours at a time: they are read in two thirds of the time. Later sweeps converge the faster for being well mixed.
  void shuffle() {
    const std::size_t run = sweeps_ == 0 ? kNeighbours : 1, runs = awake_.size() / run;
    for (std::size_t k = 0; k < runs; ++k)
      if (const std::size_t other = k + random_below(runs - k); other != k)
        for (std::size_t j = 0; j < run; ++j) std::swap(awake_[k * run + j], awake_[other * run + j]);
  }

  // With w in float, whether the gap has not halved for so long that rounding may be what keeps it up.
  bool stuck(const Sweep& sweep) {
    if (sizeof(Real) == sizeof(double)) return false;
    if (sweep.gap < 0.5 * smallest_) {
      smallest_ = sweep.gap;
      progress_ = visits_;
    }
    return visits_ - progress_ > kPatience * static_cast<std::int64_t>(all_.size());
  }

  // The numbers are not delicate: full passes are the cost of too short a rest, hidden violators that of too long a one.
  void rest(std::size_t i, double strength) {
    Rest& rest = rest_[i];
    rest.length = std::min(3 * rest.length + 1 + static_cast<std::int64_t>(8 * std::min(strength, 16.0)), std::int64_t{127});
    rest.until = sweeps_ + 1 + rest.length;
  }

  // use(i) for the examples that `wanted` names, each row asked for while the one before is read.
  template <class Wanted, class Use>
  void read(Wanted&& wanted, Use&& use) {
    chosen_.clear();
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(chosen_), wanted);
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
      if (k + 1 < chosen_.size()) rows_.prefetch(chosen_[k + 1]);
      use(chosen_[k]);
    }
  }

  // The gap as far as the examples not at rest tell, the others taken as they were when last met.
  void peek() {
    read([&](std::size_t i) { return rest_[i].length == 0; }, [&](std::size_t i) { at_.outputs[i] = rows_.dot(i, w_); });
    evaluate(at_, best_bias_for(at_));
  }

  // The mean of recent sweeps, the latest one included, and its gap as far as the outputs met on the way tell.
  void average() {
    if (mean_.sweeps == 0) mean_ = at_;
    const double share = 1.0 / static_cast<double>(std::min(++mean_.sweeps, kMemory));
    for (const std::size_t i : all_) {
      mean_.alpha[i] += share * (at_.alpha[i] - mean_.alpha[i]);
      mean_.outputs[i] += share * (at_.outputs[i] - mean_.outputs[i]);
    }
    mean_.b += share * (at_.b - mean_.b);
    evaluate(mean_, mean_.b);  // the best bias is hardly better, and would take longer to find than all the rest
  }

  void measure(Point& at) {
    s_.w = rows_.template zero<double>();
    at.b = 0;
    read([&](std::size_t i) { return at.alpha[i] != 0; },
         [&](std::size_t i) {
           rows_.axpy(i, at.alpha[i] * loss_.sign(i), s_.w);
           at.b += at.alpha[i] * loss_.sign(i) * options_.bias;
         });
    for (const std::size_t i : all_) {
      at.outputs[i] = rows_.dot(i, s_.w);
      if (loss_.term(i, at.alpha[i], at.outputs[i] + options_.bias * at.b) > 0) rest_[i] = {};
    }
    evaluate(at, best_bias_for(at));
  }

  // Primal and dual value at bias b. With b' = B sum_i a_i sign_i, their difference is sum_i term_i(b) + (b - b')^2 / 2.
  void evaluate(const Point& at, double b) {
    s_.b = b;
    double gap = 0.5 * (b - at.b) * (b - at.b);
    s_.primal = 0.5 * b * b;
    for (const std::size_t i : all_) {
      const double f = at.outputs[i] + options_.bias * b;
      s_.primal += 0.5 * at.alpha[i] * loss_.sign(i) * at.outputs[i] + loss_.value(i, f);
      gap += loss_.term(i, at.alpha[i], f);
    }
    s_.dual = s_.primal - gap;
    monitor_.relative_gap = s_.primal > 0 ? gap / s_.primal : 0.0;
  }

  Solution<Weights> finish(Point& at, Status status) {
    s_.status = status;
    s_.alpha = std::move(at.alpha);
    return std::move(s_);
  }

  // argmin_b of the primal, the rest of w fixed. Its slope is b + B sum_i loss_i'(f_i).
  double best_bias_for(const Point& at) {
    const double B = options_.bias;
    if (B == 0) return 0;
    chosen_ = all_;
    return best_bias(
        at.b, {0, 1}, chosen_, [&](std::size_t i, double b) { return loss_.piece(i, at.outputs[i] + B * b); },
        [&](std::size_t i, int piece) -> Line {
          const Line slope = loss_.slope(i, piece);
          return {B * (slope.constant + slope.factor * at.outputs[i]), B * slope.factor * B};
        });
  }

  // std::uniform_int_distribution differs between standard libraries; results must not.
  std::size_t random_below(std::size_t n) { return static_cast<std::size_t>((static_cast<unsigned __int128>(random_()) * n) >> 64); }

  static constexpr std::size_t kNeighbours = 32;
  static constexpr std::int64_t kLate = 7, kShortRest = 3, kMemory = 6, kPatience = 10;
  static constexpr double kFaint = 0.3, kMeanFrom = 3;

  const R& rows_;
  const Loss& loss_;
  const DualCDOptions& options_;
  Monitor& monitor_;
  std::mt19937_64 random_;
  Solution<Weights> s_;                   // its w: as last measured; its b: the best one for the same w
  Point at_, mean_;                       // where the run stands; the mean of where it stood after recent sweeps
  typename R::template Weights<Real> w_;  // w(at_.alpha), as good as Real keeps it
  std::vector<std::size_t> all_, awake_;  // examples that take part; those to visit in this sweep
  std::vector<std::size_t> chosen_;       // work space
  std::int64_t sweeps_ = 0, visits_ = 0;
  double smallest_ = std::numeric_limits<double>::infinity();  // estimated gap that counted as progress, and the visits made until then
  std::int64_t progress_ = 0;
  std::vector<Rest> rest_;
  double mean_gradient_ = 0;  // absolute, projected, of the examples that moved in the sweep before
  std::vector<double> q_;     // Q_ii, or -1 while unknown
};

}  // namespace treille
