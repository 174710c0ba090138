#pragma once
// The small problems of cutting planes, each against its definition.

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"
#include "hinge_loss.hpp"
#include "solve/planes.hpp"

namespace treille::tests {

// Few dimensions and many planes, some of them alike: G is singular. The mixture proves itself by its gap.
inline void mixtures_of_planes_are_proven(std::size_t n, std::size_t rank) {
  std::mt19937 random(static_cast<unsigned>(n + 100 * rank));
  std::vector<double> g(n * rank), G(n * n, 0.0), b(n), a(n, 0.0);
  for (double& x : g) x = static_cast<double>(random() % 9) - 4;
  for (double& x : b) x = static_cast<double>(random() % 9);
  for (std::size_t s = 0; s < n; ++s)
    for (std::size_t t = 0; t < n; ++t)
      for (std::size_t k = 0; k < rank; ++k) G[s * n + t] += g[s * rank + k] * g[t * rank + k];
  a[random() % n] = 1;
  PlaneMixture(G, b).solve(a, 1e-10);
  double gap = 0, lowest = std::numeric_limits<double>::infinity();
  for (std::size_t t = 0; t < n; ++t) {
    const double r = std::inner_product(a.begin(), a.end(), &G[t * n], -b[t]);
    gap += a[t] * r;
    lowest = std::min(lowest, r);
    check(a[t] >= 0);
  }
  check(std::abs(std::accumulate(a.begin(), a.end(), 0.0) - 1) < 1e-12 && gap - lowest <= 1e-9);
}

inline void no_step_is_better_than_the_best(bool squared) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<std::int32_t> labels(40);
  std::vector<double> C(40), f(40), d(40);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = static_cast<std::int32_t>(random() % 2);
    C[i] = static_cast<double>(random() % 3);
    f[i] = normal(random);
    d[i] = normal(random);
  }
  const auto loss = hinge_loss(labels, 1, C, squared);
  auto value = [&](double k) {
    double sum = 0.3 * k + 0.5 * k * k;
    for (std::size_t i = 0; i < labels.size(); ++i) sum += loss.value(loss.target(i), f[i] + k * d[i]);
    return sum;
  };
  const double best = best_step(loss, {0.3, 1.0}, f, d);
  for (int k = -100; k <= 100; ++k) check(value(best) <= value(best + 0.01 * k) + 1e-12 && value(best) <= value(0.1 * k) + 1e-12);
}

}  // namespace treille::tests
