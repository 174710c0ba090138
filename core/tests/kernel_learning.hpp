#pragma once
// Kernel learning: the solver's report is computed again from the definitions on a dense matrix.

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "check.hpp"
#include "hinge_loss.hpp"
#include "solve/squared_l1.hpp"

namespace treille::tests {

// Random counts, some columns zero and one a copy of another, as features or in blocks of 3.
enum class L1Loss { hinge, squared_hinge, squared_error };

inline void kernel_learning_is_proven(L1Loss loss, bool has_bias, double ridge, bool blocks) {
  constexpr std::size_t n = 40, p = 30;
  std::mt19937 random(static_cast<unsigned>(loss) + 10);
  std::vector<double> X(n * p), y(n), C(n), data;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < p; ++k) X[i * p + k] = k % 7 == 6 ? 0.0 : static_cast<double>(random() % 4 == 0);
    X[i * p + 8] = X[i * p + 2];
    y[i] = loss == L1Loss::squared_error ? static_cast<double>(random() % 9) : random() % 2 == 0 ? 1.0 : -1.0;
    C[i] = static_cast<double>(random() % 3);
  }
  std::vector<std::int64_t> indptr{0}, starts;
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < p; ++k)
      if (X[i * p + k] != 0) ids.push_back(static_cast<std::int32_t>(k)), data.push_back(X[i * p + k]);
    indptr.push_back(static_cast<std::int64_t>(ids.size()));
  }
  if (blocks)
    for (std::size_t k = 0; k <= p; k += 3) starts.push_back(static_cast<std::int64_t>(k));
  Columns columns = Columns::of_csr({{indptr, ids, data, 0}}, p, {}, starts);
  std::vector<std::int64_t> column(p);
  std::iota(column.begin(), column.end(), std::int64_t{0});
  if (!blocks) {
    const auto merged = columns.merge_equal();
    std::copy(merged.begin(), merged.end(), column.begin());
    check(merged[8] == merged[2] && merged[6] == merged[13] && columns.n_columns() == 30 - 1 - 3);
  }
  Monitor monitor;
  const double T = 1.5, tol = 1e-8;
  const SquaredL1Options options{T, has_bias, ridge, tol, 1000000, 2};
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<std::int32_t> labels(n);
  std::transform(y.begin(), y.end(), labels.begin(), [](double each) { return each > 0 ? 1 : 0; });
  const QuadraticLoss squared_error({infinity, infinity, 0.0, 0.5}, NumberTargets{y, C});
  const auto of_classes = hinge_loss(labels, 1, C, loss == L1Loss::squared_hinge);
  const auto s = (loss == L1Loss::squared_error ? SquaredL1(columns, squared_error, options, monitor)
                                                : SquaredL1(columns, of_classes, options, monitor))
                     .solve({}, 0.0, {});
  check(s.status == Status::converged && s.primal - s.dual <= tol * s.primal && s.dual <= s.primal);

  const std::size_t width = blocks ? 3 : 1;
  double l1 = 0, t = 0, sum = 0, primal = 0.5 * ridge * s.b * s.b, dual = 0;
  std::vector<double> f(n, s.b);
  std::vector<bool> counted(p, false);
  for (std::size_t g = 0; g < p; g += width) {
    double squares = 0, u_squares = 0, scores = 0;
    for (std::size_t k = g; k < g + width; ++k)
      for (std::size_t i = 0; i < n; ++i) squares += X[i * p + k] * X[i * p + k];
    if (squares == 0) continue;
    for (std::size_t k = g; k < g + width; ++k) {
      const auto at = static_cast<std::size_t>(column[k]);
      double score = 0;
      for (std::size_t i = 0; i < n; ++i) score += X[i * p + k] * s.beta[i] / std::sqrt(squares);
      check(std::abs(score - s.scores[at]) <= 1e-9);
      scores += score * score;
      if (counted[at]) continue;
      counted[at] = true;
      u_squares += s.u[at] * s.u[at];
      for (std::size_t i = 0; i < n; ++i) f[i] += X[i * p + k] * s.u[at] / std::sqrt(squares);
    }
    l1 += std::sqrt(u_squares);
    t = std::max(t, std::sqrt(scores));
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double slack = loss == L1Loss::squared_error ? y[i] - f[i] : std::max(0.0, 1 - y[i] * f[i]);
    primal += C[i] * (loss == L1Loss::hinge ? slack : slack * slack);
    dual += y[i] * s.beta[i] - (loss != L1Loss::hinge && C[i] > 0 ? s.beta[i] * s.beta[i] / (4 * C[i]) : 0.0);
    sum += s.beta[i];
    if (loss != L1Loss::squared_error) check(y[i] * s.beta[i] >= 0);
    if (loss == L1Loss::hinge) check(y[i] * s.beta[i] <= C[i] + 1e-12);
  }
  if (has_bias && ridge == 0) check(std::abs(sum) <= 1e-9);
  check(std::abs(primal + l1 * l1 / (2 * T) - s.primal) <= 1e-9 * s.primal);
  check(std::abs(dual - 0.5 * T * t * t - 0.5 * ridge * sum * sum - s.dual) <= 1e-9 * s.primal);
}

}  // namespace treille::tests
