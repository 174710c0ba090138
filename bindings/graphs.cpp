// core/graphs for Python: adjacency from lists of edges.

#include "graphs.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "graphs/adjacency.hpp"

using namespace nb::literals;

namespace treille {

void bind_graphs(nb::module_& m) {
  m.def(
      "adjacency",
      [](In<std::int64_t> offsets, In<std::int64_t> starts, In<std::int64_t> sources, In<std::int64_t> targets, In<std::int32_t> labels,
         In<double> weights, bool directed) {
        const EdgeLists edges{view(offsets), view(starts), view(sources), view(targets), view(labels), view(weights)};
        auto found = unlocked([&] { return adjacency(edges, directed); });
        std::optional<std::tuple<std::size_t, std::int64_t, std::int64_t>> fault;
        if (found.fault) fault = {found.fault->graph, found.fault->edge, found.fault->other};
        return std::tuple(give(found.arcs), give(found.targets), give(found.labels), give(found.weights), fault);
      },
      "offsets"_a, "starts"_a, "sources"_a, "targets"_a, "labels"_a, "weights"_a, "directed"_a,
      "Arcs of nodes, targets, labels and weights; and the first error: graph, edge, and the other edge or -1; or None.");
}

}  // namespace treille
