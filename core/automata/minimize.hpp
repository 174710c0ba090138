#pragma once
// Minimisation of a deterministic machine without cycles: the fewest states with every string's weight kept, for weights of any sign.
// From the last state to the first: the signature of a state is its final weight and its list (labels, weight x factor(target),
// class(target)), divided by its first non-zero number, which becomes its factor; states with equal signatures are one class, and
// factors move to the arcs that come in. Weights are equal by cells (cell.hpp). States without a future are left out.
// Needs: no cycle, no arc that reads and writes nothing, and no state with two arcs of the same labels (pairs, for transducers);
// std::invalid_argument says which there is. Expected time O(states + arcs), by hashing. States of the result are numbered along arcs,
// the start first. Revuz 1992, over a field: weights need no pushing first.

#include "automata/machine.hpp"

namespace treille {

template <class S>
Machine minimize(const Machine& machine);

}  // namespace treille
