// core/solve/perceptron.hpp for Python.

#include "solve/perceptron.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
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

struct Classes {
  In<std::int32_t> labels, classes;
  In<double> C, before, largest;
  PerceptronOptions options;
  int threads;
};

// One problem for each class; `outputs()` makes g = 0.
template <class MakeOutputs>
void solve_each(const Classes& given, PythonPoll& polled, Mistakes& answers, MakeOutputs&& outputs) {
  const std::size_t n = given.labels.size(), K = given.classes.size();
  solve_watched(K, given.threads, std::ref(polled), [&](std::size_t k, Monitor& monitor) {
    std::vector<double> y(n);
    std::transform(given.labels.data(), given.labels.data() + n, y.begin(),
                   [&](std::int32_t label) { return label == given.classes.data()[k] ? 1.0 : -1.0; });
    PerceptronOptions own = given.options;
    own.seed += k;
    const auto before = given.before.size() == 0 ? view(given.before) : view(given.before).subspan(k * n, n);
    PerceptronSolution s = perceptron(outputs(), y, view(given.C), before, given.largest.data()[k], own, monitor);
    std::copy(s.alpha.begin(), s.alpha.end(), answers.alpha.data() + k * n);
    std::copy(s.late.begin(), s.late.end(), answers.late.data() + k * n);
    std::copy(s.outputs.begin(), s.outputs.end(), answers.outputs.data() + k * n);
    answers.largest.data()[k] = s.largest;
    answers.mistakes[k] = std::move(s.mistakes);
    answers.visits[k] = s.visits;
    answers.status[k] = name(s.status);
  });
}

Mistakes none(const Classes& given) {
  const std::size_t n = given.labels.size(), K = given.classes.size();
  if (given.C.size() != n || given.largest.size() != K || (given.before.size() != 0 && given.before.size() != K * n))
    throw std::length_error("C or the earlier outputs are not those of the examples");
  return {zeros(K * n),
          zeros(K * n),
          zeros(K * n),
          zeros(K),
          std::vector<std::vector<std::int64_t>>(K),
          std::vector<std::int64_t>(K),
          std::vector<std::string>(K)};
}

template <GramRows G>
Mistakes solve_gram(G& rows, const Classes& given, PythonPoll& polled) {
  Mistakes answers = none(given);
  {
    nb::gil_scoped_release release;
    solve_each(given, polled, answers, [&] { return GramOutputs<G>(rows); });
  }
  polled.raise();
  return answers;
}

}  // namespace

void bind_perceptron(nb::module_& m) {
  nb::class_<Mistakes>(m, "Mistakes",
                       "What perceptrons return: alpha, late and outputs by problem and example, mistakes by problem and epoch.")
      .def_ro("alpha", &Mistakes::alpha, nb::rv_policy::automatic)
      .def_ro("late", &Mistakes::late, nb::rv_policy::automatic)
      .def_ro("outputs", &Mistakes::outputs, nb::rv_policy::automatic)
      .def_ro("largest", &Mistakes::largest, nb::rv_policy::automatic)
      .def_ro("mistakes", &Mistakes::mistakes)
      .def_ro("visits", &Mistakes::visits)
      .def_ro("status", &Mistakes::status);

  m.def(
      "perceptron_rows",
      [](FormsIn rows, In<std::int32_t> labels, In<std::int32_t> classes, In<double> C, In<double> before, In<double> largest, double bias,
         std::int64_t max_epochs, bool shuffle, std::uint64_t seed, int threads, nb::object poll) {
        const Classes given{labels, classes, C, before, largest, {bias, max_epochs, shuffle, seed}, threads};
        PythonPoll polled(std::move(poll));
        Mistakes answers = none(given);
        {
          nb::gil_scoped_release release;
          auto solve_on = [&]<class R>(const R& own) { solve_each(given, polled, answers, [&] { return RowOutputs<R>(own); }); };
          std::visit([&](const auto* form) { with_rows(*form, solve_on); }, rows);
        }
        polled.raise();
        return answers;
      },
      "rows"_a, "labels"_a, "classes"_a, "C"_a, "before"_a, "largest"_a, "bias"_a, "max_epochs"_a, "shuffle"_a, "seed"_a, "threads"_a,
      "poll"_a,
      "A perceptron for each of `classes` against the rest; poll as in dual_cd, with the share of mistakes for the gap. `before`: one row "
      "per class of what is added to the outputs, or empty; `largest`: of earlier outputs.");

  m.def(
      "perceptron_stored",
      [](In<double> matrix, In<std::int32_t> labels, In<std::int32_t> classes, In<double> C, In<double> before, In<double> largest,
         double bias, std::int64_t max_epochs, bool shuffle, std::uint64_t seed, int threads, nb::object poll) {
        const Classes given{labels, classes, C, before, largest, {bias, max_epochs, shuffle, seed}, threads};
        if (matrix.size() != labels.size() * labels.size()) throw std::length_error("the kernel matrix is not that of the examples");
        PythonPoll polled(std::move(poll));
        const StoredGram rows(view(matrix), labels.size());
        return solve_gram(rows, given, polled);
      },
      "matrix"_a, "labels"_a, "classes"_a, "C"_a, "before"_a, "largest"_a, "bias"_a, "max_epochs"_a, "shuffle"_a, "seed"_a, "threads"_a,
      "poll"_a, "The same with a kernel matrix.");

  m.def(
      "perceptron_cached",
      [](nb::object row, std::size_t cache_bytes, In<std::int32_t> labels, In<std::int32_t> classes, In<double> C, In<double> before,
         In<double> largest, double bias, std::int64_t max_epochs, bool shuffle, std::uint64_t seed, int threads, nb::object poll) {
        const Classes given{labels, classes, C, before, largest, {bias, max_epochs, shuffle, seed}, threads};
        PythonPoll polled(std::move(poll));
        const std::size_t n = labels.size();
        CachedGram rows(n, cache_bytes, python_rows(std::move(row), n, polled));
        return solve_gram(rows, given, polled);
      },
      "row"_a, "cache_bytes"_a, "labels"_a, "classes"_a, "C"_a, "before"_a, "largest"_a, "bias"_a, "max_epochs"_a, "shuffle"_a, "seed"_a,
      "threads"_a, "poll"_a, "The same with rows asked for by row(i), and kept in a cache of so many bytes.");
}

}  // namespace treille
