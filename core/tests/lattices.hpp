#pragma once
// Lattices, expected counts and rational features under sanitizers: each against the list of all paths.

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <type_traits>
#include <vector>

#include "automata/lattices.hpp"
#include "automata/prefix_counter.hpp"
#include "automata/rational.hpp"
#include "check.hpp"
#include "text/ngram_features.hpp"
#include "text/pattern_features.hpp"

namespace treille::tests {

using Gram = std::vector<std::int32_t>;
using Language = std::map<Gram, double>;

inline bool near(double found, double expected) { return std::abs(found - expected) <= 1e-9 * (1 + std::abs(expected)); }

// Whether every key has the same weight in both; a key that is missing has weight 0.
template <class Key>
bool same(const std::map<Key, double>& a, const std::type_identity_t<std::map<Key, double>>& b) {
  const auto within = [](const auto& some, const auto& all) {
    return std::ranges::all_of(some, [&](const auto& entry) {
      const auto there = all.find(entry.first);
      return near(there == all.end() ? 0.0 : there->second, entry.second);
    });
  };
  return within(a, b) && within(b, a);
}

// The weight of every string of a machine whose arcs may stand in any order; start and finals as given.
inline Language language(const Lattice& x, std::int32_t start) {
  Language strings;
  Gram now;
  const std::function<void(std::int32_t, double)> walk = [&](std::int32_t s, double weight) {
    if (x.finals[static_cast<std::size_t>(s)] != 0) strings[now] += weight * x.finals[static_cast<std::size_t>(s)];
    for (std::size_t a = 0; a < x.sources.size(); ++a) {
      if (x.sources[a] != s) continue;
      if (x.symbols[a] != kNoSymbol) now.push_back(x.symbols[a]);
      walk(x.targets[a], weight * x.weights[a]);
      if (x.symbols[a] != kNoSymbol) now.pop_back();
    }
  };
  if (x.size() > 0) walk(start, 1.0);
  return strings;
}

struct RandomMachines {
  LatticeArrays arrays;
  std::vector<std::int32_t> starts;
  std::vector<std::uint8_t> costs;

