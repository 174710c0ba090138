#pragma once
// Lattices from Python to the core.

#include "automata/lattices.hpp"
#include "native.hpp"

namespace treille {

struct LatticesIn {
  LatticesIn(In<std::int64_t> states_, In<std::int64_t> arcs_, In<std::int32_t> sources_, In<std::int32_t> symbols_,
             In<std::int32_t> targets_, In<double> weights_, In<double> finals_)
      : states(states_), arcs(arcs_), sources(sources_), symbols(symbols_), targets(targets_), weights(weights_), finals(finals_) {}
  In<std::int64_t> states, arcs;
  In<std::int32_t> sources, symbols, targets;
  In<double> weights, finals;

  Lattices view() const {
    return {treille::view(states),  treille::view(arcs),    treille::view(sources), treille::view(symbols),
            treille::view(targets), treille::view(weights), treille::view(finals)};
  }
};

template <>
struct FromPython<Lattices> {
  using Given = LatticesIn;
  static Lattices read(const Given& given) { return given.view(); }
};

}  // namespace treille
