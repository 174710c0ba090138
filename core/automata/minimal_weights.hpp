#pragma once
// The minimal deterministic automaton of strings whose weights are known up to a factor per class of strings.
//
// String z has the weight  weight(z) * omega[cls(z)],  the weight a number that is not zero, omega unknown: one cell for each class. For
// every omega at once the automaton gives each string its weight: along the path of z the arcs' and the final state's numbers
// multiply to weight(z), and exactly one of them names the class. A single class makes it the minimal weighted automaton of
// the numbers alone, of any sign.
//
// Two states of the trie merge when their futures are the same up to a factor. So the common factor of all futures of a state is pushed
// towards the start: the first number of a state is 1, and where all its strings are of one class, the arc that leads there names it, and
// states merge across classes. For omega in general position no deterministic automaton is smaller.
//
// Linear time: states bottom-up, each looked up by its final weight and its arcs (label, target, class, weight). Numbers are compared
// after rounding to 42 bits, since equal ratios may differ in their last bits: a string's weight is then exact to 1e-12.

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "automata/string_trie.hpp"
#include "memory.hpp"
#include "tag_index.hpp"

namespace treille {

constexpr std::int32_t kElsewhere = -1;  // the class is named by another part of the path
constexpr std::int32_t kNotFinal = -2;

struct WeightArc {
  std::int32_t label, cls;
  std::uint32_t target;
  double weight;
};

// A number on the way to, or at, the end of a string.
struct ClassWeight {
  std::int32_t cls = kElsewhere;
  double weight = 1;
};

class WeightAutomaton {
 public:
  WeightAutomaton() : offsets_(1, 0) {}

  std::size_t size() const { return finals_.size(); }
  std::size_t n_arcs() const { return arcs_.size(); }
  std::uint32_t start() const { return start_; }
  const ClassWeight& entry() const { return entry_; }  // the factor of all paths
  const ClassWeight& final(std::uint32_t s) const { return finals_[s]; }
  std::span<const WeightArc> arcs(std::uint32_t s) const { return {arcs_.data() + offsets_[s], arcs_.data() + offsets_[s + 1]}; }
  std::size_t nbytes() const { return offsets_.size() * 8 + arcs_.size() * (4 + sizeof(WeightArc)) + finals_.size() * sizeof(ClassWeight); }

  const WeightArc* find(std::uint32_t s, std::int32_t label) const {
    const std::int32_t* found = labels_.data() + offsets_[s];
    std::size_t left = offsets_[s + 1] - offsets_[s];
    if (left == 0) return nullptr;
    while (left > 1) {  // no branch that depends on the data: it could not be predicted
      const std::size_t half = left / 2;
      found = found[half] <= label ? found + half : found;
      left -= half;
    }
    return *found == label ? arcs_.data() + (found - labels_.data()) : nullptr;
  }

  void add(const ClassWeight& final, std::span<const WeightArc> arcs) {
    arcs_.insert(arcs_.end(), arcs.begin(), arcs.end());
    for (const WeightArc& arc : arcs) labels_.push_back(arc.label);
    offsets_.push_back(arcs_.size());
    finals_.push_back(final);
  }
  void begin_at(std::uint32_t start, const ClassWeight& entry) {
    start_ = start;
    entry_ = entry;
  }

 private:
  Array<std::size_t> offsets_;
  Array<WeightArc> arcs_;
  Array<std::int32_t> labels_;  // a copy of the arcs, side by side, for searches
  Array<ClassWeight> finals_;
  std::uint32_t start_ = 0;
  ClassWeight entry_;
};

class WeightMinimizer {
 public:
  // cls and weight of each string of the trie.
  static WeightAutomaton minimize(const StringTrie& trie, std::span<const std::int32_t> cls, std::span<const double> weight) {
    return WeightMinimizer(trie, cls, weight).run();
  }

 private:
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};
  static constexpr std::int32_t kMixed = kElsewhere;

  struct Merged {
    std::uint32_t state;
    ClassWeight pushed;  // the factor that goes to the incoming arc
  };

  WeightMinimizer(const StringTrie& trie, std::span<const std::int32_t> cls, std::span<const double> weight)
      : trie_(trie), cls_(cls), weight_(weight), ends_here_(trie.size(), kFree), merged_(trie.size()) {
    for (std::uint32_t z = 0; z < cls.size(); ++z) ends_here_[trie.end(z)] = z;
  }

