#pragma once
// The losses that DualCD knows:  min_w 1/2 |w|^2 + sum_i loss_i(f_i),  f_i = w.x_i,  with one dual variable a_i per example and
// w(a) = sum_i a_i sign_i x_i. Each is convex, and in few pieces linear or quadratic, so that a step in one a_i is exact.
// Primal - dual is the sum of the examples' terms, none of them negative.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "solve/best_bias.hpp"

namespace treille {

struct DualGradient {
  double projected;  // 0 where a_i is at a bound, or at a corner of the dual, that the gradient keeps it at
  double hold;       // how strongly it is kept there
};

template <class L>
concept DualLoss = requires(const L& loss, std::size_t i, double a, double f, double q, int piece) {
  { loss.takes_part(i) } -> std::same_as<bool>;
  { loss.sign(i) } -> std::same_as<double>;
  { loss.scale() } -> std::same_as<double>;         // of outputs: what counts as a large or a tiny gradient
  { loss.value(i, f) } -> std::same_as<double>;     // loss_i(f)
  { loss.term(i, a, f) } -> std::same_as<double>;   // share of the gap
  { loss.diagonal(i) } -> std::same_as<double>;     // what the dual adds to |x_i|^2
  { loss.feasible(i, a) } -> std::same_as<double>;  // the nearest a_i allowed
  { loss.gradient(i, a, f) } -> std::same_as<DualGradient>;
  { loss.step(i, a, f, q) } -> std::same_as<double>;  // the best a_i, the others fixed; q = |x_i|^2 + diagonal, or 0
  { loss.piece(i, f) } -> std::same_as<int>;          // rises or falls with f, never both
  { loss.slope(i, piece) } -> std::same_as<Line>;     // of loss_i on a piece, by f
};

// loss_i(f) = C_i max(0, 1 - y_i f), or its square; sign_i = y_i = +1 or -1; w(a) has 0 <= a_i <= U_i.
//   dual   max_a  sum(a) - 1/2 |w(a)|^2 - sum_i d_i a_i^2 / 2     hinge: U_i = C_i, d_i = 0    squared: U_i = inf, d_i = 1 / (2 C_i)
class Hinge {
 public:
  Hinge(std::vector<double> y, std::span<const double> C, bool squared) : y_(std::move(y)), C_(C), squared_(squared) {}

  bool takes_part(std::size_t i) const { return C_[i] > 0; }
  double sign(std::size_t i) const { return y_[i]; }
  double scale() const { return 1.0; }
  double diagonal(std::size_t i) const { return squared_ ? 0.5 / C_[i] : 0.0; }
  double feasible(std::size_t i, double a) const { return std::clamp(a, 0.0, upper(i)); }
  double value(std::size_t i, double f) const {
    const double slack = this->slack(i, f);
    if (slack <= 0) return 0;
    return C_[i] * (squared_ ? slack * slack : slack);
  }
  // Hinge: (C_i - a_i) slack, or a_i (-slack).
  double term(std::size_t i, double a, double f) const { return value(i, f) - a * slack(i, f) + 0.5 * diagonal(i) * a * a; }
  DualGradient gradient(std::size_t i, double a, double f) const {
    const double g = diagonal(i) * a - slack(i, f);
    return {a == 0 ? std::min(g, 0.0) : a == upper(i) ? std::max(g, 0.0) : g, std::abs(g)};
  }
  double step(std::size_t i, double a, double f, double q) const {
    return q > 0 ? std::clamp(a - (diagonal(i) * a - slack(i, f)) / q, 0.0, upper(i)) : upper(i);
  }
  int piece(std::size_t i, double f) const { return slack(i, f) > 0; }
  Line slope(std::size_t i, int piece) const {
    if (piece == 0) return {0, 0};
    return squared_ ? Line{-2 * C_[i] * y_[i], 2 * C_[i]} : Line{-C_[i] * y_[i], 0};
  }

 private:
  double slack(std::size_t i, double f) const { return 1 - y_[i] * f; }
  double upper(std::size_t i) const { return squared_ ? std::numeric_limits<double>::infinity() : C_[i]; }

  std::vector<double> y_;
  std::span<const double> C_;
  bool squared_;
};

// loss_i(f) = C_i max(0, |y_i - f| - epsilon), or its square; sign_i = 1; -U_i <= a_i <= U_i.
//   dual   max_a  y.a - epsilon |a|_1 - 1/2 |w(a)|^2 - sum_i d_i a_i^2 / 2     U_i and d_i as above
// Ho and Lin, "Large-scale linear support vector regression", JMLR 2012.
class EpsilonInsensitive {
 public:
  EpsilonInsensitive(std::span<const double> y, std::span<const double> C, double epsilon, bool squared)
      : y_(y), C_(C), epsilon_(epsilon), squared_(squared) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      if (C[i] > 0) sum += std::abs(y[i]), ++count;
    if (sum > 0) scale_ = sum / count;
  }

  bool takes_part(std::size_t i) const { return C_[i] > 0; }
  double sign(std::size_t) const { return 1.0; }
  double scale() const { return scale_; }
  double diagonal(std::size_t i) const { return squared_ ? 0.5 / C_[i] : 0.0; }
  double feasible(std::size_t i, double a) const { return std::clamp(a, -upper(i), upper(i)); }
  double value(std::size_t i, double f) const {
    const double excess = std::abs(y_[i] - f) - epsilon_;
    if (excess <= 0) return 0;
    return C_[i] * (squared_ ? excess * excess : excess);
  }
  double term(std::size_t i, double a, double f) const {
    return value(i, f) - a * (y_[i] - f) + epsilon_ * std::abs(a) + 0.5 * diagonal(i) * a * a;
  }
  // The dual has a corner at 0: there, any slope within epsilon holds.
  DualGradient gradient(std::size_t i, double a, double f) const {
    const double g = f - y_[i] + diagonal(i) * a, right = g + epsilon_, left = g - epsilon_;
    if (a == 0) return {right < 0 ? right : left > 0 ? left : 0.0, std::min(right, -left)};
    if (a > 0) return {a == upper(i) ? std::max(right, 0.0) : right, std::abs(right)};
    return {a == -upper(i) ? std::min(left, 0.0) : left, std::abs(left)};
  }
  double step(std::size_t i, double a, double f, double q) const {
    const double g = f - y_[i] + diagonal(i) * a, right = g + epsilon_, left = g - epsilon_;
    if (right < q * a) return q > 0 ? std::min(a - right / q, upper(i)) : upper(i);
    if (left > q * a) return q > 0 ? std::max(a - left / q, -upper(i)) : -upper(i);
    return 0.0;
  }
  int piece(std::size_t i, double f) const { return f - y_[i] > epsilon_ ? 1 : y_[i] - f > epsilon_ ? -1 : 0; }
  Line slope(std::size_t i, int piece) const {
    if (piece == 0) return {0, 0};
    return squared_ ? Line{-2 * C_[i] * (y_[i] + piece * epsilon_), 2 * C_[i]} : Line{piece * C_[i], 0};
  }

 private:
  double upper(std::size_t i) const { return squared_ ? std::numeric_limits<double>::infinity() : C_[i]; }

  std::span<const double> y_, C_;
  double epsilon_, scale_ = 1.0;
  bool squared_;
};

static_assert(DualLoss<Hinge> && DualLoss<EpsilonInsensitive>);

}  // namespace treille
