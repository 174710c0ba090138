#pragma once
// Whether two machines give every string the same weight, up to rounding: for a string x that is seen through states with weights v, the
// two sums of v(s) final(s) may differ by `tolerance` times the size of their terms over the reals, times max(1, cost) for costs.
// Labels are pairs (input, output): transducers that write the same with other alignments count as different. Epsilon arcs are removed.
// Without cycles: one subset construction runs through both machines at once (subsets.hpp), and stops at the first difference; what is
// left of a string is then judged, so that small differences may add up along it.
// With cycles, over the reals and in the log semiring: the vectors v(x) over the states of both span a space of dimension at most
// n = states of both; strings are followed in order of length as long as v(x) is new to that space, so at most n of them.
// Time O(n^3 + n x (arcs + n x labels)), space O(n^2). Tzeng 1992. Tropical machines with cycles: undecidable, std::invalid_argument.

#include "automata/machine.hpp"

namespace treille {

template <class S>
bool equivalent(const Machine& a, const Machine& b, double tolerance);

}  // namespace treille
