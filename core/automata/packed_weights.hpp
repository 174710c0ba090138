#pragma once
// A weight automaton in few bytes for model files, and its strings read back.
//
// States that several arcs lead to are numbered from 1, the more arcs the earlier. A block is the start, or one of these in their order,
// and all states that one path alone leads to from there, depth first. A state is written as its number of arcs and whether it is
// final; its arcs as label and number of the target, 0 if the target follows in the same block. Numbers and classes stand where a
// block is left only, at arcs to numbered states and at the ends of strings, multiplied from the block's head. So numbers in the first
// block are plain weights of strings, many of which are equal, not quotients of weights.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "automata/minimal_weights.hpp"

namespace treille {

struct PackedWeights {
  std::vector<std::uint8_t> states, targets, classes;  // numbers of 7 bits a byte; classes count from 1, 0 is elsewhere
  std::vector<std::int32_t> labels;
  std::vector<double> weights;
};

namespace packed {

inline void put(std::vector<std::uint8_t>& out, std::uint64_t number) {
  for (; number >= 128; number >>= 7) out.push_back(static_cast<std::uint8_t>(number | 128));
  out.push_back(static_cast<std::uint8_t>(number));
}

class Numbers {
 public:
  explicit Numbers(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool done() const { return at_ == bytes_.size(); }
  std::uint64_t take() {
    std::uint64_t number = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      if (done()) break;
      const std::uint8_t byte = bytes_[at_++];
      number |= std::uint64_t{byte & 127u} << shift;
      if (byte < 128) return number;
    }
    throw std::invalid_argument("the automaton is cut short");
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

}  // namespace packed

// The content of a path up to some point, and how the next part extends it.
inline ClassWeight joined(const ClassWeight& before, const ClassWeight& next) {
  if (before.cls != kElsewhere && next.cls != kElsewhere) throw std::invalid_argument("the automaton has a path that names two classes");
  return {before.cls == kElsewhere ? next.cls : before.cls, before.weight * next.weight};
}

inline PackedWeights pack(const WeightAutomaton& automaton) {
  PackedWeights out;
  if (automaton.size() == 0) return out;
  std::vector<std::uint32_t> arcs_to(automaton.size(), 0), shared, number(automaton.size(), 0);
  for (std::uint32_t s = 0; s < automaton.size(); ++s)
    for (const WeightArc& arc : automaton.arcs(s)) ++arcs_to[arc.target];
  for (std::uint32_t s = 0; s < automaton.size(); ++s)
    if (arcs_to[s] > 1) shared.push_back(s);
  std::stable_sort(shared.begin(), shared.end(), [&](std::uint32_t a, std::uint32_t b) { return arcs_to[a] > arcs_to[b]; });
  for (std::uint32_t k = 0; k < shared.size(); ++k) number[shared[k]] = k + 1;

  auto leave = [&](const ClassWeight& value) {
    packed::put(out.classes, static_cast<std::uint64_t>(value.cls + 1));
    out.weights.push_back(value.weight);
  };
  std::vector<std::pair<std::uint32_t, ClassWeight>> waiting;
  auto write_block = [&](std::uint32_t head, const ClassWeight& entry) {
    waiting.emplace_back(head, entry);
    while (!waiting.empty()) {
      const auto [s, so_far] = waiting.back();
      waiting.pop_back();
      const auto arcs = automaton.arcs(s);
      const ClassWeight& final = automaton.final(s);
      packed::put(out.states, 2 * arcs.size() + (final.cls != kNotFinal));
      if (final.cls != kNotFinal) leave(joined(so_far, final));
      for (const WeightArc& arc : arcs) {
        out.labels.push_back(arc.label);
        packed::put(out.targets, number[arc.target]);
        if (number[arc.target] != 0) leave(joined(so_far, {arc.cls, arc.weight}));
      }
      for (std::size_t a = arcs.size(); a-- > 0;)
        if (number[arcs[a].target] == 0) waiting.emplace_back(arcs[a].target, joined(so_far, {arcs[a].cls, arcs[a].weight}));
    }
  };
  write_block(automaton.start(), automaton.entry());
  for (const std::uint32_t s : shared) write_block(s, {});
  return out;
}

// String z is symbols[offsets[z] .. offsets[z + 1]), in the order of strings, of weight weight[z] * omega[cls[z]].
struct WeightedStrings {
  std::vector<std::int32_t> symbols, cls;
  std::vector<std::int64_t> offsets{0};
  std::vector<double> weight;
};

// The content of files is not trusted: anything inconsistent throws std::invalid_argument, and so does another number of strings.
class Unpacker {
 public:
  Unpacker(std::span<const std::uint8_t> states, std::span<const std::uint8_t> targets, std::span<const std::uint8_t> classes,
           std::span<const std::int32_t> labels, std::span<const double> weights, std::int32_t n_labels, std::int32_t n_classes)
      : states_(states),
        targets_(targets),
        classes_(classes),
        labels_(labels),
        weights_(weights),
        n_labels_(n_labels),
        n_classes_(n_classes) {}

  WeightedStrings strings(std::int64_t n_strings) {
    read_states();
    if (count_strings() != n_strings) fail("holds another number of strings than it says");
    WeightedStrings out;
    if (!table_.empty()) enumerate(out);
    return out;
  }

