#pragma once
// The losses that DualCD knows:  min_w 1/2 |w|^2 + sum_i loss_i(f_i),  f_i = w.x_i,  with one dual variable a_i per example and
// w(a) = sum_i a_i sign_i x_i. Each is convex; a step in one a_i is exact, for the logistic loss to rounding.
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
  double projected;  // 0 where a_i is at a bound, or at a kink of the dual, and the gradient keeps it there
  double hold;       // how strongly it is kept there
};

// `Target` is what the loss of one example depends on: solvers keep it beside the example's variable.
template <class L>
concept DualLoss = requires(const L& loss, std::size_t i, const typename L::Target& t, double a, double f, double q) {
  { loss.target(i) } -> std::same_as<typename L::Target>;
  { loss.takes_part(t) } -> std::same_as<bool>;
  { loss.sign(t) } -> std::same_as<double>;
  { loss.scale() } -> std::same_as<double>;         // of outputs: what counts as a large or a tiny gradient
  { loss.value(t, f) } -> std::same_as<double>;     // loss_i(f)
  { loss.term(t, a, f) } -> std::same_as<double>;   // share of the gap
  { loss.diagonal(t) } -> std::same_as<double>;     // what the dual adds to |x_i|^2
  { loss.feasible(t, a) } -> std::same_as<double>;  // the nearest a_i allowed
  { loss.gradient(t, a, f) } -> std::same_as<DualGradient>;
  { loss.step(t, a, f, q) } -> std::same_as<double>;  // the best a_i, the others fixed; q = |x_i|^2 + diagonal, or 0
};

// Piecewise linear or quadratic.
template <class L>
concept PiecewiseLoss = DualLoss<L> && requires(const L& loss, const typename L::Target& t, double f, int piece) {
  { loss.piece(t, f) } -> std::same_as<int>;       // monotone in f
  { loss.slope(t, piece) } -> std::same_as<Line>;  // of loss_i on a piece, by f
};

// What the gap at alpha / m needs, m > 0 the least margin y_i f_i: there no example has a loss, so neither primal nor gap depends on C. On
// data that w separates this proves an optimum long before every slack times a large C is small.
//   primal = |w|^2 / (2 m^2),   gap = |w|^2 / m^2 - sum(a) / m,   feasible where a_i / m <= C_i for all i
struct Margins {
  double least = std::numeric_limits<double>::infinity(), largest_share = 0, alpha = 0, sq_norm = 0;

  void add(double a, double C, double margin) {
    least = std::min(least, margin);
    largest_share = std::max(largest_share, a / C);
    alpha += a;
    sq_norm += a * margin;
  }
  bool separate() const { return alpha > 0 && least > 0 && largest_share <= least; }
  double primal() const { return 0.5 * sq_norm / (least * least); }
  double gap() const { return std::max((sq_norm / least - alpha) / least, 0.0); }
};

// loss_i(f) = C_i max(0, 1 - y_i f), or its square; sign_i = y_i = +1 or -1; w(a) has 0 <= a_i <= U_i.
//   dual   max_a  sum(a) - 1/2 |w(a)|^2 - sum_i d_i a_i^2 / 2     hinge: U_i = C_i, d_i = 0    squared: U_i = inf, d_i = 1 / (2 C_i)
class Hinge {
 public:
  struct Target {
    double y_C;  // y_i C_i: the sign and the weight in 8 bytes
  };

  Hinge(std::vector<double> y, std::span<const double> C, bool squared) : y_(std::move(y)), C_(C), squared_(squared) {}

