#pragma once
// The concatenation: (A B)(x, y) = sum over x = x1 x2, y = y1 y2 of A(x1, y1) B(x2, y2), so that D(A B) = D(A) D(B) where both are
// finite. Any machines. O(states + arcs).

#include "automata/assembly.hpp"

namespace treille {

// The states of A, then those of B. An empty arc leads from every final state of A, with its weight, to the start of B.
template <class S>
Machine concatenation(const Machine& a, const Machine& b) {
  if (a.start() == kNoState || b.start() == kNoState) return Machine();
  const State n = a.size();
  Assembly out(std::int64_t{n} + b.size(), n + a.n_arcs() + b.n_arcs());
  for (State s = 0; s < n; ++s) {
    for (const Arc& arc : a.arcs(s)) out.arc(arc);
    if (a.final_weight(s) != S::zero()) out.arc({kEpsilon, kEpsilon, b.start() + n, a.final_weight(s)});
    out.end_state(S::zero());
  }
  out.append(b, n);
  return out.finish(a.start());
}

}  // namespace treille
