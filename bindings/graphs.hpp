#pragma once
// Graphs from Python to the core.

#include <nanobind/stl/tuple.h>

#include "graphs/graphs.hpp"
#include "native.hpp"

namespace treille {

// Labels, offsets, arcs, targets, labels of arcs, weights of arcs.
using GraphsIn = std::tuple<In<std::int32_t>, In<std::int64_t>, In<std::int64_t>, In<std::int32_t>, In<std::int32_t>, In<double>>;

inline Graphs read(const GraphsIn& graphs) {
  return {view(std::get<0>(graphs)), view(std::get<1>(graphs)), view(std::get<2>(graphs)),
          view(std::get<3>(graphs)), view(std::get<4>(graphs)), view(std::get<5>(graphs))};
}

template <>
struct FromPython<Graphs> {
  using Given = GraphsIn;
  static Graphs read(const Given& given) { return treille::read(given); }
};

}  // namespace treille
