#pragma once
// The arcs of a transducer by input label.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "automata/machine.hpp"

namespace treille {

inline bool reads_nothing(const Arc& arc) { return arc.input == kEpsilon && arc.weight != 0; }
inline bool does_nothing(const Arc& arc) { return reads_nothing(arc) && arc.output == kEpsilon; }

inline std::span<const Arc> reading(const Machine& T, State s, Label label) {
  const auto arcs = T.arcs(s);
  const auto [first, last] =
      std::equal_range(arcs.begin(), arcs.end(), Arc{label, 0, 0, 0}, [](const Arc& a, const Arc& b) { return a.input < b.input; });
  return {first, last};
}

inline std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

}  // namespace treille
