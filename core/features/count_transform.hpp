#pragma once
// Transforms the number of occurrences of a feature to its value: phi_z(x) = s_z t(c_z(x)). The factor s_z depends on the feature alone.

#include <array>
#include <cmath>
#include <cstdint>

namespace treille {

enum class Counts { raw, log, binary };

// t(c) of a sum of weights of occurrences, 0 or at least 1.
inline double transformed(Counts counts, double c) {
  if (counts == Counts::raw) return c;
  if (counts == Counts::binary) return c > 0 ? 1.0 : 0.0;
  return c > 1 ? 1 + std::log(c) : c;
}

// 1 + log(c) of small numbers: most counts are.
inline const std::array<double, 64> kLogs = [] {
  std::array<double, 64> logs{};
  for (std::size_t c = 1; c < logs.size(); ++c) logs[c] = transformed(Counts::log, static_cast<double>(c));
  return logs;
}();

// t(c) of a number of occurrences.
inline double transformed(Counts counts, std::uint32_t c) {
  return counts == Counts::log && c < kLogs.size() ? kLogs[c] : transformed(counts, static_cast<double>(c));
}

// t(c) of an expected number of occurrences, which may lie anywhere above 0.
inline double transformed_expected(Counts counts, double c) { return counts == Counts::log ? std::log1p(c) : transformed(counts, c); }

}  // namespace treille
