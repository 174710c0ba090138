// Kernels of graphs.

#include "graphs_graphlets.hpp"

namespace treille::tests {

void graphs() {
  for (const int threads : {1, 3})
    for (const unsigned one_in : {1u, 2u, 5u}) graphlets_are_their_definition(one_in, threads);
  graphlets_of_large_graphs_do_not_overflow();
}

}  // namespace treille::tests
