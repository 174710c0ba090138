#pragma once
// How the number of occurrences of a feature becomes its value: phi_z(x) = s_z t(c_z(x)). The factor s_z depends on the feature alone.

#include <cmath>

namespace treille {

enum class Counts { raw, log, binary };

// t(c) of a number of occurrences, 0 or at least 1.
inline double transformed(Counts counts, double c) {
  if (counts == Counts::raw) return c;
  if (counts == Counts::binary) return c > 0 ? 1.0 : 0.0;
  return c > 1 ? 1 + std::log(c) : c;
}

// t(c) of an expected number of occurrences, which may lie anywhere above 0.
inline double transformed_expected(Counts counts, double c) { return counts == Counts::log ? std::log1p(c) : transformed(counts, c); }

}  // namespace treille