  Target target(std::size_t i) const { return {std::copysign(C_[i], y_[i])}; }
  bool takes_part(Target t) const { return t.y_C != 0; }
  double sign(Target t) const { return std::copysign(1.0, t.y_C); }
  double scale() const { return 1.0; }
  double diagonal(Target t) const { return squared_ ? 0.5 / C(t) : 0.0; }
  double feasible(Target t, double a) const { return std::clamp(a, 0.0, upper(t)); }
  double value(Target t, double f) const {
    const double slack = std::max(this->slack(t, f), 0.0);
    return C(t) * (squared_ ? slack * slack : slack);
  }
  // Hinge: (C_i - a_i) slack, or a_i (-slack).
  double term(Target t, double a, double f) const { return value(t, f) - a * slack(t, f) + 0.5 * diagonal(t) * a * a; }
  DualGradient gradient(Target t, double a, double f) const {
    const double g = diagonal(t) * a - slack(t, f);
    return {a == 0 ? std::min(g, 0.0) : a == upper(t) ? std::max(g, 0.0) : g, std::abs(g)};
  }
  double step(Target t, double a, double f, double q) const {
    return q > 0 ? std::clamp(a - (diagonal(t) * a - slack(t, f)) / q, 0.0, upper(t)) : upper(t);
  }
  int piece(Target t, double f) const { return slack(t, f) > 0; }
  void add_to(Margins& margins, Target t, double a, double f) const { margins.add(a, C(t), squared_ ? -1.0 : sign(t) * f); }
  Line slope(Target t, int piece) const {
    if (piece == 0) return {0, 0};
    return squared_ ? Line{-2 * t.y_C, 2 * C(t)} : Line{-t.y_C, 0};
  }

 private:
  static double C(Target t) { return std::abs(t.y_C); }
  double slack(Target t, double f) const { return 1 - sign(t) * f; }
  double upper(Target t) const { return squared_ ? std::numeric_limits<double>::infinity() : C(t); }

  std::vector<double> y_;
  std::span<const double> C_;
  bool squared_;
};

// loss_i(f) = C_i max(0, |y_i - f| - epsilon), or its square; sign_i = 1; -U_i <= a_i <= U_i.
//   dual   max_a  y.a - epsilon |a|_1 - 1/2 |w(a)|^2 - sum_i d_i a_i^2 / 2     U_i and d_i as above
// Ho and Lin, "Large-scale linear support vector regression", JMLR 2012.
class EpsilonInsensitive {
 public:
  struct Target {
    double y, C;
  };

  EpsilonInsensitive(std::span<const double> y, std::span<const double> C, double epsilon, bool squared)
      : y_(y), C_(C), epsilon_(epsilon), squared_(squared) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      if (C[i] > 0) sum += std::abs(y[i]), ++count;
    if (sum > 0) scale_ = sum / count;
  }

  Target target(std::size_t i) const { return {y_[i], C_[i]}; }
  bool takes_part(const Target& t) const { return t.C > 0; }
  double sign(const Target&) const { return 1.0; }
  double scale() const { return scale_; }
  double diagonal(const Target& t) const { return squared_ ? 0.5 / t.C : 0.0; }
  double feasible(const Target& t, double a) const { return std::clamp(a, -upper(t), upper(t)); }
  double value(const Target& t, double f) const {
    const double excess = std::max(std::abs(t.y - f) - epsilon_, 0.0);
    return t.C * (squared_ ? excess * excess : excess);
  }
  double term(const Target& t, double a, double f) const {
    return value(t, f) - a * (t.y - f) + epsilon_ * std::abs(a) + 0.5 * diagonal(t) * a * a;
  }
  // The dual has a kink at 0: there, any slope within epsilon holds.
  DualGradient gradient(const Target& t, double a, double f) const {
    const double g = f - t.y + diagonal(t) * a, right = g + epsilon_, left = g - epsilon_;
    if (a == 0) return {right < 0 ? right : left > 0 ? left : 0.0, std::min(right, -left)};
    if (a > 0) return {a == upper(t) ? std::max(right, 0.0) : right, std::abs(right)};
    return {a == -upper(t) ? std::min(left, 0.0) : left, std::abs(left)};
  }
  double step(const Target& t, double a, double f, double q) const {
    const double g = f - t.y + diagonal(t) * a, right = g + epsilon_, left = g - epsilon_;
    if (right < q * a) return q > 0 ? std::min(a - right / q, upper(t)) : upper(t);
    if (left > q * a) return q > 0 ? std::max(a - left / q, -upper(t)) : -upper(t);
    return 0.0;
  }
  int piece(const Target& t, double f) const { return f - t.y > epsilon_ ? 1 : t.y - f > epsilon_ ? -1 : 0; }
  Line slope(const Target& t, int piece) const {
    if (piece == 0) return {0, 0};
    return squared_ ? Line{-2 * t.C * (t.y + piece * epsilon_), 2 * t.C} : Line{piece * t.C, 0};
  }

 private:
  double upper(const Target& t) const { return squared_ ? std::numeric_limits<double>::infinity() : t.C; }

  std::span<const double> y_, C_;
  double epsilon_, scale_ = 1.0;
  bool squared_;
};

