#include "automata/build.hpp"

#include <algorithm>

namespace treille {

Machine build_machine(State start, const ArcColumns& columns, std::span<const double> finals) {
  const std::size_t n = finals.size();
  Array<std::int64_t> offsets(n + 1, 0);
  for (State s : columns.sources) ++offsets[static_cast<std::size_t>(s) + 1];
  for (std::size_t s = 0; s < n; ++s) offsets[s + 1] += offsets[s];
  Array<std::int64_t> next(offsets.begin(), offsets.end() - 1);
  Array<Arc> arcs(columns.sources.size());
  for (std::size_t a = 0; a < arcs.size(); ++a)
    arcs[static_cast<std::size_t>(next[static_cast<std::size_t>(columns.sources[a])]++)] = {columns.inputs[a], columns.outputs[a],
                                                                                            columns.targets[a], columns.weights[a]};
  for (std::size_t s = 0; s < n; ++s)
    if (!std::is_sorted(arcs.begin() + offsets[s], arcs.begin() + offsets[s + 1], arc_before))
      std::stable_sort(arcs.begin() + offsets[s], arcs.begin() + offsets[s + 1], arc_before);
  return Machine(start, std::move(offsets), std::move(arcs), Array<double>(finals.begin(), finals.end()));
}

}  // namespace treille
