#pragma once
// Epsilon removal: the same weight for every pair of strings, with no arc that both reads and writes nothing.
// N(s), the arcs and the final weight of a state without its epsilon arcs, is its own other arcs and w N(t) for each epsilon arc of weight
// w to t. Only states that are entered by another arc, or begin, are kept: they are done from the last to the first along epsilon
// arcs, each walking through the states that go, and stopping at those already done. Arcs with the same labels and target become one.
// Cycles of epsilon arcs are summed by component first (star.hpp); std::invalid_argument where such a sum diverges.
// Time O(arcs read log(arcs of a state) + n^3 for each cyclic component of n states). The result is trim, its arcs sorted by label.
// Mohri 2002, with shared suffixes.

#include "automata/machine.hpp"

namespace treille {

template <class S>
Machine remove_epsilon(const Machine& machine);

}  // namespace treille
