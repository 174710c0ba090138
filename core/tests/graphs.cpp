// Kernels of graphs.

#include "graphs_walk.hpp"

namespace treille::tests {

void graphs() {
  for (const int threads : {1, 3})
    for (const bool directed : {false, true})
      for (const int labels : {1, 3})
        for (const bool weighted : {false, true}) walks_are_their_definition(labels, directed, weighted, threads);
  classes_of_symmetric_nodes_are_one();
}

}  // namespace treille::tests
