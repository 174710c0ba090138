#pragma once
// Lattices from Python to the core.

#include "arrays.hpp"
#include "automata/lattices.hpp"

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

}  // namespace treille
