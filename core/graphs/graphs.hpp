#pragma once
// Graphs as the core reads them. Nodes of graph g are offsets[g] .. offsets[g + 1] - 1, arcs of node v are arcs[v] .. arcs[v + 1] - 1, by
// target. An undirected edge is two arcs, a loop one.

#include <cstdint>
#include <span>

namespace treille {

struct Graphs {
  std::span<const std::int32_t> labels;       // of nodes; all 0 where there are none
  std::span<const std::int64_t> offsets;      // of the nodes of each graph
  std::span<const std::int64_t> arcs;         // of the arcs of each node
  std::span<const std::int32_t> targets;      // nodes, counted from the first of their graph
  std::span<const std::int32_t> edge_labels;  // of arcs; empty: none
  std::span<const double> weights;            // of arcs; empty: all 1

  std::size_t size() const { return offsets.size() - 1; }
  std::size_t n_nodes(std::size_t g) const { return static_cast<std::size_t>(offsets[g + 1] - offsets[g]); }
  std::int64_t n_arcs(std::size_t g) const {
    return arcs[static_cast<std::size_t>(offsets[g + 1])] - arcs[static_cast<std::size_t>(offsets[g])];
  }
};

}  // namespace treille
