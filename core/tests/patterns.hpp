#pragma once
// Features of patterns, and the matrices that need none, under sanitizers: each against its definition.

#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "check.hpp"
#include "features/compaction.hpp"
#include "text/pattern_features.hpp"
#include "text/pattern_gram.hpp"

namespace treille::tests {

using Pattern = std::vector<std::int32_t>;
using Values = std::map<Pattern, double>;

inline std::vector<std::int32_t> recoded(std::span<const std::int32_t> x, const std::vector<std::int32_t>& recode) {
  std::vector<std::int32_t> codes;
  for (const std::int32_t s : x) codes.push_back(recode[static_cast<std::size_t>(s)]);
  return codes;
}

inline Values slow_values(const PatternFamily& family, std::span<const std::int32_t> x) {
  Values values;
  std::visit(
      [&](const auto& f) {
        f.emit(x, [&](const std::int32_t* cells, int n, double value) { values[Pattern(cells, cells + n)] += value; });
      },
      family);
  return values;
}

inline double product(const Values& x, const Values& y) {
  double sum = 0;
  for (const auto& [z, value] : x)
    if (const auto found = y.find(z); found != y.end()) sum += value * found->second;
  return sum;
}

inline bool close(double found, double expected) { return std::abs(found - expected) <= 1e-12 * (1 + std::abs(expected)); }

// Fitted on all, and met again through features rebuilt from their patterns: rows hold the values of the definition, and nothing else.
inline void rows_hold_the_values_of_patterns(const PatternFamily& family, const Sequences& data, const std::vector<std::int32_t>& recode,
                                             std::int32_t alphabet, int threads) {
  RowsWithNorms fitted;
  const auto features = PatternFeatures::fit(family, data, recode, alphabet, threads, fitted);
  const auto again = PatternFeatures::from_patterns(family, features.patterns(), features.lengths(), alphabet);
  RowsWithNorms met = again.transform(data, recode, threads);
  for (const RowsWithNorms* rows : {&fitted, &met})
    std::visit(
        [&]<class Word>(const Buffer<Word>& entries) {
          const CodedEntries& e = rows->entries;
          for (std::size_t i = 0; i < data.size(); ++i) {
            const Values slow = slow_values(family, recoded(data[i], recode));
            Values found;
            for (auto k = static_cast<std::size_t>(e.indptr[i]); k < static_cast<std::size_t>(e.indptr[i + 1]); ++k)
              found[features.pattern(static_cast<std::uint32_t>(entries[k] >> e.code_bits))] =
                  e.codebook[static_cast<std::size_t>(entries[k] & ((Word{1} << e.code_bits) - 1))];
            check(found.size() == slow.size() && close(rows->sq_norms[i], product(slow, slow)));
            for (const auto& [z, value] : slow) check(found.count(z) == 1 && close(found[z], value));
          }
        },
        rows->entries.entries);
}

// Rows compacted to a Helmert basis have the inner products of the definition, and weights of cells are read as weights of features.
inline void rows_in_a_basis_are_the_same_rows(const GappedKmerPatterns& family, const Sequences& data,
                                              const std::vector<std::int32_t>& recode, std::int32_t alphabet, int threads) {
  RowsWithNorms rows;
  const auto features = PatternFeatures::fit(family, data, recode, alphabet, threads, rows);
  const auto families = features.families();
  check(families.has_value());
  const HelmertBasis basis({families->sizes, families->family, families->member});
  const std::vector<double> scale(data.size(), 1.0);
  const auto entries =
      rows.entries.visit(scale, features.size(), features.size(), [&](const auto& view) { return rows_in_basis(view, basis, threads); });
  check(entries.has_value() && entries->indptr[data.size()] < rows.entries.indptr[data.size()]);
  const CellMap map(basis);
  std::vector<Values> slow;
  std::vector<std::vector<double>> cells(data.size(), std::vector<double>(map.n_cells(), 0.0));
  entries->visit(scale, map.n_cells(), map.n_cells(), [&](const auto& view) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      slow.push_back(slow_values(family, recoded(data[i], recode)));
      for (const auto entry : view.row(i)) cells[i][view.id(entry)] = view.value(entry);
    }
  });
  std::vector<double> weights(features.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (std::size_t j = 0; j < data.size(); ++j)
      check(close(std::inner_product(cells[i].begin(), cells[i].end(), cells[j].begin(), 0.0), product(slow[i], slow[j])));
    map.read(cells[i], 1, threads, weights.data());
    for (std::uint32_t id = 0; id < weights.size(); ++id) {
      const auto found = slow[i].find(features.pattern(id));
      check(close(weights[id], found == slow[i].end() ? 0.0 : found->second));
    }
    const auto again = map.project(weights);
    for (std::size_t c = 0; c < cells[i].size(); ++c) check(std::abs(again[c] - cells[i][c]) <= 1e-9 * (1 + std::abs(cells[i][c])));
  }
}

