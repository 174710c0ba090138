#pragma once
// The reversal: R(x, y) = A(x backwards, y backwards), so that D is kept: weights commute in all our semirings. Any machine.
// O(states + arcs).

#include "automata/build.hpp"
#include "memory.hpp"

namespace treille {

// A new start, state 0, leads by empty arcs, with their weights, to the final states; state s becomes s + 1, the start final.
template <class S>
Machine reversal(const Machine& a) {
  Array<State> sources, targets;
  Array<Label> inputs, outputs;
  Array<double> weights, finals(static_cast<std::size_t>(a.size()) + 1, S::zero());
  const auto add = [&](State source, const Arc& arc) {
    sources.push_back(source);
    inputs.push_back(arc.input);
    outputs.push_back(arc.output);
    weights.push_back(arc.weight);
    targets.push_back(arc.target);
  };
  for (State s = 0; s < a.size(); ++s) {
    if (a.final_weight(s) != S::zero()) add(0, {kEpsilon, kEpsilon, s + 1, a.final_weight(s)});
    for (const Arc& arc : a.arcs(s)) add(arc.target + 1, {arc.input, arc.output, s + 1, arc.weight});
  }
  if (a.start() != kNoState) finals[static_cast<std::size_t>(a.start()) + 1] = S::one();
  return build_machine(0, {sources, inputs, outputs, weights, targets}, finals);
}

}  // namespace treille
