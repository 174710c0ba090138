#pragma once
// Machines: operations keep the weights their laws say, on random machines and at the edges (nothing, one state, a long chain).

#include <cmath>
#include <random>
#include <vector>

#include "automata/build.hpp"
#include "automata/closure.hpp"
#include "automata/components.hpp"
#include "automata/concatenation.hpp"
#include "automata/connect.hpp"
#include "automata/matching.hpp"
#include "automata/relabel.hpp"
#include "automata/reversal.hpp"
#include "automata/scaling.hpp"
#include "automata/semiring.hpp"
#include "automata/sum.hpp"
#include "automata/total.hpp"

namespace treille::tests {

inline Machine machine_of(State start, State n, const std::vector<std::pair<State, Arc>>& arcs, const std::vector<double>& finals) {
  std::vector<State> sources, targets;
  std::vector<Label> inputs, outputs;
  std::vector<double> weights;
  for (const auto& [source, arc] : arcs) {
    sources.push_back(source);
    inputs.push_back(arc.input);
    outputs.push_back(arc.output);
    weights.push_back(arc.weight);
    targets.push_back(arc.target);
  }
  return build_machine(start, {sources, inputs, outputs, weights, targets}, std::span(finals).first(static_cast<std::size_t>(n)));
}

// Arcs lead to higher states only, or anywhere: then few and light enough for sums to converge.
template <class S>
Machine random_machine(std::mt19937& random, bool acyclic) {
  const auto below = [&](int n) { return static_cast<std::int32_t>(random() % static_cast<unsigned>(n)); };
  const State n = 1 + below(8);
  std::vector<std::pair<State, Arc>> arcs;
  for (int a = below(16); a > 0; --a) {
    State source = below(n), target = below(n);
    if (acyclic && source > target) std::swap(source, target);
    if (acyclic && source == target) continue;
    const double weight = 0.01 + 0.01 * below(5);
    arcs.push_back({source, {below(3), below(3), target, S::one() == 0 ? -std::log(weight) : weight}});
  }
  std::vector<double> finals(static_cast<std::size_t>(n), S::zero());
  finals[static_cast<std::size_t>(below(n))] = 0.5;
  return machine_of(0, n, arcs, finals);
}

// The sum over all paths of at most `most` arcs, each followed on its own.
template <class S>
double slow_total(const Machine& machine, State s, int most) {
  double sum = machine.final_weight(s);
  if (most > 0)
    for (const Arc& arc : machine.arcs(s)) sum = S::plus(sum, S::times(arc.weight, slow_total<S>(machine, arc.target, most - 1)));
  return sum;
}

template <class S, class Check>
void operations_obey_their_laws(unsigned seed, bool acyclic, Check&& check) {
  std::mt19937 random(seed);
  const Machine a = random_machine<S>(random, acyclic), b = random_machine<S>(random, acyclic);
  const auto D = [&](const Machine& machine) {
    const Total found = total<S>(machine);
    check(found.cycle.empty());
    return found.weight;
  };
  const auto same = [&](double x, double y) { check(x == y || std::abs(x - y) <= 1e-9 * (1 + std::abs(x))); };
  const double da = D(a), db = D(b);
  if (acyclic) same(da, slow_total<S>(a, 0, 8));
  same(D(sum<S>(a, b)), S::plus(da, db));
  same(D(concatenation<S>(a, b)), S::times(da, db));
  same(D(reversal<S>(a)), da);
  same(D(inverse(a)), da);
  same(D(output_projection(a)), D(input_projection(a)));
  same(D(scaling<S>(0.5, a)), S::times(0.5, da));
  same(D(connect<S>(a)), da);
  const std::vector<Label> identity{0, 1, 2};
  check(std::ranges::equal(recoded(a, identity, {}).all_arcs(), a.all_arcs()));
  check(std::ranges::equal(inverse(inverse(a)).all_arcs(), a.all_arcs()));
  if (acyclic) {
    const Machine ordered = topological_sort(a);
    same(D(ordered), da);
    for (State s = 0; s < ordered.size(); ++s)
      for (const Arc& arc : ordered.arcs(s)) check(arc.target > s);
    // All pairs of strings that a path of so few arcs can read and write: their weights add up to all there is.
    std::vector<std::vector<Label>> strings{{}};
    for (std::size_t first = 0; strings.size() < 15; ++first)
      for (Label label = 1; label <= 2; ++label) {
        strings.push_back(strings[first]);
        strings.back().push_back(label);
      }
    double known = S::zero();
    for (const auto& x : strings) {
      double row = S::zero();
      for (const auto& y : strings) row = S::plus(row, D(matching<S>(a, x, y, true)));
      known = S::plus(known, row);
      check(std::isnan(row) == false);
    }
    if (a.size() <= 4) same(known, da);
  }
  check(find_cycle(closure<S>(connect<S>(a))).empty() == (connect<S>(a).size() == 0));
}

template <class Check>
void machines_at_the_edges(Check&& check) {
  const Machine nothing;
  for (const Machine& made : {sum<Real>(nothing, nothing), concatenation<Real>(nothing, nothing), reversal<Real>(nothing),
                              connect<Real>(nothing), topological_sort(nothing), inverse(nothing), matching<Real>(nothing, {}, {}, true)})
    check(total<Real>(made).weight == 0 && total<Real>(made).cycle.empty());
  check(total<Real>(closure<Real>(nothing)).weight == 1);

  std::vector<std::pair<State, Arc>> arcs;
  const State n = 300'000;  // deeper than any stack
  for (State s = 0; s + 1 < n; ++s) arcs.push_back({s, {1, 1, s + 1, 1.0}});
  std::vector<double> finals(static_cast<std::size_t>(n), 0.0);
  finals.back() = 3;
  const Machine chain = machine_of(0, n, arcs, finals);
  check(total<Real>(reversal<Real>(chain)).weight == 3);
  check(find_cycle(chain).empty());
  arcs.push_back({n - 1, {1, 1, 0, 1.0}});
  check(find_cycle(machine_of(0, n, arcs, finals)).size() == static_cast<std::size_t>(n));

  const auto loop = [](double weight, double final_weight) { return machine_of(0, 1, {{0, {1, 1, 0, weight}}}, {final_weight}); };
  check(total<Real>(loop(0.5, 1)).weight == 2 && total<Real>(loop(-0.5, 3)).weight == 2);
  check(total<Real>(loop(1, 1)).cycle == std::vector<State>{0} && !total<Real>(loop(-1, 1)).cycle.empty());
  check(std::abs(total<Log>(loop(std::log(2), 900)).weight - (900 - std::log(2))) < 1e-9 && !total<Log>(loop(0, 0)).cycle.empty());
  check(total<Tropical>(loop(0, 2)).weight == 2 && !total<Tropical>(loop(-1, 2)).cycle.empty());
  // Radius 0.85, though that of the magnitudes is 1.2.
  const Machine turning = machine_of(0, 2, {{0, {1, 1, 0, 0.6}}, {0, {1, 1, 1, 0.6}}, {1, {1, 1, 0, -0.6}}, {1, {1, 1, 1, 0.6}}}, {0, 1});
  check(total<Real>(turning).cycle.empty() && std::abs(total<Real>(turning).weight - 0.6 / 0.52) < 1e-12);
}

}  // namespace treille::tests
