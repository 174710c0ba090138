#pragma once
// Communication between a running solver and its caller: the solver writes its progress and reads whether to continue. One solver per
// monitor; any thread may look.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

namespace treille {

enum class Status { converged, max_epochs, stopped, rounding };  // rounding: the solver's numbers are too coarse for this gap

using Moment = std::array<double, 3>;  // seconds, primal value, dual value

struct Monitor {
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> epochs{0};
  std::atomic<double> relative_gap{std::numeric_limits<double>::infinity()};
  // Records the values at times that grow by a quarter: about 30 for each factor of 1000. Only for the solver's own thread.
  std::vector<Moment> history;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();

  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(); }
  bool due() const { return history.empty() || seconds() >= 1.25 * history.back()[0]; }
  void record(double primal, double dual) { history.push_back({seconds(), primal, dual}); }
};

}  // namespace treille
