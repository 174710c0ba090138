#pragma once
// The closure: A* = sum over n >= 0 of A^n, so that D(A*) = 1 / (1 - D(A)) where |D(A)| < 1 and A is acyclic. Any machine; where A
// accepts the empty pair, what A* weighs may diverge, and `total` says so. O(states + arcs).

#include "automata/assembly.hpp"

namespace treille {

// A new state 0 is the start and the only final one: each round through A leads back to it by an empty arc.
template <class S>
Machine closure(const Machine& a) {
  Assembly out(std::int64_t{1} + a.size(), 1 + a.size() + a.n_arcs());
  if (a.start() != kNoState) out.arc({kEpsilon, kEpsilon, a.start() + 1, S::one()});
  out.end_state(S::one());
  for (State s = 0; s < a.size(); ++s) {
    if (a.final_weight(s) != S::zero()) out.arc({kEpsilon, kEpsilon, 0, a.final_weight(s)});
    for (Arc arc : a.arcs(s)) {
      ++arc.target;
      out.arc(arc);
    }
    out.end_state(S::zero());
  }
  return out.finish(0);
}

}  // namespace treille
