#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "automata/algorithms.hpp"
#include "automata/components.hpp"
#include "automata/connect.hpp"
#include "automata/cycle_sums.hpp"
#include "automata/in_range.hpp"
#include "automata/operations.hpp"
#include "automata/rounding.hpp"
#include "automata/semiring.hpp"

namespace treille {
namespace {

// The sum over all paths from each state to the end. Within a cyclic component d = r + M d, r what leaves it.
template <class S>
Array<typename S::Weight> distances_to_the_end(const Trimmed<S>& trimmed) {
  using W = typename S::Weight;
  const auto& machine = trimmed.machine();
  const Components components(shape(machine));
  Array<W> d(machine.size());
  Array<State> inner(machine.size());  // the number of a state inside its component
  std::vector<InnerArc<W>> arcs;
  std::vector<W> sums;
  for (State c = components.size() - 1; c >= 0; --c) {
    const auto states = components.states(c);
    for (std::size_t i = 0; i < states.size(); ++i) inner[states[i]] = static_cast<State>(i);
    arcs.clear();
    sums.clear();
    for (const State s : states) {
      TermSum<S> leaves;
      leaves.add(machine.final_weight(s));
      for (const auto& arc : machine.arcs(s)) {
        if (components.of(arc.target) == c)
          arcs.push_back({inner[arc.target], inner[s], arc.weight});  // transposed: sums run against the arcs
        else
          leaves.add(S::times(arc.weight, d[arc.target]));
      }
      sums.push_back(leaves.value());
    }
    if (!arcs.empty() && !sum_cycles(S{}, std::span<const InnerArc<W>>(arcs), std::span<W>(sums)))
      throw std::invalid_argument("the sum over the paths from state " + std::to_string(trimmed.original(states[0])) +
                                  " diverges: the weights on its cycles are too large");
    for (std::size_t i = 0; i < states.size(); ++i) d[states[i]] = sums[i];
  }
  return d;
}

template <class S>
MachineOf<S> pushed(const MachineOf<S>& given) {
  using W = typename S::Weight;
  const Trimmed<S> trimmed(given);
  const auto& machine = trimmed.machine();
  if (machine.start() == kNoState) return {};
  Array<W> d = distances_to_the_end(trimmed);
  for (W& potential : d)
    if (potential == S::zero()) potential = S::one();
  d[machine.start()] = S::one();
  return reweighted(
      machine, [&](State s, const auto& arc) { return S::divide(S::times(arc.weight, d[arc.target]), d[s]); },
      [&](State s, const W& weight) { return S::divide(weight, d[s]); });
}

}  // namespace

template <class S>
Machine push(const Machine& machine) {
  return over_any_range<S>("push", rounded, []<class R>(R, const MachineOf<R>& given) { return pushed<R>(given); }, machine);
}

template Machine push<Real>(const Machine&);
template Machine push<Log>(const Machine&);
template Machine push<Tropical>(const Machine&);

}  // namespace treille
