#pragma once
// Squared l1 norm and a piecewise quadratic loss:
//
//   min_{u,b}  F = |u|_1^2 / (2 T) + r b^2 / 2 + sum_i phi_i(f_i),  f = U u + b,
//   phi_i(f) = max over low_i <= beta <= high_i of  beta (y_i - f) - (beta - old_i)^2 / (2 sigma_i),
//
// attained at beta_i = q_i cut to [low_i, high_i], q_i = old_i + sigma_i (y_i - f_i). Squared losses are of this form with old = 0 and
// sigma = 2 C; the hinge is their limit. Steps: exact coordinate descent, since the subdifferential of |u|_1^2 is a product of
// intervals, and Newton's method on the coordinates that are not 0, with conjugate gradients and an exact line search. Where beta stays
// free and signs keep, F is quadratic and one Newton step is exact.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
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
      : examples(U.n_rows), u(U.size(), 0.0), U_(U), T_(trace), ridge_(ridge), has_bias_(has_bias), monitor_(monitor) {}

  std::vector<Example> examples;
  std::vector<double> u;
  double b = 0, l1 = 0;
  std::size_t work = 0;  // entries visited

  // Coordinate k to its best value, the others fixed.
  void step(std::size_t k) {
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
    // Along the step, the slope rises from slope_0 < 0. Where betas leave or enter their bounds on the way it may end above 0: then
    // back by false position.
    const double direction = best > before ? 1 : -1;
    auto slope = [&](double x, double c) {
      const double outward = x != 0 ? direction * std::copysign(1.0, x) : before != 0 ? -1.0 : 1.0;
      return outward * (others + std::abs(x)) / T_ - direction * c;
    };
    double low = before, slope_low = before != 0 ? slope(before, c) : others / T_ - direction * c;
    const double allowed = 0.1 * std::abs(slope_low);
    double x = best, at = before;
    for (int tries = 0; tries < 20; ++tries) {
      c = move(k, x - at);
      at = x;
      const double s = slope(x, c);
      if (s <= allowed) break;
      x = low + (x - low) * std::max(0.1, slope_low / (slope_low - s));
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

  // One step of Newton's method on `support`, the k with u_k != 0, and b. Returns false where it does not help.
  bool newton(std::span<const std::uint32_t> support) {
    const std::size_t m = support.size();
    if (m == 0) return false;
    std::vector<double> gradient(m + 1, 0.0), diagonal(m + 1, 1.0), sign(m);
    // The columns of the support in the free examples, times sqrt(sigma).
    std::vector<std::size_t> begin(m + 1, 0);
    rows_.clear();
    values_.clear();
    for (std::size_t j = 0; j < m; ++j) {
      double c = 0, h = 0;
      U_.each(support[j], [&](std::uint32_t i, double v) {
        const Example& e = examples[i];
        c += v * e.beta();
        if (!e.free()) return;
        rows_.push_back(i);
        values_.push_back(v * std::sqrt(e.sigma));
        h += v * v * e.sigma;
      });
      work += U_.length(support[j]);
      begin[j + 1] = rows_.size();
      sign[j] = std::copysign(1.0, u[support[j]]);
      gradient[j] = sign[j] * l1 / T_ - c;
      diagonal[j] = h + 1 / T_;
    }
    roots_.assign(examples.size(), 0.0);
    double total = ridge_;
    gradient[m] = ridge_ * b;
    for (std::size_t i = 0; i < examples.size(); ++i) {
      gradient[m] -= examples[i].beta();
      if (!examples[i].free()) continue;
      roots_[i] = std::sqrt(examples[i].sigma);
      total += examples[i].sigma;
    }
    if (has_bias_ && total > 0)
      diagonal[m] = total;
    else
      gradient[m] = 0;
    const bool with_bias = has_bias_ && total > 0;

    std::vector<double> image(examples.size()), out(m + 1), d = conjugate_gradients(gradient, diagonal, [&](const std::vector<double>& x) {
                                                              const double xb = with_bias ? x[m] : 0.0;
                                                              for (std::size_t i = 0; i < image.size(); ++i) image[i] = xb * roots_[i];
                                                              double along = 0;
                                                              for (std::size_t j = 0; j < m; ++j) {
                                                                along += sign[j] * x[j];
                                                                for (std::size_t e = begin[j]; e < begin[j + 1]; ++e)
                                                                  image[rows_[e]] += values_[e] * x[j];
                                                              }
                                                              for (std::size_t j = 0; j < m; ++j) {
                                                                double sum = sign[j] * along / T_ + damping_ * diagonal[j] * x[j];
                                                                for (std::size_t e = begin[j]; e < begin[j + 1]; ++e)
                                                                  sum += values_[e] * image[rows_[e]];
                                                                out[j] = sum;
                                                              }
                                                              out[m] = x[m] * (with_bias ? ridge_ + damping_ * diagonal[m] : 1.0);
                                                              if (with_bias)
                                                                for (std::size_t i = 0; i < image.size(); ++i)
                                                                  out[m] += roots_[i] * image[i];
                                                              work += 2 * rows_.size();
                                                              return std::cref(out);
                                                            });
    const double step = search(support, d);
    if (step > 0.5)
      damping_ = std::max(1e-12, 0.1 * damping_);
    else
      damping_ = std::min(1.0, 10 * damping_);
    return step > 0;
  }

 private:
  // u_k by so much more; returns U_k' beta afterwards.
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

  // H d = -gradient, to a tenth of the residual and then by the square of what it was, preconditioned by the diagonal.
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
    const double goal = 1e-8 * rho;
    const int limit = static_cast<int>(std::min<std::size_t>(2 * m + 10, 300));
    for (int iteration = 0; iteration < limit && rho > goal && !monitor_.stop; ++iteration) {
      const std::vector<double>& Hp = product(p);
      double curvature = 0;
      for (std::size_t j = 0; j < m; ++j) curvature += p[j] * Hp[j];
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

  // Along d to the minimum of F; or, if that is lower, a step or a part of it with all signs kept, coordinates that would change theirs
  // set to 0: so that many may leave the support at once. Returns the step, 0 if F does not fall.
  double search(std::span<const std::uint32_t> support, const std::vector<double>& d) {
    const std::size_t m = support.size();
    const double db = has_bias_ ? d[m] : 0.0;
    image_.assign(examples.size(), db);
    for (std::size_t j = 0; j < m; ++j) U_.axpy(support[j], d[j], image_.data());
    const double exact = line_minimum(support, d, db);
    double best = 0, least = value(l1, 0, image_, 0);
    bool project = false;
    auto try_step = [&](double step, bool projected, double norm, double change, const std::vector<double>& image, double scale) {
      const double F = value(norm, change, image, scale);
      if (F < least) least = F, best = step, project = projected;
      return F;
    };
    if (exact > 0) {
      double norm = 0;
      for (std::size_t j = 0; j < m; ++j) norm += std::abs(u[support[j]] + exact * d[j]);
      try_step(exact, false, norm, exact * db, image_, exact);
    }
    double last = std::numeric_limits<double>::infinity();
    for (double s = 1; s > 0.01; s *= 0.5) {
      const bool crossed = to_orthant(support, d, s);
      work += entries_;
      const double F = try_step(s, true, trial_l1_, s * db, trial_, 1);
      if (!crossed || F > last) break;
      last = F;
    }
    if (best == 0) return 0;
    if (project) to_orthant(support, d, best);
    for (std::size_t j = 0; j < m; ++j) {
      double& x = u[support[j]];
      const double next = x + best * d[j];
      x = project && next * x < 0 ? 0.0 : next;
    }
    b += best * db;
    l1 = 0;
    for (const std::uint32_t k : support) l1 += std::abs(u[k]);
    const std::vector<double>& image = project ? trial_ : image_;
    const double scale = project ? 1.0 : best;
    for (std::size_t i = 0; i < examples.size(); ++i) examples[i].q -= scale * examples[i].sigma * image[i];
    return best;
  }

  // The change of f by the projected step s, in trial_, and the norm there. Whether a sign would have changed.
  bool to_orthant(std::span<const std::uint32_t> support, const std::vector<double>& d, double s) {
    bool crossed = false;
    trial_.resize(examples.size());
    for (std::size_t i = 0; i < examples.size(); ++i) trial_[i] = s * image_[i];
    trial_l1_ = 0;
    entries_ = 0;
    for (std::size_t j = 0; j < support.size(); ++j) {
      const double x = u[support[j]], next = x + s * d[j];
      if (next * x >= 0) {
        trial_l1_ += std::abs(next);
        continue;
      }
      crossed = true;
      U_.axpy(support[j], -next, trial_.data());
      entries_ += U_.length(support[j]);
    }
    return crossed;
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
  double line_minimum(std::span<const std::uint32_t> support, const std::vector<double>& d, double db) const {
    const std::size_t m = support.size();
    auto slope = [&](double s) {
      double norm = 0, rate = 0, sum = ridge_ * (b + s * db) * db;
      for (std::size_t j = 0; j < m; ++j) {
        const double x = u[support[j]] + s * d[j];
        norm += std::abs(x);
        rate += x > 0 ? d[j] : x < 0 ? -d[j] : 0;
      }
      for (std::size_t i = 0; i < examples.size(); ++i) {
        const Example& e = examples[i];
        sum -= image_[i] * std::clamp(e.q - s * e.sigma * image_[i], e.low, e.high);
      }
      return sum + norm * rate / T_;
    };
    const double first = slope(0);
    if (!(first < 0)) return 0;
    double low = 0, high = 1, at_low = first, at_high = slope(high);
    for (int k = 0; k < 20 && at_high < 0.1 * first; ++k) {
      low = high, at_low = at_high;
      high *= 2;
      at_high = slope(high);
    }
    if (at_high <= 0) return high;
    for (int k = 0; k < 40 && at_low < 1e-3 * first && high - low > 1e-9 * high; ++k) {
      const double s = low + (high - low) * std::clamp(at_low / (at_low - at_high), 0.05, 0.95), at = slope(s);
      if (at <= 0)
        low = s, at_low = at;
      else
        high = s, at_high = at;
    }
    return low;
  }

  const Columns& U_;
  double T_, ridge_, damping_ = 1e-6;
  bool has_bias_;
  Monitor& monitor_;
  std::vector<std::uint32_t> rows_;
  std::vector<double> values_, roots_, image_, trial_;
  double trial_l1_ = 0;
  std::size_t entries_ = 0;
};

}  // namespace treille
