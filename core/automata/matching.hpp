#pragma once
// The paths of a machine that read x and write y: A(x, y) = D(matching(A, x, y)). Only states that the start reaches are built:
// O(|x| |y| (states + arcs)) at most. `outputs` false: the paths that read x, whatever they write.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "automata/assembly.hpp"
#include "memory.hpp"

namespace treille {

// States of the result are the triples (symbols of x read, symbols of y written, state), made row by row of x.
template <class S>
Machine matching(const Machine& machine, std::span<const Label> x, std::span<const Label> y, bool outputs) {
  if (machine.start() == kNoState) return Machine();
  const auto n = static_cast<std::size_t>(machine.size());
  std::vector<LabelledArc> arcs;
  std::vector<double> finals;
  struct Row {
    Array<State> numbers;            // of (written, state), kNoState where nothing reaches it
    std::vector<std::size_t> cells;  // those reached
  };
  const auto reach = [&](Row& row, std::size_t cell) {
    State& number = row.numbers[cell];
    if (number == kNoState) {
      number = static_cast<State>(finals.size());
      finals.push_back(S::zero());
      row.cells.push_back(cell);
    }
    return number;
  };
  Row row{Array<State>((y.size() + 1) * n, kNoState), {}}, below = row;
  reach(row, static_cast<std::size_t>(machine.start()));
  for (std::size_t i = 0; i <= x.size(); ++i) {
    for (std::size_t at = 0; at < row.cells.size(); ++at) {
      const std::size_t cell = row.cells[at], j = cell / n;
      const auto s = static_cast<State>(cell % n);
      const State source = row.numbers[cell];
      if (i == x.size() && j == y.size()) finals[static_cast<std::size_t>(source)] = machine.final_weight(s);
      const auto follow = [&](Label input, Row& next) {
        for (const Arc& arc : std::ranges::equal_range(machine.arcs(s), input, {}, &Arc::input)) {
          const bool writes = outputs && arc.output != kEpsilon;
          if (writes && (j == y.size() || arc.output != y[j])) continue;
          const State target = reach(next, (j + (writes ? 1 : 0)) * n + static_cast<std::size_t>(arc.target));
          arcs.push_back({source, {kEpsilon, kEpsilon, target, arc.weight}});
        }
      };
      follow(kEpsilon, row);
      if (i < x.size()) follow(x[i], below);
    }
    for (const std::size_t cell : row.cells) row.numbers[cell] = kNoState;
    row.cells.clear();
    std::swap(row, below);
  }
  return build_machine(0, arcs, finals);
}

}  // namespace treille
