#pragma once
// Many problems on the same rows, such as one per class, distributed among threads. Each is solved on its own and by its own seed, so the
// answers do not depend on the number of threads.

#include <cstdint>
#include <mutex>
#include <span>
#include <utility>

#include "solve/dual_cd.hpp"
#include "solve/watch.hpp"

namespace treille {

// Problem k has the loss `loss_of(k)`. `start` holds alphas to begin from, one row of n for each problem, or is empty.
// `keep(k, solution)` takes each answer as it comes; calls do not overlap.
template <FeatureRows R, class LossOf, class Keep>
void solve_problems(const R& rows, std::size_t n_problems, LossOf&& loss_of, std::span<const double> start, const DualCDOptions& options,
                    int threads, const Poll& poll, Keep&& keep) {
  const std::size_t n = rows.size();
  std::mutex mutex;
  solve_watched(n_problems, threads, poll, [&](std::size_t k, Monitor& monitor) {
    const auto loss = loss_of(k);
    DualCDOptions own = options;
    own.seed += k;
    auto solution = DualCD(rows, loss, own, monitor).solve(start.empty() ? start : start.subspan(k * n, n));
    monitor.record(solution.primal, solution.dual);
    solution.history = std::move(monitor.history);
    const std::lock_guard lock(mutex);
    keep(k, std::move(solution));
  });
}

}  // namespace treille
