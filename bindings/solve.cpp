// core/solve for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "solve/one_vs_rest.hpp"
#include "spaces/rows.hpp"

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

template <class Word>
Answers solve(const typename CodedRows<Word>::Data& data, In<std::int32_t> labels, In<std::int32_t> classes, In<double> C, In<double> start,
              const DualCDOptions& options, int threads, nb::object poll) {
  const std::size_t n = data.indptr.size() - 1, K = classes.size(), F = data.n_features;
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
    const CodedRows<Word> rows(data);
    solve_one_vs_rest(rows, view(labels), view(classes), view(C), view(start), options, threads, polled,
                      [&](std::size_t k, auto&& solution) {
                        rows.write_weights(solution.w, weights.data() + k, K);
                        std::copy(solution.alpha.begin(), solution.alpha.end(), alpha.data() + k * n);
                        bias[k] = solution.b;
                        primal[k] = solution.primal;
                        dual[k] = solution.dual;
                        epochs[k] = solution.epochs;
                        status[k] = name(solution.status);
                      });
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

  m.def(
      "dual_cd",
      [](In<std::int64_t> indptr, WordsIn entries, int code_bits, In<double> palette, In<double> scale, std::size_t n_features,
         std::size_t n_shared, In<std::int32_t> labels, In<std::int32_t> classes, In<double> C, In<double> start, bool squared_hinge,
         double bias, double tol, std::int64_t max_epochs, bool shrinking, bool gradient_stop, std::uint64_t seed, int threads,
         nb::object poll) {
        const DualCDOptions options{squared_hinge, bias, tol, max_epochs, shrinking, gradient_stop, seed};
        return std::visit(
            [&]<class Word>(const In<Word>& words) {
              return solve<Word>({view(indptr), view(words), code_bits, view(palette), view(scale), n_features, n_shared}, labels, classes,
                                 C, start, options, threads, poll);
            },
            entries);
      },
      "indptr"_a, "entries"_a, "code_bits"_a, "palette"_a, "scale"_a, "n_features"_a, "n_shared"_a, "labels"_a, "classes"_a, "C"_a,
      "start"_a, "squared_hinge"_a, "bias"_a, "tol"_a, "max_epochs"_a, "shrinking"_a, "gradient_stop"_a, "seed"_a, "threads"_a, "poll"_a,
      "One two-class problem for each of `classes`; poll(classes done, epochs, relative gap) returns False to stop.");
}

}  // namespace treille
