#pragma once
// Algorithms on machines, over each of the semirings of semiring.hpp.

#include "automata/machine.hpp"

namespace treille {

// Composition: (A o B)(x, y) = sum over z of A(x, z) B(z, y), each pair of paths counted once.
// Mohri's epsilon-sequencing filter: between two symbols that match, A first takes its arcs that write nothing, then B those that read
// nothing; without it a pair of paths is counted once for each way to interleave them, which over the reals is wrong.
// A state is a triple (state of A, state of B, filter); states whose symbols cannot meet are never made, and what is left is trimmed.
// Time O(triples reached + arcs tried): the state with fewer arcs looks its labels up in the other. Law: associative.
// Throws std::length_error beyond 2^31 - 1 states. Mohri, Pereira & Riley 1996; Allauzen, Riley & Schalkwyk 2009.
template <class S>
Machine compose(const Machine& left, const Machine& right);

// Epsilon removal: the same weight for every pair of strings, with no arc that both reads and writes nothing.
// N(s), the arcs and the final weight of state s after removal, consists of its other arcs and of w N(t) for each epsilon arc of weight w
// to t. Only the start, and states that another arc enters, are kept: they are processed from the last to the first along epsilon arcs;
// each search passes through removed states and stops at processed ones. Arcs with the same labels and target become one. Cycles of epsilon
// arcs are summed by component first (star.hpp); std::invalid_argument where such a sum diverges. Time O(arcs read log(arcs of a state) +
// n^3 for each cyclic component of n states). The result is trim, its arcs sorted by label. Mohri 2002, with shared suffixes.
template <class S>
Machine remove_epsilon(const Machine& machine);

// Determinisation of a machine without cycles: no state of the result has two arcs with the same labels, and every string keeps its
// weight, for weights of any sign. Labels are pairs (input, output): an acceptor becomes deterministic, a transducer so as an acceptor of
// pairs. The subset construction (subsets.hpp); a weight is on the earliest arc that determines it up to the subset's factor.
// Needs: no cycle, and no arc that reads and writes nothing; otherwise std::invalid_argument names it.
// Time O(states reached x arcs of a subset's states, sorted); the result can be exponentially larger. It is trim.
// Mohri 1997, over a field.
template <class S>
Machine determinize(const Machine& machine);

// Weight pushing to the start: every string keeps its weight, and weights are moved as close to the start as possible.
// d(s), the sum over all paths from s to the end, is the potential; an arc s -> t of weight w gets w d(t) / d(s), a final weight f / d(s).
// Afterwards, the weights out of a state, with its final weight, sum to one, but at the start to the machine's total.
// Over the reals d(s) can be zero, because weights cancel; such a state takes potential one, which keeps every weight as well.
// Cycles are summed by component (cycle_sums.hpp); std::invalid_argument where the sum diverges. The result is trim.
// Time O(states + arcs + n^3 for each cyclic component of n states). Mohri 1997.
template <class S>
Machine push(const Machine& machine);

// Minimisation of a deterministic machine without cycles: the fewest states with every string's weight kept, for weights of any sign.
// States are visited from the last to the first: the signature of a state is its final weight and its list (labels, weight x
// factor(target), class(target)), divided by its first non-zero number, which becomes its factor; states with equal signatures are one
// class, and factors move to the incoming arcs. Weights are equal by cells (rounding.hpp). States without a future are left out. Needs: no
// cycle, no arc that reads and writes nothing, and no state with two arcs of the same labels (pairs, for transducers); otherwise
// std::invalid_argument names it. Expected time O(states + arcs), by hashing. States of the result are numbered along arcs, the start
// first. Revuz 1992, over a field: weights need no pushing first.
template <class S>
Machine minimize(const Machine& machine);

// Tests whether two machines give every string the same weight, up to rounding: for a string x that is seen through states with weights v,
// the two sums of v(s) final(s) may differ by `tolerance` times the size of their terms over the reals, times max(1, cost) for costs.
// Labels are pairs (input, output): transducers that write the same strings with other alignments count as different. Epsilon arcs are
// removed. Without cycles: one subset construction runs through both machines at once (subsets.hpp), and stops at the first difference; the
// rest of a string is compared, so small differences may add up along it.
// If there are cycles, over the reals and in the log semiring: the vectors v(x) over the states of both span a space of dimension at most
// n = states of both; strings are followed in order of length as long as v(x) is new to that space, so at most n of them.
// Time O(n^3 + n x (arcs + n x labels)), space O(n^2). Tzeng 1992. Undecidable for tropical machines with cycles: std::invalid_argument.
template <class S>
bool equivalent(const Machine& a, const Machine& b, double tolerance);

}  // namespace treille
