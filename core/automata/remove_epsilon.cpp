#include <algorithm>
#include <functional>
#include <queue>
#include <stdexcept>
#include <string>
#include <vector>

#include "automata/algorithms.hpp"
#include "automata/assembly.hpp"
#include "automata/components.hpp"
#include "automata/connect.hpp"
#include "automata/in_range.hpp"
#include "automata/require_acyclic.hpp"
#include "automata/rounding.hpp"
#include "automata/semiring.hpp"
#include "automata/star.hpp"
#include "interrupt.hpp"

namespace treille {
namespace {

// The same machine without cycles of epsilon arcs. A state s on one is split: s itself only leads on, by epsilon arcs that carry the sum
// of all paths inside the component, to copies t', which have the arcs of t that leave the component or read or write.
template <class S>
MachineOf<S> without_epsilon_cycles(const Trimmed<S>& trimmed, const Components& components) {
  using W = typename S::Weight;
  const auto& machine = trimmed.machine();
  const auto& graph = shape(machine);
  const State n = machine.size();
  Array<State> copy(n, kNoState), inner(n);
  State size = n;
  std::vector<std::vector<BasicArc<W>>> entries(n);  // of states on cycles
  for (State c = 0; c < components.size(); ++c) {
    poll();
    if (!components.is_cyclic(graph, c)) continue;
    const auto states = components.states(c);
    const std::size_t k = states.size();
    for (std::size_t i = 0; i < k; ++i) {
      inner[states[i]] = static_cast<State>(i);
      copy[states[i]] = size++;
    }
    std::vector<InnerArc<W>> arcs;
    for (const State s : states)
      for (const auto& arc : machine.arcs(s))
        if (is_epsilon(arc) && components.of(arc.target) == c) arcs.push_back({inner[s], inner[arc.target], arc.weight});
    std::vector<W> sums;
    if (!star<S>(arcs, k, sums))
      throw std::invalid_argument("the sum over the paths of epsilon arcs from state " + std::to_string(trimmed.original(states[0])) +
                                  " diverges: the weights on their cycles are too large");
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t j = 0; j < k; ++j)
        if (sums[i * k + j] != S::zero()) entries[states[i]].push_back({kEpsilon, kEpsilon, copy[states[j]], sums[i * k + j]});
  }

  BasicAssembly<W> out(size, machine.n_arcs());
  for (State s = 0; s < n; ++s) {
    poll();
    const bool split = copy[s] != kNoState;
    for (const auto& arc : split ? std::span<const BasicArc<W>>(entries[s]) : machine.arcs(s)) out.arc(arc);
    out.end_state(split ? S::zero() : machine.final_weight(s));
  }
  for (const State s : components.order()) {  // the order of the copies
    poll();
    if (copy[s] == kNoState) continue;
    for (const auto& arc : machine.arcs(s))
      if (!is_epsilon(arc) || components.of(arc.target) != components.of(s)) out.arc(arc);
    out.end_state(machine.final_weight(s));
  }
  return out.finish(machine.start());
}

template <class S>
class EpsilonRemoval {
 public:
  using W = typename S::Weight;
  using Arc = BasicArc<W>;

  EpsilonRemoval(const MachineOf<S>& machine, const Components& components)
      : machine_(machine),
        components_(components),
        kept_(machine.size(), 0),
        sums_(machine.size(), S::zero()),
        queued_(machine.size(), 0),
        done_(machine.size()),
        finals_(machine.finals().begin(), machine.finals().end()) {}

  MachineOf<S> run() {
    kept_[machine_.start()] = 1;
    for (const auto& arc : machine_.all_arcs())
      if (!is_epsilon(arc)) kept_[arc.target] = 1;
    const auto order = components_.order();
    for (auto s = order.rbegin(); s != order.rend(); ++s)
      if (kept_[*s] && std::ranges::any_of(machine_.arcs(*s), is_epsilon<W>)) close(*s);
    return connect<S>(*this);
  }

