#pragma once
// The schedule of visits. An example at a bound, with a gradient that holds it there, rests for some sweeps: longer each time, and
// the longer the stronger the gradient. After a few sweeps nearly every visit moves something. LIBLINEAR shrinks such examples
// instead, and starts over with all of them at the end.
//
// The schedule has one list per sweep to come, so that finding those awake costs nothing for those at rest.

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace treille {

using ExampleIndex = std::uint32_t;

class ShrinkingSchedule {
 public:
  static constexpr std::uint32_t kLongest = 127;

  // The next rest, in sweeps, of an example that rested for `last` and is held at its bound with `strength`, in units of the outputs.
  // Too short a rest costs visits that move nothing, too long a one hides examples that should move; neither constant is delicate.
  static std::uint32_t longer(std::uint32_t last, double strength) {
    return std::min(3 * last + 1 + static_cast<std::uint32_t>(4 * std::min(strength, 32.0)), kLongest);
  }

  void visit_after(std::uint32_t rest, ExampleIndex i) { lists_[(sweep_ + rest) % lists_.size()].push_back(i); }

  // Puts the examples awake in the next sweep into `awake`.
  void next(std::vector<ExampleIndex>& awake) {
    awake.clear();
    std::swap(awake, lists_[sweep_++ % lists_.size()]);
  }

  // Wakes the examples for which wanted(i) holds for the next sweep, whenever they were due.
  template <class Wanted>
  void wake(Wanted&& wanted) {
    auto& next = lists_[sweep_ % lists_.size()];
    for (auto& list : lists_)
      if (&list != &next) std::erase_if(list, [&](ExampleIndex i) { return wanted(i) && (next.push_back(i), true); });
  }

 private:
  std::array<std::vector<ExampleIndex>, kLongest + 1> lists_;
  std::size_t sweep_ = 0;  // the next sweep
};

}  // namespace treille
