#pragma once
// Composition, epsilon removal, determinisation, pushing, minimisation and equivalence, against sums over all paths.

#include <cmath>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

#include "automata/build.hpp"
#include "automata/compose.hpp"
#include "automata/determinize.hpp"
#include "automata/equivalent.hpp"
#include "automata/minimize.hpp"
#include "automata/push.hpp"
#include "automata/remove_epsilon.hpp"
#include "automata/semiring.hpp"

namespace automata_algorithms_tests {

using namespace treille;

struct Arcs {
  std::vector<State> sources, targets;
  std::vector<Label> inputs, outputs;
  std::vector<double> weights;

  void add(State source, Label input, Label output, double weight, State target) {
    sources.push_back(source);
    inputs.push_back(input);
    outputs.push_back(output);
    weights.push_back(weight);
    targets.push_back(target);
  }
  Machine machine(const std::vector<double>& finals) const {
    return build_machine(0, {sources, inputs, outputs, weights, targets}, finals);
  }
};

// Arcs lead to higher numbers; a third of the labels are epsilons.
inline Machine random_machine(std::mt19937& random, State n, int arcs, bool acceptor) {
  Arcs found;
  for (int k = 0; k < arcs; ++k) {
    const auto source = static_cast<State>(random() % static_cast<unsigned>(n - 1));
    const auto target = source + 1 + static_cast<State>(random() % static_cast<unsigned>(n - 1 - source));
    const auto input = static_cast<Label>(random() % 3), output = acceptor ? input : static_cast<Label>(random() % 3);
    found.add(source, input, output, static_cast<double>(random() % 7) - 3, target);
  }
  std::vector<double> finals(static_cast<std::size_t>(n), 0.0);
  finals.back() = 2;
  finals[random() % finals.size()] = -1;
  return found.machine(finals);
}

using Strings = std::pair<std::vector<Label>, std::vector<Label>>;

inline void walk(const Machine& machine, State s, Strings& strings, double weight, std::map<Strings, double>& sums) {
  if (machine.final_weight(s) != 0) sums[strings] += weight * machine.final_weight(s);
  for (const Arc& arc : machine.arcs(s)) {
    if (arc.input != kEpsilon) strings.first.push_back(arc.input);
    if (arc.output != kEpsilon) strings.second.push_back(arc.output);
    walk(machine, arc.target, strings, weight * arc.weight, sums);
    if (arc.input != kEpsilon) strings.first.pop_back();
    if (arc.output != kEpsilon) strings.second.pop_back();
  }
}

inline std::map<Strings, double> sums_of(const Machine& machine) {
  std::map<Strings, double> sums;
  Strings none;
  if (machine.start() != kNoState) walk(machine, machine.start(), none, 1, sums);
  return sums;
}

inline bool agree(const std::map<Strings, double>& a, const std::map<Strings, double>& b) {
  auto covers = [](const auto& x, const auto& y) {
    for (const auto& [strings, weight] : x) {
      const auto other = y.find(strings);
      if (std::abs(weight - (other == y.end() ? 0 : other->second)) > 1e-9 * (1 + std::abs(weight))) return false;
    }
    return true;
  };
  return covers(a, b) && covers(b, a);
}

inline bool operations_keep_every_weight() {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const Machine a = random_machine(random, 6, 9, round % 2 == 0), b = random_machine(random, 5, 8, false);
    const auto sums = sums_of(a);
    std::map<Strings, double> product;
    for (const auto& [x, u] : sums)
      for (const auto& [y, v] : sums_of(b))
        if (x.second == y.first) product[{x.first, y.second}] += u * v;
    if (!agree(sums_of(compose<Real>(a, b)), product)) return false;
    const Machine plain = remove_epsilon<Real>(a), one = determinize<Real>(plain), least = minimize<Real>(one), pushed = push<Real>(a);
    for (const Machine* machine : {&plain, &one, &least, &pushed})
      if (!agree(sums_of(*machine), sums) || !equivalent<Real>(a, *machine, 1e-9)) return false;
  }
  return true;
}

inline bool edges_hold() {
  const Machine empty;
  const Machine single = Arcs().machine({3.0});
  for (const Machine* machine : {&empty, &single})
    if (remove_epsilon<Log>(*machine).size() > 1 || minimize<Real>(determinize<Real>(*machine)).size() > 1 ||
        compose<Real>(*machine, *machine).size() > 1 || push<Real>(*machine).size() > 1 || !equivalent<Real>(*machine, *machine, 0))
      return false;
  Arcs chain, loop;
  constexpr State n = 100000;
  for (State s = n; s > 0; --s) chain.add(n - s, s % 2, s % 2, 1.0, n - s + 1);
  std::vector<double> finals(n + 1, 0.0);
  finals.back() = 1;
  const Machine deep = remove_epsilon<Tropical>(chain.machine(std::vector<double>(n + 1, Tropical::zero())));
  const Machine long_chain = minimize<Real>(determinize<Real>(remove_epsilon<Real>(chain.machine(finals))));
  if (deep.size() != 0 || long_chain.size() != n / 2 + 1) return false;
  loop.add(0, 0, 0, 1.0, 0);
  try {
    remove_epsilon<Real>(loop.machine({1.0}));
    return false;
  } catch (const std::invalid_argument&) {
  }
  return true;
}

}  // namespace automata_algorithms_tests
