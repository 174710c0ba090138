#pragma once
// Losses with a continuous slope, for solvers in the primal:  min_w 1/2 |w|^2 + sum_i loss_i(f_i),  f_i = w.x_i,  y_i = +1 or -1.
// With  a_i = -y_i loss_i'(f_i)  the duality gap of w and a is  1/2 |w - sum_i a_i y_i x_i|^2: see solve/finite_newton.hpp.

#include <algorithm>
#include <cmath>
#include <concepts>

namespace treille {

// C_i is the weight of the example, m = y_i f_i its margin.
template <class L>
concept SmoothLoss = requires(double C, double m, double a) {
  { L::value(C, m) } -> std::same_as<double>;
  { L::alpha(C, m) } -> std::same_as<double>;      // a_i, at least 0
  { L::curvature(C, m) } -> std::same_as<double>;  // of loss_i; 0 where a_i is 0
  { L::feasible(C, a) } -> std::same_as<double>;   // the nearest a_i allowed
};

// C_i max(0, 1 - m)^2
struct SquaredHingeLoss {
  static double value(double C, double m) { return C * slack(m) * slack(m); }
  static double alpha(double C, double m) { return 2 * C * slack(m); }
  static double curvature(double C, double m) { return m < 1 ? 2 * C : 0.0; }
  static double feasible(double, double a) { return std::max(a, 0.0); }

 private:
  static double slack(double m) { return std::max(1 - m, 0.0); }
};

// C_i log(1 + exp(-m))
struct LogisticLoss {
  static double value(double C, double m) { return C * (std::log1p(std::exp(-std::abs(m))) + std::max(-m, 0.0)); }
  static double alpha(double C, double m) { return C / (1 + std::exp(m)); }
  static double curvature(double C, double m) {
    const double e = std::exp(-std::abs(m));
    return C * e / ((1 + e) * (1 + e));
  }
  static double feasible(double C, double a) { return std::clamp(a, 0.0, C); }
};

static_assert(SmoothLoss<SquaredHingeLoss> && SmoothLoss<LogisticLoss>);

}  // namespace treille
