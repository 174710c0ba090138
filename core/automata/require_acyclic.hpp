#pragma once
// The check of operations that need a machine without cycles and without epsilon arcs; the error names the states.

#include <stdexcept>
#include <string>
#include <vector>

#include "automata/components.hpp"
#include "automata/connect.hpp"
#include "automata/machine.hpp"

namespace treille {

template <class W>
bool is_epsilon(const BasicArc<W>& arc) {
  return arc.input == kEpsilon && arc.output == kEpsilon;
}

template <class S>
Components require_acyclic_without_epsilons(const Trimmed<S>& trimmed, const char* operation) {
  const auto& machine = trimmed.machine();
  const std::string needs = std::string(operation) + " needs a machine without ";
  auto name = [&](State s) { return std::to_string(trimmed.original(s)); };
  for (State s = 0; s < machine.size(); ++s)
    for (const auto& arc : machine.arcs(s))
      if (is_epsilon(arc))
        throw std::invalid_argument(needs + "epsilon arcs, and state " + name(s) + " has one to state " + name(arc.target) +
                                    ": call remove_epsilon() first");
  const auto& graph = shape(machine);
  Components components(graph);
  if (components.acyclic()) return components;
  const std::vector<State> cycle = find_cycle(graph);
  std::string text = name(cycle[0]);
  for (std::size_t k = 1; k <= cycle.size(); ++k) text += " -> " + name(cycle[k % cycle.size()]);
  throw std::invalid_argument(needs + "cycles, and states " + text + " are one");
}

}  // namespace treille
