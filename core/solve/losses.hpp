#pragma once
// The losses that solvers know:  min_w 1/2 |w|^2 + sum_i loss_i(f_i),  f_i = w.x_i,  with one dual variable a_i per example and
// w(a) = sum_i a_i sign_i x_i. A step in one a_i is exact, for the logistic loss to rounding.
// Primal - dual is the sum of the examples' terms, none of them negative.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "solve/best_bias.hpp"

namespace treille {

// The target of an example, and C_i, the weight of its loss; if C_i is 0, the example takes no part. Solvers keep it beside the example's
// variable, so the target of a class takes 8 bytes: y_i C_i, y_i = +1 or -1.
struct ClassTarget {
  double y_C;

  double y() const { return std::copysign(1.0, y_C); }
  double C() const { return std::abs(y_C); }
};

struct NumberTarget {
  double number, weight;

  double y() const { return number; }
  double C() const { return weight; }
};

// The targets of one problem: +1 where labels[i] == positive and -1 elsewhere.
struct ClassTargets {
  using Target = ClassTarget;
  std::span<const std::int32_t> labels;
  std::int32_t positive;
  std::span<const double> C;

  Target operator[](std::size_t i) const { return {labels[i] == positive ? C[i] : -C[i]}; }
};

struct NumberTargets {
  using Target = NumberTarget;
  std::span<const double> y, C;

  Target operator[](std::size_t i) const { return {y[i], C[i]}; }
};

struct DualGradient {
  double projected;  // 0 if a_i is at a bound, or at a kink of the dual, and the gradient keeps it there
  double hold;       // how strongly it is kept there
};

// The values for the gap at alpha / m, m > 0 the least margin y_i f_i: there no example has a loss, so neither primal nor gap depends on C.
// On data that w separates this proves an optimum long before every slack times a large C is small.
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

template <class L>
concept DualLoss = requires(const L& loss, std::size_t i, const typename L::Target& t, double a, double f, double q, Margins& margins) {
  { loss.target(i) } -> std::same_as<typename L::Target>;
  { loss.sign(t) } -> std::same_as<double>;
  { loss.scale() } -> std::same_as<double>;         // scale of outputs: decides which gradients are large or tiny
  { loss.value(t, f) } -> std::same_as<double>;     // loss_i(f)
  { loss.term(t, a, f) } -> std::same_as<double>;   // share of the gap
  { loss.diagonal(t) } -> std::same_as<double>;     // the term that the dual adds to |x_i|^2
  { loss.feasible(t, a) } -> std::same_as<double>;  // the nearest a_i allowed
  { loss.gradient(t, a, f) } -> std::same_as<DualGradient>;
  { loss.step(t, a, f, q) } -> std::same_as<double>;  // the best a_i, the others fixed; q = |x_i|^2 + diagonal, or 0
  { loss.alpha(t, f) } -> std::same_as<double>;       // minus the slope of loss_i at f, times sign_i: a_i at the optimum
  { loss.curvature(t, f) } -> std::same_as<double>;   // of loss_i at f; finite where the loss is smooth
  loss.add_to(margins, t, a, f);
};

// A loss that is linear or quadratic in pieces, which rise or fall with f.
template <class L>
concept PiecewiseQuadraticLoss = DualLoss<L> && requires(const L& loss, const typename L::Target& t, double f, int piece) {
  { loss.piece(t, f) } -> std::same_as<int>;
  { loss.slope(t, piece) } -> std::same_as<Line>;  // of loss_i on a piece, by f
};

// Losses that are linear or quadratic in pieces. In the dual they are all one loss, with different numbers:
//
//   loss_i(f) = max over -lower C_i <= a <= upper C_i of  a r_i - epsilon |a| - d_i a^2 / 2,     d_i = bend / C_i
//
// where r_i = 1 - y_i f and sign_i = y_i for classes, y_i = +1 or -1; otherwise r_i = y_i - f and sign_i = 1. The best a is
// r_i - epsilon (r_i + epsilon where r_i < 0; 0 within epsilon) over d_i, cut to the bounds.
//
//   loss                                          lower  upper      epsilon  bend
//   hinge                     C max(0, r)         0      1          0        0
//   squared hinge             C max(0, r)^2       0      infinite   0        1/2
//   epsilon-insensitive       C max(0, |r| - e)   1      1          e        0
//   its square                                    inf.   infinite   e        1/2
//   Huber   C r^2, beyond e   C (2 e |r| - e^2)   2 e    2 e        0        1/2
//
// Hsieh et al., ICML 2008, for classes; Ho and Lin, "Large-scale linear support vector regression", JMLR 2012.
struct QuadraticShape {
  double lower, upper, epsilon, bend;
};

template <class Targets>
class QuadraticLoss {
 public:
  using Target = typename Targets::Target;

