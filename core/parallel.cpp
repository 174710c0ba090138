#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace treille {

void run_shares(int shares, const std::function<void(int)>& work) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(shares));
  auto guarded = [&](int share) {
    try {
      work(share);
    } catch (...) {
      errors[static_cast<std::size_t>(share)] = std::current_exception();
    }
  };
  std::mutex mutex;
  std::condition_variable ended;
  int running = shares - 1;
  std::vector<std::thread> threads;
  for (int share = 1; share < shares; ++share)
    threads.emplace_back([&, share, stoppable = interruptible] {
      interruptible = stoppable;
      guarded(share);
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

void run_in_turns(std::size_t n, int threads, const std::function<void(std::size_t)>& work) {
  constexpr std::size_t few = 8;
  std::atomic<std::size_t> next{0};
  expect(n);
  run_shares(threads, [&](int) {
    for (std::size_t first; (first = next.fetch_add(few)) < n;)
      for (std::size_t i = first; i < std::min(n, first + few); ++i) {
        tick();
        work(i);
      }
  });
}

std::vector<std::size_t> balanced_cuts(std::span<const std::int64_t> cumulative, int shares) {
  std::vector<std::size_t> cuts(static_cast<std::size_t>(shares) + 1);
  const std::int64_t first = cumulative.front(), total = cumulative.back() - first;
  for (int p = 1; p < shares; ++p) {
    const std::int64_t target = first + total / shares * p;
    cuts[p] = static_cast<std::size_t>(std::lower_bound(cumulative.begin(), cumulative.end(), target) - cumulative.begin());
  }
  cuts[shares] = cumulative.size() - 1;
  return cuts;
}

}  // namespace treille
