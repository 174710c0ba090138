#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>
#include <vector>

#include "automata/algorithms.hpp"
#include "automata/assembly.hpp"
#include "automata/connect.hpp"
#include "automata/in_range.hpp"
#include "automata/semiring.hpp"
#include "interrupt.hpp"
#include "tag_index.hpp"

namespace treille {
namespace {

// The possible next steps of a state on one side: a bit per label modulo 64, whether there are epsilon arcs, whether it is final. They are
// computed on first use, so that composing a small machine with a large one costs little.
struct Outlook {
  std::uint64_t labels;
  bool known, epsilon, final;
};

template <class S, Label BasicArc<typename S::Weight>::* side>
class Outlooks {
 public:
  explicit Outlooks(const MachineOf<S>& machine)
      : machine_(machine), all_(Buffer<Outlook>::zeros(static_cast<std::size_t>(machine.size()))) {}

  const Outlook& operator[](State s) {
    Outlook& look = all_[static_cast<std::size_t>(s)];
    if (!look.known) {
      look.known = true;
      for (const auto& arc : machine_.arcs(s)) {
        look.epsilon |= arc.*side == kEpsilon;
        look.labels |= static_cast<std::uint64_t>(arc.*side != kEpsilon) << (arc.*side & 63);
      }
      look.final = machine_.final_weight(s) != S::zero();
    }
    return look;
  }

 private:
  const MachineOf<S>& machine_;
  Buffer<Outlook> all_;
};

// Triples and their numbers, in order of discovery.
class Triples {
 public:
  static constexpr std::uint64_t pack(State left, State right, int filter) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint64_t>(right) << 1 | static_cast<std::uint64_t>(filter);
  }

  State number(std::uint64_t key) {
    const auto is_key = [&](std::uint32_t other) { return keys_[other] == key; };
    return static_cast<State>(index_.find_or_add(tag(key), is_key, [&] {
      check_room(keys_.size());
      keys_.push_back(key);
    }));
  }

  void prefetch(std::uint64_t key) const { index_.prefetch(tag(key)); }

  State size() const { return static_cast<State>(keys_.size()); }
  std::uint64_t operator[](State number) const { return keys_[number]; }

 private:
  static std::uint32_t tag(std::uint64_t key) { return tag_of((key ^ key >> 31) * 0x9E3779B97F4A7C15u); }

  TagIndex index_{"states"};
  Array<std::uint64_t> keys_;
};

template <class S>
class Composition {
 public:
  using W = typename S::Weight;
  using Arc = BasicArc<W>;

  Composition(const MachineOf<S>& left, const MachineOf<S>& right) : left_(left), right_(right), looks_left_(left), looks_right_(right) {}

  MachineOf<S> run() {
    if (left_.start() == kNoState || right_.start() == kNoState) return {};
    triples_.number(Triples::pack(left_.start(), right_.start(), 0));
    for (State s = 0; s < triples_.size(); ++s) {
      poll();
      expand(triples_[s]);
      offsets_.push_back(static_cast<std::int64_t>(arcs_.size()));
      const bool last = s + 1 == triples_.size();
      number_targets(last ? arcs_.size() : arcs_.size() - std::min<std::size_t>(arcs_.size(), kAhead));
    }
    for (State s = 0; s < triples_.size(); ++s) sort_arcs(arcs_.begin() + offsets_[s], arcs_.begin() + offsets_[s + 1]);
    MachineOf<S> whole(0, std::move(offsets_), std::move(arcs_), std::move(finals_));
    const auto useful = useful_states<S>(whole);
    if (std::find(useful.begin(), useful.end(), 0) == useful.end()) return whole;
    return connect<S>(whole, useful);
  }

