#pragma once
// The perceptron: rows and kernel values make the same mistakes, within Novikoff's bound, and a stream may be divided.

#include <cmath>
#include <random>
#include <vector>

#include "check.hpp"
#include "features/any_rows.hpp"
#include "solve/perceptron.hpp"

namespace treille::tests {

inline void perceptrons_of_both_forms_agree_and_keep_the_bound() {
  constexpr std::size_t n = 60, m = 3;
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> X, y;
  while (y.size() < n) {
    const double x[m] = {uniform(random), uniform(random), uniform(random)};
    const double distance = (x[0] + 2 * x[1] - 2 * x[2]) / 3;  // of a unit vector
    if (std::abs(distance) < 0.1) continue;
    X.insert(X.end(), x, x + m);
    y.push_back(distance > 0 ? 1.0 : -1.0);
  }
  const std::vector<double> C(n, 1.0);
  const DenseRows dense(X, n, m);
  const RowsAs<DenseRows> rows(dense);
  std::vector<double> K(n * n, 0.0);
  double R2 = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t z = 0; z < m; ++z) K[i * n + j] += X[i * m + z] * X[j * m + z];
    R2 = std::max(R2, K[i * n + i]);
  }
  StoredGram gram(K, n);
  Monitor monitor;
  const PerceptronOptions options{0.0, 100000, true, 5};
  const auto one = perceptron(RowOutputs(rows), y, C, {}, 0.0, options, monitor);
  const auto two = perceptron(GramOutputs(gram), y, C, {}, 0.0, options, monitor);
  check(one.alpha == two.alpha && one.late == two.late && one.mistakes == two.mistakes);
  check(one.status == Status::converged && one.mistakes.back() == 0);
  check(static_cast<double>(std::accumulate(one.mistakes.begin(), one.mistakes.end(), std::int64_t{0})) <= R2 / 0.01);
  check(one.visits == static_cast<std::int64_t>(n * one.mistakes.size()));

  // The second half of a stream, with the outputs of the first half given.
  const PerceptronOptions pass{1.0, 1, false, 0};
  const auto all = perceptron(RowOutputs(rows), y, C, {}, 0.0, pass, monitor);
  const std::size_t half = n / 2;
  std::vector<double> before(half, 0.0);
  for (std::size_t j = 0; j < half; ++j)
    for (std::size_t i = 0; i < half; ++i) before[j] += all.alpha[i] * y[i] * (K[i * n + half + j] + 1);
  const DenseRows later(std::span<const double>(X).subspan(half * m), n - half, m);
  const auto rest = perceptron(RowOutputs(RowsAs<DenseRows>(later)), std::span<const double>(y).subspan(half),
                               std::span<const double>(C).subspan(half), before, 0.0, pass, monitor);
  for (std::size_t j = 0; j < half; ++j) check(rest.alpha[j] == all.alpha[half + j]);

  monitor.cancelled = true;
  check(perceptron(RowOutputs(rows), y, C, {}, 0.0, options, monitor).status == Status::stopped);
}

}  // namespace treille::tests
