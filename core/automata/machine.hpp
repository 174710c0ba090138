#pragma once
// A weighted transducer, immutable once built: states 0..size()-1, the arcs of a state side by side.

#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include "memory.hpp"

namespace treille {

using State = std::int32_t;
using Label = std::int32_t;
constexpr Label kEpsilon = 0;   // the label of the empty string
constexpr State kNoState = -1;  // the start of the machine that accepts nothing

struct Arc {
  Label input, output;
  State target;
  double weight;

  bool operator==(const Arc&) const = default;
};

// How the arcs of a state are sorted.
inline bool arc_before(const Arc& a, const Arc& b) {
  return std::tie(a.input, a.output, a.target) < std::tie(b.input, b.output, b.target);
}

class Machine {
 public:
  Machine() : offsets_(1, 0) {}

  // The arcs of state s are arcs[offsets[s] .. offsets[s + 1]); finals has a weight per state, the semiring's zero where it is not final.
  Machine(State start, Array<std::int64_t> offsets, Array<Arc> arcs, Array<double> finals)
      : start_(start), offsets_(std::move(offsets)), arcs_(std::move(arcs)), finals_(std::move(finals)) {}

  State start() const { return start_; }
  State size() const { return static_cast<State>(finals_.size()); }
  std::int64_t n_arcs() const { return offsets_.back(); }
  double final_weight(State s) const { return finals_[static_cast<std::size_t>(s)]; }
  std::span<const Arc> arcs(State s) const {
    const auto first = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(s)]);
    return {arcs_.data() + first, static_cast<std::size_t>(offsets_[static_cast<std::size_t>(s) + 1]) - first};
  }

  std::span<const std::int64_t> offsets() const { return offsets_; }
  std::span<const Arc> all_arcs() const { return arcs_; }
  std::span<const double> finals() const { return finals_; }

 private:
  State start_ = kNoState;
  Array<std::int64_t> offsets_;
  Array<Arc> arcs_;
  Array<double> finals_;
};

}  // namespace treille
