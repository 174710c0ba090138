#pragma once
// How a running solver and its caller talk: the solver writes where it stands and reads whether to go on. One solver per monitor;
// any thread may look.

#include <atomic>
#include <cstdint>
#include <limits>

namespace treille {

enum class Status { converged, max_epochs, stopped, rounding };  // rounding: the numbers kept are too coarse for this gap

struct Monitor {
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> epochs{0};
  std::atomic<double> relative_gap{std::numeric_limits<double>::infinity()};
};

}  // namespace treille