 private:
  void expand(std::uint64_t key) {
    const auto p = static_cast<State>(key >> 32), q = static_cast<State>((key & 0xFFFFFFFFu) >> 1);
    const bool after_right = key & 1;  // B took an epsilon arc since the last match: A's must wait
    const Outlook look = looks_left_[p];
    finals_.push_back(look.final && looks_right_[q].final ? S::times(left_.final_weight(p), right_.final_weight(q)) : S::zero());
    const auto lefts = left_.arcs(p), all = right_.arcs(q);
    std::size_t symbols = 0;
    for (; symbols < all.size() && all[symbols].input == kEpsilon; ++symbols)
      if (look.labels != 0 || look.final)  // else A, which has only epsilon arcs here, could never continue
        add(p, all[symbols].target, look.epsilon, kEpsilon, all[symbols].output, all[symbols].weight);
    const auto rights = all.subspan(symbols);

    if (lefts.size() > 8 && lefts.size() > 2 * rights.size()) {
      if (look.epsilon && !after_right)
        for (const auto& arc : lefts)
          if (arc.output == kEpsilon) add(arc.target, q, 0, arc.input, kEpsilon, arc.weight);
      const auto order = by_output(p, lefts);
      for (const auto& arc : rights) {
        const auto from =
            std::lower_bound(order.begin(), order.end(), arc.input, [&](std::int32_t k, Label label) { return lefts[k].output < label; });
        for (auto k = from; k != order.end() && lefts[*k].output == arc.input; ++k) match(lefts[*k], arc);
      }
    } else {
      const Arc* from = rights.data();
      const Arc* const end = rights.data() + rights.size();
      for (const auto& arc : lefts) {
        if (arc.output == kEpsilon) {
          if (!after_right) add(arc.target, q, 0, arc.input, kEpsilon, arc.weight);
          continue;
        }
        if (from != rights.data() && (from - 1)->input >= arc.output) from = rights.data();  // labels of arcs before it are smaller
        if (end - from > 16) {
          from = std::lower_bound(from, end, arc.output, [](const Arc& a, Label label) { return a.input < label; });
        } else {
          while (from != end && from->input < arc.output) ++from;
        }
        for (const Arc* other = from; other != end && other->input == arc.output; ++other) match(arc, *other);
      }
    }
  }

  void match(const Arc& a, const Arc& b) { add(a.target, b.target, 0, a.input, b.output, S::times(a.weight, b.weight)); }

  void add(State p, State q, int filter, Label input, Label output, W weight) {
    const Outlook &a = looks_left_[p], &b = looks_right_[q];
    const bool goes_on = (a.labels & b.labels) != 0 || (a.final && b.final) || (a.epsilon && filter == 0) || b.epsilon;
    if (!goes_on) return;
    const std::uint64_t key = Triples::pack(p, q, filter);
    triples_.prefetch(key);
    keys_[arcs_.size() & (kWindow - 1)] = key;
    arcs_.push_back({input, output, kNoState, weight});
    if (arcs_.size() - numbered_ == kWindow) number_targets(arcs_.size() - kAhead);
  }

  // A target is looked up some arcs after its place in the table was prefetched, when it has arrived from memory.
  void number_targets(std::size_t end) {
    for (; numbered_ < end; ++numbered_) arcs_[numbered_].target = triples_.number(keys_[numbered_ & (kWindow - 1)]);
  }

  // The arcs of left state p sorted by output label, sorted when first asked for.
  std::span<const std::int32_t> by_output(State p, std::span<const Arc> arcs) {
    auto& order = orders_[p];
    if (order.empty()) {
      order.resize(arcs.size());
      for (std::size_t k = 0; k < arcs.size(); ++k) order[k] = static_cast<std::int32_t>(k);
      std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return arcs[a].output < arcs[b].output; });
    }
    return order;
  }

  static constexpr std::size_t kAhead = 16, kWindow = 64;

  const MachineOf<S>&left_, &right_;
  Outlooks<S, &Arc::output> looks_left_;
  Outlooks<S, &Arc::input> looks_right_;
  std::unordered_map<State, std::vector<std::int32_t>> orders_;
  Triples triples_;
  Array<std::int64_t> offsets_ = Array<std::int64_t>(1, 0);
  Array<Arc> arcs_;
  std::size_t numbered_ = 0;                 // arcs whose targets have numbers
  std::array<std::uint64_t, kWindow> keys_;  // targets of the other arcs
  Array<W> finals_;
};

}  // namespace

template <class S>
Machine compose(const Machine& left, const Machine& right) {
  const auto run = []<class R>(R, const MachineOf<R>& a, const MachineOf<R>& b) { return Composition<R>(a, b).run(); };
  return over_any_range<S>("compose", balanced, run, left, right);
}

template Machine compose<Real>(const Machine&, const Machine&);
template Machine compose<Log>(const Machine&, const Machine&);
template Machine compose<Tropical>(const Machine&, const Machine&);

}  // namespace treille
