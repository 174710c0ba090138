#pragma once
// A weight automaton in few bytes, and its strings read back: what model files hold.
//
// A state is written as its number of arcs, whether it is final and whether its futures are of several classes; then labels, targets,
// numbers and classes of its arcs, each in an array of its own. A target with one arc to it is written as 0 and follows in its turn, depth
// first; the others are numbered from 1, the more arcs lead there the earlier, and follow the start in that order. So most
// targets take a byte. The first number of a state is 1 by construction, and is not written.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "automata/minimal_weights.hpp"

namespace treille {

struct PackedWeights {
  std::vector<std::uint8_t> states, targets, classes;  // numbers of 7 bits a byte
  std::vector<std::int32_t> labels;
  std::vector<double> weights;
  ClassWeight entry;
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

inline PackedWeights pack(const WeightAutomaton& automaton) {
  PackedWeights out;
  if (automaton.size() == 0) return out;
  out.entry = automaton.entry();
  std::vector<std::uint32_t> arcs_to(automaton.size(), 0), shared, number(automaton.size(), 0);
  for (std::uint32_t s = 0; s < automaton.size(); ++s)
    for (const WeightArc& arc : automaton.arcs(s)) ++arcs_to[arc.target];
  for (std::uint32_t s = 0; s < automaton.size(); ++s)
    if (arcs_to[s] > 1) shared.push_back(s);
  std::stable_sort(shared.begin(), shared.end(), [&](std::uint32_t a, std::uint32_t b) { return arcs_to[a] > arcs_to[b]; });
  for (std::uint32_t k = 0; k < shared.size(); ++k) number[shared[k]] = k + 1;

  std::vector<std::uint32_t> waiting;
  auto write = [&](std::uint32_t state) {
    waiting.push_back(state);
    while (!waiting.empty()) {
      const std::uint32_t s = waiting.back();
      waiting.pop_back();
      const auto arcs = automaton.arcs(s);
      const ClassWeight& final = automaton.final(s);
      const bool is_final = final.cls != kNotFinal;
      const bool mixed =
          (is_final && final.cls != kElsewhere) || std::any_of(arcs.begin(), arcs.end(), [](const WeightArc& a) { return a.cls != kElsewhere; });
      packed::put(out.states, 4 * arcs.size() + 2 * mixed + is_final);
      if (mixed && is_final) packed::put(out.classes, static_cast<std::uint64_t>(final.cls + 1));
      for (std::size_t a = 0; a < arcs.size(); ++a) {
        out.labels.push_back(arcs[a].label);
        packed::put(out.targets, number[arcs[a].target]);
        if (mixed) packed::put(out.classes, static_cast<std::uint64_t>(arcs[a].cls + 1));
        if (a > 0 || is_final) out.weights.push_back(arcs[a].weight);
      }
      for (std::size_t a = arcs.size(); a-- > 0;)
        if (number[arcs[a].target] == 0) waiting.push_back(arcs[a].target);
    }
  };
  write(automaton.start());
  for (const std::uint32_t s : shared) write(s);
  return out;
}

// String z is symbols[offsets[z] .. offsets[z + 1]), in the order of strings, of weight weight[z] * omega[cls[z]].
struct WeightedStrings {
  std::vector<std::int32_t> symbols, cls;
  std::vector<std::int64_t> offsets{0};
  std::vector<double> weight;
};

// What files say is not trusted: anything that does not fit throws std::invalid_argument, and so does another number of strings.
class Unpacker {
 public:
  Unpacker(std::span<const std::uint8_t> states, std::span<const std::uint8_t> targets, std::span<const std::uint8_t> classes,
           std::span<const std::int32_t> labels, std::span<const double> weights, const ClassWeight& entry, std::int32_t n_labels,
           std::int32_t n_classes)
      : states_(states),
        targets_(targets),
        classes_(classes),
        labels_(labels),
        weights_(weights),
        entry_(entry),
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
    std::int32_t label, cls;
    std::int64_t target;  // -k: the k-th shared state
    double weight;
  };
  struct State {
    std::size_t first, end;
    ClassWeight final;
  };

