#pragma once
// The subset construction on a machine without cycles, over any of the semirings: shared by determinisation and the test of equivalence.
// After a string x, the weight of a state is the sum of the weights of x's paths there. A subset is this list up to a common
// factor, the first of its weights: (state, residual), sorted by state, the first residual one, the others of any sign. States whose
// weight is zero (rounding.hpp) are left out. A subset of one state is known by its state, others by a hash of states and cells
// (rounding.hpp).

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "automata/machine.hpp"
#include "automata/rounding.hpp"
#include "tag_index.hpp"

namespace treille {

// One code for a pair of labels, so that a transducer is an acceptor of pairs: codes are ordered as pairs are. For acceptors the code is
// the label, found in no time; for transducers the distinct pairs are sorted first, O(arcs log arcs).
class PairCodes {
 public:
  template <class W>
  explicit PairCodes(const BasicMachine<W>& machine) {
    const auto arcs = machine.all_arcs();
    if (std::all_of(arcs.begin(), arcs.end(), [](const auto& arc) { return arc.input == arc.output; })) return;
    pairs_.reserve(arcs.size());
    for (const auto& arc : arcs) pairs_.push_back(pack(arc.input, arc.output));
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
  }

  template <class W>
  Label code(const BasicArc<W>& arc) const {
    if (pairs_.empty()) return arc.input;
    return static_cast<Label>(std::lower_bound(pairs_.begin(), pairs_.end(), pack(arc.input, arc.output)) - pairs_.begin());
  }
  Label input(Label code) const { return pairs_.empty() ? code : static_cast<Label>(pairs_[code] >> 32); }
  Label output(Label code) const { return pairs_.empty() ? code : static_cast<Label>(pairs_[code]); }

 private:
  static std::uint64_t pack(Label input, Label output) {
    return static_cast<std::uint64_t>(input) << 32 | static_cast<std::uint32_t>(output);
  }

  std::vector<std::uint64_t> pairs_;
};

template <class S>
class Subsets {
 public:
  using W = typename S::Weight;
  struct Item {
    State state;
    W residual;
  };

  explicit Subsets(const MachineOf<S>& machine, int cell_bits = kCellBits)
      : machine_(machine), cell_bits_(cell_bits), codes_(machine), singles_(machine.size(), kNoState) {
    steps_.reserve(machine.all_arcs().size());
    for (State s = 0; s < machine.size(); ++s) {
      for (const auto& arc : machine.arcs(s))
        steps_.push_back({static_cast<std::uint64_t>(codes_.code(arc)) << 32 | static_cast<std::uint32_t>(arc.target), arc.weight});
      sort(steps_.data() + machine.offsets()[s], steps_.data() + steps_.size());
    }
  }

  State size() const { return static_cast<State>(index_.size()); }
  std::span<const Item> operator[](State subset) const {
    return {items_.data() + offsets_[subset], static_cast<std::size_t>(offsets_[subset + 1] - offsets_[subset])};
  }
  const PairCodes& codes() const { return codes_; }

  // The number of the subset in which each of these states, given in increasing order, has weight one.
  State enter(std::span<const State> states) {
    for (const State s : states) items_.push_back({s, S::one()});
    return number();
  }

  // emit(code, weight, subset) for each label, in increasing order: one arc of the deterministic machine.
  template <class Emit>
  void expand(State subset, Emit&& emit) {
    found_.clear();
    for (const Item& item : (*this)[subset])
      for (auto k = machine_.offsets()[item.state]; k < machine_.offsets()[item.state + 1]; ++k)
        found_.push_back({steps_[k].key, S::times(item.residual, steps_[k].weight)});
    if (offsets_[subset + 1] - offsets_[subset] > 1) sort(found_.data(), found_.data() + found_.size());
    for (std::size_t k = 0; k < found_.size();) {
      const std::uint64_t code = found_[k].key >> 32;
      W factor = S::zero();
      while (k < found_.size() && found_[k].key >> 32 == code) {
        const std::uint64_t key = found_[k].key;
        TermSum<S> sum;
        for (; k < found_.size() && found_[k].key == key; ++k) sum.add(found_[k].weight);
        const W weight = sum.value();
        if (weight == S::zero()) continue;
        if (factor == S::zero()) factor = weight;
        items_.push_back({static_cast<State>(key & 0xFFFFFFFFu), S::divide(weight, factor)});
      }
      if (factor != S::zero()) emit(static_cast<Label>(code), factor, number());
    }
  }

 private:
  struct Step {
    std::uint64_t key;  // code of the labels, then the target
    W weight;
  };

  static void sort(Step* first, Step* last) {
    auto before = [](const Step& a, const Step& b) { return a.key < b.key; };
    if (!std::is_sorted(first, last, before)) std::sort(first, last, before);
  }

  // The number of the subset at the end of the items; its items are removed again if it is known.
  State number() {
    const auto first = static_cast<std::size_t>(offsets_.back());
    const std::span<const Item> added = std::span<const Item>(items_).subspan(first);
    State* const single = added.size() == 1 ? &singles_[added[0].state] : nullptr;
    State found = single == nullptr ? kNoState : *single;
    if (found == kNoState) {
      std::uint64_t hash = added.size();
      for (const Item& item : added) hash = mix(mix(hash, static_cast<std::uint64_t>(item.state)), cell<S>(item.residual, cell_bits_));
      const auto is_same = [&](std::uint32_t other) {
        return std::ranges::equal((*this)[static_cast<State>(other)], added, [&](const Item& a, const Item& b) {
          return a.state == b.state && cell<S>(a.residual, cell_bits_) == cell<S>(b.residual, cell_bits_);
        });
      };
      found = static_cast<State>(index_.find_or_add(tag_of(hash), is_same, [&] {
        check_room(index_.size());
        offsets_.push_back(static_cast<std::int64_t>(items_.size()));
      }));
      if (single != nullptr) *single = found;
    }
    items_.resize(static_cast<std::size_t>(offsets_.back()));
    return found;
  }

  const MachineOf<S>& machine_;
  int cell_bits_;
  PairCodes codes_;
  Array<Step> steps_;  // the arcs of all states, side by side as the machine has them
  std::vector<State> singles_;
  TagIndex index_{"subsets"};
  Array<Item> items_;
  Array<std::int64_t> offsets_ = Array<std::int64_t>(1, 0);
  std::vector<Step> found_;
};

}  // namespace treille
