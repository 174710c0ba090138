#pragma once
// Expected counts of the n-grams of one lattice, with or without gaps, by forward-backward.
//
//   E[z] = sum over paths pi of weight(pi) * sum over the occurrences of z in pi of contiguous * decay^(symbols in its gaps)
//
// Strings z have min_n to n symbols; a gap between two of them is at most max_gap symbols long, all gaps at most max_total_gap. Arcs that
// read the empty string are no symbols. At each state wait the partial matches (prefix, current gap, total gap), each with the sum of the
// weights of all ways to it: equal prefixes are merged, so paths are never listed. An occurrence that ends on an arc to t weighs the sum
// that waits before the arc, times the arc, times backward(t).
// Cost: one step for every such triple and every arc that leaves its state.
// The share of each arc in the sum of prices, given a price for each string, is a derivative: the same steps backwards.
// Allauzen, Mohri, Roark: Generalized algorithms for constructing statistical language models (ACL 2003), section 3.1, without gaps.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "automata/in_range.hpp"
#include "automata/interned_strings.hpp"
#include "automata/lattices.hpp"
#include "features/count_transform.hpp"
#include "interrupt.hpp"

namespace treille {

// The contribution of an occurrence of count 1 to the value of a string that is expected c times: t(c) / c, t as in count_transform.hpp.
template <class W>
W per_count(Counts counts, const W& c) {
  if (counts == Counts::raw) return 1.0;
  if constexpr (std::is_same_v<W, double>)
    return transformed_expected(counts, c) / c;
  else
    return W(transformed_expected(counts, c.value())) / c;
}

struct GramSpan {
  int min_n, n;
  std::int64_t max_gap = 0, max_total_gap = 0;
  double decay = 1, contiguous = 1;
};

// The values of all prefixes, in numbers W.
template <class W>
class PrefixValues {
 public:
  // With `keep`, partial matches stay at their states for `share`.
  void propagate(const Lattice& x, std::span<const std::int32_t> recode, const GramSpan& span, bool keep = false) {
    trie.clear();
    values.assign(1, W{});
    if (std::exchange(kept_, keep))
      for (auto& waiting : waiting_) waiting.clear();
    if (x.size() == 0) return;
    forward_weights(x, forward_);
    backward_weights(x, backward_);
    if (waiting_.size() < x.size()) waiting_.resize(x.size());
    std::size_t a = 0;
    for (std::size_t s = 0; s < x.size(); ++s) {
      poll();
      auto& here = waiting_[s];
      add_up(here);
      for (; a < x.sources.size() && static_cast<std::size_t>(x.sources[a]) == s; ++a) {
        const auto t = static_cast<std::size_t>(x.targets[a]);
        const double weight = x.weights[a];
        if (x.symbols[a] == kNoSymbol) {
          for (const Waiting& w : here) waiting_[t].push_back({w.prefix, w.gap, w.total, w.value * weight});
          continue;
        }
        const std::int32_t symbol = recode.empty() ? x.symbols[a] : recode[static_cast<std::size_t>(x.symbols[a])];
        if (symbol < 0) continue;
        extend({0, 0, 0, forward_[s] * span.contiguous}, symbol, weight, t, span);
        for (const Waiting& w : here) {
          poll();
          extend(w, symbol, weight, t, span);
          if (w.gap < span.max_gap && w.total < span.max_total_gap)
            waiting_[t].push_back({w.prefix, w.gap + 1, w.total + 1, w.value * weight * span.decay});
        }
      }
      if (!keep) here.clear();
    }
  }

  // After propagate with `keep`: adds to out[a * width + f], for each arc a, the value of every occurrence that has arc a as its symbol
  // number j, times the price that function f pays for that symbol: prices[(node * places + j % places) * width + f], `places` 1 or n.
  void share(const Lattice& x, std::span<const std::int32_t> recode, const GramSpan& span, std::size_t width, std::size_t places,
             const std::vector<W>& prices, std::vector<W>& out) {
    const std::size_t columns = width * places;
    std::vector<std::vector<W>> ahead(x.size());  // by state: the worth of each waiting prefix, by column
    std::vector<W> gain(columns);
    for (std::size_t a = x.sources.size(), s = x.size(); s-- > 0;) {
      poll();
      const auto& here = waiting_[s];
      ahead[s].assign(here.size() * columns, W{});
      for (; a > 0 && static_cast<std::size_t>(x.sources[a - 1]) == s; --a) {
        const std::size_t arc = a - 1, t = static_cast<std::size_t>(x.targets[arc]);
        const W weight(x.weights[arc]);
        const auto follow = [&](std::size_t w, const Waiting& next, const W& factor) {
          const W* const from = ahead[t].data() + place_of(t, next) * columns;
          for (std::size_t c = 0; c < columns; ++c) ahead[s][w * columns + c] += factor * from[c];
        };
        if (x.symbols[arc] == kNoSymbol) {
          for (std::size_t w = 0; w < here.size(); ++w) follow(w, here[w], weight);
          continue;
        }
        const std::int32_t symbol = recode.empty() ? x.symbols[arc] : recode[static_cast<std::size_t>(x.symbols[arc])];
        if (symbol < 0) continue;
        // The worth of a prefix that reads this arc as its next symbol; the arc gets a share of it.
        const auto read = [&](const Waiting& w) {
          const std::uint32_t node = trie.find_child(w.prefix, symbol);
          const int n = trie.length(node);
          std::fill(gain.begin(), gain.end(), W{});
          if (n >= span.min_n)
            for (std::size_t c = 0; c < columns; ++c) gain[c] += backward_[t] * prices[node * columns + c];
          if (n < span.n) {
            const W* const from = ahead[t].data() + place_of(t, {node, 0, w.total, W{}}) * columns;
            for (std::size_t c = 0; c < columns; ++c) gain[c] += from[c];
          }
          const std::size_t place = static_cast<std::size_t>(n - 1) % places * width;
          for (std::size_t f = 0; f < width; ++f) out[arc * width + f] += w.value * weight * gain[place + f];
        };
        read({0, 0, 0, forward_[s] * span.contiguous});
        for (std::size_t w = 0; w < here.size(); ++w) {
          poll();
          read(here[w]);
          for (std::size_t c = 0; c < columns; ++c) ahead[s][w * columns + c] += weight * gain[c];
          if (here[w].gap < span.max_gap && here[w].total < span.max_total_gap)
            follow(w, {here[w].prefix, here[w].gap + 1, here[w].total + 1, W{}}, weight * span.decay);
        }
      }
    }
  }

