#pragma once
// Trimming: only states on a path of non-zero weights from the start to a final state stay; no string's weight changes. Time and space
// O(states + arcs). M is Machine, or any class with its size(), start(), arcs(s) and final_weight(s), so that an operation can trim what
// it has computed without building the untrimmed machine first.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "automata/machine.hpp"

namespace treille {

// 1 for each state that lies on such a path.
template <class S, class M>
Array<std::uint8_t> useful_states(const M& machine) {
  enum : std::uint8_t { kUseful = 1, kReached = 2 };
  const State n = machine.size(), start = machine.start();
  Array<std::uint8_t> marks(static_cast<std::size_t>(n), 0);
  if (start == kNoState) return marks;
  std::vector<State> stack;
  auto follow = [&](State s, State passed) {  // states up to `passed` are not met again by the sweep
    for (const auto& arc : machine.arcs(s))
      if (marks[arc.target] == 0 && arc.weight != S::zero()) {
        marks[arc.target] = kReached;
        if (arc.target <= passed) stack.push_back(arc.target);
      }
  };
  // Where arcs lead to higher numbers, as they mostly do, one sweep finds all that the start reaches, and one back all that reach an end.
  marks[start] = kReached;
  for (State s = start; s < n; ++s)
    if (marks[s] != 0) follow(s, s);
  while (!stack.empty()) {
    const State s = stack.back();
    stack.pop_back();
    follow(s, n);
  }
  bool again = false;
  for (State s = n - 1; s >= 0; --s) {
    if (marks[s] == 0) continue;
    bool reaches = machine.final_weight(s) != S::zero();
    for (const auto& arc : machine.arcs(s)) {
      reaches |= marks[arc.target] == kUseful && arc.weight != S::zero();
      again |= arc.target <= s;
    }
    if (reaches) marks[s] = kUseful;
  }
  if (again) {
    Array<std::int64_t> offsets(static_cast<std::size_t>(n) + 1, 0);
    for (State s = 0; s < n; ++s)
      if (marks[s] == kReached)
        for (const auto& arc : machine.arcs(s)) offsets[arc.target + 1] += arc.weight != S::zero();
    for (State s = 0; s < n; ++s) offsets[s + 1] += offsets[s];
    Array<State> sources(static_cast<std::size_t>(offsets.back()));
    for (State s = n - 1; s >= 0; --s)
      if (marks[s] == kReached)
        for (const auto& arc : machine.arcs(s))
          if (arc.weight != S::zero()) sources[--offsets[arc.target + 1]] = s;  // offsets[t + 1] becomes the first of t
    for (State t = 0; t < n; ++t)
      if (marks[t] == kUseful) stack.push_back(t);
    while (!stack.empty()) {
      const State t = stack.back();
      stack.pop_back();
      const auto last = t + 1 < n ? offsets[t + 2] : static_cast<std::int64_t>(sources.size());
      for (auto k = offsets[t + 1]; k < last; ++k)
        if (marks[sources[k]] == kReached) {
          marks[sources[k]] = kUseful;
          stack.push_back(sources[k]);
        }
    }
  }
  for (auto& mark : marks) mark &= kUseful;
  return marks;
}

// The useful states in their old order, with the arcs between them.
template <class S, class M>
MachineOf<S> connect(const M& machine, std::span<const std::uint8_t> useful) {
  const State n = machine.size(), start = machine.start();
  if (start == kNoState || !useful[start]) return {};
  Array<State> number(static_cast<std::size_t>(n));
  State size = 0;
  std::size_t n_arcs = 0;
  for (State s = 0; s < n; ++s) {
    if (!useful[s]) continue;
    number[s] = size++;
    for (const auto& arc : machine.arcs(s)) n_arcs += useful[arc.target];
  }
  Array<std::int64_t> offsets;
  Array<typename S::Weight> finals;
  Array<BasicArc<typename S::Weight>> kept;
  offsets.reserve(static_cast<std::size_t>(size) + 1);
  finals.reserve(static_cast<std::size_t>(size));
  kept.reserve(n_arcs);
  offsets.push_back(0);
  for (State s = 0; s < n; ++s) {
    if (!useful[s]) continue;
    for (const auto& arc : machine.arcs(s))
      if (useful[arc.target]) kept.push_back({arc.input, arc.output, number[arc.target], arc.weight});
    offsets.push_back(static_cast<std::int64_t>(kept.size()));
    finals.push_back(machine.final_weight(s));
  }
  return MachineOf<S>(number[start], std::move(offsets), std::move(kept), std::move(finals));
}

template <class S, class M>
MachineOf<S> connect(const M& machine) {
  return connect<S>(machine, useful_states<S>(machine));
}

// A machine without its useless states, copied only where there are some; it remembers the numbers states had, for messages.
template <class S>
class Trimmed {
 public:
  explicit Trimmed(const MachineOf<S>& machine) : machine_(&machine) {
    const auto useful = useful_states<S>(machine);
    if (std::find(useful.begin(), useful.end(), 0) == useful.end()) return;
    for (State s = 0; s < machine.size(); ++s)
      if (useful[s]) numbers_.push_back(s);
    storage_ = connect<S>(machine, useful);
    machine_ = &storage_;
  }
  Trimmed(const Trimmed&) = delete;
  Trimmed& operator=(const Trimmed&) = delete;

  const MachineOf<S>& machine() const { return *machine_; }
  State original(State s) const { return numbers_.empty() ? s : numbers_[s]; }

 private:
  const MachineOf<S>* machine_;
  MachineOf<S> storage_;
  Array<State> numbers_;
};

}  // namespace treille
