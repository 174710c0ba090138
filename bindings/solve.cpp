// core/solve for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "solve/one_vs_rest.hpp"
#include "spaces/rows.hpp"
#include "spaces/side_by_side.hpp"

using namespace nb::literals;

namespace treille {
namespace {

const char* name(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::max_epochs:
      return "max_epochs";
    default:
      return "stopped";
  }
}

struct Answers {
  Out<double> weights, bias, alpha, primal, dual;
  std::vector<std::int64_t> epochs;
  std::vector<std::string> status;
};

struct CodedIn {
  In<std::int64_t> indptr;
  WordsIn entries;
  int code_bits;
  In<double> palette, scale;
  std::size_t n_features, n_shared;

  std::size_t size() const { return indptr.size() - 1; }
};

struct DenseIn {
  In<double> values;
  std::size_t n_rows, n_features;

  std::size_t size() const { return n_rows; }
};

// A centre is three empty arrays where there is none.
struct PartIn {
  CodedIn rows;
  In<double> mean, shift, dots;
};

struct PartsIn {
  std::vector<PartIn> parts;
  std::size_t n_features;

  explicit PartsIn(const std::vector<PartIn>& given) : parts(given), n_features(0) {
    for (const PartIn& part : parts) n_features += part.rows.n_features;
  }
  std::size_t size() const { return parts.front().rows.size(); }
};

using RowsIn = std::variant<const CodedIn*, const DenseIn*, const PartsIn*>;

// Calls `use` with the rows in the core's own form.
template <class Use>
void with_rows(const CodedIn& in, Use&& use) {
  std::visit(
      [&]<class Word>(const In<Word>& words) {
        use(CodedRows<Word>({view(in.indptr), view(words), in.code_bits, view(in.palette), view(in.scale), in.n_features, in.n_shared}));
      },
      in.entries);
}

template <class Use>
void with_rows(const DenseIn& in, Use&& use) {
  use(DenseRows(view(in.values), in.n_rows, in.n_features));
}

template <class Use>
void with_rows(const PartsIn& in, Use&& use) {
  using Parts = SideBySide<CodedRows<std::uint32_t>, CodedRows<std::uint64_t>>;
  std::vector<Parts::Part> parts;
  for (const PartIn& part : in.parts)
    with_rows(part.rows, [&](auto&& rows) {
      parts.push_back({std::move(rows), part.rows.n_features, {view(part.mean), view(part.shift), view(part.dots)}});
    });
  use(Parts(std::move(parts)));
}

// `run(rows, poll, keep)` solves K problems on the rows.
template <class Run>
Answers solve(const RowsIn& in, std::size_t K, const nb::object& poll, Run&& run) {
  const auto [n, F] = std::visit([](const auto* rows) { return std::pair(rows->size(), rows->n_features); }, in);
  Buffer<double> weights = Buffer<double>::zeros(F * K);
  Buffer<double> bias(K), alpha(K * n), primal(K), dual(K);
  std::vector<std::int64_t> epochs(K);
  std::vector<std::string> status(K);
  // What Python raises here (Ctrl-C, too) must wait until the solver's threads have ended.
  std::exception_ptr raised;
  auto polled = [&](std::int64_t done, std::int64_t epoch, double gap) {
    nb::gil_scoped_acquire acquire;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      return nb::cast<bool>(poll(done, epoch, gap));
    } catch (...) {
      raised = std::current_exception();
      return false;
    }
  };
  {
    nb::gil_scoped_release release;
    auto solve_on = [&, n = n](const auto& rows) {
      run(rows, polled, [&](std::size_t k, auto&& solution) {
        rows.write_weights(solution.w, weights.data() + k, K);
        std::copy(solution.alpha.begin(), solution.alpha.end(), alpha.data() + k * n);
        bias[k] = solution.b;
        primal[k] = solution.primal;
        dual[k] = solution.dual;
        epochs[k] = solution.epochs;
        status[k] = name(solution.status);
      });
    };
    std::visit([&](const auto* rows) { with_rows(*rows, solve_on); }, in);
  }
  if (raised) std::rethrow_exception(raised);
  return {give(std::move(weights)),
          give(std::move(bias)),
          give(std::move(alpha)),
          give(std::move(primal)),
          give(std::move(dual)),
          epochs,
          status};
}

}  // namespace