  // For classes, lower and epsilon are 0.
  QuadraticLoss(const QuadraticShape& shape, const Targets& targets) : shape_(shape), targets_(targets) {
    if constexpr (!kClasses) {
      double sum = 0, count = 0;
      for (std::size_t i = 0; i < targets.y.size(); ++i)
        if (targets.C[i] > 0) sum += std::abs(targets.y[i]), ++count;
      if (sum > 0) scale_ = sum / count;
    }
  }

  Target target(std::size_t i) const { return targets_[i]; }
  double sign(const Target& t) const { return kClasses ? t.y() : 1.0; }
  double scale() const { return scale_; }
  double diagonal(const Target& t) const { return shape_.bend > 0 ? shape_.bend / t.C() : 0.0; }
  double feasible(const Target& t, double a) const { return std::clamp(a, least(t), most(t)); }
  double alpha(const Target& t, double f) const {
    const double excess = beyond(residual(t, f));
    if (shape_.bend > 0) return feasible(t, excess * (t.C() / shape_.bend));
    return excess > 0 ? most(t) : excess < 0 ? least(t) : 0.0;
  }
  double value(const Target& t, double f) const {
    return kClasses && shape_.bend == 0 ? most(t) * beyond(residual(t, f)) : best_value(t, f);
  }
  // For the hinge: (C_i - a_i) r_i where r_i > 0, otherwise -a_i r_i.
  double term(const Target& t, double a, double f) const {
    return value(t, f) - a * residual(t, f) + epsilon() * std::abs(a) + 0.5 * diagonal(t) * a * a;
  }
  // The dual has a kink at 0: there, any slope within epsilon holds. Classes have none, and no branch that data decide: in short rows a
  // wrong guess of the processor costs as much as the row.
  DualGradient gradient(const Target& t, double a, double f) const {
    const double g = diagonal(t) * a - residual(t, f);
    if (kClasses) return {a == 0 ? std::min(g, 0.0) : a == most(t) ? std::max(g, 0.0) : g, std::abs(g)};
    const double up = a >= 0 ? right(g) : left(g), down = a > 0 ? right(g) : left(g);
    const bool rises = a<most(t), falls = a> least(t);
    if (rises && up < 0) return {up, 0.0};
    if (falls && down > 0) return {down, 0.0};
    return {0.0, std::min(rises ? up : kInfinity, falls ? -down : kInfinity)};
  }
  double step(const Target& t, double a, double f, double q) const {
    const double g = diagonal(t) * a - residual(t, f), up = right(g), down = left(g);
    if (kClasses) return q > 0 ? feasible(t, a - g / q) : most(t);
    if (up < q * a) return q > 0 ? feasible(t, a - up / q) : most(t);
    if (down > q * a) return q > 0 ? feasible(t, a - down / q) : least(t);
    return 0.0;
  }
  double curvature(const Target& t, double f) const { return std::abs(piece(t, f)) == 1 ? t.C() / shape_.bend : 0.0; }
  void add_to(Margins& margins, const Target& t, double a, double f) const {
    margins.add(a, t.C(), kClasses && shape_.bend == 0 ? t.y() * f : -1.0);
  }

