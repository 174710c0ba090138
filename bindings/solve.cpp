// core/solve for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>

#include "solve/one_vs_rest.hpp"
#include "solve/planes.hpp"
#include "solve/smo.hpp"
#include "solver_answers.hpp"

using namespace nb::literals;

namespace treille {
namespace {

struct SMOArrays {
  In<std::int64_t> examples;
  In<double> y, p, C, d, start;  // for each problem, a number per variable
  double intercept;
};

template <GramRows R>
Answers solve_smo(R& rows, In<double> diagonal, const SMOArrays& arrays, const SMOOptions& options, int threads, PythonPoll& polled) {
  const std::size_t n = arrays.examples.size(), K = n > 0 ? arrays.y.size() / n : 0;
  Answers answers(K, n, 0);
  try {
    nb::gil_scoped_release release;
    solve_watched(K, threads, std::ref(polled), [&](std::size_t k, Monitor& monitor) {
      auto part = [&](const In<double>& array) { return view(array).subspan(k * n, n); };
      const SMOProblem problem{view(arrays.examples), part(arrays.y),     part(arrays.p),  part(arrays.C),
                               part(arrays.d),        part(arrays.start), arrays.intercept};
      answers.keep(k, SMO<R>(rows, view(diagonal), problem, options, monitor).solve());
    });
  } catch (...) {
    if (!polled.failed()) throw;
  }
  polled.raise();
  return answers;
}

}  // namespace

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

  nb::class_<PartIn>(m, "RowsPart", "Coded rows, and their centre, as one part of several.")
      .def(nb::init<CodedIn, In<double>, In<double>, In<double>>(), "rows"_a, "mean"_a, "shift"_a, "dots"_a)
      .def(
          "__init__",
          [](PartIn* self, const CompactIn& rows, In<double> mean, In<double> shift, In<double> dots) {
            new (self) PartIn(PartIn::of(rows, mean, shift, dots));
          },
          "rows"_a, "mean"_a, "shift"_a, "dots"_a);
  nb::class_<PartsIn>(m, "ConcatenatedRows", "Parts as solvers take them: an example has the features of each.")
      .def(nb::init<std::vector<PartIn>>(), "parts"_a)
      .def_ro("n_cells", &PartsIn::n_features)
      .def("read", &PartsIn::read, "cells"_a, "n_functions"_a, "The weights of the features, one row each, from those of the cells.");

  nb::class_<DualCDRules>(m, "DualCDRules", "What makes DualCD fast, to be measured one by one.")
      .def(nb::init<>())
      .def_rw("rest", &DualCDRules::rest)
      .def_rw("faint", &DualCDRules::faint)
      .def_rw("coarse", &DualCDRules::coarse)
      .def_rw("records_ahead", &DualCDRules::records_ahead)
      .def_rw("entries_ahead", &DualCDRules::entries_ahead);

  m.def(
      "dual_cd",
      [](FormsIn rows, In<std::int32_t> labels, In<std::int32_t> classes, In<double> C, In<double> start, bool squared, double bias,
         double tol, std::int64_t max_epochs, std::variant<bool, DualCDRules> shrinking, bool gradient_stop, std::uint64_t seed,
         int threads, bool weights, nb::object poll) {
        const auto* rules = std::get_if<DualCDRules>(&shrinking);
        const DualCDOptions options{bias,
                                    tol,
                                    max_epochs,
                                    rules != nullptr || std::get<bool>(shrinking),
                                    gradient_stop,
                                    seed,
                                    rules != nullptr ? *rules : DualCDRules()};
        return solve(rows, classes.size(), weights, poll, [&](const auto& rows, const Poll& poll, auto&& keep) {
          auto hinge = [&](std::vector<double> y) { return Hinge(std::move(y), view(C), squared); };
          solve_one_vs_rest(rows, view(labels), view(classes), hinge, view(start), options, threads, poll, keep);
        });
      },
      "rows"_a, "labels"_a, "classes"_a, "C"_a, "start"_a, "squared"_a, "bias"_a, "tol"_a, "max_epochs"_a, "shrinking"_a, "gradient_stop"_a,
      "seed"_a, "threads"_a, "weights"_a, "poll"_a,
      "One two-class problem for each of `classes`; poll(classes done, epochs, relative gap) returns False to stop. `shrinking` may name "
      "the rules one by one. `weights`: whether the weights of the features are asked for.");

