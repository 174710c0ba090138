// Kernel learning of core/solve for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <stdexcept>

#include "arrays.hpp"
#include "native.hpp"
#include "solve/squared_l1.hpp"
#include "solve/watch.hpp"
#include "solver_poll.hpp"
#include "targets.hpp"

using namespace nb::literals;

namespace treille {
namespace {

struct SquaredL1Answer {
  Out<double> u, beta, scores;
  double intercept, primal, dual;
  std::int64_t epochs;
  std::string status;
};

}  // namespace

void bind_kernel_learning(nb::module_& m) {
  nb::class_<Columns>(m, "Columns", "A sparse matrix by columns, each divided by its norm.")
      .def_static(
          "of_csr",
          [](const std::vector<In<std::int64_t>>& indptr, const std::vector<In<std::int32_t>>& ids, const std::vector<In<double>>& data,
             const std::vector<std::size_t>& first, std::size_t n_columns, In<std::int32_t> position, In<std::int64_t> blocks) {
            std::vector<Columns::Term> terms;
            for (std::size_t p = 0; p < indptr.size(); ++p) terms.push_back({view(indptr[p]), view(ids[p]), view(data[p]), first[p]});
            return unlocked([&] { return Columns::of_csr(terms, n_columns, view(position), view(blocks)); });
          },
          "indptr"_a, "ids"_a, "data"_a, "first"_a, "n_columns"_a, "position"_a, "blocks"_a)
      .def("merge_equal", native(&Columns::merge_equal), "Keeps one of equal columns; returns the kept column for each column.")
      .def("norms", [](const Columns& columns) { return copied(std::span<const double>(columns.norms)); });

  nb::class_<SquaredL1Answer>(m, "SquaredL1Answer", "The answer to one problem.")
      .def_ro("u", &SquaredL1Answer::u, nb::rv_policy::automatic)
      .def_ro("beta", &SquaredL1Answer::beta, nb::rv_policy::automatic)
      .def_ro("scores", &SquaredL1Answer::scores, nb::rv_policy::automatic)
      .def_ro("intercept", &SquaredL1Answer::intercept)
      .def_ro("primal", &SquaredL1Answer::primal)
      .def_ro("dual", &SquaredL1Answer::dual)
      .def_ro("epochs", &SquaredL1Answer::epochs)
      .def_ro("status", &SquaredL1Answer::status);

  m.def(
      "squared_l1",
      [](const Columns& columns, const TargetsIn& targets, double trace, bool has_bias, double ridge, double tol, std::int64_t max_epochs,
         std::vector<In<double>> u, In<double> intercepts, std::vector<In<double>> beta, int threads, WatchIn watch) {
        const std::size_t K = targets.n_problems();
        const int inside = K == 1 ? threads : 1;
        const SquaredL1Options options{trace, has_bias, ridge, tol, max_epochs, inside};
        std::vector<SquaredL1Solution> solutions(K);
        watched(std::move(watch), [&](PythonPoll& polled) {
          solve_watched(K, threads, polled.poll(), [&](std::size_t k, Monitor& monitor) {
            targets.with_own_losses([&](auto&& loss_of) {
              if constexpr (PiecewiseQuadraticLoss<decltype(loss_of(k))>) {
                SquaredL1 solver(columns, loss_of(k), options, monitor);
                solutions[k] = u.empty() ? solver.solve({}, 0.0, {}) : solver.solve(view(u[k]), intercepts.data()[k], view(beta[k]));
              } else {
                throw std::invalid_argument("the loss is not linear or quadratic in pieces");
              }
            });
          });
        });
        std::vector<SquaredL1Answer> answers;
        for (auto& s : solutions)
          answers.push_back({give(s.u), give(s.beta), give(s.scores), s.b, s.primal, s.dual, s.epochs, name(s.status)});
        return answers;
      },
      "columns"_a, "targets"_a, "trace"_a, "has_bias"_a, "ridge"_a, "tol"_a, "max_epochs"_a, "u"_a, "intercepts"_a, "beta"_a, "threads"_a,
      "watch"_a,
      "min |u|_1^2 / (2 trace) + ridge b^2 / 2 + sum_i C_i loss(y_i, (U u)_i + b), once for each problem of `targets`, from u, intercepts "
      "and beta on if "
      "these are not empty; watch as in dual_cd.");
}

}  // namespace treille
