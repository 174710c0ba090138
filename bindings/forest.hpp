#pragma once
// Forests from Python to the core.

#include <nanobind/stl/tuple.h>

#include "native.hpp"
#include "trees/forest.hpp"

namespace treille {

// Labels, parents, offsets.
using ForestIn = std::tuple<In<std::int32_t>, In<std::int32_t>, In<std::int64_t>>;

inline Forest read(const ForestIn& forest) { return {view(std::get<0>(forest)), view(std::get<1>(forest)), view(std::get<2>(forest))}; }

template <>
struct FromPython<Forest> {
  using Given = ForestIn;
  static Forest read(const Given& given) { return treille::read(given); }
};

}  // namespace treille
