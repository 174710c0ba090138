#pragma once
// The scaling: (g A)(x, y) = g A(x, y), so that D(g A) = g D(A). Any machine; g multiplies the final weights. O(states + arcs).

#include "automata/machine.hpp"

namespace treille {

template <class S>
Machine scaling(double g, const Machine& a) {
  Array<double> finals(a.finals().begin(), a.finals().end());
  for (double& weight : finals) weight = S::times(g, weight);
  return Machine(a.start(), {a.offsets().begin(), a.offsets().end()}, {a.all_arcs().begin(), a.all_arcs().end()}, std::move(finals));
}

}  // namespace treille
