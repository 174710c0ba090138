#pragma once
// Many problems distributed among threads, while the caller's thread polls.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "parallel.hpp"
#include "solve/monitor.hpp"

namespace treille {

// Called a few times a second from the thread that called the solver: (problems done, epochs and relative gap of the slowest one
// at work). Returns false to cancel: answers are of no use then.
struct Poll {
  std::function<bool(std::int64_t, std::int64_t, double)> call;
  double seconds = std::numeric_limits<double>::infinity();  // for all problems

  bool operator()(std::int64_t done, std::int64_t epochs, double gap) const { return call(done, epochs, gap); }
};

// solve(k, monitor) for k = 0 .. n_problems - 1, each by one of `threads` threads, while the caller's thread polls. Each problem has its
// share of the time; one that is begun when none is left is solved as far as its solver goes without time, so that it has an answer with a
// gap. Cancelled, no further problem is begun. The first exception ends the others and is thrown again here.
inline void solve_watched(std::size_t n_problems, int threads, const Poll& poll, const std::function<void(std::size_t, Monitor&)>& solve) {
  std::vector<Monitor> monitors(n_problems);
  std::atomic<std::size_t> next{0}, done{0};
  std::atomic<bool> finished{false};
  const auto end = deadline_after(poll.seconds);
  const std::size_t at_once = std::min(static_cast<std::size_t>(std::max(threads, 1)), n_problems);
  bool cancelled = false;
  std::mutex mutex;
  std::condition_variable ended;
  auto cancel = [&] {
    next = n_problems;
    for (Monitor& monitor : monitors) monitor.cancelled = true;
  };
  auto work = [&](int) {
    for (std::size_t k; (k = next++) < n_problems; ++done) {
      try {
        monitors[k].begun = Clock::now();
        monitors[k].deadline = share_of(end, (n_problems + at_once - 1) / at_once - k / at_once);
        solve(k, monitors[k]);
      } catch (...) {
        cancel();
        throw;
      }
    }
  };
  std::exception_ptr error;
  std::thread crew([&] {
    try {
      run_shares(static_cast<int>(at_once), work);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    finished = true;
    ended.notify_one();
  });
  std::unique_lock lock(mutex);
  while (!ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return finished.load(); })) {
    lock.unlock();
    std::int64_t epochs = 0;
    double gap = 0;
    for (std::size_t k = 0; k < std::min(next.load(), n_problems); ++k) {
      epochs = std::max(epochs, monitors[k].epochs.load());
      gap = std::max(gap, monitors[k].relative_gap.load());
    }
    if (!cancelled && !poll(static_cast<std::int64_t>(done.load()), epochs, gap)) {
      cancelled = true;
      cancel();
    }
    lock.lock();
  }
  lock.unlock();
  crew.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace treille
