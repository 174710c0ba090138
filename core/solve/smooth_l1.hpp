#pragma once
// Squared l1 norm and a piecewise quadratic loss:
//
//   min_{u,b}  F = |u|_1^2 / (2 T) + r b^2 / 2 + sum_i phi_i(f_i),  f = U u + b,
//   phi_i(f) = max over low_i <= beta <= high_i of  beta (y_i - f) - (beta - old_i)^2 / (2 sigma_i),
//
// attained at beta_i = q_i cut to [low_i, high_i], q_i = old_i + sigma_i (y_i - f_i). Squared losses are of this form with old = 0 and
// sigma = 2 C; the hinge is their limit. Steps: exact coordinate descent, since the subdifferential of |u|_1^2 is a product of
// intervals, and Newton's method on the coordinates that are not 0, with conjugate gradients and an exact line search. Where beta stays
// free and signs keep, F is quadratic and one Newton step is exact. With blocks of columns, |u|_1 is the sum of the norms |u_g|.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "solve/best_bias.hpp"
#include "solve/columns.hpp"
#include "solve/monitor.hpp"

namespace treille {

class SmoothL1 {
 public:
  struct Example {
    double q, sigma, low, high;
    double beta() const { return std::clamp(q, low, high); }
    bool free() const { return q > low && q < high; }
  };

  // `ridge` is r, the weight of b^2 / 2; without `has_bias`, b = 0.
  SmoothL1(const Columns& U, double trace, bool has_bias, double ridge, Monitor& monitor)
      : examples(U.n_rows), u(U.n_columns(), 0.0), U_(U), T_(trace), ridge_(ridge), has_bias_(has_bias), monitor_(monitor) {}

  std::vector<Example> examples;
  std::vector<double> u;
  double b = 0, l1 = 0;
  std::size_t work = 0;  // entries visited

  double norm(std::size_t g) const { return block_norm(u.data(), g); }

  // |x_g| of a vector with one number per column.
  double block_norm(const double* x, std::size_t g) const {
    const std::size_t first = U_.first(g), last = U_.last(g);
    if (last - first == 1) return std::abs(x[first]);
    return std::sqrt(std::inner_product(x + first, x + last, x + first, 0.0));
  }

  // Moves block g towards its best value, the others fixed; all the way if it is one column.
  void step(std::size_t g) { U_.last(g) - U_.first(g) == 1 ? step_column(U_.first(g)) : step_block(g); }

  void step_column(std::size_t k) {
    double c = 0, h = 0;
    U_.each(k, [&](std::uint32_t i, double v) {
      const Example& e = examples[i];
      c += v * e.beta();
      if (e.free()) h += v * v * e.sigma;
    });
    work += U_.length(k);
    const double before = u[k], others = std::max(0.0, l1 - std::abs(before)), g = c + h * before;
    const double best = std::copysign(std::max(0.0, (std::abs(g) - others / T_) / (h + 1 / T_)), g);
    if (best == before) return;
    // Along the step, the slope rises from slope_0 < 0. If betas leave or enter their bounds on the way, it may end above 0: then the step
    // is shortened by false position.
    const double direction = best > before ? 1 : -1;
    auto slope = [&](double x, double c) {
      const double outward = x != 0 ? direction * std::copysign(1.0, x) : before != 0 ? -1.0 : 1.0;
      return outward * (others + std::abs(x)) / T_ - direction * c;
    };
    const double slope_low = before != 0 ? slope(before, c) : others / T_ - direction * c;
    if (slope_low >= 0) return;  // a step of rounding
    double x = best, at = before;
    for (int tries = 0; tries < kTries; ++tries) {
      c = move(k, x - at);
      at = x;
      const double s = slope(x, c);
      if (s <= -kFlat * slope_low) break;
      x = before + (x - before) * std::max(kLeastCut, slope_low / (slope_low - s));
    }
    u[k] = at;
    l1 = others + std::abs(at);
  }

  // The best b. With a free intercept, sum(beta) is then 0 up to rounding.
  void fit_bias() {
    if (!has_bias_) return;
    std::vector<std::size_t> undecided;
    for (std::size_t i = 0; i < examples.size(); ++i)
      if (examples[i].sigma > 0) undecided.push_back(i);
    auto piece = [&](std::size_t i, double change) {
      const double q = examples[i].q - examples[i].sigma * change;
      return q >= examples[i].high ? 0 : q > examples[i].low ? 1 : 2;
    };
    auto slope = [&](std::size_t i, int piece) {
      const Example& e = examples[i];
      return piece == 0 ? Line{-e.high, 0} : piece == 1 ? Line{-e.q, e.sigma} : Line{-e.low, 0};
    };
    const double change = best_bias(0.0, {ridge_ * b, ridge_}, undecided, piece, slope);
    b += change;
    for (Example& e : examples) e.q -= e.sigma * change;
  }

