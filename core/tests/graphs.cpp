// Kernels of graphs.

#include "graphs_features.hpp"
#include "graphs_graphlets.hpp"
#include "graphs_walk.hpp"

namespace treille::tests {

void graphs() {
  for (const int threads : {1, 3}) {
    for (const unsigned one_in : {1u, 2u, 5u}) graphlets_equal_their_definition(one_in, threads);
    for (const bool directed : {false, true})
      for (const int labels : {1, 3})
        for (const bool weighted : {false, true}) walks_equal_their_definition(labels, directed, weighted, threads);
  }
  graphlets_of_large_graphs_do_not_overflow();
  symmetric_nodes_form_one_class();
  for (const int threads : {1, 3})
    for (const bool directed : {false, true}) patterns_equal_their_definition(directed, threads);
  counts_beyond_32_bits_are_exact();
  neighbourhoods_grow_by_a_step_a_round();
}

}  // namespace treille::tests