  m.def(
      "dual_cd_regression",
      [](FormsIn rows, In<double> y, In<double> C, double epsilon, In<double> start, bool squared, double bias, double tol,
         std::int64_t max_epochs, bool shrinking, bool gradient_stop, std::uint64_t seed, int threads, nb::object poll) {
        const DualCDOptions options{bias, tol, max_epochs, shrinking, gradient_stop, seed};
        const std::size_t n = C.size(), K = n > 0 ? y.size() / n : 0;
        return solve(rows, K, true, poll, [&](const auto& rows, const Poll& poll, auto&& keep) {
          auto loss = [&](std::size_t k) { return EpsilonInsensitive(view(y).subspan(k * n, n), view(C), epsilon, squared); };
          solve_problems(rows, K, loss, view(start), options, threads, poll, keep);
        });
      },
      "rows"_a, "y"_a, "C"_a, "epsilon"_a, "start"_a, "squared"_a, "bias"_a, "tol"_a, "max_epochs"_a, "shrinking"_a, "gradient_stop"_a,
      "seed"_a, "threads"_a, "poll"_a, "One problem of regression for each row of y; poll as in dual_cd.");

  m.def(
      "smo_stored",
      [](In<double> matrix, In<double> diagonal, In<std::int64_t> examples, In<double> y, In<double> p, In<double> C, In<double> d,
         In<double> start, double intercept, double tol, bool violation_stop, std::int64_t max_epochs, bool shrinking, int threads,
         nb::object poll) {
        const StoredGram rows(view(matrix), diagonal.size());
        PythonPoll polled(std::move(poll));
        return solve_smo(rows, diagonal, {examples, y, p, C, d, start, intercept}, {tol, violation_stop, max_epochs, shrinking}, threads,
                         polled);
      },
      "matrix"_a, "diagonal"_a, "examples"_a, "y"_a, "p"_a, "C"_a, "d"_a, "start"_a, "intercept"_a, "tol"_a, "violation_stop"_a,
      "max_epochs"_a, "shrinking"_a, "threads"_a, "poll"_a,
      "min 1/2 a'Qa + p'a, 0 <= a <= C, y'a fixed if intercept is infinite, Q_ij = y_i y_j K[e_i, e_j] + d_i [i = j], once for each row of "
      "y, p, C, d and start.");
  m.def(
      "smo_cached",
      [](nb::object row, std::size_t cache_bytes, In<double> diagonal, In<std::int64_t> examples, In<double> y, In<double> p, In<double> C,
         In<double> d, In<double> start, double intercept, double tol, bool violation_stop, std::int64_t max_epochs, bool shrinking,
         int threads, nb::object poll) {
        PythonPoll polled(std::move(poll));
        const std::size_t n = diagonal.size();
        CachedGram rows(n, cache_bytes, python_rows(std::move(row), n, polled));
        return solve_smo(rows, diagonal, {examples, y, p, C, d, start, intercept}, {tol, violation_stop, max_epochs, shrinking}, threads,
                         polled);
      },
      "row"_a, "cache_bytes"_a, "diagonal"_a, "examples"_a, "y"_a, "p"_a, "C"_a, "d"_a, "start"_a, "intercept"_a, "tol"_a,
      "violation_stop"_a, "max_epochs"_a, "shrinking"_a, "threads"_a, "poll"_a,
      "The same with rows asked for by row(i), and kept in a cache of so many bytes.");

  m.def(
      "mix_planes",
      [](In<double> G, In<double> b, InOut<double> a, double tol) {
        nb::gil_scoped_release release;
        PlaneMixture(view(G), view(b)).solve({a.data(), a.size()}, tol);
      },
      "G"_a, "b"_a, "a"_a, "tol"_a, "min 1/2 a'Ga - b'a over a >= 0 that sum to 1, from `a` on and into it, to a gap of `tol`.");
  m.def(
      "best_step",
      [](In<double> y, In<double> C, bool squared, double slope, double curvature, In<double> outputs, In<double> direction) {
        nb::gil_scoped_release release;
        const Hinge loss({y.data(), y.data() + y.size()}, view(C), squared);
        return best_step(loss, {slope, curvature}, view(outputs), view(direction));
      },
      "y"_a, "C"_a, "squared"_a, "slope"_a, "curvature"_a, "outputs"_a, "direction"_a,
      "The k of least slope k + curvature k^2 / 2 + the losses at outputs + k direction.");
}

}  // namespace treille