  // Returns whether an underflow was harmless: in a distribution, a number is later multiplied by 1 at most.
  bool of_distribution(const GramSpan& span) const {
    return span.decay <= 1 && std::ranges::all_of(backward_, [](const W& sum) { return 0.5 < sum && sum < 2; }) &&
           std::ranges::all_of(values, [](const W& value) { return std::isfinite(value); });
  }

  InternedStrings trie;
  std::vector<W> values;  // by node

 private:
  struct Waiting {
    std::uint32_t prefix;
    std::int64_t gap, total;
    W value;
    auto key() const { return std::tuple(prefix, gap, total); }
  };

  void extend(const Waiting& w, std::int32_t symbol, double weight, std::size_t t, const GramSpan& span) {
    const std::uint32_t node = trie.child(w.prefix, symbol);
    if (node == values.size()) values.push_back(W{});
    const int n = trie.length(node);
    if (n >= span.min_n) values[node] += w.value * weight * backward_[t];
    if (n < span.n) waiting_[t].push_back({node, 0, w.total, w.value * weight});
  }

  std::size_t place_of(std::size_t state, const Waiting& wanted) const {
    const auto& there = waiting_[state];
    const auto before = [](const Waiting& a, const Waiting& b) { return a.key() < b.key(); };
    return static_cast<std::size_t>(std::lower_bound(there.begin(), there.end(), wanted, before) - there.begin());
  }

  static void add_up(std::vector<Waiting>& here) {
    if (here.size() < 2) return;
    std::stable_sort(here.begin(), here.end(), [](const Waiting& a, const Waiting& b) { return a.key() < b.key(); });
    std::size_t n = 0;
    for (const Waiting& w : here)
      if (n > 0 && here[n - 1].key() == w.key())
        here[n - 1].value += w.value;
      else
        here[n++] = w;
    here.resize(n);
  }

  std::vector<W> forward_, backward_;
  std::vector<std::vector<Waiting>> waiting_;  // by state
  bool kept_ = false;
};

class PrefixCounter {
 public:
  // Calls sink(symbols, n, value) once for each string whose value is not 0: short ones first, then by where they are first found.
  // Symbol s is read as recode[s]; no occurrence holds one that is read as a number below 0. std::invalid_argument where a value is too
  // large for a double.
  template <class Sink>
  void count(const Lattice& x, std::span<const std::int32_t> recode, const GramSpan& span, Sink&& sink) {
    const auto give = [&](const InternedStrings& trie, auto&& value) {
      for (int n = span.min_n; n <= span.n; ++n)
        for (std::uint32_t node = 1; node < trie.size(); ++node) {
          if (trie.length(node) != n) continue;
          const double found = value(node);
          if (found == 0) continue;
          trie.spell(node, symbols_);
          sink(symbols_.data(), n, found);
        }
    };
    if (in_range([&] { plain_.propagate(x, recode, span); }) || plain_.of_distribution(span)) {
      give(plain_.trie, [&](std::uint32_t node) { return plain_.values[node]; });
    } else {
      exact_.propagate(x, recode, span);
      give(exact_.trie, [&](std::uint32_t node) { return representable(exact_.values[node], "the expected count of a string"); });
    }
  }

  // Adds to out[a * width + f] the worth to each function of the strings' occurrences through each arc. `price(trie, values, prices)`
  // sets the prices that PrefixValues::share takes, at first all 0; they, and the values, are doubles or scaled numbers.
  template <class Price>
  void share(const Lattice& x, std::span<const std::int32_t> recode, const GramSpan& span, std::size_t width, std::size_t places,
             Price&& price, double* out) {
    const auto run = [&]<class W>(PrefixValues<W>& values, std::vector<W>& shares) {
      values.propagate(x, recode, span, true);
      std::vector<W> prices(values.trie.size() * width * places, W{});
      price(values.trie, values.values, prices);
      shares.assign(x.sources.size() * width, W{});
      values.share(x, recode, span, width, places, prices, shares);
    };
    std::vector<double> plain;
    const bool held = in_range([&] { run(plain_, plain); }) || plain_.of_distribution(span);
    if (held && std::ranges::all_of(plain, [](double share) { return std::isfinite(share); })) {
      for (std::size_t k = 0; k < plain.size(); ++k) out[k] += plain[k];
      return;
    }
    std::vector<Scaled> exact;
    run(exact_, exact);
    for (std::size_t k = 0; k < exact.size(); ++k) out[k] += representable(exact[k], "a contribution");
  }

 private:
  PrefixValues<double> plain_;
  PrefixValues<Scaled> exact_;
  std::vector<std::int32_t> symbols_;
};

}  // namespace treille
