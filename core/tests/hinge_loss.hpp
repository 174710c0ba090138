#pragma once
// The hinge loss, or its square, of one class against the rest.

#include <cstdint>
#include <limits>
#include <span>

#include "solve/losses.hpp"

namespace treille::tests {

inline QuadraticLoss<ClassTargets> hinge_loss(std::span<const std::int32_t> labels, std::int32_t positive, std::span<const double> C,
                                              bool squared) {
  const double infinity = std::numeric_limits<double>::infinity();
  return QuadraticLoss({0.0, squared ? infinity : 1.0, 0.0, squared ? 0.5 : 0.0}, ClassTargets{labels, positive, C});
}

}  // namespace treille::tests
