#pragma once
// Many problems distributed among threads, while the caller's thread polls.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "parallel.hpp"
#include "solve/monitor.hpp"

namespace treille {

// Called a few times a second from the thread that called the solver: (problems done, epochs and relative gap of the slowest one
// at work). Returns false to stop.
using Poll = std::function<bool(std::int64_t, std::int64_t, double)>;

// solve(k, monitor) for k = 0 .. n_problems - 1, each by one of `threads` threads, while the caller's thread polls. Once stopped, the
// monitors of all problems, also of problems not yet begun, say so. The first exception ends the others and is thrown again here.
inline void solve_watched(std::size_t n_problems, int threads, const Poll& poll, const std::function<void(std::size_t, Monitor&)>& solve) {
  std::vector<Monitor> monitors(n_problems);
  std::atomic<std::size_t> next{0}, done{0};
  std::atomic<bool> finished{false};
  bool stop = false;
  std::mutex mutex;
  std::condition_variable ended;
  auto stop_all = [&] {
    for (Monitor& monitor : monitors) monitor.stop = true;
  };
  auto work = [&](int) {
    for (std::size_t k; (k = next++) < n_problems; ++done) {
      try {
        monitors[k].begun = std::chrono::steady_clock::now();
        solve(k, monitors[k]);
      } catch (...) {
        next = n_problems;
        stop_all();
        throw;
      }
    }
  };
  std::exception_ptr error;
  std::thread crew([&] {
    try {
      run_shares(static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads), n_problems)), work);
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
    if (!stop && !poll(static_cast<std::int64_t>(done.load()), epochs, gap)) {
      stop = true;
      stop_all();
    }
    lock.lock();
  }
  lock.unlock();
  crew.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace treille
