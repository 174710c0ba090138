#include "automata/remove_epsilon.hpp"

#include <algorithm>
#include <queue>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "automata/components.hpp"
#include "automata/connect.hpp"
#include "automata/semiring.hpp"
#include "automata/star.hpp"
#include "automata/sum.hpp"

namespace treille {
namespace {

bool is_epsilon(const Arc& arc) { return arc.input == kEpsilon && arc.output == kEpsilon; }

// The same machine without cycles of epsilon arcs. A state s on one is split: s itself only leads on, by epsilon arcs that carry the sum
// of all paths inside the component, to copies t', which have the arcs of t that leave the component or read or write.
template <class S>
Machine without_epsilon_cycles(const Machine& machine, const Components& found) {
  const State n = machine.size();
  std::vector<State> copy(n, kNoState);
  State size = n;
  for (std::size_t c = 0; c < found.size(); ++c)
    if (is_cyclic(machine, found[c], is_epsilon))
      for (const State s : found[c]) copy[s] = size++;
  std::vector<std::vector<Arc>> entries(n);  // of states on cycles
  for (std::size_t c = 0; c < found.size(); ++c) {
    const auto states = found[c];
    const std::size_t k = states.size();
    if (copy[states[0]] == kNoState) continue;
    std::vector<double> matrix(k * k, S::zero());
    for (std::size_t i = 0; i < k; ++i)
      for (const Arc& arc : machine.arcs(states[i]))
        if (is_epsilon(arc) && found.of[arc.target] == static_cast<State>(c)) {
          const auto j = static_cast<std::size_t>(std::find(states.begin(), states.end(), arc.target) - states.begin());
          matrix[i * k + j] = S::plus(matrix[i * k + j], arc.weight);
        }
    if (!star<S>(matrix, k))
      throw std::invalid_argument("the sum over the paths of the epsilon cycle through state " + std::to_string(states[0]) +
                                  " diverges: its weights must be smaller");
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t j = 0; j < k; ++j)
        if (matrix[i * k + j] != S::zero())
          entries[states[i]].push_back({kEpsilon, kEpsilon, copy[states[j]], matrix[i * k + j]});
  }

  Array<std::int64_t> offsets(1, 0);
  Array<Arc> arcs;
  Array<double> finals(static_cast<std::size_t>(size), S::zero());
  for (State s = 0; s < n; ++s) {
    if (copy[s] == kNoState) {
      arcs.insert(arcs.end(), machine.arcs(s).begin(), machine.arcs(s).end());
      finals[s] = machine.final_weight(s);
    } else {
      arcs.insert(arcs.end(), entries[s].begin(), entries[s].end());
    }
    offsets.push_back(static_cast<std::int64_t>(arcs.size()));
  }
  for (const State s : found.states) {  // in the order of the copies
    if (copy[s] == kNoState) continue;
    for (const Arc& arc : machine.arcs(s))
      if (!is_epsilon(arc) || found.of[arc.target] != found.of[s]) arcs.push_back(arc);
    finals[copy[s]] = machine.final_weight(s);
    offsets.push_back(static_cast<std::int64_t>(arcs.size()));
  }
  return Machine(machine.start(), std::move(offsets), std::move(arcs), std::move(finals));
}

template <class S>
class EpsilonRemoval {
 public:
  EpsilonRemoval(const Machine& machine, const Components& found)
      : machine_(machine), order_(found.states), rank_(found.of), kept_(machine.size(), 0), sums_(machine.size(), S::zero()),
        queued_(machine.size(), 0), done_(machine.size()), finals_(machine.finals().begin(), machine.finals().end()) {}