  [[noreturn]] static void fail(const char* what) { throw std::invalid_argument(std::string("the automaton ") + what); }

  std::int32_t read_class() {
    const std::uint64_t cls = classes_.take();
    if (cls > static_cast<std::uint64_t>(n_classes_)) fail("names a class that there is not");
    return static_cast<std::int32_t>(cls) - 1;
  }

  void read_states() {
    std::vector<std::int64_t> shared;
    std::size_t label = 0, weight = 0;
    std::vector<std::size_t> waiting;
    while (!states_.done()) {
      if (!table_.empty()) shared.push_back(static_cast<std::int64_t>(table_.size()));
      bool root = true;
      for (waiting.clear(); root || !waiting.empty();) {
        if (!root) {
          arcs_[waiting.back()].target = static_cast<std::int64_t>(table_.size());
          waiting.pop_back();
        }
        root = false;
        const std::uint64_t head = states_.take();
        const bool mixed = (head & 2) != 0, is_final = (head & 1) != 0;
        const std::uint64_t degree = head >> 2;
        if (degree > labels_.size() - label) fail("has fewer labels than arcs");
        ClassWeight final{kNotFinal, 0};
        if (is_final) final = {mixed ? read_class() : kElsewhere, 1};
        const std::size_t first = arcs_.size();
        for (std::uint64_t a = 0; a < degree; ++a) {
          Arc arc{labels_[label++], kElsewhere, -static_cast<std::int64_t>(std::min<std::uint64_t>(targets_.take(), ~std::uint32_t{0})), 1};
          if (arc.label < 0 || arc.label >= n_labels_) fail("has a label outside the alphabet");
          if (a > 0 && arc.label <= arcs_.back().label) fail("has labels that do not rise");
          if (mixed) arc.cls = read_class();
          if (a > 0 || is_final) {
            if (weight == weights_.size()) fail("has fewer weights than arcs");
            arc.weight = weights_[weight++];
          }
          arcs_.push_back(arc);
        }
        table_.push_back({first, arcs_.size(), final});
        for (std::size_t a = arcs_.size(); a-- > first;)
          if (arcs_[a].target == 0) waiting.push_back(a);
      }
    }
    if (label != labels_.size() || weight != weights_.size() || !targets_.done() || !classes_.done()) fail("has more numbers than arcs");
    for (Arc& arc : arcs_)
      if (arc.target < 0) {
        if (static_cast<std::size_t>(-arc.target) > shared.size()) fail("has an arc to a state that there is not");
        arc.target = shared[static_cast<std::size_t>(-arc.target) - 1];
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
      const std::int32_t cls = join(so_far.cls, final.cls);
      if (cls < 0 || cls >= n_classes_) fail("has a path that names no class");
      out.symbols.insert(out.symbols.end(), string.begin(), string.end());
      out.offsets.push_back(static_cast<std::int64_t>(out.symbols.size()));
      out.cls.push_back(cls);
      out.weight.push_back(so_far.weight * final.weight);
    };
    enter(0, entry_);
    while (!path.empty()) {
      Point& point = path.back();
      if (point.next == table_[point.state].end) {
        path.pop_back();
        if (!string.empty()) string.pop_back();
        continue;
      }
      const Arc& arc = arcs_[point.next++];
      string.push_back(arc.label);
      enter(static_cast<std::size_t>(arc.target), {join(point.so_far.cls, arc.cls), point.so_far.weight * arc.weight});
    }
  }

  static std::int32_t join(std::int32_t before, std::int32_t here) {
    if (before != kElsewhere && here != kElsewhere) fail("has a path that names two classes");
    return before == kElsewhere ? here : before;
  }

  packed::Numbers states_, targets_, classes_;
  std::span<const std::int32_t> labels_;
  std::span<const double> weights_;
  ClassWeight entry_;
  std::int32_t n_labels_, n_classes_;
  std::vector<State> table_;
  std::vector<Arc> arcs_;
};

}  // namespace treille
