#pragma once
// Many acyclic weighted automata in flat arrays, over the reals: distributions over strings, as recognisers and translators produce them.
//
// In every lattice the states are in topological order, state 0 is the start, each state lies on an accepting path, and the arcs are sorted
// by source. The empty lattice has no state. `build_lattices` converts machines with states in any order.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "memory.hpp"

namespace treille {

constexpr std::int32_t kNoSymbol = -1;  // of an arc that reads the empty string

struct Lattice {
  std::span<const std::int32_t> sources, symbols, targets;
  std::span<const double> weights;
  std::span<const double> finals;  // by state; 0: not final

  std::size_t size() const { return finals.size(); }
};

struct Lattices {
  std::span<const std::int64_t> states, arcs;               // where each lattice begins, and one more for the end
  std::span<const std::int32_t> sources, symbols, targets;  // by arc; states count from 0 in each lattice
  std::span<const double> weights, finals;

  std::size_t size() const { return states.size() - 1; }
  Lattice operator[](std::size_t i) const {
    const auto first = static_cast<std::size_t>(arcs[i]), n = static_cast<std::size_t>(arcs[i + 1] - arcs[i]);
    return {sources.subspan(first, n), symbols.subspan(first, n), targets.subspan(first, n), weights.subspan(first, n),
            finals.subspan(static_cast<std::size_t>(states[i]), static_cast<std::size_t>(states[i + 1] - states[i]))};
  }
};

struct LatticeArrays {
  Array<std::int64_t> states{0}, arcs{0};
  Array<std::int32_t> sources, symbols, targets;
  Array<double> weights, finals;

  Lattices view() const { return {states, arcs, sources, symbols, targets, weights, finals}; }
  void append(const LatticeArrays& other);
  static LatticeArrays joined(std::vector<LatticeArrays>& shares);  // one after another
};

// Contiguous ranges of lattices with about equal numbers of arcs; at least 5,000 arcs for each thread.
std::vector<std::size_t> shares(const Lattices& data, int threads);

// Machines as they were given: any order of states and arcs, useless states, weights that are costs -log p where `costs` says so.
struct RawLattices {
  Lattices data;
  std::span<const std::int32_t> starts;
  std::span<const std::uint8_t> costs;
};

struct BuiltLattices {
  LatticeArrays lattices;
  std::vector<double> log_totals;   // log of the total weight each machine had; -infinity where it accepts nothing
  std::int64_t cyclic = -1;         // the first machine with a cycle, and
  std::vector<std::int64_t> cycle;  // the arcs of one, in order
};

// Trims, sorts, and converts weights to probabilities; with `normalize` each machine becomes a distribution: weights are pushed to the
// start, so that those that leave a state sum to 1, to the last digits at any length (scaled.hpp).
// Cost: O(arcs + states log states).
BuiltLattices build_lattices(const RawLattices& raw, bool normalize, int threads);

// The index of the first arc of each state, and the number of arcs.
std::vector<std::size_t> arc_heads(const Lattice& x);

// Forward(s) sums the weights of paths from the start to s, backward(s) those from s to the end.
template <class W>
void forward_weights(const Lattice& x, std::vector<W>& forward) {
  forward.assign(x.size(), W{});
  if (x.size() > 0) forward[0] = 1.0;
  for (std::size_t a = 0; a < x.sources.size(); ++a)
    forward[static_cast<std::size_t>(x.targets[a])] += forward[static_cast<std::size_t>(x.sources[a])] * x.weights[a];
}
template <class W>
void backward_weights(const Lattice& x, std::vector<W>& backward) {
  backward.assign(x.finals.begin(), x.finals.end());
  for (std::size_t a = x.sources.size(); a-- > 0;)
    backward[static_cast<std::size_t>(x.sources[a])] += x.weights[a] * backward[static_cast<std::size_t>(x.targets[a])];
}

// The arcs of the heaviest path of each lattice, one after another, and where each path begins. Weights are not negative. Among equals, the
// first arc is taken.
std::pair<Array<std::int64_t>, std::vector<std::int64_t>> best_paths(const Lattices& data, int threads);

struct PathList {
  std::vector<std::int64_t> arcs, offsets{0};  // the arcs of path p are arcs[offsets[p] .. offsets[p + 1])
  std::vector<double> weights;
};
// The n heaviest paths, heaviest first (fewer where there are fewer): A* with the exact weight of the remaining path. O(n length log) in
// practice.
PathList n_best_paths(const Lattice& x, std::size_t n);

// The weight of every arc, 0 where less than `least` of its lattice's total goes through it and it is not on the heaviest path.
Array<double> pruned_weights(const Lattices& data, double least, int threads);

// The same weights of strings, without arcs that read the empty string (remove_epsilon).
LatticeArrays without_epsilon(const Lattices& data, int threads);

}  // namespace treille
