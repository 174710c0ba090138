#pragma once
// Kernel learning: a weight mu_k >= 0 for each feature, sum_k mu_k |X_k|^2 = T, learned with the predictor. With U_k = X_k / |X_k|,
//
//   primal  min_{u,b}  |u|_1^2 / (2 T) + r b^2 / 2 + sum_i C_i loss(y_i, f_i),  f = U u + b
//   dual    max_beta   sum_i conj_i(beta_i) - T/2 max_k (U_k' beta)^2 - r/2 sum(beta)^2,  sum(beta) = 0 where b is free (r = 0)
//
// and mu_k |X_k|^2 = T |u_k| / |u|_1. Cortes, Mohri, Rostamizadeh, "Learning sequence kernels", Eqs. (10) and (15), halved.
//
// Any PiecewiseQuadraticLoss whose epsilon is 0.
//
// Working sets of features with the largest |U_k' beta| grow until the gap over all features is small: each round costs one pass over
// all entries. On a working set, smooth losses are solved by SmoothL1; the hinge by proximal steps on the dual (augmented Lagrangian),
// old <- beta with a growing sigma, each of which is again a problem of SmoothL1.
//
// The constants were varied on 16 problems: bigrams of Reuters-21578 and of Amazon reviews, as features and in blocks, all three losses,
// gaps of 1e-3 to 1e-6. Without Newton's method most do not end within 10,000 passes; without its changing damping, or without the
// proximal weight falling again after easy steps, the passes are 2 to 4 times as many. Smaller targets for working sets and larger first
// working sets cost 10 to 40 %. The other constants matter less than 10 % there, but gaps of 1e-9 with a huge C need the exact steps in
// single columns and along Newton's direction. Gap-safe screening changed nothing.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "parallel.hpp"
#include "solve/columns.hpp"
#include "solve/losses.hpp"
#include "solve/monitor.hpp"
#include "solve/smooth_l1.hpp"

namespace treille {

struct SquaredL1Options {
  double trace;
  bool has_bias;
  double ridge;  // r
  double tol;
  std::int64_t max_epochs;
  int threads;
};

struct SquaredL1Solution {
  std::vector<double> u, beta, scores;  // scores: U_k' beta
  double b = 0, primal = std::numeric_limits<double>::infinity(), dual = -std::numeric_limits<double>::infinity();
  std::int64_t epochs = 0;
  Status status = Status::max_epochs;
};

class SquaredL1 {
 public:
  template <PiecewiseQuadraticLoss Loss>
  SquaredL1(const Columns& U, const Loss& loss, const SquaredL1Options& options, Monitor& monitor)
      : U_(U),
        options_(options),
        monitor_(monitor),
        T_(options.trace),
        smooth_(U, options.trace, options.has_bias, options.ridge, monitor),
        y_(U.n_rows),
        kappa_(U.n_rows),
        old_(U.n_rows, 0.0),
        z_(U.n_rows),
        beta_(U.n_rows),
        scores_(U.n_columns(), 0.0) {
    const double inf = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < U.n_rows; ++i) {
      const auto target = loss.target(i);
      y_[i] = target.y();
      if (!(target.C() > 0)) continue;  // beta_i = 0
      most_ = std::max(most_, target.C());
      kappa_[i] = loss.diagonal(target);
      const double ends[2] = {loss.sign(target) * loss.feasible(target, -inf), loss.sign(target) * loss.feasible(target, inf)};
      smooth_.examples[i] = {0, 1, std::min(ends[0], ends[1]), std::max(ends[0], ends[1])};
    }
    linear_ = std::all_of(kappa_.begin(), kappa_.end(), [](double kappa) { return kappa == 0; });
    pi_ = std::max(T_ / static_cast<double>(U.n_rows), most_ > 0 ? 1 / most_ : 0.0);
    drop_exact();
    for (std::size_t k = 0; k < U.size(); ++k)
      if (U.block_length(k) > 0) alive_.push_back(static_cast<std::uint32_t>(k));
  }