  Machine run() {
    kept_[machine_.start()] = 1;
    for (const Arc& arc : machine_.all_arcs())
      if (!is_epsilon(arc)) kept_[arc.target] = 1;
    for (const State s : order_) {
      const auto arcs = machine_.arcs(s);
      if (kept_[s] && std::any_of(arcs.begin(), arcs.end(), is_epsilon)) close(s);
    }
    auto arcs = [&](State s) {
      const Range& range = done_[s];
      return range.first < 0 ? machine_.arcs(s) : std::span<const Arc>(pool_.data() + range.first, static_cast<std::size_t>(range.size));
    };
    auto final_weight = [&](State s) { return finals_[s]; };
    const State n = machine_.size();
    auto kept_arcs = [&](State s) { return kept_[s] ? arcs(s) : std::span<const Arc>(); };
    return connect<S>(n, machine_.start(), kept_arcs, final_weight, useful_states<S>(n, machine_.start(), kept_arcs, final_weight));
  }

 private:
  struct Range {
    std::int64_t first = -1, size = 0;  // in the pool; the machine's own arcs where first < 0
  };

  // N(s). Sums of path weights reach a state before it is taken from the queue, because the states before it rank higher.
  void close(State s) {
    gathered_.clear();
    Sum<S> final_weight;
    enqueue(s, S::one());
    while (!queue_.empty()) {
      const State t = order_[queue_.top()];
      queue_.pop();
      const double sum = sums_[t];
      queued_[t] = 0;
      if (finals_[t] != S::zero()) final_weight.add(S::times(sum, finals_[t]));
      if (const Range& range = done_[t]; range.first >= 0) {
        for (std::int64_t k = range.first; k < range.first + range.size; ++k) gather(pool_[k], sum);
        continue;
      }
      for (const Arc& arc : machine_.arcs(t)) {
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

  void enqueue(State t, double weight) {
    if (queued_[t]) {
      sums_[t] = S::plus(sums_[t], weight);
      return;
    }
    queued_[t] = 1;
    sums_[t] = weight;
    queue_.push(rank_[t]);
  }

  void gather(const Arc& arc, double sum) { gathered_.push_back({arc.input, arc.output, arc.target, S::times(sum, arc.weight)}); }

  void merge() {
    auto key = [](const Arc& arc) { return std::tie(arc.input, arc.output, arc.target); };
    auto before = [&](const Arc& a, const Arc& b) { return key(a) < key(b); };
    if (!std::is_sorted(gathered_.begin(), gathered_.end(), before)) std::stable_sort(gathered_.begin(), gathered_.end(), before);
    for (std::size_t k = 0; k < gathered_.size();) {
      const Arc& arc = gathered_[k];
      Sum<S> sum;
      for (; k < gathered_.size() && key(gathered_[k]) == key(arc); ++k) sum.add(gathered_[k].weight);
      if (sum.value() != S::zero()) pool_.push_back({arc.input, arc.output, arc.target, sum.value()});
    }
  }

  const Machine& machine_;
  const std::vector<State>& order_;  // along epsilon arcs, targets first
  const std::vector<State>& rank_;
  std::vector<std::uint8_t> kept_;
  std::vector<double> sums_;
  std::vector<std::uint8_t> queued_;
  std::priority_queue<State> queue_;  // ranks
  std::vector<Range> done_;
  std::vector<double> finals_;
  std::vector<Arc> gathered_;
  Array<Arc> pool_;
};

}  // namespace

template <class S>
Machine remove_epsilon(const Machine& given) {
  Machine storage, straight;
  const Machine* machine = &trimmed<S>(given, storage);
  if (machine->start() == kNoState) return {};
  Components found = components(*machine, is_epsilon);
  if (!found.acyclic) {
    straight = without_epsilon_cycles<S>(*machine, found);
    machine = &straight;
    found = components(straight, is_epsilon);
  }
  return EpsilonRemoval<S>(*machine, found).run();
}

template Machine remove_epsilon<Real>(const Machine&);
template Machine remove_epsilon<Log>(const Machine&);
template Machine remove_epsilon<Tropical>(const Machine&);

}  // namespace treille
