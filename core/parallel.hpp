#pragma once
// Threads for work that is cut into contiguous parts. The result of a part never depends on the number of parts, so results are the same
// for any number of threads.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "interrupt.hpp"

namespace treille {

// Runs work(0) .. work(parts - 1), one thread each, and waits. The first exception is thrown again here.
template <class Work>
void run_parts(int parts, Work&& work) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(parts));
  auto guarded = [&](int part) {
    try {
      work(part);
    } catch (...) {
      errors[static_cast<std::size_t>(part)] = std::current_exception();
    }
  };
  std::mutex mutex;
  std::condition_variable ended;
  int running = parts - 1;
  std::vector<std::thread> threads;
  for (int part = 1; part < parts; ++part)
    threads.emplace_back([&, part, stoppable = interruptible] {
      interruptible = stoppable;
      guarded(part);
      const std::lock_guard lock(mutex);
      if (--running == 0) ended.notify_one();
    });
  guarded(0);
  for (std::unique_lock lock(mutex); running > 0;)  // this thread may have to confirm an interrupt
    if (ended.wait_for(lock, std::chrono::milliseconds(50)) == std::cv_status::timeout && !errors[0]) try {
        poll();
      } catch (...) {
        errors[0] = std::current_exception();
      }
  for (auto& thread : threads) thread.join();
  for (auto& error : errors)
    if (error) std::rethrow_exception(error);
}

// work(0) .. work(n - 1), for items that differ in cost: threads take a few each time.
template <class Work>
void run_in_turns(std::size_t n, int threads, Work&& work) {
  constexpr std::size_t few = 8;
  std::atomic<std::size_t> next{0};
  expect(n);
  run_parts(threads, [&](int) {
    for (std::size_t first; (first = next.fetch_add(few)) < n;)
      for (std::size_t i = first; i < std::min(n, first + few); ++i) {
        tick();
        work(i);
      }
  });
}

// Cuts items 0..n-1 into `parts` contiguous ranges of about equal weight: part p is [cuts[p], cuts[p + 1]).
// `cumulative` has n + 1 entries, the running sum of the items' weights.
inline std::vector<std::size_t> balanced_cuts(std::span<const std::int64_t> cumulative, int parts) {
  std::vector<std::size_t> cuts(static_cast<std::size_t>(parts) + 1);
  const std::int64_t first = cumulative.front(), total = cumulative.back() - first;
  for (int p = 1; p < parts; ++p) {
    const std::int64_t target = first + total / parts * p;
    cuts[p] = static_cast<std::size_t>(std::lower_bound(cumulative.begin(), cumulative.end(), target) - cumulative.begin());
  }
  cuts[parts] = cumulative.size() - 1;
  return cuts;
}

}  // namespace treille
