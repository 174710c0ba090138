#pragma once
// The results that bindings of solvers return to Python.

#include <string>
#include <vector>

#include "solver_rows.hpp"

namespace treille {

inline Out<double> zeros(std::size_t n) { return give(Buffer<double>::zeros(n)); }

// The answers to K problems of n variables and F features.
struct Answers {
  Out<double> weights, bias, alpha, primal, dual;
  std::vector<std::int64_t> epochs;
  std::vector<std::string> status;
  std::vector<std::vector<Moment>> history;

  Answers(std::size_t K, std::size_t n, std::size_t F)
      : weights(zeros(F * K)), bias(zeros(K)), alpha(zeros(K * n)), primal(zeros(K)), dual(zeros(K)), epochs(K), status(K), history(K) {}

  template <class Solution>
  void keep(std::size_t k, const Solution& solution) {
    std::copy(solution.alpha.begin(), solution.alpha.end(), alpha.data() + k * solution.alpha.size());
    bias.data()[k] = solution.b;
    primal.data()[k] = solution.primal;
    dual.data()[k] = solution.dual;
    epochs[k] = solution.epochs;
    status[k] = name(solution.status);
    history[k] = solution.history;
  }
};

// `run(rows, poll, keep)` solves K problems on the rows, which `solved(rows, use)` converts to a type that the solver is compiled for.
// Weights are left out where `weights` is false.
template <class Given, class Solved, class Run>
Answers solve(const Given& in, std::size_t K, bool weights, const WatchIn& watch, Solved&& solved, Run&& run) {
  const auto [n, F] = std::visit([](const auto* rows) { return std::pair(rows->size(), n_features(*rows)); }, in);
  Answers answers(K, n, weights ? F : 0);
  watched(watch, [&](PythonPoll& polled) {
    auto solve_on = [&](const auto& rows) {
      run(rows, polled.poll(), [&](std::size_t k, auto&& solution) {
        if (weights) rows.write_weights(solution.w, answers.weights.data() + k, K);
        answers.keep(k, solution);
      });
    };
    std::visit([&](const auto* given) { with_rows(*given, [&](const auto& rows) { solved(rows, solve_on); }); }, in);
  });
  return answers;
}

}  // namespace treille
