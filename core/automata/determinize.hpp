#pragma once
// Determinisation of a machine without cycles: no state of the result has two arcs with the same labels, and every string keeps its
// weight, for weights of any sign. Labels are pairs (input, output): an acceptor becomes deterministic, a transducer so as an acceptor of
// pairs. The subset construction (subsets.hpp); weights stand on the earliest arc on which they are known up to the subset's factor.
// Needs: no cycle, and no arc that reads and writes nothing; std::invalid_argument says which there is.
// Time O(states reached x what a subset's states have of arcs, sorted); the result can be exponentially larger. It is trim.
// Mohri 1997, over a field.

#include "automata/machine.hpp"

namespace treille {

template <class S>
Machine determinize(const Machine& machine);

}  // namespace treille