  // The untrimmed result, as connect reads it.
  State size() const { return machine_.size(); }
  State start() const { return machine_.start(); }
  W final_weight(State s) const { return finals_[s]; }
  std::span<const Arc> arcs(State s) const {
    if (!kept_[s]) return {};
    const Range& range = done_[s];
    return range.first < 0 ? machine_.arcs(s) : std::span<const Arc>(pool_.data() + range.first, static_cast<std::size_t>(range.size));
  }

 private:
  struct Range {
    std::int64_t first = -1, size = 0;  // in the pool; the machine's own arcs where first < 0
  };

  // N(s). Sums of path weights reach a state before it is taken from the queue, because the states before it rank lower.
  void close(State s) {
    gathered_.clear();
    TermSum<S> final_weight;
    enqueue(s, S::one());
    while (!queue_.empty()) {
      poll();
      const State t = components_.order()[queue_.top()];
      queue_.pop();
      const W sum = sums_[t];
      queued_[t] = 0;
      if (finals_[t] != S::zero()) final_weight.add(S::times(sum, finals_[t]));
      if (const Range& range = done_[t]; range.first >= 0) {
        for (std::int64_t k = range.first; k < range.first + range.size; ++k) gather(pool_[k], sum);
        continue;
      }
      for (const auto& arc : machine_.arcs(t)) {
        if (is_epsilon(arc))
          enqueue(arc.target, S::times(sum, arc.weight));
        else
          gather(arc, sum);
      }
    }
    finals_[s] = final_weight.value();
    done_[s].first = static_cast<std::int64_t>(pool_.size());
    merge();
    done_[s].size = static_cast<std::int64_t>(pool_.size()) - done_[s].first;
  }

  void enqueue(State t, W weight) {
    if (queued_[t]) {
      sums_[t] = S::plus(sums_[t], weight);
      return;
    }
    queued_[t] = 1;
    sums_[t] = weight;
    queue_.push(components_.of(t));
  }

  void gather(const Arc& arc, W sum) { gathered_.push_back({arc.input, arc.output, arc.target, S::times(sum, arc.weight)}); }

  void merge() {
    if (!std::ranges::is_sorted(gathered_, arc_before)) std::ranges::stable_sort(gathered_, arc_before);
    for (std::size_t k = 0; k < gathered_.size();) {
      const Arc& arc = gathered_[k];
      TermSum<S> sum;
      for (; k < gathered_.size() && !arc_before(arc, gathered_[k]); ++k) sum.add(gathered_[k].weight);
      if (sum.value() != S::zero()) pool_.push_back({arc.input, arc.output, arc.target, sum.value()});
    }
  }

  const MachineOf<S>& machine_;
  const Components& components_;  // of epsilon arcs: one for each state, numbered along them
  std::vector<std::uint8_t> kept_;
  std::vector<W> sums_;
  std::vector<std::uint8_t> queued_;
  std::priority_queue<State, std::vector<State>, std::greater<>> queue_;  // of components
  std::vector<Range> done_;
  std::vector<W> finals_;
  std::vector<Arc> gathered_;
  Array<Arc> pool_;
};

template <class S>
MachineOf<S> without_epsilons(const MachineOf<S>& given) {
  const Trimmed<S> trimmed(given);
  if (trimmed.machine().start() == kNoState) return {};
  const Components components(shape(trimmed.machine()), is_epsilon<double>);
  if (components.acyclic()) return EpsilonRemoval<S>(trimmed.machine(), components).run();
  const MachineOf<S> straight = without_epsilon_cycles(trimmed, components);
  return EpsilonRemoval<S>(straight, Components(shape(straight), is_epsilon<double>)).run();
}

}  // namespace

template <class S>
Machine remove_epsilon(const Machine& machine) {
  return over_any_range<S>(
      "remove_epsilon", balanced, []<class R>(R, const MachineOf<R>& given) { return without_epsilons<R>(given); }, machine);
}

template Machine remove_epsilon<Real>(const Machine&);
template Machine remove_epsilon<Log>(const Machine&);
template Machine remove_epsilon<Tropical>(const Machine&);

}  // namespace treille