  WeightAutomaton run() {
    for (auto s = static_cast<std::uint32_t>(trie_.size()); s-- > 0;) merged_[s] = merge(s);
    return cls_.empty() ? WeightAutomaton() : numbered(merged_[0]);
  }

  // Depth first from the start: a path without branches is then one run of memory.
  WeightAutomaton numbered(const Merged& start) const {
    Array<std::uint32_t> number(out_.size(), kFree), order;
    std::vector<std::uint32_t> waiting{start.state};
    while (!waiting.empty()) {
      const std::uint32_t s = waiting.back();
      waiting.pop_back();
      if (number[s] != kFree) continue;
      number[s] = static_cast<std::uint32_t>(order.size());
      order.push_back(s);
      const auto arcs = out_.arcs(s);
      for (std::size_t a = arcs.size(); a-- > 0;)
        if (number[arcs[a].target] == kFree) waiting.push_back(arcs[a].target);
    }
    WeightAutomaton result;
    std::vector<WeightArc> arcs;
    for (const std::uint32_t s : order) {
      arcs.assign(out_.arcs(s).begin(), out_.arcs(s).end());
      for (WeightArc& arc : arcs) arc.target = number[arc.target];
      result.add(out_.final(s), arcs);
    }
    result.begin_at(0, start.pushed);
    return result;
  }

  Merged merge(std::uint32_t s) {
    ClassWeight final{kNotFinal, 0};
    arcs_.clear();
    const std::uint32_t z = ends_here_[s];
    if (z != kFree) final = {cls_[z], weight_[z]};
    for (std::uint32_t child = trie_.first_child(s); child < trie_.end_of_children(s); ++child) {
      const Merged& to = merged_[child];
      arcs_.push_back({trie_.label(child), to.pushed.cls, to.state, to.pushed.weight});
    }
    const ClassWeight pushed = push(final);
    return {look_up(final), pushed};
  }

  // Removes the common factor of all futures from the state.
  ClassWeight push(ClassWeight& final) {
    ClassWeight first = final;
    if (final.cls == kNotFinal) first = arcs_.empty() ? ClassWeight{} : ClassWeight{arcs_[0].cls, arcs_[0].weight};
    bool pure = first.cls != kMixed;
    for (const WeightArc& arc : arcs_) pure = pure && arc.cls == first.cls;
    if (!pure) first.cls = kElsewhere;
    for (WeightArc& arc : arcs_) {
      arc.weight /= first.weight;
      if (pure) arc.cls = kElsewhere;
    }
    if (final.cls != kNotFinal) final = {pure ? kElsewhere : final.cls, 1};
    return first;
  }

  std::uint32_t look_up(const ClassWeight& final) {
    std::uint64_t hash = mix(static_cast<std::uint64_t>(final.cls), 0);
    for (const WeightArc& arc : arcs_) {
      hash = mix(hash, std::uint64_t{static_cast<std::uint32_t>(arc.label)} << 32 | arc.target);
      hash = mix(hash, rounded(arc.weight) ^ static_cast<std::uint32_t>(arc.cls));
    }
    return index_.find_or_add(tag_of(hash), [&](std::uint32_t other) { return same(other, final); }, [&] { out_.add(final, arcs_); });
  }

  bool same(std::uint32_t state, const ClassWeight& final) const {
    const auto arcs = out_.arcs(state);
    return out_.final(state).cls == final.cls &&
           std::equal(arcs.begin(), arcs.end(), arcs_.begin(), arcs_.end(), [](const WeightArc& a, const WeightArc& b) {
             return a.label == b.label && a.target == b.target && a.cls == b.cls && rounded(a.weight) == rounded(b.weight);
           });
  }

  static std::uint64_t rounded(double value) { return (std::bit_cast<std::uint64_t>(value) + 512) & ~std::uint64_t{1023}; }

  const StringTrie& trie_;
  std::span<const std::int32_t> cls_;
  std::span<const double> weight_;
  Array<std::uint32_t> ends_here_;  // by state of the trie, the string that ends there
  Array<Merged> merged_;
  std::vector<WeightArc> arcs_;  // of the current state
  TagIndex index_{"states"};
  WeightAutomaton out_;
};

}  // namespace treille