 private:
  struct Arc {
    std::int32_t label;
    std::int64_t target;  // -k: the k-th shared state
    ClassWeight value;
  };
  struct State {
    std::size_t first, end;
    ClassWeight final;
  };

  [[noreturn]] static void fail(const char* what) { throw std::invalid_argument(std::string("the automaton ") + what); }

  ClassWeight read_value() {
    const std::uint64_t cls = classes_.take();
    if (cls > static_cast<std::uint64_t>(n_classes_)) fail("names a class that does not exist");
    if (next_weight_ == weights_.size()) fail("has too few weights");
    return {static_cast<std::int32_t>(cls) - 1, weights_[next_weight_++]};
  }

  // Reads one state; its arcs to states that follow in the same block are added to the waiting arcs.
  void read_state(std::vector<std::size_t>& waiting) {
    const std::uint64_t head = states_.take();
    if (head >> 1 > labels_.size() - next_label_) fail("has fewer labels than arcs");
    State state{arcs_.size(), arcs_.size() + static_cast<std::size_t>(head >> 1), {kNotFinal, 0}};
    if (head & 1) state.final = read_value();
    for (std::size_t a = state.first; a < state.end; ++a) {
      Arc arc{labels_[next_label_++], -static_cast<std::int64_t>(std::min<std::uint64_t>(targets_.take(), ~std::uint32_t{0})), {}};
      if (arc.label < 0 || arc.label >= n_labels_) fail("has a label outside the alphabet");
      if (a > state.first && arc.label <= arcs_.back().label) fail("has labels that do not rise");
      if (arc.target != 0) arc.value = read_value();
      arcs_.push_back(arc);
    }
    for (std::size_t a = state.end; a-- > state.first;)
      if (arcs_[a].target == 0) waiting.push_back(a);
    table_.push_back(state);
  }

  void read_states() {
    std::vector<std::int64_t> heads;
    std::vector<std::size_t> waiting;
    while (!states_.done()) {
      heads.push_back(static_cast<std::int64_t>(table_.size()));
      read_state(waiting);
      while (!waiting.empty()) {
        arcs_[waiting.back()].target = static_cast<std::int64_t>(table_.size());
        waiting.pop_back();
        read_state(waiting);
      }
    }
    if (next_label_ != labels_.size() || next_weight_ != weights_.size() || !targets_.done() || !classes_.done())
      fail("has more numbers than arcs");
    for (Arc& arc : arcs_)
      if (arc.target < 0) {
        if (static_cast<std::size_t>(-arc.target) >= heads.size()) fail("has an arc to a state that does not exist");
        arc.target = heads[static_cast<std::size_t>(-arc.target)];
      }
  }

  // Counts below each state, depth first; a state met again on the way down is a cycle.
  std::int64_t count_strings() const {
    if (table_.empty()) return 0;
    constexpr std::int64_t open = -1, unknown = -2, most = std::numeric_limits<std::int64_t>::max() / 2;
    std::vector<std::int64_t> count(table_.size(), unknown);
    std::vector<std::pair<std::size_t, std::size_t>> path{{0, table_[0].first}};
    count[0] = open;
    while (!path.empty()) {
      auto& [s, next] = path.back();
      if (next == table_[s].end) {
        std::int64_t sum = table_[s].final.cls != kNotFinal;
        for (std::size_t a = table_[s].first; a < next; ++a) sum = std::min(most, sum + count[static_cast<std::size_t>(arcs_[a].target)]);
        count[s] = sum;
        path.pop_back();
        continue;
      }
      const auto target = static_cast<std::size_t>(arcs_[next++].target);
      if (count[target] == open) fail("has a cycle");
      if (count[target] == unknown) {
        count[target] = open;
        path.emplace_back(target, table_[target].first);
      }
    }
    return count[0];
  }

  void enumerate(WeightedStrings& out) const {
    struct Point {
      std::size_t state, next;
      ClassWeight so_far;
    };
    std::vector<Point> path;
    std::vector<std::int32_t> string;
    auto enter = [&](std::size_t s, const ClassWeight& so_far) {
      path.push_back({s, table_[s].first, so_far});
      const ClassWeight& final = table_[s].final;
      if (final.cls == kNotFinal) return;
      const ClassWeight whole = joined(so_far, final);
      if (whole.cls < 0) fail("has a path that names no class");
      out.symbols.insert(out.symbols.end(), string.begin(), string.end());
      out.offsets.push_back(static_cast<std::int64_t>(out.symbols.size()));
      out.cls.push_back(whole.cls);
      out.weight.push_back(whole.weight);
    };
    enter(0, {});
    while (!path.empty()) {
      Point& point = path.back();
      if (point.next == table_[point.state].end) {
        path.pop_back();
        if (!string.empty()) string.pop_back();
        continue;
      }
      const Arc& arc = arcs_[point.next++];
      string.push_back(arc.label);
      enter(static_cast<std::size_t>(arc.target), joined(point.so_far, arc.value));
    }
  }

  packed::Numbers states_, targets_, classes_;
  std::span<const std::int32_t> labels_;
  std::span<const double> weights_;
  std::int32_t n_labels_, n_classes_;
  std::size_t next_label_ = 0, next_weight_ = 0;
  std::vector<State> table_;
  std::vector<Arc> arcs_;
};

}  // namespace treille