  // Begins with these u, b and beta; empty: with 0.
  SquaredL1Solution solve(std::span<const double> u, double b, std::span<const double> beta) {
    if (!u.empty()) std::copy(u.begin(), u.end(), smooth_.u.begin());
    for (const std::uint32_t k : alive_)
      if (smooth_.norm(k) != 0) working_.push_back(k);
    smooth_.b = options_.has_bias ? b : 0.0;
    if (!beta.empty())
      for (std::size_t i = 0; i < y_.size(); ++i) old_[i] = std::clamp(beta[i], smooth_.examples[i].low, smooth_.examples[i].high);
    double before = std::numeric_limits<double>::infinity();
    std::size_t more = kFirstWorking;
    for (int stalled = 0;;) {
      evaluate(alive_, options_.threads);
      keep_best();
      const double gap = best_.primal - best_.dual;
      monitor_.epochs = best_.epochs = epochs();
      monitor_.relative_gap = best_.primal > 0 ? gap / best_.primal : 0.0;
      best_.status = gap <= options_.tol * best_.primal ? Status::converged
                     : monitor_.stopped()               ? Status::stopped
                     : stalled >= kRounding             ? Status::rounding
                                                        : Status::max_epochs;
      if (best_.status != Status::max_epochs || best_.epochs >= options_.max_epochs) break;
      const bool falls = gap < kFalling * before;
      before = std::min(before, gap);
      if (!falls) more *= 2;
      stalled = choose_working(more) || falls ? 0 : stalled + 1;
      solve_working(kPrecision * std::max(gap, options_.tol * best_.primal));
    }
    return finish();
  }

 private:
  struct Values {
    double smooth, smooth_gap, proximal, primal, dual, scale, bias;
  };

  // |U_g' beta|
  double score(std::size_t g) const { return smooth_.block_norm(scores_.data(), g); }
  // Smooth losses need no proximal term once it is smaller than their own.
  void drop_exact() {
    if (!linear_ && pi_ * most_ < kBend) pi_ = 0;
  }
  std::int64_t epochs() const {
    return static_cast<std::int64_t>(
        std::ceil(static_cast<double>(smooth_.work) / static_cast<double>(std::max<std::size_t>(U_.n_entries(), 1))));
  }
  bool out_of_budget() const { return monitor_.stopped() || epochs() >= options_.max_epochs; }

  // z, q, b and beta computed anew from u, then the scores and values on `features`.
  void evaluate(std::span<const std::uint32_t> features, int threads) {
    std::fill(z_.begin(), z_.end(), 0.0);
    smooth_.l1 = 0;
    for (const std::uint32_t k : working_)
      if (const double norm = smooth_.norm(k); norm != 0) {
        smooth_.l1 += norm;
        for (std::size_t j = U_.first(k); j < U_.last(k); ++j) U_.axpy(j, smooth_.u[j], z_.data());
        smooth_.work += U_.block_length(k);
      }
    for (std::size_t i = 0; i < y_.size(); ++i) {
      auto& e = smooth_.examples[i];
      if (e.sigma != 0) e.sigma = 1 / (kappa_[i] + pi_);
      e.q = e.sigma * (pi_ * old_[i] + y_[i] - z_[i] - smooth_.b);
    }
    smooth_.fit_bias();
    double sums[2] = {0, 0};
    for (std::size_t i = 0; i < y_.size(); ++i) {
      beta_[i] = smooth_.examples[i].beta();
      sums[beta_[i] > 0] += std::abs(beta_[i]);
    }
    if (options_.has_bias && options_.ridge == 0 && sums[0] != sums[1]) {  // onto sum(beta) = 0, within the bounds
      const bool larger = sums[1] > sums[0];
      const double factor = sums[!larger] / sums[larger];
      for (double& beta : beta_)
        if ((beta > 0) == larger) beta *= factor;
    }
    correlate(features, threads);
    double t = 0;
    for (const std::uint32_t k : features) t = std::max(t, score(k));
    certify(t);
  }

  void correlate(std::span<const std::uint32_t> features, int threads) {
    constexpr std::size_t block = 512;
    const std::size_t n_blocks = (features.size() + block - 1) / block;
    std::atomic<std::size_t> next{0}, visited{0};
    run_shares(static_cast<int>(std::clamp<std::size_t>(n_blocks / 8, 1, static_cast<std::size_t>(threads))), [&](int) {
      std::size_t own = 0;
      for (std::size_t j; (j = next++) < n_blocks;)
        for (const std::uint32_t k : features.subspan(j * block, std::min(block, features.size() - j * block))) {
          for (std::size_t j = U_.first(k); j < U_.last(k); ++j) scores_[j] = U_.dot(j, beta_.data());
          own += U_.block_length(k);
        }
      visited += own;
    });
    smooth_.work += visited;
  }

