#pragma once
// Representations of W' against flat weights, and the automaton of weights, packed and unpacked.

#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <vector>

#include "automata/packed_weights.hpp"
#include "check.hpp"
#include "features/column_classes.hpp"
#include "features/rows.hpp"
#include "fitted_rows.hpp"
#include "representations/automaton_rows.hpp"
#include "representations/naive_rows.hpp"
#include "representations/trie_rows.hpp"
#include "solve/dual_cd.hpp"
#include "text/ngram_features.hpp"

namespace treille::tests {

static_assert(FeatureRows<NaiveRows> && FeatureRows<TrieRows> && FeatureRows<AutomatonRows>);

// All representations have the same dots, norms and weights after the same steps.
template <class R>
void keeps_what_flat_keeps(const R& rows, const CodedRows<std::uint32_t>& flat, std::size_t n_features) {
  std::mt19937 random(3);
  auto w = rows.zero();
  auto expected = flat.zero();
  double size = 1;  // of W', at most: errors of rounding are in proportion to it
  auto norm = [&](std::size_t i) { return 1 + std::sqrt(flat.sq_norm(i)); };
  check(rows.size() == flat.size());
  for (int step = 0; step < 40 && rows.size() > 0; ++step) {
    const std::size_t i = random() % rows.size(), j = random() % rows.size();
    const double a = static_cast<double>(random() % 9) - 4;
    if (step % 2 == 0) rows.dot(i, w);  // a step may come with a dot before it, or without
    rows.axpy(i, a, w);
    flat.axpy(i, a, expected);
    size += std::abs(a) * norm(i);
    rows.prefetch(j);
    check(std::abs(rows.dot(j, w) - flat.dot(j, expected)) < 1e-11 * size * norm(j));
    check(std::abs(rows.sq_norm(j) - flat.sq_norm(j)) < 1e-11 * norm(j) * norm(j));
  }
  std::vector<double> found(n_features, 0.0), flat_found(n_features, 0.0);
  rows.write_weights(w, found.data(), 1);
  flat.write_weights(expected, flat_found.data(), 1);
  for (std::size_t z = 0; z < n_features; ++z) check(std::abs(found[z] - flat_found[z]) < 1e-11 * size);
}

inline void strings_come_back(const Sequences& strings, std::span<const std::int32_t> cls, std::span<const double> weight,
                              std::int32_t n_symbols) {
  const StringTrie trie(strings, sorted_strings(strings));
  const WeightAutomaton automaton = WeightMinimizer::minimize(trie, cls, weight);
  check(automaton.n_arcs() <= trie.n_arcs());
  const PackedWeights packed = pack(automaton);
  auto unpack = [&](std::int64_t n_strings) {
    return Unpacker(packed.states, packed.targets, packed.classes, packed.labels, packed.weights, n_symbols, 3).strings(n_strings);
  };
  const WeightedStrings back = unpack(static_cast<std::int64_t>(strings.size()));
  std::map<std::vector<std::int32_t>, std::pair<std::int32_t, double>> expected;
  for (std::size_t z = 0; z < strings.size(); ++z) expected[{strings[z].begin(), strings[z].end()}] = {cls[z], weight[z]};
  check(back.weight.size() == expected.size());
  std::size_t z = 0;
  for (const auto& [string, value] : expected) {
    const std::vector<std::int32_t> own(back.symbols.begin() + back.offsets[z], back.symbols.begin() + back.offsets[z + 1]);
    check(own == string && back.cls[z] == value.first && std::abs(back.weight[z] / value.second - 1) < 1e-12);
    ++z;
  }
  bool refused = false;
  try {
    unpack(static_cast<std::int64_t>(strings.size()) + 1);
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  check(refused);
}

inline void representations_agree(const Sequences& data, std::int32_t alphabet, int min_n, int n, int threads) {
  RowsWithNorms rows;
  const std::vector<double> orders(static_cast<std::size_t>(n - min_n + 1), 1.5), scale(data.size(), 0.5);
  const auto features = NGramFeatures::fit(data, min_n, n, orders, alphabet, threads, rows);
  const NarrowRows coded = folded_view(rows.entries, scale, features.size());
  std::vector<std::int32_t> symbols, cls;
  std::vector<std::int64_t> offsets{0};
  std::vector<double> weight;
  for (std::uint32_t z = 0; z < features.size(); ++z) {
    const auto gram = features.gram(z);
    symbols.insert(symbols.end(), gram.begin(), gram.end());
    offsets.push_back(static_cast<std::int64_t>(symbols.size()));
    cls.push_back(static_cast<std::int32_t>(z % 3));
    weight.push_back(z % 2 == 0 ? 1.0 + z % 5 : -0.5 * (1 + z % 7));
  }
  const Sequences strings{symbols, offsets};
  const CodedRows<std::uint32_t> folded(coded);
  keeps_what_flat_keeps(NaiveRows(coded), folded, features.size());
  keeps_what_flat_keeps(TrieRows(coded, strings), folded, features.size());
  keeps_what_flat_keeps(AutomatonRows(coded, strings, threads), folded, features.size());
  strings_come_back(strings, cls, weight, alphabet);

  ClassFinder<std::uint32_t> finder(coded, threads);
  const FeatureClasses classes = finder.find();
  const CodedEntries merged = finder.merged_rows(classes);
  const CodedRows<std::uint32_t> by_class(narrow_view(merged, scale, classes.n_classes, classes.n_shared));
  auto one = by_class.zero(), other = folded.zero();
  double size = 1;
  auto norm = [&](std::size_t i) { return 1 + std::sqrt(folded.sq_norm(i)); };
  for (std::size_t i = 0; i < data.size(); ++i) {
    check(std::abs(by_class.sq_norm(i) - folded.sq_norm(i)) < 1e-11 * norm(i) * norm(i));
    size += (1.0 + static_cast<double>(i)) * norm(i);
    by_class.axpy(i, 1.0 + static_cast<double>(i), one);
    folded.axpy(i, 1.0 + static_cast<double>(i), other);
  }
  for (std::size_t i = 0; i < data.size(); ++i) check(std::abs(by_class.dot(i, one) - folded.dot(i, other)) < 1e-11 * size * norm(i));
  std::vector<double> cells(classes.n_classes, 0.0), flat(features.size(), 0.0);
  by_class.write_weights(one, cells.data(), 1);
  folded.write_weights(other, flat.data(), 1);
  for (std::size_t z = 0; z < features.size(); ++z)
    check(std::abs(classes.value[z] / std::sqrt(classes.square[classes.of[z]]) * cells[classes.of[z]] - flat[z]) < 1e-11 * size);
}

}  // namespace treille::tests
