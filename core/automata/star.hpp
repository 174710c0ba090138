#pragma once
// The weights of all paths between the states of a component: M* = I + M + M^2 + ..., M_ij the weight of the arcs from i to j, by
// elimination, O(n^3). Where weights of both signs converge only in order of length, each row is a separate system, O(n^4).

#include <cstddef>
#include <span>
#include <vector>

#include "automata/cycle_sums.hpp"
#include "automata/semiring.hpp"

namespace treille {

// M* of n states, row by row; false if it diverges.
template <class S>
bool star(std::span<const InnerArc<typename S::Weight>> arcs, std::size_t n, std::vector<typename S::Weight>& sums) {
  sums.assign(n * n, S::zero());
  if constexpr (kIsReal<S>)
    if (!converges_absolutely(arcs, n)) {
      for (std::size_t i = 0; i < n; ++i) {
        sums[i * n + i] = S::one();
        if (!sum_cycles(S{}, arcs, std::span(sums.data() + i * n, n))) return false;
      }
      return true;
    }
  for (const auto& arc : arcs) {
    auto& cell = sums[static_cast<std::size_t>(arc.source) * n + static_cast<std::size_t>(arc.target)];
    cell = S::plus(cell, arc.weight);
  }
  return eliminate<S>(sums, n);
}

}  // namespace treille
