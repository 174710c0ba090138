#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "automata/components.hpp"
#include "automata/connect.hpp"
#include "automata/in_range.hpp"

namespace treille {
namespace {

using ScaledMachine = BasicMachine<Scaled>;
using Exponents = std::vector<std::int64_t>;

constexpr std::int64_t kUnreached = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::int64_t kLeastNormal = -1021;  // the exponent of 2^-1022
constexpr int kMostSweeps = 1000;

bool all_fit(const ScaledMachine& machine) {
  return std::ranges::all_of(machine.all_arcs(), [](const auto& arc) { return arc.weight.fits(); }) &&
         std::ranges::all_of(machine.finals(), [](const Scaled& weight) { return weight.fits(); });
}

// p with -range <= e + p(t) - p(s) <= range for the exponents e of all arcs, ends included; empty where there are none. Bounds p(s) <= b
// are tightened along the arcs and back until none changes.
Exponents potentials(const ScaledMachine& machine, std::int64_t range) {
  const Machine graph = shape(machine);
  const Components components(graph);
  const auto order = components.order();
  Exponents p(static_cast<std::size_t>(machine.size()), kUnreached);
  const auto at = [&](State s) -> std::int64_t& { return p[static_cast<std::size_t>(s)]; };
  at(machine.start()) = 0;
  bool changed = true;
  const auto bound = [&](State s, std::int64_t most) {
    if (most >= at(s)) return;
    at(s) = most;
    changed = true;
  };
  for (int round = 0; changed; ++round) {
    if (round == kMostSweeps) return {};
    changed = false;
    for (const State s : order)
      if (at(s) < kUnreached)
        for (const auto& arc : machine.arcs(s))
          if (!(arc.weight == Scaled())) bound(arc.target, at(s) + range - arc.weight.exponent());
    for (auto s = order.rbegin(); s != order.rend(); ++s) {
      for (const auto& arc : machine.arcs(*s))
        if (!(arc.weight == Scaled()) && at(arc.target) < kUnreached) bound(*s, at(arc.target) + arc.weight.exponent() + range);
      if (const Scaled& weight = machine.final_weight(*s); !(weight == Scaled())) {
        bound(*s, weight.exponent() + range);
        if (at(*s) < weight.exponent() - range) return {};
      }
    }
    if (at(machine.start()) < 0) return {};
  }
  return p;
}

Machine shifted(const ScaledMachine& machine, const Exponents& p) {
  Array<Arc> arcs;
  Array<double> finals;
  const auto at = [&](State s) { return p[static_cast<std::size_t>(s)]; };
  for (State s = 0; s < machine.size(); ++s) {
    for (const auto& arc : machine.arcs(s))
      arcs.push_back({arc.input, arc.output, arc.target, (arc.weight * Scaled(1.0, at(arc.target) - at(s))).value()});
    finals.push_back((machine.final_weight(s) * Scaled(1.0, -at(s))).value());
  }
  return Machine(machine.start(), {machine.offsets().begin(), machine.offsets().end()}, std::move(arcs), std::move(finals));
}

// Arcs and ends whose paths are all too light for a normal double, by the sum of their |weights|, get the weight light(weight)
// instead.
template <class Light>
ScaledMachine lightest_replaced(const ScaledMachine& machine, Light&& light) {
  const Machine graph = shape(machine);
  const Components components(graph);
  if (!components.acyclic()) return machine;
  const auto order = components.order();
  const auto n = static_cast<std::size_t>(machine.size());
  std::vector<Scaled> before(n), after(n);
  before[static_cast<std::size_t>(machine.start())] = 1.0;
  for (const State s : order)
    for (const auto& arc : machine.arcs(s))
      before[static_cast<std::size_t>(arc.target)] += before[static_cast<std::size_t>(s)] * abs(arc.weight);
  for (auto s = order.rbegin(); s != order.rend(); ++s) {
    Scaled& sum = after[static_cast<std::size_t>(*s)] = abs(machine.final_weight(*s));
    for (const auto& arc : machine.arcs(*s)) sum += abs(arc.weight) * after[static_cast<std::size_t>(arc.target)];
  }
  const auto kept = [&](const Scaled& weight, const Scaled& through) {
    return through.exponent() >= kLeastNormal ? weight : light(weight);
  };
  Array<BasicArc<Scaled>> arcs;
  Array<Scaled> finals;
  for (State s = 0; s < machine.size(); ++s) {
    const Scaled& here = before[static_cast<std::size_t>(s)];
    for (auto arc : machine.arcs(s)) {
      arc.weight = kept(arc.weight, here * arc.weight * after[static_cast<std::size_t>(arc.target)]);
      arcs.push_back(arc);
    }
    finals.push_back(kept(machine.final_weight(s), here * machine.final_weight(s)));
  }
  return connect<ScaledReal>(
      ScaledMachine(machine.start(), {machine.offsets().begin(), machine.offsets().end()}, std::move(arcs), std::move(finals)));
}

[[noreturn]] void refuse(const char* operation) {
  throw std::invalid_argument(std::string(operation) +
                              ": weights of the result do not fit into numbers from 1e-308 to 1e308: use costs, astype('log')");
}

Machine as_doubles(const ScaledMachine& machine) {
  return converted<double>(machine, [](const Scaled& weight) { return weight.value(); });
}

}  // namespace

Machine balanced(const ScaledMachine& machine, const char* operation) {
  if (all_fit(machine)) return as_doubles(machine);
  for (const ScaledMachine& tried : {machine, lightest_replaced(machine, [](const Scaled&) { return Scaled(); })}) {
    if (tried.start() == kNoState) return {};
    for (const std::int64_t range : {60, 250, 500, 1021})
      if (const Exponents p = potentials(tried, range); !p.empty()) return shifted(tried, p);
  }
  refuse(operation);
}

Machine rounded(const ScaledMachine& machine, const char* operation) {
  if (all_fit(machine)) return as_doubles(machine);
  const ScaledMachine tried = lightest_replaced(machine, [](const Scaled& weight) {
    const double nearest = weight.value();
    return std::isfinite(nearest) ? Scaled(nearest) : weight;
  });
  if (!all_fit(tried)) refuse(operation);
  return as_doubles(tried);
}

}  // namespace treille
