#pragma once
// Threads for work that is cut into contiguous parts. The result of a part never depends on the number of parts, so results are the same
// for any number of threads.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "interrupt.hpp"

namespace treille {

// Runs work(0) .. work(parts - 1), one thread each, and waits. The first exception is thrown again here.
void run_parts(int parts, const std::function<void(int)>& work);

// work(0) .. work(n - 1), for items that differ in cost: threads take a few each time.
void run_in_turns(std::size_t n, int threads, const std::function<void(std::size_t)>& work);

// Cuts items 0..n-1 into `parts` contiguous ranges of about equal weight: part p is [cuts[p], cuts[p + 1]).
// `cumulative` has n + 1 entries, the running sum of the items' weights.
std::vector<std::size_t> balanced_cuts(std::span<const std::int64_t> cumulative, int parts);

}  // namespace treille