  RawLattices raw() const { return {arrays.view(), starts, costs}; }
};

// Acyclic, states numbered at random, with arcs that read nothing, parallel arcs, dead ends and machines without states.
inline RandomMachines random_machines(std::mt19937& random, int count) {
  RandomMachines out;
  std::uniform_real_distribution<double> weight(0.1, 2.0);
  for (int i = 0; i < count; ++i) {
    const int n = static_cast<int>(random() % 6);
    std::vector<std::int32_t> number(static_cast<std::size_t>(n));
    std::iota(number.begin(), number.end(), 0);
    std::shuffle(number.begin(), number.end(), random);
    for (int a = 0; n > 1 && a < 2 * n; ++a) {
      const auto s = static_cast<std::size_t>(random() % static_cast<unsigned>(n - 1));
      const auto t = s + 1 + random() % (static_cast<std::size_t>(n) - s - 1);
      out.arrays.sources.push_back(number[s]);
      out.arrays.symbols.push_back(static_cast<std::int32_t>(random() % 4) - 1);
      out.arrays.targets.push_back(number[t]);
      out.arrays.weights.push_back(weight(random));
    }
    for (int s = 0; s < n; ++s) out.arrays.finals.push_back(random() % 3 == 0 ? weight(random) : 0.0);
    out.arrays.states.push_back(static_cast<std::int64_t>(out.arrays.finals.size()));
    out.arrays.arcs.push_back(static_cast<std::int64_t>(out.arrays.sources.size()));
    out.starts.push_back(n > 0 ? number[0] : -1);
    out.costs.push_back(0);
  }
  return out;
}

inline void lattices_keep_the_weights_of_strings(int threads) {
  std::mt19937 random(7);
  RandomMachines machines = random_machines(random, 60);
  const auto built = build_lattices(machines.raw(), false, threads);
  const auto shares_of_one = build_lattices(machines.raw(), true, threads);
  const LatticeArrays free = without_epsilon(built.lattices.view(), threads);
  check(built.cyclic == -1);
  for (std::size_t i = 0; i < machines.starts.size(); ++i) {
    const Language expected = language(machines.raw().data[i], machines.starts[i]);
    check(same(language(built.lattices.view()[i], 0), expected));
    check(same(language(free.view()[i], 0), expected));
    double total = 0;
    for (const auto& [z, weight] : expected) total += weight;
    Language shares;
    for (const auto& [z, weight] : expected) shares[z] = weight / total;
    check(same(language(shares_of_one.lattices.view()[i], 0), shares));
    const PathList list = n_best_paths(built.lattices.view()[i], 1000);
    double sum = 0;
    for (const double weight : list.weights) sum += weight;
    check(near(sum, total));
    check(std::is_sorted(list.weights.rbegin(), list.weights.rend()));
  }
  // The same as costs.
  for (double& w : machines.arrays.weights) w = -std::log(w);
  for (double& w : machines.arrays.finals) w = w > 0 ? -std::log(w) : std::numeric_limits<double>::infinity();
  machines.costs.assign(machines.costs.size(), 1);
  const auto from_costs = build_lattices(machines.raw(), true, threads);
  check(from_costs.lattices.targets == shares_of_one.lattices.targets);
  for (std::size_t a = 0; a < from_costs.lattices.weights.size(); ++a)
    check(near(from_costs.lattices.weights[a], shares_of_one.lattices.weights[a]));
}

inline void a_cycle_is_found() {
  RandomMachines machines;
  machines.arrays.sources = {0, 1, 2, 1};
  machines.arrays.symbols = {0, 1, 2, 0};
  machines.arrays.targets = {1, 2, 1, 3};
  machines.arrays.weights = {1, 1, 1, 1};
  machines.arrays.finals = {0, 0, 0, 1};
  machines.arrays.states = {0, 4};
  machines.arrays.arcs = {0, 4};
  machines.starts = {0};
  machines.costs = {0};
  const auto built = build_lattices(machines.raw(), true, 1);
  check(built.cyclic == 0 && built.cycle == std::vector<std::int64_t>{1, 2});
}

// Expected counts with gaps: every path, every choice of places.
inline void expected_counts_are_their_definition(const GramSpan& span) {
  std::mt19937 random(11);
  const RandomMachines machines = random_machines(random, 60);
  const LatticeArrays lattices = build_lattices(machines.raw(), false, 1).lattices;
  PrefixCounter counter;
  for (std::size_t i = 0; i < machines.starts.size(); ++i) {
    Language found, expected;
    counter.count(lattices.view()[i], {}, span, [&](const std::int32_t* z, int n, double value) { found[Gram(z, z + n)] = value; });
    for (const auto& [x, weight] : language(lattices.view()[i], 0)) {
      Gram z;
      const std::function<void(std::size_t, std::int64_t, double)> choose = [&](std::size_t last, std::int64_t total, double value) {
        if (static_cast<int>(z.size()) >= span.min_n) expected[z] += value;
        if (static_cast<int>(z.size()) == span.n) return;
        for (std::size_t next = last + 1; next < x.size(); ++next) {
          const auto gap = static_cast<std::int64_t>(next - last - 1);
          if (gap > span.max_gap || total + gap > span.max_total_gap) break;
          z.push_back(x[next]);
          choose(next, total + gap, value * std::pow(span.decay, gap));
          z.pop_back();
        }
      };
      for (std::size_t first = 0; first < x.size(); ++first) {
        z.push_back(x[first]);
        choose(first, 0, weight * span.contiguous);
        z.pop_back();
      }
    }
    check(same(found, expected));
  }
}

// The transducer of bigrams gives the features of n-grams, whatever the number of threads.
inline void rational_bigrams_are_bigrams(int threads) {
  std::mt19937 random(13);
  const RandomMachines machines = random_machines(random, 3000);
  const LatticeArrays lattices = without_epsilon(build_lattices(machines.raw(), true, threads).lattices.view(), threads);
  std::vector<LabelledArc> arcs;
  for (Label symbol = 1; symbol <= 3; ++symbol)
    for (const auto& [s, writes, t] : {std::tuple(0, false, 0), {0, true, 1}, {1, true, 2}, {2, false, 2}})
      arcs.push_back({s, {symbol, writes ? symbol : kEpsilon, t, 1.0}});
  const std::vector<double> finals{0, 0, 1}, one{1.0};
  const Machine T = build_machine(0, arcs, finals);
  check(epsilon_cycle(T, true).empty());
  arcs.push_back({1, {kEpsilon, 2, 2, 1.0}});
  arcs.push_back({2, {kEpsilon, kEpsilon, 1, 1.0}});
  check(epsilon_cycle(build_machine(0, arcs, finals), true).size() == 2 && epsilon_cycle(build_machine(0, arcs, finals), false).empty());
  const std::vector<std::int32_t> labels{1, 2, 3};
  RowsWithNorms rational, grams;
  const auto features = RationalFeatures::fit(T, lattices.view(), labels, threads, rational);
  const auto bigrams = NGramFeatures::fit(lattices.view(), 2, 2, one, 3, threads, grams);
  check(features.size() == bigrams.size());
  for (std::size_t i = 0; i < grams.sq_norms.size(); ++i) check(near(rational.sq_norms[i], grams.sq_norms[i]));
  const auto [strings, offsets] = features.strings();
  const RowsWithNorms again = RationalFeatures::from_strings(strings, offsets).transform(T, lattices.view(), labels, 1);
  check(again.sq_norms == rational.sq_norms);
  check(std::equal(again.entries.indptr.data(), again.entries.indptr.data() + again.entries.indptr.size(), rational.entries.indptr.data()));
  RowsWithNorms patterns;
  const PatternFamily family = GappyPatterns{2, 0, 0, 1.0, 1.0};
  check(PatternFeatures::fit(family, lattices.view(), std::vector<std::int32_t>{0, 1, 2}, 3, threads, patterns).size() == bigrams.size());
}

// A path of many states: no function recurses once per state.
inline void a_deep_lattice_is_no_trouble() {
  const std::int32_t n = 200000;
  RandomMachines machines;
  for (std::int32_t s = 0; s < n; ++s) {
    machines.arrays.sources.push_back(s);
    machines.arrays.symbols.push_back(s % 2);
    machines.arrays.targets.push_back(s + 1);
    machines.arrays.weights.push_back(0.5);
  }
  machines.arrays.finals.assign(static_cast<std::size_t>(n) + 1, 0.0);
  machines.arrays.finals.back() = 1;
  machines.arrays.states = {0, n + 1};
  machines.arrays.arcs = {0, n};
  machines.starts = {0};
  machines.costs = {0};
  const auto built = build_lattices(machines.raw(), true, 2);
  check(near(built.log_totals[0], n * std::log(0.5)));
  check(std::all_of(built.lattices.weights.begin(), built.lattices.weights.end(), [](double w) { return near(w, 1.0); }));
  check(best_paths(built.lattices.view(), 1).first.size() == static_cast<std::size_t>(n));
  Language found;
  PrefixCounter().count(built.lattices.view()[0], {}, {2, 2},
                        [&](const std::int32_t* z, int k, double value) { found[Gram(z, z + k)] = value; });
  check(same(found, {{{0, 1}, n / 2}, {{1, 0}, n / 2 - 1}}));
}

inline void lattices_are_their_paths(int threads) {
  lattices_keep_the_weights_of_strings(threads);
  a_cycle_is_found();
  expected_counts_are_their_definition({1, 3});
  expected_counts_are_their_definition({2, 2, 2, 2, 0.5, 1.0});
  expected_counts_are_their_definition({3, 3, 1, 5, 0.3, 0.5});
  rational_bigrams_are_bigrams(threads);
  a_deep_lattice_is_no_trouble();
}

}  // namespace treille::tests
