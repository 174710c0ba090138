#pragma once
// Many problems on the same rows, one per class say, shared out among threads. Each is solved on its own and by its own seed, so the
// answers do not depend on the number of threads.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "parallel.hpp"
#include "solve/dual_cd.hpp"

namespace treille {

// Called a few times a second from the thread that called the solver: (problems done, epochs and relative gap of the slowest one
// at work). Returns false to stop.
using Poll = std::function<bool(std::int64_t, std::int64_t, double)>;

// Problem k has the loss `loss_of(k)`. `start` holds alphas to begin from, one row of n for each problem, or is empty.
// `keep(k, solution)` takes each answer as it comes; calls do not overlap.
template <FeatureRows R, class LossOf, class Keep>
void solve_problems(const R& rows, std::size_t n_problems, LossOf&& loss_of, std::span<const double> start, const DualCDOptions& options,
                    int threads, const Poll& poll, Keep&& keep) {
  const std::size_t n = rows.size();
  std::vector<Monitor> monitors(n_problems);
  std::atomic<std::size_t> next{0}, done{0};
  std::atomic<bool> stop{false}, finished{false};
  std::mutex mutex;
  std::condition_variable ended;

  auto work = [&](int) {
    for (std::size_t k; (k = next++) < n_problems;) {
      const auto loss = loss_of(k);
      DualCDOptions own = options;
      own.seed += k;
      if (stop) monitors[k].stop = true;
      auto solve = [&]<class Real>(std::span<const double> from) {
        return DualCD<R, std::remove_cvref_t<decltype(loss)>, Real>(rows, loss, own, monitors[k]).solve(from);
      };
      const auto from = start.empty() ? start : start.subspan(k * n, n);
      // Rounding w to float moves outputs by about 1e-5 of their size: too little to matter down to this gap, in most cases.
      const bool coarse = !options.gradient_stop && options.tol >= 1e-4;
      auto solution = coarse ? solve.template operator()<float>(from) : solve.template operator()<double>(from);
      if (solution.status == Status::rounding) {
        const auto epochs = solution.epochs;
        own.max_epochs -= epochs;
        solution = solve.template operator()<double>(solution.alpha);
        solution.epochs += epochs;
      }
      const std::lock_guard lock(mutex);
      keep(k, std::move(solution));
      ++done;
    }
  };
  std::exception_ptr error;
  std::thread crew([&] {
    try {
      run_parts(static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads), n_problems)), work);
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
      for (Monitor& monitor : monitors) monitor.stop = true;
    }
    lock.lock();
  }
  lock.unlock();
  crew.join();
  if (error) std::rethrow_exception(error);
}

// Problem k tells examples with labels[i] == classes[k] from the rest.
template <FeatureRows R, class Keep>
void solve_one_vs_rest(const R& rows, std::span<const std::int32_t> labels, std::span<const std::int32_t> classes,
                       std::span<const double> C, bool squared_hinge, std::span<const double> start, const DualCDOptions& options,
                       int threads, const Poll& poll, Keep&& keep) {
  auto loss_of = [&](std::size_t k) {
    std::vector<double> y(labels.size());
    std::transform(labels.begin(), labels.end(), y.begin(), [&](std::int32_t label) { return label == classes[k] ? 1.0 : -1.0; });
    return Hinge(std::move(y), C, squared_hinge);
  };
  solve_problems(rows, classes.size(), loss_of, start, options, threads, poll, keep);
}

}  // namespace treille
