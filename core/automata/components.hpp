#pragma once
// Strongly connected components, and what follows from them: cycles, and an order of the states along the arcs. Any machine, any depth:
// no recursion. O(states + arcs); one pass over the arcs where all lead to higher numbers. Tarjan, SIAM J. Comput. 1972.

#include <cstdint>
#include <span>
#include <vector>

#include "automata/machine.hpp"
#include "memory.hpp"

namespace treille {

class Components {
 public:
  using Follows = bool (*)(const Arc&);

  // Components with respect to all arcs, or to the arcs that `follows` selects.
  explicit Components(const Machine& machine, Follows follows = [](const Arc&) { return true; });

  bool acyclic() const { return acyclic_; }

  // Components are numbered so that arcs lead from lower to higher numbers, or stay inside.
  State size() const { return static_cast<State>(offsets_.size()) - 1; }
  State of(State s) const { return of_[static_cast<std::size_t>(s)]; }
  std::span<const State> states(State component) const {
    const auto c = static_cast<std::size_t>(component);
    return {states_.data() + offsets_[c], static_cast<std::size_t>(offsets_[c + 1] - offsets_[c])};
  }
  // All states, component by component: along the arcs, where no cycle forbids it.
  std::span<const State> order() const { return states_; }

  // Returns whether arcs of the component form a cycle: more than one state, or an arc from its state to itself.
  bool is_cyclic(const Machine& machine, State component) const;

  // The states of a cycle inside a cyclic component, a shortest one through its first state.
  std::vector<State> cycle(const Machine& machine, State component) const;

 private:
  Follows follows_;
  bool acyclic_ = true;
  Array<State> of_, states_;
  Array<std::int64_t> offsets_;
};

// The states of some cycle of the arcs that `follows` selects, or of all arcs; empty if there is none.
std::vector<State> find_cycle(const Machine& machine, Components::Follows follows = [](const Arc&) { return true; });

// The states renumbered so that every arc leads to a higher number. The machine must be acyclic.
Machine topological_sort(const Machine& machine);

}  // namespace treille
