#pragma once
// D(A), the sum of the weights of all accepting paths. d_s, the weight of all paths from the start to state s, is found component by
// component along the arcs. Acyclic: one pass, O(states + arcs); a component with cycles costs what `cycle_sums.hpp` says.

#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "automata/components.hpp"
#include "automata/connect.hpp"
#include "automata/cycle_sums.hpp"
#include "automata/in_range.hpp"

namespace treille {

template <class W>
struct BasicTotal {
  W weight;
  std::vector<State> cycle;  // if the sum diverges, a cycle of the component that causes it; else empty
};
using Total = BasicTotal<double>;

template <class S>
BasicTotal<typename S::Weight> sum_over_paths(const MachineOf<S>& machine) {
  using W = typename S::Weight;
  const auto& graph = shape(machine);
  const Array<std::uint8_t> useful = useful_states<S>(machine);  // sums that no accepting path uses may diverge
  const Components components(graph);
  Array<W> d(useful.size(), S::zero());
  const auto at = [&](State s) -> W& { return d[static_cast<std::size_t>(s)]; };
  if (machine.start() != kNoState) at(machine.start()) = S::one();
  W sum = S::zero();
  Array<State> inner(useful.size());  // the number of a state inside its component
  std::vector<InnerArc<W>> arcs;
  std::vector<W> sums;
  for (State c = 0; c < components.size(); ++c) {
    const auto states = components.states(c);
    if (useful[static_cast<std::size_t>(states[0])] == 0) continue;  // the states of a component are all useful, or none is
    if (components.is_cyclic(graph, c)) {
      arcs.clear();
      sums.clear();
      for (const State s : states) {
        inner[static_cast<std::size_t>(s)] = static_cast<State>(sums.size());
        sums.push_back(at(s));
      }
      for (const State s : states)
        for (const auto& arc : machine.arcs(s))
          if (components.of(arc.target) == c)
            arcs.push_back({inner[static_cast<std::size_t>(s)], inner[static_cast<std::size_t>(arc.target)], arc.weight});
      if (!sum_cycles(S{}, std::span<const InnerArc<W>>(arcs), std::span<W>(sums))) return {S::zero(), components.cycle(graph, c)};
      for (std::size_t i = 0; i < sums.size(); ++i) at(states[i]) = sums[i];
    }
    for (const State s : states) {
      sum = S::plus(sum, S::times(at(s), machine.final_weight(s)));
      for (const auto& arc : machine.arcs(s))
        if (components.of(arc.target) != c) at(arc.target) = S::plus(at(arc.target), S::times(at(s), arc.weight));
    }
  }
  return {sum, {}};
}

// std::invalid_argument where the sum is too large for a double.
template <class S>
Total total(const Machine& machine) {
  if constexpr (!std::is_same_v<S, Real>) {
    return sum_over_paths<S>(machine);
  } else {
    Total plain;
    if (in_range([&] { plain = sum_over_paths<Real>(machine); })) return plain;
    auto exact = sum_over_paths<ScaledReal>(scaled(machine));
    return {representable(exact.weight, "the sum over the paths"), std::move(exact.cycle)};
  }
}

}  // namespace treille
