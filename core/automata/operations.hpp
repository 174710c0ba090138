#pragma once
// Rational operations on any machines, and other labels or weights on the same arcs. All take O(states + arcs); relabelling also sorts the
// arcs of each state. D(A) is the sum over all paths.
//
//   sum            (A + B)(x, y) = A(x, y) + B(x, y)                                             D(A + B) = D(A) + D(B)
//   concatenation  (A B)(x, y) = sum over x = x1 x2, y = y1 y2 of A(x1, y1) B(x2, y2)            D(A B) = D(A) D(B) where both are finite
//   closure        A* = sum over n >= 0 of A^n                                                   D(A*) = 1 / (1 - D(A)) where it converges
//   reversal       R(x, y) = A(x backwards, y backwards): weights commute in all our semirings   D(R) = D(A)
//   scaling        (g A)(x, y) = g A(x, y)                                                       D(g A) = g D(A)
//   inverse        A^-1(x, y) = A(y, x)                                                          D(A^-1) = D(A)

#include <span>
#include <utility>
#include <vector>

#include "automata/assembly.hpp"
#include "automata/in_range.hpp"

namespace treille {

// A new start, state 0, leads to both by empty arcs; then come the states of A and of B.
template <class S>
Machine sum(const Machine& a, const Machine& b) {
  Assembly out(std::int64_t{1} + a.size() + b.size(), 2 + a.n_arcs() + b.n_arcs());
  if (a.start() != kNoState) out.arc({kEpsilon, kEpsilon, a.start() + 1, S::one()});
  if (b.start() != kNoState) out.arc({kEpsilon, kEpsilon, b.start() + 1 + a.size(), S::one()});
  out.end_state(S::zero());
  out.append(a, 1);
  out.append(b, 1 + a.size());
  return out.finish(0);
}

// The states of A, then those of B. An empty arc leads from every final state of A, with its weight, to the start of B.
template <class S>
Machine concatenation(const Machine& a, const Machine& b) {
  if (a.start() == kNoState || b.start() == kNoState) return Machine();
  const State n = a.size();
  Assembly out(std::int64_t{n} + b.size(), n + a.n_arcs() + b.n_arcs());
  for (State s = 0; s < n; ++s) {
    for (const Arc& arc : a.arcs(s)) out.arc(arc);
    if (a.final_weight(s) != S::zero()) out.arc({kEpsilon, kEpsilon, b.start() + n, a.final_weight(s)});
    out.end_state(S::zero());
  }
  out.append(b, n);
  return out.finish(a.start());
}

// A new state 0 is the start and the only final state: each pass through A leads back to it by an empty arc. Where A accepts the empty
// pair, even A*(x, y) may diverge; total() then reports the cycle.
template <class S>
Machine closure(const Machine& a) {
  Assembly out(std::int64_t{1} + a.size(), 1 + a.size() + a.n_arcs());
  if (a.start() != kNoState) out.arc({kEpsilon, kEpsilon, a.start() + 1, S::one()});
  out.end_state(S::one());
  for (State s = 0; s < a.size(); ++s) {
    if (a.final_weight(s) != S::zero()) out.arc({kEpsilon, kEpsilon, 0, a.final_weight(s)});
    for (Arc arc : a.arcs(s)) {
      ++arc.target;
      out.arc(arc);
    }
    out.end_state(S::zero());
  }
  return out.finish(0);
}

// A new start, state 0, leads by empty arcs, with their weights, to the final states; state s becomes s + 1, the start final.
template <class S>
Machine reversal(const Machine& a) {
  std::vector<LabelledArc> arcs;
  std::vector<double> finals(static_cast<std::size_t>(a.size()) + 1, S::zero());
  arcs.reserve(finals.size() + a.all_arcs().size());
  for (State s = 0; s < a.size(); ++s) {
    if (a.final_weight(s) != S::zero()) arcs.push_back({0, {kEpsilon, kEpsilon, s + 1, a.final_weight(s)}});
    for (const Arc& arc : a.arcs(s)) arcs.push_back({arc.target + 1, {arc.input, arc.output, s + 1, arc.weight}});
  }
  if (a.start() != kNoState) finals[static_cast<std::size_t>(a.start()) + 1] = S::one();
  return build_machine(0, arcs, finals);
}

// Replaces the weights by those that arc_weight(source, arc) and final_weight(state, weight) return.
template <class W, class ArcWeight, class FinalWeight>
BasicMachine<W> reweighted(const BasicMachine<W>& a, ArcWeight&& arc_weight, FinalWeight&& final_weight) {
  Array<BasicArc<W>> arcs(a.all_arcs().begin(), a.all_arcs().end());
  Array<W> finals(a.finals().begin(), a.finals().end());
  for (State s = 0; s < a.size(); ++s) {
    for (auto k = a.offsets()[s]; k < a.offsets()[s + 1]; ++k) arcs[k].weight = arc_weight(s, arcs[k]);
    finals[s] = final_weight(s, finals[s]);
  }
  return BasicMachine<W>(a.start(), {a.offsets().begin(), a.offsets().end()}, std::move(arcs), std::move(finals));
}

template <class S>
Machine scaling(double g, const Machine& a) {
  const auto scale = [&]<class R>(R, const MachineOf<R>& machine) {
    return reweighted(
        machine, [](State, const auto& arc) { return arc.weight; }, [&](State, const auto& weight) { return R::times(g, weight); });
  };
  return over_any_range<S>("scaling", balanced, scale, a);
}

// Replaces the labels: use(arc) changes the labels of an arc.
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

// Renumbers the labels: an input label l becomes inputs[l], an output label l becomes outputs[l]; a side whose span is empty is unchanged.
inline Machine recoded(const Machine& a, std::span<const Label> inputs, std::span<const Label> outputs) {
  return relabelled(a, [&](Arc& arc) {
    if (!inputs.empty()) arc.input = inputs[static_cast<std::size_t>(arc.input)];
    if (!outputs.empty()) arc.output = outputs[static_cast<std::size_t>(arc.output)];
  });
}

}  // namespace treille
