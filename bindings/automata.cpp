// core/automata for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "automata/algorithms.hpp"
#include "automata/connect.hpp"
#include "automata/matching.hpp"
#include "automata/operations.hpp"
#include "automata/total.hpp"

using namespace nb::literals;

namespace treille {
namespace {

// use(S) for the semiring of that name, the GIL released.
template <class Use>
auto over(const std::string& semiring, Use&& use) {
  return unlocked([&] {
    if (semiring == "log") return use(Log{});
    if (semiring == "tropical") return use(Tropical{});
    return use(Real{});
  });
}

using MachineOut = std::tuple<State, Out<std::int32_t>, Out<std::int32_t>, Out<std::int32_t>, Out<double>, Out<std::int32_t>, Out<double>>;

MachineOut arrays(const Machine& machine) {
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

using TotalOut = std::pair<double, std::vector<State>>;

TotalOut total_of(const Machine& machine, const std::string& semiring) {
  return over(semiring, [&]<class S>(S) {
    Total found = total<S>(machine);
    return TotalOut(found.weight, std::move(found.cycle));
  });
}

// Methods that take the name of the semiring: operation(S, machine) and operation(S, machine, other).
template <class Operation>
void of_one(nb::class_<Machine>& machine, const char* name, Operation operation) {
  machine.def(
      name, [=](const Machine& self, const std::string& semiring) { return over(semiring, [&](auto s) { return operation(s, self); }); },
      "semiring"_a);
}

template <class Operation>
void of_two(nb::class_<Machine>& machine, const char* name, Operation operation) {
  machine.def(
      name,
      [=](const Machine& self, const Machine& other, const std::string& semiring) {
        return over(semiring, [&](auto s) { return operation(s, self, other); });
      },
      "other"_a, "semiring"_a);
}

}  // namespace

void bind_automata(nb::module_& m) {
  auto machine = nb::class_<Machine>(m, "Machine", "A weighted transducer, immutable.");
  machine
      .def_static(
          "from_arrays",
          [](State start, In<std::int32_t> sources, In<std::int32_t> inputs, In<std::int32_t> outputs, In<double> weights,
             In<std::int32_t> targets, In<double> finals) {
            const auto arc = [&](std::size_t k) {
              return LabelledArc{sources.data()[k], {inputs.data()[k], outputs.data()[k], targets.data()[k], weights.data()[k]}};
            };
            return build_machine(start, sources.size(), arc, view(finals));
          },
          "start"_a, "sources"_a, "inputs"_a, "outputs"_a, "weights"_a, "targets"_a, "finals"_a)
      .def("inverse", &inverse, nb::call_guard<nb::gil_scoped_release>())
      .def("input_projection", &input_projection, nb::call_guard<nb::gil_scoped_release>())
      .def("output_projection", &output_projection, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "recoded",
          [](const Machine& self, In<std::int32_t> inputs, In<std::int32_t> outputs) {
            return unlocked([&] { return recoded(self, view(inputs), view(outputs)); });
          },
          "inputs"_a, "outputs"_a)
      .def("topological_sort", &topological_sort, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "cycle", [](const Machine& self) { return unlocked([&] { return find_cycle(self); }); },
          "The states of some cycle; empty where there is none.")
      .def("total", &total_of, "semiring"_a, "The sum over all paths; where it diverges, the states of a cycle to blame.")
      .def(
          "total_of_pair",
          [](const Machine& self, In<std::int32_t> x, In<std::int32_t> y, bool outputs, const std::string& semiring) {
            const Machine paths = over(semiring, [&]<class S>(S) { return matching<S>(self, view(x), view(y), outputs); });
            return total_of(paths, semiring);
          },
          "x"_a, "y"_a, "outputs"_a, "semiring"_a, "The sum over the paths that read x and, if outputs, write y.")
      .def(
          "scaling",
          [](const Machine& self, double factor, const std::string& semiring) {
            return over(semiring, [&]<class S>(S) { return scaling<S>(factor, self); });
          },
          "factor"_a, "semiring"_a)
      .def(
          "equivalent",
          [](const Machine& self, const Machine& other, const std::string& semiring, double tolerance) {
            return over(semiring, [&]<class S>(S) { return equivalent<S>(self, other, tolerance); });
          },
          "other"_a, "semiring"_a, "tolerance"_a)
      .def("arrays", &arrays, "Start, the columns sources, inputs, outputs, weights and targets of the arcs, and finals.")
      .def_prop_ro("start", &Machine::start)
      .def_prop_ro("n_states", &Machine::size)
      .def_prop_ro("n_arcs", &Machine::n_arcs);

  of_one(machine, "closure", []<class S>(S, const Machine& a) { return closure<S>(a); });
  of_one(machine, "reversal", []<class S>(S, const Machine& a) { return reversal<S>(a); });
  of_one(machine, "connect", []<class S>(S, const Machine& a) { return connect<S>(a); });
  of_one(machine, "remove_epsilon", []<class S>(S, const Machine& a) { return remove_epsilon<S>(a); });
  of_one(machine, "determinize", []<class S>(S, const Machine& a) { return determinize<S>(a); });
  of_one(machine, "minimize", []<class S>(S, const Machine& a) { return minimize<S>(a); });
  of_one(machine, "push", []<class S>(S, const Machine& a) { return push<S>(a); });
  of_two(machine, "sum", []<class S>(S, const Machine& a, const Machine& b) { return sum<S>(a, b); });
  of_two(machine, "concatenation", []<class S>(S, const Machine& a, const Machine& b) { return concatenation<S>(a, b); });
  of_two(machine, "compose", []<class S>(S, const Machine& a, const Machine& b) { return compose<S>(a, b); });
}

}  // namespace treille
