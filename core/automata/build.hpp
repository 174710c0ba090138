#pragma once
// A machine from its arcs in any order: one counting sort by source, then each state's arcs by input label, output label and target.

#include <cstdint>
#include <span>

#include "automata/machine.hpp"

namespace treille {

struct ArcColumns {
  std::span<const State> sources;
  std::span<const Label> inputs, outputs;
  std::span<const double> weights;
  std::span<const State> targets;
};

// States are 0..finals.size()-1; every number is checked before it comes here.
Machine build_machine(State start, const ArcColumns& arcs, std::span<const double> finals);

}  // namespace treille
