#pragma once
// Trimming: the states that lie on some path from the start to a final state, and the arcs between them. All weights A(x, y) are kept.
// Any machine. O(states + arcs).

#include <cstdint>
#include <vector>

#include "automata/assembly.hpp"
#include "memory.hpp"

namespace treille {

// Who leads to a state: the sources of its arcs are sources[offsets[s] .. offsets[s + 1]).
struct Backwards {
  Array<std::int64_t> offsets;
  Array<State> sources;

  explicit Backwards(const Machine& machine)
      : offsets(static_cast<std::size_t>(machine.size()) + 2, 0), sources(static_cast<std::size_t>(machine.n_arcs())) {
    for (const Arc& arc : machine.all_arcs()) ++offsets[static_cast<std::size_t>(arc.target) + 2];
    for (std::size_t s = 2; s < offsets.size(); ++s) offsets[s] += offsets[s - 1];
    for (State s = 0; s < machine.size(); ++s)
      for (const Arc& arc : machine.arcs(s)) sources[static_cast<std::size_t>(offsets[static_cast<std::size_t>(arc.target) + 1]++)] = s;
  }
};

// 1 for each state that lies on an accepting path, 0 for the others.
template <class S>
Array<std::uint8_t> useful_states(const Machine& machine) {
  const auto n = static_cast<std::size_t>(machine.size());
  Array<std::uint8_t> reached(n, 0), useful(n, 0);
  if (machine.start() == kNoState) return useful;
  std::vector<State> waiting{machine.start()};
  reached[static_cast<std::size_t>(machine.start())] = 1;
  const auto visit = [&](Array<std::uint8_t>& seen, State s) {
    if (seen[static_cast<std::size_t>(s)] != 0) return;
    seen[static_cast<std::size_t>(s)] = 1;
    waiting.push_back(s);
  };
  while (!waiting.empty()) {
    const State s = waiting.back();
    waiting.pop_back();
    for (const Arc& arc : machine.arcs(s)) visit(reached, arc.target);
  }
  const Backwards backwards(machine);
  for (State s = 0; s < machine.size(); ++s)
    if (reached[static_cast<std::size_t>(s)] != 0 && machine.final_weight(s) != S::zero()) visit(useful, s);
  while (!waiting.empty()) {
    const auto s = static_cast<std::size_t>(waiting.back());
    waiting.pop_back();
    for (auto a = backwards.offsets[s]; a < backwards.offsets[s + 1]; ++a) {
      const State source = backwards.sources[static_cast<std::size_t>(a)];
      if (reached[static_cast<std::size_t>(source)] != 0) visit(useful, source);
    }
  }
  return useful;
}

// The states keep their order. Where nothing is accepted, the machine without states.
template <class S>
Machine connect(const Machine& machine) {
  const Array<std::uint8_t> useful = useful_states<S>(machine);
  Array<State> number(useful.size(), kNoState);
  State n = 0;
  for (std::size_t s = 0; s < useful.size(); ++s)
    if (useful[s] != 0) number[s] = n++;
  if (n == 0) return Machine();
  Assembly out(n, machine.n_arcs());
  for (State s = 0; s < machine.size(); ++s) {
    if (useful[static_cast<std::size_t>(s)] == 0) continue;
    for (Arc arc : machine.arcs(s)) {
      arc.target = number[static_cast<std::size_t>(arc.target)];
      if (arc.target != kNoState) out.arc(arc);
    }
    out.end_state(machine.final_weight(s));
  }
  return out.finish(number[static_cast<std::size_t>(machine.start())]);
}

}  // namespace treille
