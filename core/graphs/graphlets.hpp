#pragma once
// Numbers of induced subgraphs of 3 or 4 nodes of each type, exactly; labels, weights and loops are ignored.
//
// Triangles of each edge, cycles of 4 nodes and cliques of 4 nodes are found by marking neighbours, in O(m a^2) for m edges and
// arboricity a (at most sqrt(2 m)). The other subgraphs, induced or not, are counted by formulas over degrees and triangles. Then a type
// with more edges is subtracted from those that it contains. Ahmed et al.: Efficient graphlet counting for large networks. ICDM 2015;
// cycles: Chiba, Nishizeki: Arboricity and subgraph listing algorithms. SIAM J. Comput. 14, 1985.

#include <cstddef>

#include "graphs/graphs.hpp"
#include "memory.hpp"

namespace treille {

// The order of types in a row of counts: connected ones first, those with fewer edges first.
//   size 3:  path, triangle;  one edge, none.
//   size 4:  path, star, cycle, triangle with a tail, cycle with a chord, clique;
//            triangle and a node, path of 3 and a node, two edges, one edge, none.
inline std::size_t n_graphlets(int size, bool connected) {
  if (size == 3) return connected ? 2 : 4;
  return connected ? 6 : 11;
}

// One row of counts for each graph. Sums are of 128 bits: only the result is rounded, where it is 2^53 or more.
Buffer<double> graphlets(const Graphs& graphs, int size, bool connected, int threads);

// The number of connected subgraphs of each type that contain a node, one row per node. Visits each subgraph, unlike the above.
Buffer<double> graphlets_of_nodes(const Graphs& graphs, int size, int threads);

}  // namespace treille
