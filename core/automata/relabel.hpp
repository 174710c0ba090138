#pragma once
// Other labels on the same arcs; weights are untouched, so D is kept. Any machine. O(states + arcs), and sorting the arcs of a state.

#include <span>

#include "automata/assembly.hpp"

namespace treille {

// use(arc) changes an arc's labels.
template <class Use>
Machine relabelled(const Machine& a, Use&& use) {
  Assembly out(a.size(), a.n_arcs());
  for (State s = 0; s < a.size(); ++s) {
    for (Arc arc : a.arcs(s)) {
      use(arc);
      out.arc(arc);
    }
    out.end_state(a.final_weight(s));
  }
  return out.finish(a.start());
}

// The inverse: A^-1(x, y) = A(y, x).
inline Machine inverse(const Machine& a) {
  return relabelled(a, [](Arc& arc) { std::swap(arc.input, arc.output); });
}

// The projections: P1(x) = sum over y of A(x, y), P2(y) = sum over x of A(x, y).
inline Machine input_projection(const Machine& a) {
  return relabelled(a, [](Arc& arc) { arc.output = arc.input; });
}
inline Machine output_projection(const Machine& a) {
  return relabelled(a, [](Arc& arc) { arc.input = arc.output; });
}

// The same strings under other numbers: label l of an input becomes inputs[l], that of an output outputs[l]; where one
// of the two is empty, its side stays.
inline Machine recoded(const Machine& a, std::span<const Label> inputs, std::span<const Label> outputs) {
  return relabelled(a, [&](Arc& arc) {
    if (!inputs.empty()) arc.input = inputs[static_cast<std::size_t>(arc.input)];
    if (!outputs.empty()) arc.output = outputs[static_cast<std::size_t>(arc.output)];
  });
}

}  // namespace treille