// Kernel values of a routine for matrices, whole and as a block, against slow(x, y) of recoded sequences.
template <class Gram, class Diagonal, class Slow>
void matrix_equals_its_definition(const Recoded& data, const std::vector<std::int32_t>& recode, Gram&& gram, Diagonal&& diagonal,
                                  Slow&& slow) {
  const std::size_t n = data.data.size();
  const auto own = gram(data, std::nullopt), block = gram(data, std::optional(data));
  const auto squares = diagonal(data);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double expected = slow(recoded(data.data[i], recode), recoded(data.data[j], recode));
      check(close(own[i * n + j], expected) && own[i * n + j] == own[j * n + i] && close(block[i * n + j], expected));
      if (i == j) check(close(squares[i], expected));
    }
}

inline double slow_mismatches(const Pattern& x, const Pattern& y, int length, const std::vector<double>& weights) {
  const auto l = static_cast<std::size_t>(length);
  double sum = 0;
  for (std::size_t i = 0; i + l <= x.size(); ++i)
    for (std::size_t j = 0; j + l <= y.size(); ++j) {
      std::size_t differ = 0;
      bool clean = true;
      for (std::size_t k = 0; k < l; ++k) {
        clean &= x[i + k] >= 0 && y[j + k] >= 0;
        differ += x[i + k] != y[j + k];
      }
      if (clean) sum += weights[differ];
    }
  return sum;
}

inline double slow_weighted_degree(const Pattern& x, const Pattern& y, int d, int shift) {
  auto agree = [](const Pattern& a, std::size_t i, const Pattern& b, std::size_t j, std::size_t n) {
    return i + n <= a.size() && j + n <= b.size() &&
           std::equal(a.begin() + static_cast<long>(i), a.begin() + static_cast<long>(i + n), b.begin() + static_cast<long>(j));
  };
  double sum = 0;
  for (int n = 1; n <= d; ++n)
    for (std::size_t i = 0; i < std::max(x.size(), y.size()); ++i)
      for (int s = 0; s <= shift; ++s) {
        const auto far = i + static_cast<std::size_t>(s), length = static_cast<std::size_t>(n);
        sum += 2.0 * (d - n + 1) / (d * (d + 1)) / (2 * (s + 1)) * (agree(x, far, y, i, length) + agree(x, i, y, far, length));
      }
  return sum;
}

// `data` has long sequences of symbols 0..3.
inline void long_rows_equal_their_definition(const Sequences& data, int threads) {
  const std::vector<std::int32_t> all{0, 1, 2, 3}, complement{3, 2, 1, 0};
  rows_in_a_basis_are_the_same_rows(GappedKmerPatterns(9, 4, {}), data, all, 4, threads);
  rows_in_a_basis_are_the_same_rows(GappedKmerPatterns(8, 3, complement), data, all, 4, threads);
}

// `data` has symbols 0..4; the last is left out where a family leaves some out.
inline void patterns_equal_their_definition(const Sequences& data, int threads) {
  const std::vector<std::int32_t> all{0, 1, 2, 3, 4}, some{0, 1, 2, 3, -1}, complement{3, 2, 1, 0};
  rows_hold_the_values_of_patterns(GappyPatterns{3, 2, 3, 0.5, 1.0}, data, all, 5, threads);
  rows_hold_the_values_of_patterns(WildcardPatterns(3, 1, 0.5), data, all, 5, threads);
  rows_hold_the_values_of_patterns(PlacedPatterns{3}, data, all, 5, threads);
  rows_hold_the_values_of_patterns(MismatchPatterns(3, 1, 5), data, all, 5, threads);
  const std::vector<double> weights{5.0, 1.0, 0.25, 0.0, -0.5};
  for (const auto& both : {std::vector<std::int32_t>{}, complement}) {
    const GappedKmerPatterns family(5, 3, both);
    rows_hold_the_values_of_patterns(family, data, some, 4, threads);
    matrix_equals_its_definition(
        {data, some}, some, [&](const Recoded& l, const std::optional<Recoded>& r) { return gapped_kmer_gram(family, 4, l, r, threads); },
        [&](const Recoded& l) { return gapped_kmer_diagonal(family, 4, l, threads); },
        [&](const Pattern& x, const Pattern& y) { return product(slow_values(family, x), slow_values(family, y)); });
  }
  matrix_equals_its_definition(
      {data, some}, some, [&](const Recoded& l, const std::optional<Recoded>& r) { return mismatch_gram(4, weights, {}, l, r, threads); },
      [&](const Recoded& l) { return mismatch_diagonal(4, weights, {}, l, threads); },
      [&](const Pattern& x, const Pattern& y) { return slow_mismatches(x, y, 4, weights); });
  for (const int shift : {0, 2})
    matrix_equals_its_definition(
        {data, all}, all, [&](const Recoded& l, const std::optional<Recoded>& r) { return weighted_degree_gram(3, shift, l, r, threads); },
        [&](const Recoded& l) { return weighted_degree_diagonal(3, shift, l, threads); },
        [&](const Pattern& x, const Pattern& y) { return slow_weighted_degree(x, y, 3, shift); });
}

}  // namespace treille::tests
