// core/solve/finite_newton.hpp for Python.

#include "solve/finite_newton.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "solver_answers.hpp"
#include "targets.hpp"

using namespace nb::literals;

namespace treille {

void bind_finite_newton(nb::module_& m) {
  m.def(
      "finite_newton",
      [](VectorsIn rows, const TargetsIn& targets, In<double> start, double bias, double tol, std::int64_t max_epochs, int threads,
         WatchIn watch) {
        const FiniteNewtonOptions options{bias, tol, max_epochs, threads};
        auto solved = []<class R>(const R& rows, auto&& use) { use(static_cast<const AnyVectorRows&>(VectorRowsAs<R>(rows))); };
        return solve(rows, targets.n_problems(), true, watch, solved, [&](const AnyVectorRows& rows, const Poll& poll, auto&& keep) {
          targets.with_own_losses(
              [&](auto&& loss_of) { newton_problems(rows, targets.n_problems(), loss_of, view(start), options, poll, keep); });
        });
      },
      "rows"_a, "targets"_a, "start"_a, "bias"_a, "tol"_a, "max_epochs"_a, "threads"_a, "watch"_a,
      "The problems of `targets`, with a smooth loss; watch as in dual_cd.");

  m.def(
      "line_minimum",
      [](const TargetsIn& targets, std::size_t k, double slope, double curvature, In<double> outputs, In<double> direction) {
        nb::gil_scoped_release release;
        return targets.with_own_losses([&](auto&& loss_of) {
          const auto loss = loss_of(k);
          std::vector<decltype(loss.target(0))> each(targets.size());
          for (std::size_t i = 0; i < each.size(); ++i) each[i] = loss.target(i);
          return line_minimum<std::remove_const_t<decltype(loss)>>(loss, slope, curvature, each, view(outputs), view(direction));
        });
      },
      "targets"_a, "k"_a, "slope"_a, "curvature"_a, "outputs"_a, "direction"_a,
      "The best step of Newton's method on problem k, where the objective has this slope, and its regulariser this curvature.");
}

}  // namespace treille