  // One step of Newton's method on `support`, the blocks with u_g != 0, and b. Returns false where it does not help.
  bool newton(std::span<const std::uint32_t> support) {
    if (support.empty()) return false;
    collect(support);
    const std::size_t m = columns_.size();
    std::vector<double> gradient(m + 1, 0.0), diagonal(m + 1, 1.0), unit(m);
    for (std::size_t s = 0; s < support.size(); ++s) {
      const double size = norm(support[s]);
      for (std::size_t j = starts_[s]; j < starts_[s + 1]; ++j) {
        unit[j] = u[columns_[j]] / size;
        gradient[j] = unit[j] * l1 / T_ - slopes_[j];
        diagonal[j] = curvatures_[j] + unit[j] * unit[j] / T_ + (1 - unit[j] * unit[j]) * l1 / (T_ * size);
      }
    }
    double total = ridge_;
    gradient[m] = ridge_ * b;
    for (const Example& e : examples) {
      gradient[m] -= e.beta();
      total += e.free() ? e.sigma : 0.0;
    }
    const bool with_bias = has_bias_ && total > 0;
    diagonal[m] = with_bias ? total : 1.0;
    if (!with_bias) gradient[m] = 0;
    std::vector<double> image(examples.size()), out(m + 1);
    const auto d = conjugate_gradients(gradient, diagonal, [&](const std::vector<double>& x) -> const std::vector<double>& {
      const double xb = with_bias ? x[m] : 0.0;
      for (std::size_t i = 0; i < image.size(); ++i) image[i] = xb * roots_[i];
      double along = 0;
      for (std::size_t j = 0; j < m; ++j) {
        along += unit[j] * x[j];
        for (std::size_t e = begin_[j]; e < begin_[j + 1]; ++e) image[rows_[e]] += values_[e] * x[j];
      }
      for (std::size_t s = 0; s < support.size(); ++s) {
        double own = 0;
        const std::size_t first = starts_[s], last = starts_[s + 1];
        for (std::size_t j = first; j < last; ++j) own += unit[j] * x[j];
        const double turn = last - first > 1 ? l1 / (T_ * norm(support[s])) : 0.0;
        for (std::size_t j = first; j < last; ++j) {
          double sum = unit[j] * along / T_ + turn * (x[j] - unit[j] * own) + damping_ * diagonal[j] * x[j];
          for (std::size_t e = begin_[j]; e < begin_[j + 1]; ++e) sum += values_[e] * image[rows_[e]];
          out[j] = sum;
        }
      }
      out[m] = x[m] * (with_bias ? ridge_ + damping_ * diagonal[m] : 1.0);
      if (with_bias)
        for (std::size_t i = 0; i < image.size(); ++i) out[m] += roots_[i] * image[i];
      work += 2 * rows_.size();
      return out;
    });
    const double step = search(support, d);
    damping_ = step > kLongStep ? std::max(kLeastDamping, 0.1 * damping_) : std::min(1.0, (step > kShortStep ? 10 : 100) * damping_);
    return step > 0;
  }

 private:
  // A step that is exact for a bound of F: the block's part of the Hessian is at most L = sum_i sigma_i |x_ig|^2.
  void step_block(std::size_t g) {
    const std::size_t first = U_.first(g), last = U_.last(g);
    const double before = norm(g), others = std::max(0.0, l1 - before);
    double L = 0, size = 0;
    std::vector<double> next(last - first);
    for (std::size_t k = first; k < last; ++k) {
      double c = 0;
      U_.each(k, [&](std::uint32_t i, double v) {
        c += v * examples[i].beta();
        L += v * v * examples[i].sigma;
      });
      next[k - first] = c;
    }
    work += U_.block_length(g);
    for (std::size_t k = first; k < last; ++k) {
      next[k - first] += L * u[k];
      size += next[k - first] * next[k - first];
    }
    size = std::sqrt(size);
    const double best = std::max(0.0, (size - others / T_) / (L + 1 / T_)), factor = size > 0 ? best / size : 0.0;
    if (best == 0 && before == 0) return;
    for (std::size_t k = first; k < last; ++k) {
      move(k, factor * next[k - first] - u[k]);
      u[k] = factor * next[k - first];
    }
    l1 = others + best;
  }

