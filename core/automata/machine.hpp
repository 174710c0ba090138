#pragma once
// A weighted transducer, immutable once built: states 0..size()-1, the arcs of a state side by side.

#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "memory.hpp"

namespace treille {

using State = std::int32_t;
using Label = std::int32_t;
constexpr Label kEpsilon = 0;   // the label of the empty string
constexpr State kNoState = -1;  // the start of the machine that accepts nothing

// Throws if n, the number of the next state, does not fit in State.
inline void check_room(std::size_t n) {
  if (n >= std::numeric_limits<State>::max()) throw std::length_error("the result has more than 2^31 - 1 states");
}

template <class W>
struct BasicArc {
  Label input, output;
  State target;
  W weight;

  bool operator==(const BasicArc&) const = default;
};
using Arc = BasicArc<double>;

// The order of the arcs of a state.
constexpr auto arc_before = [](const auto& a, const auto& b) {
  return std::tie(a.input, a.output, a.target) < std::tie(b.input, b.output, b.target);
};

template <class W>
class BasicMachine {
 public:
  using Arc = BasicArc<W>;

  BasicMachine() : offsets_(1, 0) {}

  // The arcs of state s are arcs[offsets[s] .. offsets[s + 1]); finals has a weight per state, the semiring's zero where it is not final.
  BasicMachine(State start, Array<std::int64_t> offsets, Array<Arc> arcs, Array<W> finals)
      : start_(start), offsets_(std::move(offsets)), arcs_(std::move(arcs)), finals_(std::move(finals)) {}

  State start() const { return start_; }
  State size() const { return static_cast<State>(finals_.size()); }
  std::int64_t n_arcs() const { return offsets_.back(); }
  W final_weight(State s) const { return finals_[static_cast<std::size_t>(s)]; }
  std::span<const Arc> arcs(State s) const {
    const auto first = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(s)]);
    return {arcs_.data() + first, static_cast<std::size_t>(offsets_[static_cast<std::size_t>(s) + 1]) - first};
  }

  std::span<const std::int64_t> offsets() const { return offsets_; }
  std::span<const Arc> all_arcs() const { return arcs_; }
  std::span<const W> finals() const { return finals_; }

 private:
  State start_ = kNoState;
  Array<std::int64_t> offsets_;
  Array<Arc> arcs_;
  Array<W> finals_;
};

using Machine = BasicMachine<double>;
// A machine over the semiring S.
template <class S>
using MachineOf = BasicMachine<typename S::Weight>;

// The machine with weights convert(weight).
template <class To, class From, class Convert>
BasicMachine<To> converted(const BasicMachine<From>& machine, Convert&& convert) {
  Array<BasicArc<To>> arcs;
  Array<To> finals;
  arcs.reserve(machine.all_arcs().size());
  finals.reserve(machine.finals().size());
  for (const auto& arc : machine.all_arcs()) arcs.push_back({arc.input, arc.output, arc.target, convert(arc.weight)});
  for (const auto& weight : machine.finals()) finals.push_back(convert(weight));
  return {machine.start(), {machine.offsets().begin(), machine.offsets().end()}, std::move(arcs), std::move(finals)};
}

// The states and arcs of a machine, for algorithms that do not use its weights except for whether they are 0.
inline const Machine& shape(const Machine& machine) { return machine; }
template <class W>
Machine shape(const BasicMachine<W>& machine) {
  return converted<double>(machine, [](const W& weight) { return weight == W{} ? 0.0 : 1.0; });
}

}  // namespace treille
