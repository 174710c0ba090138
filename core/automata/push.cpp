#include "automata/push.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "automata/components.hpp"
#include "automata/connect.hpp"
#include "automata/semiring.hpp"
#include "automata/star.hpp"
#include "automata/sum.hpp"

namespace treille {
namespace {

constexpr auto kAll = [](const Arc&) { return true; };

// Within a cyclic component d = M d + r, r what leaves it; so d = M* r.
template <class S>
void solve_component(const Machine& machine, const Components& found, std::size_t c, std::vector<double>& d) {
  const auto states = found[c];
  const std::size_t n = states.size();
  std::vector<double> matrix(n * n, S::zero());
  std::vector<Sum<S>> leaves(n);
  for (std::size_t i = 0; i < n; ++i) {
    leaves[i].add(machine.final_weight(states[i]));
    for (const Arc& arc : machine.arcs(states[i])) {
      if (found.of[arc.target] != static_cast<State>(c)) {
        leaves[i].add(S::times(arc.weight, d[arc.target]));
        continue;
      }
      const auto j = static_cast<std::size_t>(std::find(states.begin(), states.end(), arc.target) - states.begin());
      matrix[i * n + j] = S::plus(matrix[i * n + j], arc.weight);
    }
  }
  if (!star<S>(matrix, n))
    throw std::invalid_argument("the sum over the paths through the cycle at state " + std::to_string(states[0]) +
                                " diverges: its weights must be smaller");
  for (std::size_t i = 0; i < n; ++i) {
    Sum<S> sum;
    for (std::size_t j = 0; j < n; ++j) sum.add(S::times(matrix[i * n + j], leaves[j].value()));
    d[states[i]] = sum.value();
  }
}

}  // namespace

template <class S>
Machine push(const Machine& given) {
  Machine storage;
  const Machine& machine = trimmed<S>(given, storage);
  if (machine.start() == kNoState) return {};
  const Components found = components(machine);
  std::vector<double> d(machine.size());
  for (std::size_t c = 0; c < found.size(); ++c) {
    if (!found.acyclic && is_cyclic(machine, found[c], kAll)) {
      solve_component<S>(machine, found, c, d);
      continue;
    }
    const State s = found[c][0];
    Sum<S> sum;
    sum.add(machine.final_weight(s));
    for (const Arc& arc : machine.arcs(s)) sum.add(S::times(arc.weight, d[arc.target]));
    d[s] = sum.value();
  }

  for (double& potential : d)
    if (potential == S::zero()) potential = S::one();
  d[machine.start()] = S::one();
  Array<Arc> arcs(machine.all_arcs().begin(), machine.all_arcs().end());
  Array<double> finals(machine.finals().begin(), machine.finals().end());
  for (State s = 0; s < machine.size(); ++s) {
    for (auto k = machine.offsets()[s]; k < machine.offsets()[s + 1]; ++k)
      arcs[k].weight = S::divide(S::times(arcs[k].weight, d[arcs[k].target]), d[s]);
    finals[s] = S::divide(finals[s], d[s]);
  }
  return Machine(machine.start(), {machine.offsets().begin(), machine.offsets().end()}, std::move(arcs), std::move(finals));
}

template Machine push<Real>(const Machine&);
template Machine push<Log>(const Machine&);
template Machine push<Tropical>(const Machine&);

}  // namespace treille
