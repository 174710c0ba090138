// core/automata for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "automata/build.hpp"
#include "automata/machine.hpp"

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
      .def("arrays", &arrays, "Start, the columns sources, inputs, outputs, weights and targets of the arcs, and finals.")
      .def_prop_ro("start", &Machine::start)
      .def_prop_ro("n_states", &Machine::size)
      .def_prop_ro("n_arcs", &Machine::n_arcs);
}

}  // namespace treille
