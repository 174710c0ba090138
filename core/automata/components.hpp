#pragma once
// Strongly connected components of a machine's arcs, or of those that `follows(arc)` picks: Tarjan 1972, without recursion, so that
// deep machines do not end the stack. Time and space O(states + arcs). Where every arc leads to a higher number, as in machines that are
// sorted already, one pass over the arcs is all.

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "automata/machine.hpp"

namespace treille {

struct Components {
  std::vector<State> states;          // those that a component's arcs lead to stand before it
  std::vector<std::int64_t> offsets;  // component c is states[offsets[c] .. offsets[c + 1])
  std::vector<State> of;              // the component of a state
  bool acyclic = true;

  std::size_t size() const { return offsets.size() - 1; }
  std::span<const State> operator[](std::size_t c) const {
    return {states.data() + offsets[c], static_cast<std::size_t>(offsets[c + 1] - offsets[c])};
  }
};

template <class Follows>
Components components(const Machine& machine, Follows&& follows) {
  const State n = machine.size();
  Components found;
  found.states.reserve(n);
  found.offsets.reserve(static_cast<std::size_t>(n) + 1);
  found.of.resize(n);
  found.offsets.push_back(0);
  auto close = [&](State s) {
    found.of[s] = static_cast<State>(found.size());
    found.states.push_back(s);
  };
  bool sorted = true;
  for (State s = 0; s < n && sorted; ++s)
    for (const Arc& arc : machine.arcs(s)) sorted &= arc.target > s || !follows(arc);
  if (sorted) {
    for (State s = n - 1; s >= 0; --s) {
      close(s);
      found.offsets.push_back(n - s);
    }
    return found;
  }

  constexpr State kNew = 0, kClosed = -1;
  std::vector<State> low(n, kNew);  // 1 + the order of discovery, later the least that is reached
  std::vector<State> open;
  struct Visit {
    State state;
    std::size_t next;
  };
  std::vector<Visit> visits;
  State clock = 0;
  std::vector<State> discovered(n);
  auto enter = [&](State s) {
    discovered[s] = low[s] = ++clock;
    open.push_back(s);
    visits.push_back({s, 0});
  };
  for (State root = 0; root < n; ++root) {
    if (low[root] != kNew) continue;
    enter(root);
    while (!visits.empty()) {
      const State s = visits.back().state;
      const auto arcs = machine.arcs(s);
      bool deeper = false;
      for (std::size_t& k = visits.back().next; k < arcs.size();) {
        const Arc& arc = arcs[k++];
        if (!follows(arc)) continue;
        if (low[arc.target] == kNew) {
          enter(arc.target);
          deeper = true;
          break;
        }
        if (low[arc.target] == kClosed) continue;
        found.acyclic = false;
        low[s] = std::min(low[s], low[arc.target]);
      }
      if (deeper) continue;
      visits.pop_back();
      const State least = low[s];
      if (least == discovered[s]) {
        State t;
        do {
          t = open.back();
          open.pop_back();
          close(t);
          low[t] = kClosed;
        } while (t != s);
        found.offsets.push_back(static_cast<std::int64_t>(found.states.size()));
      } else {
        low[visits.back().state] = std::min(low[visits.back().state], least);
      }
    }
  }
  return found;
}

inline Components components(const Machine& machine) {
  return components(machine, [](const Arc&) { return true; });
}

// Whether a cycle runs through component c: it has several states, or one with an arc to itself.
template <class Follows>
bool is_cyclic(const Machine& machine, std::span<const State> component, Follows&& follows) {
  if (component.size() > 1) return true;
  const auto arcs = machine.arcs(component[0]);
  return std::any_of(arcs.begin(), arcs.end(), [&](const Arc& arc) { return follows(arc) && arc.target == component[0]; });
}

// The states of one cycle, for a message: "2 -> 5 -> 3 -> 2".
inline std::string one_cycle(const Machine& machine, const Components& found) {
  for (std::size_t c = 0; c < found.size(); ++c) {
    if (!is_cyclic(machine, found[c], [](const Arc&) { return true; })) continue;
    std::vector<State> walk{found[c][0]};
    while (std::find(walk.begin(), walk.end() - 1, walk.back()) == walk.end() - 1)
      for (const Arc& arc : machine.arcs(walk.back()))
        if (found.of[arc.target] == static_cast<State>(c)) {
          walk.push_back(arc.target);
          break;
        }
    std::string text;
    for (auto s = std::find(walk.begin(), walk.end(), walk.back()); s != walk.end(); ++s)
      text += (text.empty() ? "" : " -> ") + std::to_string(*s);
    return text;
  }
  return {};
}

// States such that arcs lead from later to earlier ones. Throws, showing a cycle, where there is one.
inline std::vector<State> targets_first(const Machine& machine, const char* operation) {
  Components found = components(machine);
  if (!found.acyclic)
    throw std::invalid_argument(std::string(operation) + " needs a machine without cycles, and states " + one_cycle(machine, found) +
                                " are one");
  return std::move(found.states);
}

}  // namespace treille