  // The columns of the support: U_k' beta, curvatures, and the entries in free examples times sqrt(sigma).
  void collect(std::span<const std::uint32_t> support) {
    columns_.clear();
    starts_.assign(1, 0);
    for (const std::uint32_t g : support) {
      for (std::size_t k = U_.first(g); k < U_.last(g); ++k) columns_.push_back(static_cast<std::uint32_t>(k));
      starts_.push_back(columns_.size());
    }
    roots_.resize(examples.size());
    for (std::size_t i = 0; i < examples.size(); ++i) roots_[i] = examples[i].free() ? std::sqrt(examples[i].sigma) : 0.0;
    rows_.clear();
    for (auto* each : {&values_, &slopes_, &curvatures_}) each->clear();
    begin_.assign(1, 0);
    for (const std::uint32_t k : columns_) {
      double c = 0, h = 0;
      U_.each(k, [&](std::uint32_t i, double v) {
        c += v * examples[i].beta();
        if (roots_[i] == 0) return;
        rows_.push_back(i);
        values_.push_back(v * roots_[i]);
        h += values_.back() * values_.back();
      });
      work += U_.length(k);
      slopes_.push_back(c);
      curvatures_.push_back(h);
      begin_.push_back(rows_.size());
    }
  }

  // Adds to u_k; returns U_k' beta afterwards.
  double move(std::size_t k, double change) {
    double c = 0;
    U_.each(k, [&](std::uint32_t i, double v) {
      Example& e = examples[i];
      e.q -= e.sigma * v * change;
      c += v * e.beta();
    });
    work += U_.length(k);
    return c;
  }

  // H d = -gradient, preconditioned by the diagonal, the more exactly the better the last steps were.
  template <class Product>
  std::vector<double> conjugate_gradients(const std::vector<double>& gradient, const std::vector<double>& diagonal, Product&& product) {
    const std::size_t m = gradient.size();
    std::vector<double> d(m, 0.0), r(m), p(m);
    double rho = 0;
    for (std::size_t j = 0; j < m; ++j) {
      r[j] = -gradient[j];
      p[j] = r[j] / diagonal[j];
      rho += r[j] * p[j];
    }
    const double goal = std::clamp(100 * damping_, kLeastResidual, kMostResidual) * rho;
    const int limit = static_cast<int>(std::min<std::size_t>(2 * m + 10, kProducts));
    for (int iteration = 0; iteration < limit && rho > goal && !monitor_.stopped(); ++iteration) {
      const std::vector<double>& Hp = product(p);
      const double curvature = std::inner_product(p.begin(), p.end(), Hp.begin(), 0.0);
      if (!(curvature > 0)) break;
      const double a = rho / curvature;
      double next = 0;
      for (std::size_t j = 0; j < m; ++j) {
        d[j] += a * p[j];
        r[j] -= a * Hp[j];
        next += r[j] * r[j] / diagonal[j];
      }
      for (std::size_t j = 0; j < m; ++j) p[j] = r[j] / diagonal[j] + next / rho * p[j];
      rho = next;
    }
    return d;
  }

  // Moves along d to the minimum of F; or, if that is lower, takes a step or a part of it that keeps all signs and sets blocks that would
  // turn round to 0, so that many may leave the support at once. Returns the step, 0 if F does not fall.
  double search(std::span<const std::uint32_t> support, const std::vector<double>& d) {
    const double db = has_bias_ ? d[columns_.size()] : 0.0;
    image_.assign(examples.size(), db);
    for (std::size_t j = 0; j < columns_.size(); ++j) U_.axpy(columns_[j], d[j], image_.data());
    const double exact = line_minimum(d, db), now = value(l1, 0, image_, 0);
    double best = 0, least = now;
    bool project = false;
    if (exact > 0) {
      const double F = value(norm_along(d, exact).first, exact * db, image_, exact);
      if (F < least) least = F, best = exact;
    }
    double last = std::numeric_limits<double>::infinity();
    for (double s = 1; s > kShortStep; s *= 0.5) {
      const bool turned = project_step(d, s);
      const double F = value(trial_l1_, s * db, trial_, 1);
      if (F < least) least = F, best = s, project = true;
      if (!turned || F > last) break;
      last = F;
    }
    if (best == 0) return 0;
    if (project) project_step(d, best);
    const std::vector<double>& image = project ? trial_ : image_;
    for (std::size_t i = 0; i < examples.size(); ++i) examples[i].q -= (project ? 1.0 : best) * examples[i].sigma * image[i];
    for (std::size_t s = 0; s + 1 < starts_.size(); ++s) {
      const bool gone = project && turns(d, best, s);
      for (std::size_t j = starts_[s]; j < starts_[s + 1]; ++j) u[columns_[j]] = gone ? 0.0 : u[columns_[j]] + best * d[j];
    }
    b += best * db;
    l1 = 0;
    for (const std::uint32_t g : support) l1 += norm(g);
    return best;
  }

