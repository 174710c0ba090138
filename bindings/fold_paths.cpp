// core/solve/fold_paths.hpp for Python.

#include "solve/fold_paths.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "solver_rows.hpp"

using namespace nb::literals;

namespace treille {
namespace {

// Representations that are there to be compared are left out.
using PathRowsIn = std::variant<const CodedIn*, const CompactIn*, const DenseIn*, const PartsIn*, const ConjunctionRowsIn*>;
using PathsOut = std::tuple<Out<double>, Out<double>, Out<double>, Out<std::int64_t>>;

template <class LossOf>
PathsOut solve_paths(const PathRowsIn& in, const Folds& folds, std::size_t n_problems, LossOf&& loss_of, const DualCDOptions& options,
                     int threads, nb::object poll) {
  FoldAnswers answers(folds, n_problems);
  PythonPoll polled(std::move(poll));
  {
    nb::gil_scoped_release release;
    const PageReuse reuse;
    auto solve_on = [&](const auto& rows) {
      solve_fold_paths(rows, folds, n_problems, loss_of, options, threads, std::ref(polled), answers);
    };
    std::visit([&](const auto* rows) { with_rows(*rows, solve_on); }, in);
  }
  polled.raise();
  return {give(std::move(answers.outputs)), give(std::move(answers.relative_gaps)), give(std::move(answers.seconds)),
          give(std::move(answers.epochs))};
}

}  // namespace

void bind_fold_paths(nb::module_& m) {
  m.def(
      "dual_cd_folds",
      [](PathRowsIn rows, In<std::int32_t> labels, In<std::int32_t> classes, In<double> weights, In<std::int64_t> begin,
         In<std::int64_t> held_out, In<double> Cs, bool squared, double bias, double tol, std::int64_t max_epochs, bool shrinking,
         bool gradient_stop, std::uint64_t seed, int threads, nb::object poll) {
        const DualCDOptions options{bias, tol, max_epochs, shrinking, gradient_stop, seed};
        auto loss_of = [&](std::size_t, std::size_t k, std::span<const double> C) {
          std::vector<double> y(labels.size());
          std::transform(labels.data(), labels.data() + labels.size(), y.begin(),
                         [&](std::int32_t label) { return label == classes.data()[k] ? 1.0 : -1.0; });
          return Hinge(std::move(y), C, squared);
        };
        return solve_paths(rows, {view(weights), view(begin), view(held_out), view(Cs)}, classes.size(), loss_of, options, threads,
                           std::move(poll));
      },
      "rows"_a, "labels"_a, "classes"_a, "weights"_a, "begin"_a, "held_out"_a, "Cs"_a, "squared"_a, "bias"_a, "tol"_a, "max_epochs"_a,
      "shrinking"_a, "gradient_stop"_a, "seed"_a, "threads"_a, "poll"_a,
      "Outputs of held-out examples by C, example and class; relative gaps, seconds and epochs by C, fold and class. `weights` has a row "
      "for each fold, 0 for what it holds out; poll as in dual_cd, with paths for classes.");

  m.def(
      "dual_cd_regression_folds",
      [](PathRowsIn rows, In<double> y, In<double> weights, In<std::int64_t> begin, In<std::int64_t> held_out, In<double> Cs,
         double epsilon, bool squared, double bias, double tol, std::int64_t max_epochs, bool shrinking, bool gradient_stop,
         std::uint64_t seed, int threads, nb::object poll) {
        const DualCDOptions options{bias, tol, max_epochs, shrinking, gradient_stop, seed};
        const std::size_t n = weights.size() / (begin.size() - 1);
        auto loss_of = [&](std::size_t f, std::size_t, std::span<const double> C) {
          return EpsilonInsensitive(view(y).subspan(f * n, n), C, epsilon, squared);
        };
        return solve_paths(rows, {view(weights), view(begin), view(held_out), view(Cs)}, 1, loss_of, options, threads, std::move(poll));
      },
      "rows"_a, "y"_a, "weights"_a, "begin"_a, "held_out"_a, "Cs"_a, "epsilon"_a, "squared"_a, "bias"_a, "tol"_a, "max_epochs"_a,
      "shrinking"_a, "gradient_stop"_a, "seed"_a, "threads"_a, "poll"_a, "The same for regression, with a row of targets for each fold.");
}

}  // namespace treille
