#pragma once
// Computations of rational.hpp for one lattice: strings that T writes, with their weights, by forward propagation, and the shares of
// symbols in them, by the same steps backwards.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "automata/interned_strings.hpp"
#include "automata/lattices.hpp"
#include "automata/reading.hpp"
#include "interrupt.hpp"

namespace treille {

// phi(X) of one lattice after another, in numbers W.
template <class W>
class Propagator {
 public:
  Propagator(const Machine& T, std::span<const State> order) : T_(T), order_(order) {}

  // With `keep`, strings and weights stay at their pairs for `share`, by the number of symbols read on arcs that write.
  void propagate(const Lattice& x, std::span<const std::int32_t> recode, bool keep = false) {
    keep_ = keep;
    trie_.clear();
    values_.assign(1, W{});
    is_found_.assign(1, 0);
    found_.clear();
    if (x.size() == 0 || T_.start() == kNoState) return;
    x_ = x;
    recode_ = recode;
    heads_ = arc_heads(x);
    find_pairs();
    if (!live(pair(0, T_.start()))) return;
    if (keep) waiting_.clear();
    waiting_.resize(x.size() * width());
    waiting_[pair(0, T_.start())].push_back({0, 0, 1.0});
    for (std::size_t q = 0; q < x.size(); ++q) {
      poll();
      for (const State p : order_)
        if (live(pair(q, p))) leave(q, p);
    }
  }

  // Calls sink(labels, value) for every string of which the value is not 0, by where it is first found.
  template <class Sink>
  void give(Sink&& sink) {
    for (const std::uint32_t node : found_)
      if (values_[node] != W{}) {
        trie_.spell(node, labels_);
        sink(labels_, values_[node]);
      }
  }

  // After propagate with `keep`: adds to out[a * n + f], for each arc a of x, the worth of the ways that read its symbol and write: their
  // weight times prices[string * n + f], shared equally among such symbols of the way; to base[f] where there are none.
  void share(std::size_t n, const std::vector<W>& prices, std::vector<W>& out, std::vector<W>& base) {
    if (found_.empty()) return;
    std::vector<std::vector<W>> ahead(waiting_.size());  // by pair: the worth of each string that waits there
    std::vector<W> gain(n);
    for (std::size_t q = x_.size(); q-- > 0;) {
      poll();
      for (std::size_t k = order_.size(); k-- > 0;) {
        const State p = order_[k];
        const std::size_t here = pair(q, p);
        if (!live(here)) continue;
        const auto& waiting = waiting_[here];
        ahead[here].assign(waiting.size() * n, W{});
        const W last = marks_[here] & kWrites ? W(x_.finals[q]) * T_.final_weight(p) : rest_[here];
        for (std::size_t w = 0; w < waiting.size() && last != W{}; ++w)
          for (std::size_t f = 0; f < n; ++f) {
            const W price = last * prices[waiting[w].string * n + f];
            if (waiting[w].covered == 0)
              base[f] += waiting[w].value * price;
            else
              ahead[here][w * n + f] += price / W(static_cast<double>(waiting[w].covered));
          }
        if (!(marks_[here] & kWrites)) continue;
        transitions(q, p, [&](std::size_t next, Label output, const W& weight, std::size_t arc) {
          if (!live(next)) return;
          const auto& there = waiting_[next];
          const bool covers = arc != kNoArc && output != kEpsilon;
          for (std::size_t w = 0; w < waiting.size(); ++w) {
            const Waiting after = moved(waiting[w], output, weight, covers);
            const auto at = std::lower_bound(there.begin(), there.end(), after, before) - there.begin();
            const W* const from = ahead[next].data() + static_cast<std::size_t>(at) * n;
            for (std::size_t f = 0; f < n; ++f) {
              ahead[here][w * n + f] += weight * from[f];
              if (covers) out[arc * n + f] += after.value * from[f];
            }
          }
        });
      }
    }
  }

  const InternedStrings& strings() const { return trie_; }

  // Returns whether an underflow was harmless: no number is multiplied by more than 2^20 after it.
  bool only_loses_the_lightest() const {
    const auto small = [](double weight) { return 0 <= weight && weight <= 0x1p20; };
    const auto few = [&](const Arc& arc) { return small(arc.weight); };
    return std::ranges::all_of(rest_, small) && std::ranges::all_of(x_.weights, small) && std::ranges::all_of(x_.finals, small) &&
           std::ranges::all_of(T_.all_arcs(), few) && std::ranges::all_of(T_.finals(), small) &&
           std::ranges::all_of(values_, [](double value) { return std::isfinite(value); });
  }

 private:
  struct Waiting {
    std::uint32_t string, covered;
    W value;
  };
  static constexpr std::size_t kNoArc = ~std::size_t{0};
  static constexpr std::uint8_t kReached = 1, kAccepts = 2, kWrites = 4;  // kWrites: some way to the end has output

