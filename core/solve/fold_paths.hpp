#pragma once
// Cross-validation for many values of C on rows that all folds share.
//
// Fold f is the problem in which its held-out examples have C_i = 0. Its w lies in the span of the other rows, so features that only
// held-out examples have get the weight 0, as if they had never been counted. A path is one problem of one fold for all C, from small to
// large: each starts from the last solution, with alphas that were at their bound moved to the new bound. A solution that separates the
// examples without loss is optimal for every larger C. Only the outputs of held-out examples are kept. Each C has its share of the time of
// the path; without time, the start is the solution, and its gap is measured all the same.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "solve/problems.hpp"

namespace treille {

struct Folds {
  std::span<const std::span<const double>> weights;  // of each fold: C_i for C = 1, and 0 for held-out examples
  std::span<const std::int64_t> begin;               // fold f holds out held_out[begin[f]] .. held_out[begin[f + 1] - 1]
  std::span<const std::int64_t> held_out;
  std::span<const double> Cs;  // rising

  std::size_t size() const { return begin.size() - 1; }
};

// The results of each path at each C: outputs[(c * n_held_out + t) * n_problems + k] of problem k for held_out[t], and a number for each
// (c * n_folds + f) * n_problems + k.
struct FoldAnswers {
  std::vector<double> outputs, relative_gaps, seconds;
  std::vector<std::int64_t> epochs;

  FoldAnswers(const Folds& folds, std::size_t n_problems)
      : outputs(folds.Cs.size() * folds.held_out.size() * n_problems),
        relative_gaps(folds.Cs.size() * folds.size() * n_problems),
        seconds(relative_gaps.size()),
        epochs(relative_gaps.size()) {}
};

// Problem k of fold f has the loss `loss_of(f, k, C of each example)`.
template <FeatureRows R, class LossOf>
void solve_fold_paths(const R& rows, const Folds& folds, std::size_t n_problems, LossOf&& loss_of, const DualCDOptions& options,
                      int threads, const Poll& poll, FoldAnswers& answers) {
  const std::size_t n = rows.size(), T = folds.held_out.size();
  solve_watched(folds.size() * n_problems, threads, poll, [&](std::size_t path, Monitor& monitor) {
    const std::size_t f = path / n_problems, k = path % n_problems;
    const auto weights = folds.weights[f];
    std::vector<double> C(n);
    using Loss = decltype(loss_of(f, k, std::span<const double>(C)));
    std::unique_ptr<Loss> loss;
    std::optional<DualCD<R, Loss>> solver;
    Solution<typename R::Weights> solution;
    DualCDOptions own = options;
    own.seed += path;
    const auto end = monitor.deadline;
    for (std::size_t c = 0; c < folds.Cs.size() && !monitor.cancelled; ++c) {
      const auto begun = Clock::now();
      if (!solution.separates) {
        monitor.deadline = share_of(end, folds.Cs.size() - c);
        for (std::size_t i = 0; i < n; ++i) C[i] = folds.Cs[c] * weights[i];
        // The loss before is read until the new one has taken its place.
        const auto before = std::exchange(loss, std::make_unique<Loss>(loss_of(f, k, std::span<const double>(C))));
        solution = solver ? solver->solve_next(*loss) : solver.emplace(rows, *loss, own, monitor).solve({});
      } else {
        solution.epochs = 0;
      }
      for (std::int64_t t = folds.begin[f]; t < folds.begin[f + 1]; ++t) {
        const auto i = static_cast<std::size_t>(folds.held_out[t]);
        answers.outputs[(c * T + static_cast<std::size_t>(t)) * n_problems + k] = rows.dot(i, solution.w) + options.bias * solution.b;
      }
      const std::size_t at = (c * folds.size() + f) * n_problems + k;
      answers.relative_gaps[at] = solution.primal > 0 ? solution.gap() / solution.primal : 0.0;
      answers.epochs[at] = solution.epochs;
      answers.seconds[at] = std::chrono::duration<double>(Clock::now() - begun).count();
    }
  });
}

}  // namespace treille
