#pragma once
// Many two-class problems on the same rows, one per class, shared out among threads. Each is solved on its own and by its own
// seed, so the answers do not depend on the number of threads.

#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "solve/dual_cd.hpp"
#include "solve/watch.hpp"

namespace treille {

// Class k is +1 where labels[i] == k. `start` holds alphas to begin from, one row of n for each class, or is empty.
// `keep(k, solution)` takes each answer as it comes; calls do not overlap.
template <FeatureRows R, class Keep>
void solve_one_vs_rest(const R& rows, std::span<const std::int32_t> labels, std::span<const std::int32_t> classes,
                       std::span<const double> C, std::span<const double> start, const DualCDOptions& options, int threads,
                       const Poll& poll, Keep&& keep) {
  const std::size_t n = rows.size();
  std::mutex mutex;
  solve_watched(classes.size(), threads, poll, [&](std::size_t k, Monitor& monitor) {
    std::vector<double> y(n);
    for (std::size_t i = 0; i < n; ++i) y[i] = labels[i] == classes[k] ? 1.0 : -1.0;
    DualCDOptions own = options;
    own.seed += k;
    auto solve = [&]<class Real>(std::span<const double> from) { return DualCD<R, Real>(rows, y, C, own, monitor).solve(from); };
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
  });
}

}  // namespace treille