  std::size_t width() const { return at(T_.size()); }
  std::size_t pair(std::size_t q, State p) const { return q * width() + at(p); }
  bool live(std::size_t pair) const { return (marks_[pair] & (kReached | kAccepts)) == (kReached | kAccepts); }

  // Calls use(pair it leads to, output, weight, arc of x or kNoArc) for every transition of a pair.
  template <class Use>
  void transitions(std::size_t q, State p, Use&& use) const {
    for (const Arc& arc : reading(T_, p, kEpsilon))
      if (arc.weight != 0) use(pair(q, arc.target), arc.output, W(arc.weight), kNoArc);
    for (std::size_t a = heads_[q]; a < heads_[q + 1]; ++a) {
      if (x_.symbols[a] == kNoSymbol) {
        use(pair(at(x_.targets[a]), p), kEpsilon, W(x_.weights[a]), kNoArc);
        continue;
      }
      const Label label = recode_[at(x_.symbols[a])];
      if (label == kEpsilon) continue;
      for (const Arc& arc : reading(T_, p, label))
        if (arc.weight != 0) use(pair(at(x_.targets[a]), arc.target), arc.output, W(x_.weights[a]) * arc.weight, a);
    }
  }

  // Finds the pairs that are reached, accept, or may still write, and the weight of all ways to the end.
  void find_pairs() {
    marks_.assign(x_.size() * width(), 0);
    rest_.assign(x_.size() * width(), W{});
    marks_[pair(0, T_.start())] = kReached;
    for (std::size_t q = 0; q < x_.size(); ++q)
      for (const State p : order_)
        if (marks_[pair(q, p)]) transitions(q, p, [&](std::size_t next, Label, const W&, std::size_t) { marks_[next] |= kReached; });
    for (std::size_t q = x_.size(); q-- > 0;)
      for (std::size_t k = order_.size(); k-- > 0;) {
        const State p = order_[k];
        const std::size_t here = pair(q, p);
        if (!marks_[here]) continue;
        rest_[here] = W(x_.finals[q]) * T_.final_weight(p);
        if (rest_[here] != W{}) marks_[here] |= kAccepts;
        transitions(q, p, [&](std::size_t next, Label output, const W& weight, std::size_t) {
          if (!live(next)) return;
          rest_[here] += weight * rest_[next];
          marks_[here] |= kAccepts | (marks_[next] & kWrites) | (output != kEpsilon ? kWrites : 0);
        });
      }
  }

  void leave(std::size_t q, State p) {
    const std::size_t here = pair(q, p);
    auto& waiting = waiting_[here];
    add_up(waiting);
    if (!(marks_[here] & kWrites)) {
      for (const Waiting& w : waiting) accept(w.string, w.value * rest_[here]);
    } else {
      const W last = W(x_.finals[q]) * T_.final_weight(p);
      if (last != W{})
        for (const Waiting& w : waiting) accept(w.string, w.value * last);
      transitions(q, p, [&](std::size_t next, Label output, const W& weight, std::size_t arc) {
        if (!live(next)) return;
        for (const Waiting& w : waiting) waiting_[next].push_back(moved(w, output, weight, keep_ && arc != kNoArc && output != kEpsilon));
      });
    }
    if (!keep_) waiting.clear();
  }

  Waiting moved(const Waiting& w, Label output, const W& weight, bool covers) {
    return {output == kEpsilon ? w.string : trie_.child(w.string, output), w.covered + (covers ? 1 : 0), w.value * weight};
  }

  static bool before(const Waiting& a, const Waiting& b) { return std::pair(a.string, a.covered) < std::pair(b.string, b.covered); }

  void accept(std::uint32_t string, const W& value) {
    if (string >= values_.size()) {
      values_.resize(trie_.size(), W{});
      is_found_.resize(trie_.size(), 0);
    }
    if (!std::exchange(is_found_[string], 1)) found_.push_back(string);
    values_[string] += value;
  }

  static void add_up(std::vector<Waiting>& here) {
    if (here.size() < 2) return;
    std::stable_sort(here.begin(), here.end(), before);
    std::size_t n = 0;
    for (const Waiting& w : here)
      if (n > 0 && !before(here[n - 1], w))
        here[n - 1].value += w.value;
      else
        here[n++] = w;
    here.resize(n);
  }

  const Machine& T_;
  std::span<const State> order_;
  Lattice x_;
  std::span<const std::int32_t> recode_;
  std::vector<std::size_t> heads_;
  std::vector<std::uint8_t> marks_;
  std::vector<W> rest_, values_;
  std::vector<char> is_found_;
  std::vector<std::uint32_t> found_;
  std::vector<std::vector<Waiting>> waiting_;  // by pair
  InternedStrings trie_;
  std::vector<std::int32_t> labels_;
  bool keep_ = false;
};

}  // namespace treille