  // The values at u, b and beta, where t = max |U_k' beta|. The dual takes the best multiple of beta.
  void certify(double t) {
    const double r = options_.ridge, regulariser = smooth_.l1 * smooth_.l1 / (2 * T_), b = smooth_.b;
    double smooth = regulariser + 0.5 * r * b * b, linear = 0, proximal = 0, squares = 0, sum = 0;
    double most = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < y_.size(); ++i) {
      const auto& e = smooth_.examples[i];
      if (e.sigma == 0) continue;
      const double beta = e.beta(), moved = beta - old_[i], distance = beta_[i] - old_[i];
      smooth += beta * (y_[i] - z_[i] - b) - 0.5 * (kappa_[i] * beta * beta + pi_ * moved * moved);
      linear += beta_[i] * y_[i];
      proximal += pi_ * distance * distance;
      squares += kappa_[i] * beta_[i] * beta_[i];
      sum += beta_[i];
      if (beta_[i] != 0) most = std::min(most, (beta_[i] > 0 ? e.high : e.low) / beta_[i]);
    }
    const double quadratic = T_ * t * t + r * sum * sum + squares;
    now_.smooth = smooth;
    now_.smooth_gap = smooth - (linear - 0.5 * (proximal + quadratic));
    now_.proximal = 0.5 * proximal;
    now_.scale = quadratic > 0 ? std::clamp(linear / quadratic, 0.0, most) : linear > 0 && most < 1e300 ? most : 1.0;
    now_.dual = now_.scale * (linear - 0.5 * now_.scale * quadratic);
    now_.bias = best_bias();
    now_.primal = regulariser + 0.5 * r * now_.bias * now_.bias;
    for (std::size_t i = 0; i < y_.size(); ++i) {
      const double error = y_[i] - z_[i] - now_.bias, beta = slope(i, error);
      now_.primal += beta * (error - 0.5 * kappa_[i] * beta);
    }
  }

  // Minus the slope of loss_i by f, where y_i - f is `error`.
  double slope(std::size_t i, double error) const {
    const auto& e = smooth_.examples[i];
    return kappa_[i] > 0 ? std::clamp(error / kappa_[i], e.low, e.high) : error > 0 ? e.high : e.low;
  }

  // The b of least primal value if the losses are piecewise linear: the b of SmoothL1 solves only the proximal problem.
  double best_bias() const {
    if (!options_.has_bias || !linear_) return smooth_.b;
    std::vector<std::size_t> undecided(y_.size());
    std::iota(undecided.begin(), undecided.end(), std::size_t{0});
    auto piece = [&](std::size_t i, double b) { return y_[i] - z_[i] - b > 0; };
    auto line = [&](std::size_t i, int piece) { return Line{piece ? -smooth_.examples[i].high : -smooth_.examples[i].low, 0}; };
    return treille::best_bias(smooth_.b, {0, options_.ridge}, undecided, piece, line);
  }

  void keep_best() {
    if (now_.primal < best_.primal) keep_primal();
    if (now_.dual > best_.dual) {
      best_.dual = now_.dual;
      best_.beta = beta_;
      for (double& beta : best_.beta) beta *= now_.scale;
    }
  }

  void keep_primal() {
    best_.primal = now_.primal;
    best_.b = now_.bias;
    best_.u = smooth_.u;
  }

  // The features with u_k != 0, and as many more of the largest scores, at least `more`. Returns whether a violating feature enters.
  bool choose_working(std::size_t more) {
    const std::vector<std::uint32_t> before = std::move(working_);  // sorted
    working_.clear();
    std::vector<std::uint32_t> others;
    for (const std::uint32_t k : alive_) (smooth_.norm(k) != 0 ? working_ : others).push_back(k);
    more = std::min(others.size(), std::max(more, working_.size()));
    auto larger = [&](std::uint32_t j, std::uint32_t k) {
      const double a = score(j), b = score(k);
      return a != b ? a > b : j < k;
    };
    std::nth_element(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(more), others.end(), larger);
    working_.insert(working_.end(), others.begin(), others.begin() + static_cast<std::ptrdiff_t>(more));
    std::sort(working_.begin(), working_.end());
    return std::any_of(working_.begin(), working_.end(),
                       [&](std::uint32_t k) { return score(k) > smooth_.l1 / T_ && !std::binary_search(before.begin(), before.end(), k); });
  }

  // The problem of the working features alone, to this gap. A proximal term that is too weak makes the steps hard: it then grows again.
  void solve_working(double target) {
    for (int step = 0; step < kSteps && !out_of_budget(); ++step) {
      double last = std::numeric_limits<double>::infinity();
      int iteration = 0;
      bool solved = false;
      for (int stalled = 0; iteration < kIterations && stalled < kStalled && !out_of_budget(); ++iteration) {
        evaluate(working_, 1);
        if (now_.primal - now_.dual <= target) return;
        solved = pi_ > 0 && now_.smooth_gap <= std::max(kSolved * target, kInexact * now_.proximal);
        if (solved) break;
        stalled = last - now_.smooth > kProgress * now_.smooth ? 0 : stalled + 1;
        last = now_.smooth;
        descend();
      }
      old_ = beta_;
      if (solved && iteration < kEasy) pi_ /= kGrowth;
      if (!solved) pi_ = pi_ > 0 ? kGrowth * pi_ : kBend / most_;
      drop_exact();
    }
  }

  // Coordinate descent on the features that may move, and a Newton step.
  void descend() {
    const double bound = kNearly * smooth_.l1 / T_;
    std::vector<std::uint32_t> support;
    for (const std::uint32_t k : working_)
      if (smooth_.norm(k) != 0 || score(k) > bound) smooth_.step(k);
    for (const std::uint32_t k : working_)
      if (smooth_.norm(k) != 0) support.push_back(k);
    smooth_.newton(support);
  }

  // With a loose gap, or a tiny C, u = 0 may suffice. A kernel of 0 is useless, so the best feature alone is tried then: u_k = T U_k' beta,
  // as at the optimum, or less.
  void avoid_zero() {
    if (alive_.empty() || std::any_of(best_.u.begin(), best_.u.end(), [](double x) { return x != 0; })) return;
    const auto k = *std::max_element(alive_.begin(), alive_.end(), [&](auto j, auto k) { return score(j) < score(k); });
    const std::vector<double> direction(scores_.begin() + U_.blocks[k], scores_.begin() + U_.blocks[k + 1]);
    working_.assign(1, k);
    std::fill(smooth_.u.begin(), smooth_.u.end(), 0.0);
    for (double scale = T_; scale > 1e-6 * T_ && smooth_.norm(k) == 0; scale *= 0.5) {
      for (std::size_t j = 0; j < direction.size(); ++j) smooth_.u[U_.first(k) + j] = scale * direction[j];
      evaluate(working_, 1);
      if (now_.primal < best_.primal)
        keep_primal();
      else
        std::fill_n(smooth_.u.begin() + U_.blocks[k], direction.size(), 0.0);
    }
  }

  SquaredL1Solution finish() {
    if (best_.status == Status::converged) avoid_zero();
    for (std::size_t k = 0; k < U_.n_columns(); ++k) scores_[k] = U_.dot(k, best_.beta.data());
    best_.scores = std::move(scores_);
    best_.dual = std::min(best_.dual, best_.primal);  // rounding
    return std::move(best_);
  }

  static constexpr std::size_t kFirstWorking = 100;          // features beside the support; twice as many where the gap hardly falls
  static constexpr double kFalling = 0.9, kPrecision = 0.3;  // of the gap: a larger share hardly falls; what a working set is solved to
  static constexpr int kRounding = 5;                        // rounds without progress in gap or features before the solver gives up
  static constexpr double kBend = 0.5;                       // of squared losses: their own quadratic term is kBend / C_i
  // Proximal steps of a working set, each ending at kSolved of the target or kInexact of its own term; the weight of the next one falls if
  // it was solved in kEasy descents, and grows if it was not solved in kIterations, or kStalled that gain less than kProgress.
  static constexpr int kSteps = 50, kIterations = 40, kStalled = 3, kEasy = 15;
  static constexpr double kGrowth = 3, kSolved = 0.1, kInexact = 0.2, kProgress = 1e-12;
  static constexpr double kNearly = 0.8;  // columns whose score is below this share of the largest are not visited

  const Columns& U_;
  SquaredL1Options options_;
  Monitor& monitor_;
  double T_, most_ = 0, pi_ = 0;  // trace, largest C, weight of the proximal term: 1 / sigma
  bool linear_;                   // losses are linear in pieces
  SmoothL1 smooth_;
  std::vector<double> y_, kappa_;  // kappa: inverse curvature of the loss, 0 if it is linear in pieces
  std::vector<double> old_, z_, beta_, scores_;
  std::vector<std::uint32_t> alive_, working_;
  Values now_{};
  SquaredL1Solution best_;
};

}  // namespace treille
