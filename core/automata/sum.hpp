#pragma once
// The sum: (A + B)(x, y) = A(x, y) + B(x, y), so that D(A + B) = D(A) + D(B). Any machines. O(states + arcs).

#include "automata/assembly.hpp"

namespace treille {

// A new start, state 0, leads to both by empty arcs; then come the states of A, then those of B.
template <class S>
Machine sum(const Machine& a, const Machine& b) {
  Assembly out(std::int64_t{1} + a.size() + b.size(), 2 + a.n_arcs() + b.n_arcs());
  if (a.start() != kNoState) out.arc({kEpsilon, kEpsilon, a.start() + 1, S::one()});
  if (b.start() != kNoState) out.arc({kEpsilon, kEpsilon, b.start() + 1 + a.size(), S::one()});
  out.end_state(S::zero());
  out.append(a, 1);
  out.append(b, 1 + a.size());
  return out.finish(0);
}

}  // namespace treille
