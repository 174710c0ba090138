// core/automata for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "automata/build.hpp"
#include "automata/closure.hpp"
#include "automata/components.hpp"
#include "automata/concatenation.hpp"
#include "automata/connect.hpp"
#include "automata/machine.hpp"
#include "automata/matching.hpp"
#include "automata/relabel.hpp"
#include "automata/reversal.hpp"
#include "automata/scaling.hpp"
#include "automata/semiring.hpp"
#include "automata/sum.hpp"
#include "automata/total.hpp"

using namespace nb::literals;

namespace treille {
namespace {

using ArraysOut = std::tuple<State, Out<std::int32_t>, Out<std::int32_t>, Out<std::int32_t>, Out<double>, Out<std::int32_t>, Out<double>>;

ArraysOut arrays(const Machine& machine) {
  const auto n = static_cast<std::size_t>(machine.n_arcs());
  Buffer<std::int32_t> sources(n), inputs(n), outputs(n), targets(n);
  Buffer<double> weights(n), finals(static_cast<std::size_t>(machine.size()));
  std::size_t at = 0;
  for (State s = 0; s < machine.size(); ++s) {
    for (const Arc& arc : machine.arcs(s)) {
      sources[at] = s;
      inputs[at] = arc.input;
      outputs[at] = arc.output;
      targets[at] = arc.target;
      weights[at++] = arc.weight;
    }
    finals[static_cast<std::size_t>(s)] = machine.final_weight(s);
  }
  return {machine.start(),          give(std::move(sources)), give(std::move(inputs)), give(std::move(outputs)),
          give(std::move(weights)), give(std::move(targets)), give(std::move(finals))};
}

// use(S) for the semiring of that name, the GIL released.
template <class Use>
auto over(const std::string& semiring, Use&& use) {
  nb::gil_scoped_release release;
  if (semiring == "log") return use(Log{});
  if (semiring == "tropical") return use(Tropical{});
  return use(Real{});
}

using TotalOut = std::pair<double, std::vector<State>>;

TotalOut total_of(const Machine& machine, const std::string& semiring) {
  return over(semiring, [&]<class S>(S) {
    Total found = total<S>(machine);
    return TotalOut(found.weight, std::move(found.cycle));
  });
}

}  // namespace

void bind_automata(nb::module_& m) {
  nb::class_<Machine>(m, "Machine", "A weighted transducer, immutable.")
      .def_static(
          "from_arrays",
          [](State start, In<std::int32_t> sources, In<std::int32_t> inputs, In<std::int32_t> outputs, In<double> weights,
             In<std::int32_t> targets, In<double> finals) {
            return build_machine(start, {view(sources), view(inputs), view(outputs), view(weights), view(targets)}, view(finals));
          },
          "start"_a, "sources"_a, "inputs"_a, "outputs"_a, "weights"_a, "targets"_a, "finals"_a)
      .def(
          "sum",
          [](const Machine& a, const Machine& b, const std::string& semiring) {
            return over(semiring, [&]<class S>(S) { return sum<S>(a, b); });
          },
          "other"_a, "semiring"_a)
      .def(
          "concatenation",
          [](const Machine& a, const Machine& b, const std::string& semiring) {
            return over(semiring, [&]<class S>(S) { return concatenation<S>(a, b); });
          },
          "other"_a, "semiring"_a)
      .def(
          "closure",
          [](const Machine& self, const std::string& semiring) { return over(semiring, [&]<class S>(S) { return closure<S>(self); }); },
          "semiring"_a)
      .def(
          "reversal",
          [](const Machine& self, const std::string& semiring) { return over(semiring, [&]<class S>(S) { return reversal<S>(self); }); },
          "semiring"_a)
      .def(
          "connect",
          [](const Machine& self, const std::string& semiring) { return over(semiring, [&]<class S>(S) { return connect<S>(self); }); },
          "semiring"_a)
      .def(
          "scaling",
          [](const Machine& self, double factor, const std::string& semiring) {
            return over(semiring, [&]<class S>(S) { return scaling<S>(factor, self); });
          },
          "factor"_a, "semiring"_a)
      .def("inverse", &inverse, nb::call_guard<nb::gil_scoped_release>())
      .def("input_projection", &input_projection, nb::call_guard<nb::gil_scoped_release>())
      .def("output_projection", &output_projection, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "recoded",
          [](const Machine& self, In<std::int32_t> inputs, In<std::int32_t> outputs) {
            nb::gil_scoped_release release;
            return recoded(self, view(inputs), view(outputs));
          },
          "inputs"_a, "outputs"_a)
      .def("topological_sort", &topological_sort, nb::call_guard<nb::gil_scoped_release>())
      .def("cycle", &find_cycle, nb::call_guard<nb::gil_scoped_release>(), "The states of some cycle; empty where there is none.")
      .def("total", &total_of, "semiring"_a, "The sum over all paths; where it diverges, the states of a cycle to blame.")
      .def(
          "total_of_pair",
          [](const Machine& self, In<std::int32_t> x, In<std::int32_t> y, bool outputs, const std::string& semiring) {
            const Machine paths = over(semiring, [&]<class S>(S) { return matching<S>(self, view(x), view(y), outputs); });
            return total_of(paths, semiring);
          },
          "x"_a, "y"_a, "outputs"_a, "semiring"_a, "The sum over the paths that read x and, if outputs, write y.")
      .def("arrays", &arrays, "Start, the columns sources, inputs, outputs, weights and targets of the arcs, and finals.")
      .def_prop_ro("start", &Machine::start)
      .def_prop_ro("n_states", &Machine::size)
      .def_prop_ro("n_arcs", &Machine::n_arcs);
}

}  // namespace treille
