#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "automata/algorithms.hpp"
#include "automata/assembly.hpp"
#include "automata/connect.hpp"
#include "automata/in_range.hpp"
#include "automata/require_acyclic.hpp"
#include "automata/rounding.hpp"
#include "automata/semiring.hpp"
#include "interrupt.hpp"
#include "tag_index.hpp"

namespace treille {
namespace {

// Classes of states in order of discovery, targets first; their arcs lead to classes.
template <class S>
class Classes {
 public:
  using W = typename S::Weight;

  explicit Classes(const Trimmed<S>& trimmed)
      : trimmed_(trimmed), machine_(trimmed.machine()), of_(machine_.size(), kNoState), factors_(machine_.size()) {}

  MachineOf<S> run(std::span<const State> along_arcs) {
    for (auto s = along_arcs.rbegin(); s != along_arcs.rend(); ++s) enter(*s);
    return laid_out();
  }

 private:
  void enter(State s) {
    poll();
    const auto first = static_cast<std::ptrdiff_t>(offsets_.back());
    W final_weight = machine_.final_weight(s);
    for (const auto& arc : machine_.arcs(s)) {
      if (of_[arc.target] == kNoState) continue;
      const W weight = S::times(arc.weight, factors_[arc.target]);
      if (weight != S::zero()) arcs_.push_back({arc.input, arc.output, of_[arc.target], weight});
    }
    const auto begin = arcs_.begin() + first;
    for (auto arc = begin; arc != arcs_.end(); ++arc)
      if (arc != begin && arc[-1].input == arc->input && arc[-1].output == arc->output)
        throw std::invalid_argument("minimize needs a deterministic machine, and state " + std::to_string(trimmed_.original(s)) +
                                    " has two arcs with labels " + std::to_string(arc->input) + ":" + std::to_string(arc->output) +
                                    ": call determinize() first");
    if (final_weight == S::zero() && begin == arcs_.end()) return;  // reaches no end

    const W factor = final_weight != S::zero() ? final_weight : begin->weight;
    std::uint64_t hash = 0;
    if (final_weight != S::zero()) {
      final_weight = S::one();
      hash = 1;
    }
    for (auto arc = begin; arc != arcs_.end(); ++arc) {
      arc->weight = S::divide(arc->weight, factor);
      hash = mix(hash, static_cast<std::uint64_t>(arc->input) << 32 | static_cast<std::uint32_t>(arc->output));
      hash = mix(mix(hash, static_cast<std::uint64_t>(arc->target)), cell<S>(arc->weight));
    }
    const std::span<const BasicArc<W>> added(arcs_.begin() + first, arcs_.end());
    const auto is_same = [&](std::uint32_t other) {
      const std::span<const BasicArc<W>> known(arcs_.begin() + offsets_[other], arcs_.begin() + offsets_[other + 1]);
      return finals_[other] == final_weight && std::ranges::equal(known, added, [](const auto& a, const auto& b) {
               return a.input == b.input && a.output == b.output && a.target == b.target && cell<S>(a.weight) == cell<S>(b.weight);
             });
    };
    of_[s] = static_cast<State>(index_.find_or_add(tag_of(hash), is_same, [&] {
      offsets_.push_back(static_cast<std::int64_t>(arcs_.size()));
      finals_.push_back(final_weight);
    }));
    factors_[s] = factor;
    arcs_.resize(static_cast<std::size_t>(offsets_.back()));
  }

  // The last class is the start's: no other has strings as long. The numbers are reversed, and the start takes its factor.
  MachineOf<S> laid_out() const {
    const auto n = static_cast<State>(finals_.size());
    const State start = machine_.start();
    if (of_[start] == kNoState) return {};
    BasicAssembly<W> out(n, static_cast<std::int64_t>(arcs_.size()));
    for (State c = n - 1; c >= 0; --c) {
      poll();
      const W factor = c == of_[start] ? factors_[start] : S::one();
      for (auto k = offsets_[c]; k < offsets_[c + 1]; ++k)
        out.arc({arcs_[k].input, arcs_[k].output, n - 1 - arcs_[k].target, S::times(arcs_[k].weight, factor)});
      out.end_state(finals_[c] == S::zero() ? S::zero() : S::times(finals_[c], factor));
    }
    return out.finish(n - 1 - of_[start]);
  }

  const Trimmed<S>& trimmed_;
  const MachineOf<S>& machine_;
  std::vector<State> of_;
  std::vector<W> factors_;
  TagIndex index_{"states"};
  Array<std::int64_t> offsets_ = Array<std::int64_t>(1, 0);
  Array<BasicArc<W>> arcs_;
  Array<W> finals_;
};

}  // namespace

template <class S>
Machine minimize(const Machine& machine) {
  const auto run = []<class R>(R, const MachineOf<R>& given) -> MachineOf<R> {
    const Trimmed<R> trimmed(given);
    if (trimmed.machine().start() == kNoState) return {};
    const Components components = require_acyclic_without_epsilons(trimmed, "minimize");
    return Classes<R>(trimmed).run(components.order());
  };
  return over_any_range<S>("minimize", balanced, run, machine);
}

template Machine minimize<Real>(const Machine&);
template Machine minimize<Log>(const Machine&);
template Machine minimize<Tropical>(const Machine&);

}  // namespace treille
