// Kernels of graphs.

#include "graphs_features.hpp"

namespace treille::tests {

void graphs() {
  for (const int threads : {1, 3})
    for (const bool directed : {false, true}) patterns_are_their_definition(directed, threads);
  counts_beyond_32_bits_are_exact();
  neighbourhoods_grow_by_a_step_a_round();
}

}  // namespace treille::tests
