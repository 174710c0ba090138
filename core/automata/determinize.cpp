#include "automata/determinize.hpp"

#include <span>
#include <stdexcept>

#include "automata/components.hpp"
#include "automata/connect.hpp"
#include "automata/epsilon_free.hpp"
#include "automata/semiring.hpp"
#include "automata/subsets.hpp"
#include "automata/sum.hpp"

namespace treille {

template <class S>
Machine determinize(const Machine& given) {
  Machine storage;
  const Machine& machine = trimmed<S>(given, storage);
  if (machine.start() == kNoState) return {};
  require_no_epsilon(machine, "determinize");
  targets_first(machine, "determinize");

  Subsets<S> subsets(machine);
  Array<std::int64_t> offsets(1, 0);
  Array<Arc> arcs;
  Array<double> finals;
  bool dead = false;  // some state has no future left, because weights cancelled
  const State start[] = {machine.start()};
  subsets.enter(start);
  for (State q = 0; q < subsets.size(); ++q) {
    Sum<S> sum;
    for (const auto& item : subsets[q])
      if (machine.final_weight(item.state) != S::zero()) sum.add(S::times(item.residual, machine.final_weight(item.state)));
    finals.push_back(sum.value());
    subsets.expand(q, [&](Label code, double weight, State target) {
      arcs.push_back({subsets.codes().input(code), subsets.codes().output(code), target, weight});
    });
    dead |= finals.back() == S::zero() && static_cast<std::int64_t>(arcs.size()) == offsets.back();
    offsets.push_back(static_cast<std::int64_t>(arcs.size()));
  }
  Machine result(0, std::move(offsets), std::move(arcs), std::move(finals));
  if (!dead) return result;
  return trimmed<S>(result, storage);
}

template Machine determinize<Real>(const Machine&);
template Machine determinize<Log>(const Machine&);
template Machine determinize<Tropical>(const Machine&);

}  // namespace treille