// loss_i(f) = C_i log(1 + exp(-y_i f)); sign_i = y_i; 0 < a_i < C_i.
//   dual   max_a  sum_i C_i H(a_i / C_i) - 1/2 |w(a)|^2,   H(p) = -p log p - (1 - p) log(1 - p)
// With s(m) = 1 / (1 + exp(m)), the best a_i for a margin m = y_i f is C_i s(m), and an example's share of the gap is
// C_i KL(a_i / C_i || s(m)). Yu, Huang and Lin, "Dual coordinate descent methods for logistic regression", Machine Learning 2011, take
// Newton steps on a_i or C_i - a_i, whichever is smaller; with the margin as the variable no logarithm of a tiny a_i is ever needed, and
// a_i = 0 is as good a start as any.
class Logistic {
 public:
  using Target = Hinge::Target;

  Logistic(std::vector<double> y, std::span<const double> C) : y_(std::move(y)), C_(C) {}

  Target target(std::size_t i) const { return {std::copysign(C_[i], y_[i])}; }
  bool takes_part(Target t) const { return t.y_C != 0; }
  double sign(Target t) const { return std::copysign(1.0, t.y_C); }
  double scale() const { return 1.0; }
  double diagonal(Target) const { return 0.0; }
  double feasible(Target t, double a) const { return std::clamp(a, 0.0, C(t)); }
  double value(Target t, double f) const { return C(t) * softplus(-sign(t) * f); }
  double term(Target t, double a, double f) const {
    const double m = sign(t) * f, p = a / C(t);
    return C(t) * std::max(0.0, x_log_x(p) + x_log_x(1 - p) + p * softplus(m) + (1 - p) * softplus(-m));
  }
  // Relative to C_i: the gradient itself is infinite at 0.
  DualGradient gradient(Target t, double a, double f) const { return {a / C(t) - share(sign(t) * f), 0.0}; }
  // The margin m after the step solves  m - q C_i s(m) = y_i f - q a,  the left side rising with a slope of 1 to 1 + q C_i / 4.
  double step(Target t, double a, double f, double q) const {
    const double right = sign(t) * f - q * a, most = q * C(t);
    double low = right, high = right + most, m = std::clamp(sign(t) * f, low, high);
    for (int i = 0; i < 100; ++i) {
      const double s = share(m), value = m - most * s - right;
      (value > 0 ? high : low) = m;
      double next = m - value / (1 + most * s * (1 - s));
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      const bool done = std::abs(next - m) <= 1e-13 * (1 + std::abs(m));
      m = next;
      if (done) break;
    }
    return C(t) * share(m);
  }

 private:
  static double C(Target t) { return std::abs(t.y_C); }
  static double share(double m) { return 1 / (1 + std::exp(m)); }
  static double softplus(double m) { return std::log1p(std::exp(-std::abs(m))) + std::max(m, 0.0); }
  static double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0.0; }

  std::vector<double> y_;
  std::span<const double> C_;
};

static_assert(PiecewiseLoss<Hinge> && PiecewiseLoss<EpsilonInsensitive> && DualLoss<Logistic>);

}  // namespace treille
