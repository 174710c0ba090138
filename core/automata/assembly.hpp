#pragma once
// Two ways to build a machine: state by state (Assembly), and from arcs in any order (build_machine). Linear, apart from sorting the arcs
// of states whose arcs are not in order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include "automata/machine.hpp"

namespace treille {

// Sorts the arcs of one state.
template <class Iterator>
void sort_arcs(Iterator first, Iterator last) {
  if (!std::is_sorted(first, last, arc_before)) std::stable_sort(first, last, arc_before);
}

template <class W>
class BasicAssembly {
 public:
  // The numbers of states and arcs, for which memory is reserved.
  BasicAssembly(std::int64_t states, std::int64_t arcs) {
    if (states > std::numeric_limits<State>::max()) throw std::length_error("a machine of more than 2^31 - 1 states");
    offsets_.reserve(static_cast<std::size_t>(states) + 1);
    offsets_.push_back(0);
    arcs_.reserve(static_cast<std::size_t>(arcs));
    finals_.reserve(static_cast<std::size_t>(states));
  }

  void arc(const BasicArc<W>& arc) { arcs_.push_back(arc); }

  void end_state(W final_weight) {
    sort_arcs(arcs_.begin() + offsets_.back(), arcs_.end());
    offsets_.push_back(static_cast<std::int64_t>(arcs_.size()));
    finals_.push_back(final_weight);
  }

  // Copies all states of a machine; its state s becomes state s + shift.
  void append(const BasicMachine<W>& machine, State shift) {
    for (State s = 0; s < machine.size(); ++s) {
      for (auto next : machine.arcs(s)) {
        next.target += shift;
        arc(next);
      }
      end_state(machine.final_weight(s));
    }
  }

  BasicMachine<W> finish(State start) { return BasicMachine<W>(start, std::move(offsets_), std::move(arcs_), std::move(finals_)); }

 private:
  Array<std::int64_t> offsets_;
  Array<BasicArc<W>> arcs_;
  Array<W> finals_;
};
using Assembly = BasicAssembly<double>;

struct LabelledArc {
  State source;
  Arc arc;
};

// arc(k) is the k-th of n_arcs, a LabelledArc. States are 0..finals.size()-1; the caller has checked all numbers. One counting sort by
// source, then each state's arcs by input label, output label and target.
template <class ArcAt>
Machine build_machine(State start, std::size_t n_arcs, ArcAt&& arc, std::span<const double> finals) {
  const std::size_t n = finals.size();
  Array<std::int64_t> offsets(n + 1, 0);
  for (std::size_t k = 0; k < n_arcs; ++k) ++offsets[static_cast<std::size_t>(arc(k).source) + 1];
  for (std::size_t s = 0; s < n; ++s) offsets[s + 1] += offsets[s];
  Array<std::int64_t> next(offsets.begin(), offsets.end() - 1);
  Array<Arc> arcs(n_arcs);
  for (std::size_t k = 0; k < n_arcs; ++k) {
    const LabelledArc from = arc(k);
    arcs[static_cast<std::size_t>(next[static_cast<std::size_t>(from.source)]++)] = from.arc;
  }
  for (std::size_t s = 0; s < n; ++s) sort_arcs(arcs.begin() + offsets[s], arcs.begin() + offsets[s + 1]);
  return Machine(start, std::move(offsets), std::move(arcs), Array<double>(finals.begin(), finals.end()));
}

inline Machine build_machine(State start, std::span<const LabelledArc> arcs, std::span<const double> finals) {
  return build_machine(start, arcs.size(), [&](std::size_t k) { return arcs[k]; }, finals);
}

}  // namespace treille
