#include "automata/components.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "automata/assembly.hpp"

namespace treille {

Components::Components(const Machine& machine, Follows follows)
    : follows_(follows), of_(static_cast<std::size_t>(machine.size()), kNoState) {
  const auto n = static_cast<std::size_t>(machine.size());
  bool sorted = true;
  for (State s = 0; s < machine.size() && sorted; ++s)
    for (const Arc& arc : machine.arcs(s)) sorted &= arc.target > s || !follows(arc);
  if (sorted) {
    states_.resize(n);
    offsets_.resize(n + 1);
    std::iota(of_.begin(), of_.end(), 0);
    std::iota(states_.begin(), states_.end(), 0);
    std::iota(offsets_.begin(), offsets_.end(), 0);
    return;
  }
  struct Visit {
    State state;
    std::size_t next;  // the arc to follow next
  };
  Array<State> index(n, kNoState), low(n);
  std::vector<Visit> path;
  std::vector<State> open;  // visited, in no component yet
  State visited = 0, closed = 0;
  const auto enter = [&](State s) {
    index[static_cast<std::size_t>(s)] = low[static_cast<std::size_t>(s)] = visited++;
    open.push_back(s);
    path.push_back({s, 0});
  };
  for (State root = machine.size() - 1; root >= 0; --root) {  // backwards, so that the numbers of states of equal rank rise
    if (index[static_cast<std::size_t>(root)] != kNoState) continue;
    enter(root);
    while (!path.empty()) {
      const State s = path.back().state;
      const auto arcs = machine.arcs(s);
      if (path.back().next < arcs.size()) {
        const Arc& arc = arcs[path.back().next++];
        const auto t = static_cast<std::size_t>(arc.target);
        if (!follows(arc)) continue;
        if (index[t] == kNoState) {
          enter(static_cast<State>(t));
        } else if (of_[t] == kNoState) {
          acyclic_ = false;
          low[static_cast<std::size_t>(s)] = std::min(low[static_cast<std::size_t>(s)], index[t]);
        }
        continue;
      }
      path.pop_back();
      const State lowest = low[static_cast<std::size_t>(s)];
      if (!path.empty()) {
        State& above = low[static_cast<std::size_t>(path.back().state)];
        above = std::min(above, lowest);
      }
      if (lowest != index[static_cast<std::size_t>(s)]) continue;
      State member = kNoState;
      do {
        member = open.back();
        open.pop_back();
        of_[static_cast<std::size_t>(member)] = closed;
      } while (member != s);
      ++closed;
    }
  }
  offsets_.assign(static_cast<std::size_t>(closed) + 1, 0);
  for (State& component : of_) {
    component = closed - 1 - component;  // components close from the last to the first
    ++offsets_[static_cast<std::size_t>(component) + 1];
  }
  for (std::size_t c = 0; c < static_cast<std::size_t>(closed); ++c) offsets_[c + 1] += offsets_[c];
  states_.resize(n);
  Array<std::int64_t> next(offsets_.begin(), offsets_.end() - 1);
  for (State s = 0; s < machine.size(); ++s) states_[static_cast<std::size_t>(next[static_cast<std::size_t>(of(s))]++)] = s;
}

bool Components::is_cyclic(const Machine& machine, State component) const {
  const auto members = states(component);
  if (members.size() > 1) return true;
  return std::ranges::any_of(machine.arcs(members[0]), [&](const Arc& arc) { return arc.target == members[0] && follows_(arc); });
}

std::vector<State> Components::cycle(const Machine& machine, State component) const {
  const State first = states(component)[0];
  Array<State> from(static_cast<std::size_t>(machine.size()), kNoState);
  std::vector<State> waiting{first};
  for (std::size_t at = 0; at < waiting.size(); ++at) {
    const State s = waiting[at];
    for (const Arc& arc : machine.arcs(s)) {
      if (!follows_(arc)) continue;
      if (arc.target == first) {
        std::vector<State> cycle{s};
        while (cycle.back() != first) cycle.push_back(from[static_cast<std::size_t>(cycle.back())]);
        std::ranges::reverse(cycle);
        return cycle;
      }
      State& source = from[static_cast<std::size_t>(arc.target)];
      if (of(arc.target) != component || source != kNoState) continue;
      source = s;
      waiting.push_back(arc.target);
    }
  }
  return {};
}

std::vector<State> find_cycle(const Machine& machine, Components::Follows follows) {
  const Components components(machine, follows);
  for (State c = 0; c < components.size() && !components.acyclic(); ++c)
    if (components.is_cyclic(machine, c)) return components.cycle(machine, c);
  return {};
}

Machine topological_sort(const Machine& machine) {
  const Components components(machine);
  assert(components.size() == machine.size());
  Assembly out(machine.size(), machine.n_arcs());
  for (const State s : components.order()) {  // each component is one state, whose number is the component's
    for (Arc arc : machine.arcs(s)) {
      arc.target = components.of(arc.target);
      out.arc(arc);
    }
    out.end_state(machine.final_weight(s));
  }
  return out.finish(machine.start() == kNoState ? kNoState : components.of(machine.start()));
}

}  // namespace treille
