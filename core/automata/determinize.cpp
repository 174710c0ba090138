
#include "automata/algorithms.hpp"
#include "automata/connect.hpp"
#include "automata/in_range.hpp"
#include "automata/require_acyclic.hpp"
#include "automata/rounding.hpp"
#include "automata/semiring.hpp"
#include "automata/subsets.hpp"
#include "interrupt.hpp"

namespace treille {
namespace {

template <class S>
MachineOf<S> deterministic(const MachineOf<S>& given) {
  using W = typename S::Weight;
  const Trimmed<S> trimmed(given);
  const auto& machine = trimmed.machine();
  if (machine.start() == kNoState) return {};
  require_acyclic_without_epsilons(trimmed, "determinize");

  Subsets<S> subsets(machine);
  Array<std::int64_t> offsets(1, 0);
  Array<BasicArc<W>> arcs;
  Array<W> finals;
  bool dead = false;  // some state reaches no end any more, because weights cancelled
  const State start[] = {machine.start()};
  subsets.enter(start);
  for (State q = 0; q < subsets.size(); ++q) {
    poll();
    TermSum<S> sum;
    for (const auto& item : subsets[q])
      if (machine.final_weight(item.state) != S::zero()) sum.add(S::times(item.residual, machine.final_weight(item.state)));
    finals.push_back(sum.value());
    subsets.expand(q, [&](Label code, const W& weight, State target) {
      arcs.push_back({subsets.codes().input(code), subsets.codes().output(code), target, weight});
    });
    dead |= finals.back() == S::zero() && static_cast<std::int64_t>(arcs.size()) == offsets.back();
    offsets.push_back(static_cast<std::int64_t>(arcs.size()));
  }
  MachineOf<S> result(0, std::move(offsets), std::move(arcs), std::move(finals));
  return dead ? connect<S>(result) : std::move(result);
}

}  // namespace

template <class S>
Machine determinize(const Machine& machine) {
  return over_any_range<S>("determinize", balanced, []<class R>(R, const MachineOf<R>& given) { return deterministic<R>(given); }, machine);
}

template Machine determinize<Real>(const Machine&);
template Machine determinize<Log>(const Machine&);
template Machine determinize<Tropical>(const Machine&);

}  // namespace treille
