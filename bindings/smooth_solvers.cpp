// Solvers of problems with a smooth loss, for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "solve/finite_newton.hpp"
#include "solve/one_vs_rest.hpp"
#include "solver_answers.hpp"

using namespace nb::literals;

namespace treille {

void bind_smooth_solvers(nb::module_& m) {
  m.def(
      "dual_cd_logistic",
      [](FormsIn rows, In<std::int32_t> labels, In<std::int32_t> classes, In<double> C, In<double> start, double bias, double tol,
         std::int64_t max_epochs, bool shrinking, bool gradient_stop, std::uint64_t seed, int threads, bool weights, nb::object poll) {
        const DualCDOptions options{bias, tol, max_epochs, shrinking, gradient_stop, seed};
        return solve(rows, classes.size(), weights, poll, [&](const auto& rows, const Poll& poll, auto&& keep) {
          auto logistic = [&](std::vector<double> y) { return Logistic(std::move(y), view(C)); };
          solve_one_vs_rest(rows, view(labels), view(classes), logistic, view(start), options, threads, poll, keep);
        });
      },
      "rows"_a, "labels"_a, "classes"_a, "C"_a, "start"_a, "bias"_a, "tol"_a, "max_epochs"_a, "shrinking"_a, "gradient_stop"_a, "seed"_a,
      "threads"_a, "weights"_a, "poll"_a, "dual_cd with the logistic loss.");

  m.def(
      "finite_newton",
      [](VectorsIn rows, In<std::int32_t> labels, In<std::int32_t> classes, In<double> C, In<double> start, bool logistic, double bias,
         double tol, std::int64_t max_epochs, int threads, nb::object poll) {
        const FiniteNewtonOptions options{bias, tol, max_epochs, threads};
        return solve(rows, classes.size(), true, poll, [&](const auto& rows, const Poll& poll, auto&& keep) {
          auto run = [&]<class Loss>(Loss) {
            newton_one_vs_rest<Loss>(rows, view(labels), view(classes), view(C), view(start), options, poll, keep);
          };
          logistic ? run(LogisticLoss()) : run(SquaredHingeLoss());
        });
      },
      "rows"_a, "labels"_a, "classes"_a, "C"_a, "start"_a, "logistic"_a, "bias"_a, "tol"_a, "max_epochs"_a, "threads"_a, "poll"_a,
      "One two-class problem for each of `classes`, with the logistic loss or the squared hinge; poll as in dual_cd.");

  m.def(
      "line_minimum",
      [](bool logistic, In<double> y_C, double slope, double curvature, In<double> outputs, In<double> direction) {
        nb::gil_scoped_release release;
        const auto minimum = logistic ? line_minimum<LogisticLoss> : line_minimum<SquaredHingeLoss>;
        return minimum(slope, curvature, view(y_C), view(outputs), view(direction));
      },
      "logistic"_a, "y_C"_a, "slope"_a, "curvature"_a, "outputs"_a, "direction"_a,
      "The best step of Newton's method, where the objective has this slope, and its regulariser this curvature.");
}

}  // namespace treille
