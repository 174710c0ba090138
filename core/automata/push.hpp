#pragma once
// Weight pushing to the start: every string keeps its weight, and what can be known of it early stands early.
// d(s), the sum over all paths from s to the end, is the potential; an arc s -> t of weight w gets w d(t) / d(s), a final weight f / d(s).
// After it, the weights out of a state, its final weight included, sum to one, but at the start, where they sum to the machine's total.
// Over the reals d(s) can be zero, because weights cancel; such a state takes potential one, which keeps every weight as well.
// Cycles are summed by component (cycle_sums.hpp); std::invalid_argument where the sum diverges. The result is trim.
// Time O(states + arcs + n^3 for each cyclic component of n states). Mohri 1997.

#include "automata/machine.hpp"

namespace treille {

template <class S>
Machine push(const Machine& machine);

}  // namespace treille
