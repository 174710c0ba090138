#pragma once
// Lists of edges become sorted arcs. O(nodes + edges), apart from sorting the arcs of each node.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graphs/graphs.hpp"

namespace treille {

// The edges of graph g are starts[g] .. starts[g + 1] - 1. Labels and weights are empty, or one for each edge.
struct EdgeLists {
  std::span<const std::int64_t> offsets;  // of the nodes of each graph
  std::span<const std::int64_t> starts;
  std::span<const std::int64_t> sources, targets;
  std::span<const std::int32_t> labels;
  std::span<const double> weights;
};

struct Adjacency {
  std::vector<std::int64_t> arcs;
  std::vector<std::int32_t> targets, labels;
  std::vector<double> weights;
  struct Fault {
    std::size_t graph;
    std::int64_t edge;   // counted from the first of its graph
    std::int64_t other;  // the same edge with another label or weight; -1 if a node is missing
  };
  std::optional<Fault> fault;
};

// An edge listed twice, in an undirected graph in either direction, counts once.
Adjacency adjacency(const EdgeLists& edges, bool directed);

}  // namespace treille
