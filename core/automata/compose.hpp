#pragma once
// Composition: (A o B)(x, y) = sum over z of A(x, z) B(z, y), each pair of paths counted once.
// Mohri's epsilon-sequencing filter: between two symbols that match, A first takes its arcs that write nothing, then B those that read
// nothing; without it a pair of paths is counted once for each way to interleave them, which over the reals is wrong.
// A state is a triple (state of A, state of B, filter); states whose symbols cannot meet are never made, and what is left is trimmed.
// Time O(triples reached + arcs tried): the state with fewer arcs looks its labels up in the other. Law: associative.
// Throws std::length_error beyond 2^31 - 1 states. Mohri, Pereira & Riley 1996; Allauzen, Riley & Schalkwyk 2009.

#include "automata/machine.hpp"

namespace treille {

template <class S>
Machine compose(const Machine& left, const Machine& right);

}  // namespace treille
