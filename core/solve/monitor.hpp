#pragma once
// Communication between a running solver and its caller: the solver writes its progress and reads whether to continue. One solver per
// monitor; any thread may look.
//
// Limits of time have one rule: n problems, t of them at a time, take turns of t each, and a problem has the time that remains over the
// turns that remain. So all have the same share, and the others get what one leaves unused. solvers/time_shares.py has the rule for loops
// in Python.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace treille {

enum class Status { converged, max_epochs, stopped, rounding };  // rounding: the solver's numbers are too coarse for this gap

using Clock = std::chrono::steady_clock;

constexpr Clock::time_point kNoDeadline = Clock::time_point::max();

inline Clock::time_point deadline_after(double seconds) {
  constexpr double kLongest = 1e9;  // which no duration of the clock overflows
  if (!(seconds < kLongest)) return kNoDeadline;
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// The deadline of the next problem, of those that end by `end` in so many turns.
inline Clock::time_point share_of(Clock::time_point end, std::size_t turns) {
  if (end == kNoDeadline || turns <= 1) return end;
  const auto now = Clock::now();
  return now + std::max(end - now, Clock::duration::zero()) / static_cast<std::int64_t>(turns);
}

using Moment = std::array<double, 3>;  // seconds, primal value, dual value

struct Monitor {
  std::atomic<bool> cancelled{false};        // nobody waits for the answer
  Clock::time_point deadline = kNoDeadline;  // of the problem; only for the solver's own thread
  std::atomic<std::int64_t> epochs{0};
  std::atomic<double> relative_gap{std::numeric_limits<double>::infinity()};
  // Records the values at times that grow by a quarter: about 30 for each factor of 1000. Only for the solver's own thread.
  std::vector<Moment> history;
  Clock::time_point begun = Clock::now();

  bool stopped() const { return cancelled.load(std::memory_order_relaxed) || (deadline != kNoDeadline && Clock::now() >= deadline); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun).count(); }
  bool due() const { return history.empty() || seconds() >= 1.25 * history.back()[0]; }
  void record(double primal, double dual) { history.push_back({seconds(), primal, dual}); }
};

}  // namespace treille
