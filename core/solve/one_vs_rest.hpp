#pragma once
// Many problems on the same rows, one per class say, shared out among threads; where there is one only, and its rows are long, two
// threads share each row. Each is solved on its own and by its own seed, so the answers do not depend on the number of threads.

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "solve/dual_cd.hpp"
#include "solve/watch.hpp"

namespace treille {

// One problem. w is kept in float as long as that is precise enough.
template <FeatureRows R, DualLoss Loss>
Solution<typename R::template Weights<double>> solve_problem(const R& rows, const Loss& loss, DualCDOptions options,
                                                             std::span<const double> start, Monitor& monitor,
                                                             const Others<typename R::template Weights<double>>* others = nullptr) {
  auto solve = [&]<class Real>(std::span<const double> from) {
    return DualCD<R, Loss, Real>(rows, loss, options, monitor).solve(from, others);
  };
  // Rounding w to float moves outputs by about 1e-5 of their size: too little to matter down to this gap, in most cases.
  const bool coarse = options.rules.coarse && !options.gradient_stop && options.tol >= 1e-4;
  auto solution = coarse ? solve.template operator()<float>(start) : solve.template operator()<double>(start);
  if (solution.status == Status::rounding) {
    const auto epochs = solution.epochs;
    options.max_epochs -= epochs;
    solution = solve.template operator()<double>(solution.alpha);
    solution.epochs += epochs;
  }
  monitor.record(solution.primal, solution.dual);
  solution.history = std::move(monitor.history);
  return solution;
}

// Problem k has the loss `loss_of(k)`. `start` holds alphas to begin from, one row of n for each problem, or is empty.
// `keep(k, solution)` takes each answer as it comes; calls do not overlap.
template <FeatureRows R, class LossOf, class Keep>
void solve_problems(const R& rows, std::size_t n_problems, LossOf&& loss_of, std::span<const double> start, const DualCDOptions& options,
                    int threads, const Poll& poll, Keep&& keep) {
  if constexpr (requires(SpinWorker& worker) { rows.shared_with(worker); })
    if (n_problems == 1 && threads > 1 && rows.are_long()) {
      SpinWorker worker;
      return solve_problems(rows.shared_with(worker), 1, loss_of, start, options, 1, poll, keep);
    }
  const std::size_t n = rows.size();
  std::mutex mutex;
  solve_watched(n_problems, threads, poll, [&](std::size_t k, Monitor& monitor) {
    const auto loss = loss_of(k);
    DualCDOptions own = options;
    own.seed += k;
    auto solution = solve_problem(rows, loss, own, start.empty() ? start : start.subspan(k * n, n), monitor);
    const std::lock_guard lock(mutex);
    keep(k, std::move(solution));
  });
}

// Problem k tells examples with labels[i] == classes[k] from the rest; its loss is `make(y)` for targets y of +1 and -1.
template <FeatureRows R, class Make, class Keep>
void solve_one_vs_rest(const R& rows, std::span<const std::int32_t> labels, std::span<const std::int32_t> classes, Make&& make,
                       std::span<const double> start, const DualCDOptions& options, int threads, const Poll& poll, Keep&& keep) {
  auto loss_of = [&](std::size_t k) {
    std::vector<double> y(labels.size());
    std::transform(labels.begin(), labels.end(), y.begin(), [&](std::int32_t label) { return label == classes[k] ? 1.0 : -1.0; });
    return make(std::move(y));
  };
  solve_problems(rows, classes.size(), loss_of, start, options, threads, poll, keep);
}

}  // namespace treille
