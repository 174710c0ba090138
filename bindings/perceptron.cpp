// core/solve/perceptron.hpp for Python.

#include "solve/perceptron.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "solve/watch.hpp"
#include "solver_answers.hpp"

using namespace nb::literals;

namespace treille {
namespace {

struct Mistakes {
  Out<double> alpha, late, outputs, largest;
  std::vector<std::vector<std::int64_t>> mistakes;
  std::vector<std::int64_t> visits;
  std::vector<std::string> status;
};

}  // namespace

void bind_perceptron(nb::module_& m) {
  nb::class_<Mistakes>(m, "Mistakes",
                       "The result of perceptrons: alpha, late and outputs by problem and example, mistakes by problem and epoch.")
      .def_ro("alpha", &Mistakes::alpha, nb::rv_policy::automatic)
      .def_ro("late", &Mistakes::late, nb::rv_policy::automatic)
      .def_ro("outputs", &Mistakes::outputs, nb::rv_policy::automatic)
      .def_ro("largest", &Mistakes::largest, nb::rv_policy::automatic)
      .def_ro("mistakes", &Mistakes::mistakes)
      .def_ro("visits", &Mistakes::visits)
      .def_ro("status", &Mistakes::status);

  m.def(
      "perceptron",
      [](const std::variant<FormsIn, GramIn>& in, In<std::int32_t> labels, In<std::int32_t> classes, In<double> C, In<double> before,
         In<double> largest, double bias, std::int64_t max_epochs, bool shuffle, std::uint64_t seed, int threads, WatchIn watch) {
        const std::size_t n = labels.size(), K = classes.size();
        if (C.size() != n || largest.size() != K || (before.size() != 0 && before.size() != K * n))
          throw std::length_error("C or the earlier outputs are not those of the examples");
        Mistakes answers{zeros(K * n), zeros(K * n), zeros(K * n), zeros(K), {}, std::vector<std::int64_t>(K), std::vector<std::string>(K)};
        answers.mistakes.resize(K);
        watched(std::move(watch), [&](PythonPoll& polled) {
          // One problem for each class; `outputs` is g = 0.
          auto solve_each = [&](const auto& outputs) {
            solve_watched(K, threads, polled.poll(), [&](std::size_t k, Monitor& monitor) {
              std::vector<double> y(n);
              std::transform(labels.data(), labels.data() + n, y.begin(),
                             [&](std::int32_t label) { return label == classes.data()[k] ? 1.0 : -1.0; });
              const auto own = before.size() == 0 ? view(before) : view(before).subspan(k * n, n);
              const PerceptronOptions options{bias, max_epochs, shuffle, seed + k};
              PerceptronSolution s = perceptron(outputs, y, view(C), own, largest.data()[k], options, monitor);
              std::copy(s.alpha.begin(), s.alpha.end(), answers.alpha.data() + k * n);
              std::copy(s.late.begin(), s.late.end(), answers.late.data() + k * n);
              std::copy(s.outputs.begin(), s.outputs.end(), answers.outputs.data() + k * n);
              answers.largest.data()[k] = s.largest;
              answers.mistakes[k] = std::move(s.mistakes);
              answers.visits[k] = s.visits;
              answers.status[k] = name(s.status);
            });
          };
          if (const auto* gram = std::get_if<GramIn>(&in))
            return with_gram(*gram, n, polled, [&](GramRows& rows) { solve_each(GramOutputs(rows)); });
          with_any_rows(std::get<FormsIn>(in), [&](const AnyRows& rows) { solve_each(RowOutputs(rows)); });
        });
        return answers;
      },
      "rows"_a, "labels"_a, "classes"_a, "C"_a, "before"_a, "largest"_a, "bias"_a, "max_epochs"_a, "shuffle"_a, "seed"_a, "threads"_a,
      "watch"_a,
      "A perceptron for each of `classes` against the rest; watch as in dual_cd, with the share of mistakes for the gap. `rows`: of "
      "features, "
      "or of a kernel matrix as for smo. `before`: one row per class of what is added to the outputs, or empty; `largest`: of earlier "
      "outputs.");
}

}  // namespace treille
