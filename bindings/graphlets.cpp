// core/graphs/graphlets for Python.

#include "graphs/graphlets.hpp"

#include "graphs.hpp"

using namespace nb::literals;

namespace treille {

void bind_graphlets(nb::module_& m) {
  m.def(
      "graphlets",
      [](const GraphsIn& arrays, int size, bool connected, int threads) {
        const Graphs graphs = read(arrays);
        auto counts = unlocked([&] { return graphlets(graphs, size, connected, threads); });
        return give_matrix(std::move(counts), graphs.size(), n_graphlets(size, connected));
      },
      "graphs"_a, "size"_a, "connected"_a, "threads"_a, "Numbers of induced subgraphs of each type, one row for each graph.");
  m.def(
      "graphlets_of_nodes",
      [](const GraphsIn& arrays, int size, int threads) {
        const Graphs graphs = read(arrays);
        auto counts = unlocked([&] { return graphlets_of_nodes(graphs, size, threads); });
        return give_matrix(std::move(counts), static_cast<std::size_t>(graphs.offsets.back()), n_graphlets(size, true));
      },
      "graphs"_a, "size"_a, "threads"_a, "The number of connected subgraphs of each type that contain a node, one row for each node.");
}

}  // namespace treille