  // Returns whether the step would turn block s of the support by more than a right angle.
  bool turns(const std::vector<double>& d, double step, std::size_t s) const {
    double sum = 0;
    for (std::size_t j = starts_[s]; j < starts_[s + 1]; ++j) sum += u[columns_[j]] * (u[columns_[j]] + step * d[j]);
    return sum < 0;
  }

  // |u + s d|_1 and its slope by s.
  std::pair<double, double> norm_along(const std::vector<double>& d, double step) const {
    double norm = 0, rate = 0;
    for (std::size_t s = 0; s + 1 < starts_.size(); ++s) {
      double squares = 0, slope = 0;
      for (std::size_t j = starts_[s]; j < starts_[s + 1]; ++j) {
        const double x = u[columns_[j]] + step * d[j];
        squares += x * x;
        slope += x * d[j];
      }
      if (squares == 0) continue;
      const double size = std::sqrt(squares);
      norm += size;
      rate += slope / size;
    }
    return {norm, rate};
  }

  // Computes the change of f by the projected step, in trial_, and the norm there. Returns whether a block turned.
  bool project_step(const std::vector<double>& d, double step) {
    bool turned = false;
    trial_.resize(examples.size());
    for (std::size_t i = 0; i < examples.size(); ++i) trial_[i] = step * image_[i];
    trial_l1_ = 0;
    for (std::size_t s = 0; s + 1 < starts_.size(); ++s) {
      const bool gone = turns(d, step, s);
      double squares = 0;
      for (std::size_t j = starts_[s]; j < starts_[s + 1]; ++j) {
        const double next = u[columns_[j]] + step * d[j];
        squares += next * next;
        if (gone) U_.axpy(columns_[j], -next, trial_.data());
      }
      turned |= gone;
      trial_l1_ += gone ? 0.0 : std::sqrt(squares);
    }
    return turned;
  }

  // F up to a constant, where f changes by scale * image, b by `change`, and |u|_1 is `norm`.
  double value(double norm, double change, const std::vector<double>& image, double scale) const {
    double sum = norm * norm / (2 * T_) + 0.5 * ridge_ * (b + change) * (b + change);
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const Example& e = examples[i];
      if (e.sigma == 0) continue;
      const double q = e.q - scale * e.sigma * image[i], beta = std::clamp(q, e.low, e.high);
      sum += (q - 0.5 * beta) * beta / e.sigma;
    }
    return sum;
  }

  // The s of least F(u + s d), or a little less.
  double line_minimum(const std::vector<double>& d, double db) const {
    auto slope = [&](double s) {
      const auto [norm, rate] = norm_along(d, s);
      double sum = norm * rate / T_ + ridge_ * (b + s * db) * db;
      for (std::size_t i = 0; i < examples.size(); ++i) {
        const Example& e = examples[i];
        sum -= image_[i] * std::clamp(e.q - s * e.sigma * image_[i], e.low, e.high);
      }
      return sum;
    };
    const double first = slope(0);
    if (!(first < 0)) return 0;
    double low = 0, high = 1, at_low = first, at_high = slope(high);
    for (int k = 0; k < kTries && at_high < kFlat * first; ++k) {
      low = high, at_low = at_high;
      high *= 2;
      at_high = slope(high);
    }
    if (at_high <= 0) return high;
    for (int k = 0; k < 2 * kTries && at_low < kExact * first && high - low > kNarrow * high; ++k) {
      const double s = low + (high - low) * std::clamp(at_low / (at_low - at_high), kMargin, 1 - kMargin), at = slope(s);
      if (at <= 0)
        low = s, at_low = at;
      else
        high = s, at_high = at;
    }
    return low;
  }

  // Searches along a line end at this share of the first slope, kExact after a Newton step, or at this width of the bracket.
  static constexpr double kFlat = 0.1, kExact = 1e-3, kNarrow = 1e-9, kLeastCut = 0.1, kMargin = 0.05;  // the last two: of false position
  // Long Newton steps lower the damping, short ones raise it. Squared residuals of H d = -gradient are relative to the first.
  static constexpr double kLongStep = 0.5, kShortStep = 0.01, kLeastDamping = 1e-12, kLeastResidual = 1e-10, kMostResidual = 1e-2;
  static constexpr int kTries = 20, kProducts = 1000;  // at most: slopes in a search, products with H for a step

  const Columns& U_;
  double T_, ridge_, damping_ = 1e-6;  // times the diagonal of H
  bool has_bias_;
  Monitor& monitor_;
  std::vector<std::uint32_t> columns_, rows_;  // of the support, see `collect`
  std::vector<std::size_t> starts_, begin_;    // of its blocks in columns_, and of its columns in rows_ and values_
  std::vector<double> values_, slopes_, curvatures_, roots_, image_, trial_;
  double trial_l1_ = 0;
};

}  // namespace treille
