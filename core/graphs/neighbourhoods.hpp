#pragma once
// The parts that a refined label covers: after r rounds, the nodes within r steps of a node, and the edges that begin within r - 1 steps.

#include <cstdint>
#include <span>
#include <vector>

#include "graphs/graphs.hpp"

namespace treille {

// Part v of a graph is its node v, part n_nodes + e its edge e.
struct Covered {
  std::vector<std::int64_t> offsets{0}, parts;
};

// Place i is the node nodes[i] of graph g, after rounds[i] rounds, where owners[g] <= i < owners[g + 1]; edges[a] is the edge of arc a,
// counted from the first of its graph. Places of one node should follow each other, with rising rounds: then one search serves all. Ends
// after `most` parts.
Covered neighbourhoods(const Graphs& graphs, std::span<const std::int64_t> edges, std::span<const std::int64_t> owners,
                       std::span<const std::int32_t> nodes, std::span<const std::int32_t> rounds, std::size_t most);

}  // namespace treille
