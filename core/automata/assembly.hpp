#pragma once
// A machine written state by state, for operations that know their states in order. Linear, but for states whose arcs come unsorted.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>

#include "automata/machine.hpp"

namespace treille {

class Assembly {
 public:
  // How many states and arcs there will be: the memory is taken once.
  Assembly(std::int64_t states, std::int64_t arcs) {
    if (states > std::numeric_limits<State>::max()) throw std::length_error("a machine of more than 2^31 - 1 states");
    offsets_.reserve(static_cast<std::size_t>(states) + 1);
    offsets_.push_back(0);
    arcs_.reserve(static_cast<std::size_t>(arcs));
    finals_.reserve(static_cast<std::size_t>(states));
  }

  void arc(const Arc& arc) { arcs_.push_back(arc); }

  void end_state(double final_weight) {
    const auto first = arcs_.begin() + offsets_.back();
    if (!std::is_sorted(first, arcs_.end(), arc_before)) std::stable_sort(first, arcs_.end(), arc_before);
    offsets_.push_back(static_cast<std::int64_t>(arcs_.size()));
    finals_.push_back(final_weight);
  }

  // All states of a machine, its state s as state s + shift.
  void append(const Machine& machine, State shift) {
    for (State s = 0; s < machine.size(); ++s) {
      for (Arc next : machine.arcs(s)) {
        next.target += shift;
        arc(next);
      }
      end_state(machine.final_weight(s));
    }
  }

  Machine finish(State start) { return Machine(start, std::move(offsets_), std::move(arcs_), std::move(finals_)); }

 private:
  Array<std::int64_t> offsets_;
  Array<Arc> arcs_;
  Array<double> finals_;
};

}  // namespace treille
