// core/solve for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <stdexcept>

#include "features/any_rows.hpp"
#include "solve/fold_paths.hpp"
#include "solve/planes.hpp"
#include "solve/problems.hpp"
#include "solve/smo.hpp"
#include "solver_answers.hpp"
#include "targets.hpp"

using namespace nb::literals;

namespace treille {
namespace {

using PathsOut = std::tuple<Out<double>, Out<double>, Out<double>, Out<std::int64_t>>;

PathsOut solve_folds(const FormsIn& in, const std::vector<const TargetsIn*>& targets, const Folds& folds, const DualCDOptions& options,
                     int threads, WatchIn watch) {
  const std::size_t K = targets.front()->n_problems();
  FoldAnswers answers(folds, K);
  watched(std::move(watch), [&](PythonPoll& polled) {
    auto solve_on = [&](const auto& rows) {
      targets.front()->with_losses([&](auto&& first) {
        auto loss_of = [&](std::size_t f, std::size_t k, std::span<const double> C) { return first(*targets[f], k, C); };
        solve_fold_paths(rows, folds, K, loss_of, options, threads, polled.poll(), answers);
      });
    };
    std::visit([&](const auto* given) { with_rows(*given, [&](const auto& rows) { with_solved_rows(rows, false, solve_on); }); }, in);
  });
  return {give(std::move(answers.outputs)), give(std::move(answers.relative_gaps)), give(std::move(answers.seconds)),
          give(std::move(answers.epochs))};
}

}  // namespace

void with_any_rows(const FormsIn& in, const std::function<void(const AnyRows&)>& use) {
  auto solve_on = [&]<class R>(const R& rows) { use(RowsAs<R>(rows)); };
  std::visit([&](const auto* given) { with_rows(*given, solve_on); }, in);
}

void bind_solve(nb::module_& m) {
  nb::class_<Answers>(m, "Answers", "One column, row or entry per problem; no weights where there are no features.")
      .def_ro("weights", &Answers::weights, nb::rv_policy::automatic)
      .def_ro("bias", &Answers::bias, nb::rv_policy::automatic)
      .def_ro("alpha", &Answers::alpha, nb::rv_policy::automatic)
      .def_ro("primal", &Answers::primal, nb::rv_policy::automatic)
      .def_ro("dual", &Answers::dual, nb::rv_policy::automatic)
      .def_ro("epochs", &Answers::epochs)
      .def_ro("status", &Answers::status)
      .def_ro("history", &Answers::history);

  nb::class_<DenseIn>(m, "DenseRows", "Dense rows as solvers take them.")
      .def(nb::init<In<double>, std::size_t, std::size_t>(), "values"_a, "n_rows"_a, "n_features"_a);

  nb::class_<TermIn>(m, "RowsTerm", "Coded rows, and their centre, as one term of several.")
      .def(nb::init<CodedIn, In<double>, In<double>, In<double>>(), "rows"_a, "mean"_a, "shift"_a, "dots"_a)
      .def(
          "__init__",
          [](TermIn* self, const CompactIn& rows, In<double> mean, In<double> shift, In<double> dots) {
            new (self) TermIn(TermIn::of(rows, mean, shift, dots));
          },
          "rows"_a, "mean"_a, "shift"_a, "dots"_a);
  nb::class_<ConcatenatedIn>(m, "ConcatenatedRows", "Terms as solvers take them: an example has the features of each.")
      .def(nb::init<std::vector<TermIn>>(), "terms"_a)
      .def_ro("n_cells", &ConcatenatedIn::n_features)
      .def("read", &ConcatenatedIn::read, "cells"_a, "n_functions"_a,
           "The weights of the features, one row each, from those of the cells.");

  nb::class_<QuadraticShape>(m, "QuadraticLoss", "A loss that is linear or quadratic in pieces, see core/solve/losses.hpp.")
      .def(nb::init<double, double, double, double>(), "lower"_a, "upper"_a, "epsilon"_a, "bend"_a);
  nb::class_<LogisticShape>(m, "LogisticLoss", "The logistic loss.").def(nb::init<>());
  nb::class_<TargetsIn>(m, "Targets", "Problems on the same examples: one for each of `classes`, or for each row of y.")
      .def(nb::init<std::variant<QuadraticShape, LogisticShape>, In<std::int32_t>, In<std::int32_t>, In<double>, In<double>>(), "loss"_a,
           "labels"_a, "classes"_a, "y"_a, "C"_a);

  nb::class_<DualCDRules>(m, "DualCDRules", "The rules that make DualCD fast, to be measured one by one.")
      .def(nb::init<>())
      .def_rw("rest", &DualCDRules::rest)
      .def_rw("small_gradient_skip", &DualCDRules::small_gradient_skip)
      .def_rw("records_ahead", &DualCDRules::records_ahead)
      .def_rw("entries_ahead", &DualCDRules::entries_ahead);
  nb::class_<DualCDOptions>(m, "DualCDOptions")
      .def(nb::init<double, double, std::int64_t, bool, bool, std::uint64_t>(), "bias"_a, "tol"_a, "max_epochs"_a, "shrinking"_a,
           "gradient_stop"_a, "seed"_a)
      .def_rw("rules", &DualCDOptions::rules);

  m.def(
      "dual_cd",
      [](FormsIn rows, const TargetsIn& targets, In<double> start, const DualCDOptions& options, int threads, bool weights, WatchIn watch) {
        const std::size_t K = targets.n_problems();
        auto solved = [&](const auto& rows, auto&& use) { with_solved_rows(rows, K == 1 && threads > 1, use); };
        return solve(rows, K, weights, watch, solved, [&](const auto& rows, const Poll& poll, auto&& keep) {
          targets.with_own_losses([&](auto&& loss_of) { solve_problems(rows, K, loss_of, view(start), options, threads, poll, keep); });
        });
      },
      "rows"_a, "targets"_a, "start"_a, "options"_a, "threads"_a, "weights"_a, "watch"_a,
      "The problems of `targets`; `watch`: a function (problems done, epochs, relative gap), and the seconds for all problems. `weights`: "
      "whether the weights of the "
      "features are asked for.");
  m.def(
      "dual_cd_folds",
      [](FormsIn rows, std::vector<const TargetsIn*> targets, In<std::int64_t> begin, In<std::int64_t> held_out, In<double> Cs,
         const DualCDOptions& options, int threads, WatchIn watch) {
        std::vector<std::span<const double>> weights;
        for (const TargetsIn* each : targets) weights.push_back(view(each->C));
        return solve_folds(rows, targets, {weights, view(begin), view(held_out), view(Cs)}, options, threads, std::move(watch));
      },
      "rows"_a, "targets"_a, "begin"_a, "held_out"_a, "Cs"_a, "options"_a, "threads"_a, "watch"_a,
      "Outputs of held-out examples by C, example and problem; relative gaps, seconds and epochs by C, fold and problem. `targets` are "
      "the targets of each fold, with the weights for C = 1, and 0 for held-out examples; watch as in dual_cd, with paths for problems.");

  m.def(
      "smo",
      [](const GramIn& in, In<double> diagonal, In<std::int64_t> examples, In<double> y, In<double> p, In<double> C, In<double> d,
         In<double> start, double intercept, double tol, bool violation_stop, std::int64_t max_epochs, bool shrinking, int threads,
         WatchIn watch) {
        const std::size_t n = examples.size(), K = n > 0 ? y.size() / n : 0;
        const SMOOptions options{tol, violation_stop, max_epochs, shrinking};
        Answers answers(K, n, 0);
        watched(std::move(watch), [&](PythonPoll& polled) {
          with_gram(in, diagonal.size(), polled, [&](GramRows& rows) {
            solve_watched(K, threads, polled.poll(), [&](std::size_t k, Monitor& monitor) {
              auto own = [&](const In<double>& array) { return view(array).subspan(k * n, n); };
              const SMOProblem problem{view(examples), own(y), own(p), own(C), own(d), own(start), intercept};
              answers.keep(k, SMO(rows, view(diagonal), problem, options, monitor).solve());
            });
          });
        });
        return answers;
      },
      "rows"_a, "diagonal"_a, "examples"_a, "y"_a, "p"_a, "C"_a, "d"_a, "start"_a, "intercept"_a, "tol"_a, "violation_stop"_a,
      "max_epochs"_a, "shrinking"_a, "threads"_a, "watch"_a,
      "min 1/2 a'Qa + p'a, 0 <= a <= C, y'a fixed if intercept is infinite, Q_ij = y_i y_j K[e_i, e_j] + d_i [i = j], once for each row of "
      "y, p, C, d and start. `rows`: the matrix K row by row, or a function row(i) and how many bytes of rows to keep.");

  m.def(
      "mix_planes",
      [](In<double> G, In<double> b, InOut<double> a, double tol) {
        nb::gil_scoped_release release;
        PlaneMixture(view(G), view(b)).solve({a.data(), a.size()}, tol);
      },
      "G"_a, "b"_a, "a"_a, "tol"_a, "min 1/2 a'Ga - b'a over a >= 0 that sum to 1, from `a` on and into it, to a gap of `tol`.");
  m.def(
      "best_step",
      [](const TargetsIn& targets, std::size_t k, double slope, double curvature, In<double> outputs, In<double> direction) {
        nb::gil_scoped_release release;
        return targets.with_own_losses([&](auto&& loss_of) -> double {
          const auto loss = loss_of(k);
          if constexpr (PiecewiseQuadraticLoss<decltype(loss)>)
            return best_step(loss, {slope, curvature}, view(outputs), view(direction));
          else
            throw std::invalid_argument("the loss is not linear or quadratic in pieces");
        });
      },
      "targets"_a, "k"_a, "slope"_a, "curvature"_a, "outputs"_a, "direction"_a,
      "The t of least slope t + curvature t^2 / 2 + the losses of problem k at outputs + t direction.");
}

}  // namespace treille