void bind_solve(nb::module_& m) {
  nb::class_<Answers>(m, "Answers", "One column or entry per class.")
      .def_ro("weights", &Answers::weights, nb::rv_policy::automatic)
      .def_ro("bias", &Answers::bias, nb::rv_policy::automatic)
      .def_ro("alpha", &Answers::alpha, nb::rv_policy::automatic)
      .def_ro("primal", &Answers::primal, nb::rv_policy::automatic)
      .def_ro("dual", &Answers::dual, nb::rv_policy::automatic)
      .def_ro("epochs", &Answers::epochs)
      .def_ro("status", &Answers::status);

  nb::class_<CodedIn>(m, "CodedRows", "Coded rows as solvers take them.")
      .def(nb::init<In<std::int64_t>, WordsIn, int, In<double>, In<double>, std::size_t, std::size_t>(), "indptr"_a, "entries"_a,
           "code_bits"_a, "palette"_a, "scale"_a, "n_features"_a, "n_shared"_a);
  nb::class_<DenseIn>(m, "DenseRows", "Dense rows as solvers take them.")
      .def(nb::init<In<double>, std::size_t, std::size_t>(), "values"_a, "n_rows"_a, "n_features"_a);

  nb::class_<PartIn>(m, "RowsPart", "Coded rows, and their centre, as one part of several.")
      .def(nb::init<CodedIn, In<double>, In<double>, In<double>>(), "rows"_a, "mean"_a, "shift"_a, "dots"_a);
  nb::class_<PartsIn>(m, "SideBySide", "Parts side by side as solvers take them.").def(nb::init<std::vector<PartIn>>(), "parts"_a);

  m.def(
      "dual_cd",
      [](RowsIn rows, In<std::int32_t> labels, In<std::int32_t> classes, In<double> C, In<double> start, bool squared, double bias,
         double tol, std::int64_t max_epochs, bool shrinking, bool gradient_stop, std::uint64_t seed, int threads, nb::object poll) {
        const DualCDOptions options{bias, tol, max_epochs, shrinking, gradient_stop, seed};
        return solve(rows, classes.size(), poll, [&](const auto& rows, const Poll& poll, auto&& keep) {
          solve_one_vs_rest(rows, view(labels), view(classes), view(C), squared, view(start), options, threads, poll, keep);
        });
      },
      "rows"_a, "labels"_a, "classes"_a, "C"_a, "start"_a, "squared"_a, "bias"_a, "tol"_a, "max_epochs"_a, "shrinking"_a, "gradient_stop"_a,
      "seed"_a, "threads"_a, "poll"_a,
      "One two-class problem for each of `classes`; poll(classes done, epochs, relative gap) returns False to stop.");

  m.def(
      "dual_cd_regression",
      [](RowsIn rows, In<double> y, In<double> C, double epsilon, In<double> start, bool squared, double bias, double tol,
         std::int64_t max_epochs, bool shrinking, bool gradient_stop, std::uint64_t seed, nb::object poll) {
        const DualCDOptions options{bias, tol, max_epochs, shrinking, gradient_stop, seed};
        return solve(rows, 1, poll, [&](const auto& rows, const Poll& poll, auto&& keep) {
          auto loss = [&](std::size_t) { return EpsilonInsensitive(view(y), view(C), epsilon, squared); };
          solve_problems(rows, 1, loss, view(start), options, 1, poll, keep);
        });
      },
      "rows"_a, "y"_a, "C"_a, "epsilon"_a, "start"_a, "squared"_a, "bias"_a, "tol"_a, "max_epochs"_a, "shrinking"_a, "gradient_stop"_a,
      "seed"_a, "poll"_a, "One problem of regression; poll as in dual_cd.");
}

}  // namespace treille
