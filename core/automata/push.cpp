#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "automata/algorithms.hpp"
#include "automata/components.hpp"
#include "automata/connect.hpp"
#include "automata/cycle_sums.hpp"
#include "automata/operations.hpp"
#include "automata/rounding.hpp"
#include "automata/semiring.hpp"

namespace treille {
namespace {

// The sum over all paths from each state to the end. Within a cyclic component d = r + M d, r what leaves it.
template <class S>
Array<double> distances_to_the_end(const Trimmed<S>& trimmed) {
  const Machine& machine = trimmed.machine();
  const Components components(machine);
  Array<double> d(machine.size());
  Array<State> inner(machine.size());  // the number of a state inside its component
  std::vector<InnerArc> arcs;
  std::vector<double> sums;
  for (State c = components.size() - 1; c >= 0; --c) {
    const auto states = components.states(c);
    for (std::size_t i = 0; i < states.size(); ++i) inner[states[i]] = static_cast<State>(i);
    arcs.clear();
    sums.clear();
    for (const State s : states) {
      TermSum<S> leaves;
      leaves.add(machine.final_weight(s));
      for (const Arc& arc : machine.arcs(s)) {
        if (components.of(arc.target) == c)
          arcs.push_back({inner[arc.target], inner[s], arc.weight});  // turned round: sums run against the arcs
        else
          leaves.add(S::times(arc.weight, d[arc.target]));
      }
      sums.push_back(leaves.value());
    }
    if (!arcs.empty() && !sum_cycles(S{}, arcs, sums))
      throw std::invalid_argument("the sum over the paths from state " + std::to_string(trimmed.original(states[0])) +
                                  " diverges: the weights on its cycles are too large");
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (std::is_same_v<S, Real> && !std::isfinite(sums[i]))
        throw std::invalid_argument("the weights of paths from state " + std::to_string(trimmed.original(states[i])) +
                                    " are too large for a number: scale them down, or use costs, astype('log')");
      d[states[i]] = sums[i];
    }
  }
  return d;
}

}  // namespace

template <class S>
Machine push(const Machine& given) {
  const Trimmed<S> trimmed(given);
  const Machine& machine = trimmed.machine();
  if (machine.start() == kNoState) return {};
  Array<double> d = distances_to_the_end(trimmed);
  for (double& potential : d)
    if (potential == S::zero()) potential = S::one();
  d[machine.start()] = S::one();
  return reweighted(
      machine, [&](State s, const Arc& arc) { return S::divide(S::times(arc.weight, d[arc.target]), d[s]); },
      [&](State s, double weight) { return S::divide(weight, d[s]); });
}

template Machine push<Real>(const Machine&);
template Machine push<Log>(const Machine&);
template Machine push<Tropical>(const Machine&);

}  // namespace treille