  // -2 and 2: a is at its bound; -1 and 1: the loss is quadratic; 0: it is 0.
  int piece(const Target& t, double f) const {
    const double a = alpha(t, f);
    return a == 0 ? 0 : a >= most(t) ? 2 : a <= least(t) ? -2 : a > 0 ? 1 : -1;
  }
  Line slope(const Target& t, int piece) const {
    if (piece == 0) return {0, 0};
    if (std::abs(piece) == 2) return {-sign(t) * (piece > 0 ? most(t) : least(t)), 0};
    const double factor = t.C() / shape_.bend, offset = kClasses ? 1.0 : t.y();
    return {-sign(t) * (offset - piece * epsilon()) * factor, factor};
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr bool kClasses = std::is_same_v<Targets, ClassTargets>;

  double epsilon() const { return kClasses ? 0.0 : shape_.epsilon; }
  // Slopes of the dual on both sides of a_i = 0. For classes they are the same: g + 0.0 would be an addition.
  double right(double g) const { return kClasses ? g : g + shape_.epsilon; }
  double left(double g) const { return kClasses ? g : g - shape_.epsilon; }
  double residual(const Target& t, double f) const { return kClasses ? 1 - t.y() * f : t.y() - f; }
  // r_i without epsilon.
  double beyond(double r) const {
    if (kClasses) return std::max(r, 0.0);
    return r > shape_.epsilon ? r - shape_.epsilon : r < -shape_.epsilon ? r + shape_.epsilon : 0.0;
  }
  double best_value(const Target& t, double f) const {
    const double a = alpha(t, f);
    return a == 0 ? 0.0 : a * (beyond(residual(t, f)) - 0.5 * diagonal(t) * a);  // the diagonal is infinite where C_i is 0
  }
  double most(const Target& t) const { return shape_.upper * t.C(); }
  double least(const Target& t) const { return kClasses ? 0.0 : -shape_.lower * t.C(); }

  QuadraticShape shape_;
  Targets targets_;
  double scale_ = 1.0;
};

// loss_i(f) = C_i log(1 + exp(-y_i f)); sign_i = y_i; 0 < a_i < C_i.
//   dual   max_a  sum_i C_i H(a_i / C_i) - 1/2 |w(a)|^2,   H(p) = -p log p - (1 - p) log(1 - p)
// With s(m) = 1 / (1 + exp(m)), the best a_i for a margin m = y_i f is C_i s(m), and an example's share of the gap is
// C_i KL(a_i / C_i || s(m)). Yu, Huang and Lin, "Dual coordinate descent methods for logistic regression", Machine Learning 2011, take
// Newton steps on a_i or C_i - a_i, whichever is smaller; with the margin as the variable no logarithm of a tiny a_i is ever needed, and
// a_i = 0 is as good a start as any.
struct LogisticShape {};

class LogisticLoss {
 public:
  using Target = ClassTarget;

  LogisticLoss(LogisticShape, const ClassTargets& targets) : targets_(targets) {}

  Target target(std::size_t i) const { return targets_[i]; }
  double sign(const Target& t) const { return t.y(); }
  double scale() const { return 1.0; }
  double diagonal(const Target&) const { return 0.0; }
  double feasible(const Target& t, double a) const { return std::clamp(a, 0.0, t.C()); }
  double alpha(const Target& t, double f) const { return t.C() * share(t.y() * f); }
  double curvature(const Target& t, double f) const { return t.C() * share(t.y() * f) * share(-t.y() * f); }
  double value(const Target& t, double f) const { return t.C() * softplus(-t.y() * f); }
  double term(const Target& t, double a, double f) const {
    const double m = t.y() * f, p = a / t.C();
    return t.C() * std::max(0.0, x_log_x(p) + x_log_x(1 - p) + p * softplus(m) + (1 - p) * softplus(-m));
  }
  // Relative to C_i: the gradient itself is infinite at 0.
  DualGradient gradient(const Target& t, double a, double f) const { return {a / t.C() - share(t.y() * f), 0.0}; }
  // The margin m after the step solves  m - q C_i s(m) = y_i f - q a,  the left side rising with a slope of 1 to 1 + q C_i / 4.
  double step(const Target& t, double a, double f, double q) const {
    const double right = t.y() * f - q * a, most = q * t.C();
    double low = right, high = right + most, m = std::clamp(t.y() * f, low, high);
    for (int i = 0; i < 100; ++i) {
      const double s = share(m), value = m - most * s - right;
      (value > 0 ? high : low) = m;
      double next = m - value / (1 + most * s * (1 - s));
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      const bool done = std::abs(next - m) <= 1e-13 * (1 + std::abs(m));
      m = next;
      if (done) break;
    }
    return t.C() * share(m);
  }
  void add_to(Margins& margins, const Target& t, double a, double) const { margins.add(a, t.C(), -1.0); }

 private:
  static double share(double m) { return 1 / (1 + std::exp(m)); }
  static double softplus(double m) { return std::log1p(std::exp(-std::abs(m))) + std::max(m, 0.0); }
  static double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0.0; }

  ClassTargets targets_;
};

static_assert(PiecewiseQuadraticLoss<QuadraticLoss<ClassTargets>> && PiecewiseQuadraticLoss<QuadraticLoss<NumberTargets>> &&
              DualLoss<LogisticLoss>);

}  // namespace treille
