#pragma once
// Steps of the logistic loss in the dual, against their definition.

#include <cmath>
#include <vector>

#include "check.hpp"
#include "solve/losses.hpp"

namespace treille::tests {

inline void steps_of_the_logistic_loss_are_exact() {
  for (const double C : {1e-6, 0.3, 1.0, 1e6})
    for (const double q : {0.0, 1e-8, 1.0, 1e4, 1e12})
      for (const double f : {-700.0, -1.0, 0.0, 0.5, 800.0})
        for (const double part : {0.0, 0.5, 1.0})
          for (const double y : {1.0, -1.0}) {
            const std::vector<double> weights{C};
            const std::vector<std::int32_t> labels{1};
            const LogisticLoss loss({}, {labels, y > 0 ? 1 : 0, weights});
            const auto t = loss.target(0);
            const double a = part * C, z = loss.step(t, a, f, q), after = f + q * (z - a) * y;
            check(z >= 0 && z <= C);
            check(loss.term(t, a, f) >= 0 && std::isfinite(loss.term(t, a, f)));
            // At the new output nothing is left of the example's share, up to the rounding of the output itself.
            const double scale = 1e-9 * (1 + std::abs(f) + q * C);
            check(std::abs(loss.gradient(t, z, after).projected) <= 1e-9 + scale);
            check(loss.term(t, z, after) <= C * (1e-9 + scale * scale));
          }
}

}  // namespace treille::tests
