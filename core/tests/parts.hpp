#pragma once
// Dual coordinate descent on parts that share one vector of weights, and rows with other ids.

#include <cmath>
#include <random>

#include "check.hpp"
#include "corpus.hpp"
#include "features/products.hpp"
#include "features/renumbering.hpp"
#include "fitted_rows.hpp"
#include "hinge_loss.hpp"
#include "solve/part_cd.hpp"
#include "text/ngram_features.hpp"

namespace treille::tests {

// Visits to two parts, each of two segments, raise the dual value, and w stays w(alpha); the gap falls to 1e-3.
inline void visits_to_parts_reach_the_optimum(bool weighted, double bias) {
  std::mt19937 random(11);
  const Corpus corpus = random_corpus(random, 120, 40, 4);
  const Sequences data = corpus.view();
  const std::vector<double> scale(data.size(), 0.25), C(60, 1.0);
  RowsWithNorms rows;
  const auto features = NGramFeatures::fit(data, 3, 3, std::vector<double>{1.0}, 4, 1, rows);
  const std::size_t F = features.size();
  std::vector<double> s;
  for (std::size_t z = 0; weighted && z < F; ++z) s.push_back(z % 7 == 0 ? 0.0 : 0.5 + static_cast<double>(z % 3));
  NarrowRows whole = narrow_view(rows.entries, scale, F, F);
  auto slice = [&](std::size_t first) {
    NarrowRows part = whole;
    part.indptr = whole.indptr.subspan(first, 31);
    part.scale = whole.scale.subspan(first, 30);
    return PartRows::Segment{{part, s, 0, F}};
  };
  std::vector<PartRows> parts{PartRows({slice(0), slice(30)}), PartRows({slice(60), slice(90)})};
  std::vector<std::int32_t> labels[2];
  std::vector<double> u(F, 0.0), alpha[2] = {std::vector<double>(60), std::vector<double>(60)};
  for (auto& own : labels)
    for (int i = 0; i < 60; ++i) own.push_back(static_cast<std::int32_t>(random() % 2));
  double b = 0, before = 0, primal = 0, dual = 0;
  for (int pass = 0; pass < 400; ++pass) {
    for (std::size_t p = 0; p < 2; ++p) {
      const auto loss = hinge_loss(labels[p], 1, C, false);
      std::vector<std::uint8_t> free(60, 1);
      improve_part(parts[p], loss, {bias, 5, 0.1, static_cast<std::uint64_t>(pass)}, {u.data(), &b}, alpha[p], 60, free);
    }
    std::vector<double> sum(F, 0.0);
    double sum_b = 0, losses = 0, own = 0, square = 0;
    for (std::size_t p = 0; p < 2; ++p) {
      const PartValues values =
          measure_part(parts[p], hinge_loss(labels[p], 1, C, false), bias, {u.data(), &b}, alpha[p], {sum.data(), &sum_b});
      losses += values.losses;
      own += values.dual;
    }
    for (std::size_t z = 0; z < F; ++z) {
      check(std::abs(sum[z] - u[z]) <= 1e-9 * (1 + std::abs(u[z])));
      const double weight = weighted ? (s[z] > 0 ? u[z] / s[z] : 0.0) : u[z];
      square += weight * weight;
    }
    check(std::abs(sum_b - b) <= 1e-9 * (1 + std::abs(b)));
    dual = own - 0.5 * (square + b * b);
    primal = losses + 0.5 * (square + b * b);
    check(dual >= before - 1e-9 * std::abs(before) && dual <= primal * (1 + 1e-12));
    before = dual;
  }
  check(primal - dual <= 1e-2 * primal);
}

// Columns moved, or left out, are where the ids say, in rows whose ids rise.
inline void renumbered_rows_hold_the_same_values(int threads) {
  std::mt19937 random(5);
  const Corpus corpus = random_corpus(random, 40, 400, 6);
  RowsWithNorms rows;
  const auto features = NGramFeatures::fit(corpus.view(), 3, 3, std::vector<double>{1.0}, 6, 1, rows);
  const std::vector<double> scale(corpus.view().size(), 1.0);
  const NarrowRows view = narrow_view(rows.entries, scale, features.size(), features.size());
  const std::size_t wide = 2 * features.size() + 5;
  std::vector<std::int64_t> ids(features.size());
  for (std::size_t z = 0; z < ids.size(); ++z) ids[z] = z % 5 == 0 ? -1 : static_cast<std::int64_t>(wide - 1 - 2 * z);
  const CodedEntries moved = renumbered(view, std::span<const std::int64_t>(ids), wide, threads);
  const NarrowRows found = narrow_view(moved, scale, wide, wide);
  for (std::size_t i = 0; i < view.size(); ++i) {
    std::vector<double> expected(wide, 0.0), values(wide, 0.0);
    for (const auto e : view.row(i))
      if (ids[view.id(e)] >= 0) expected[static_cast<std::size_t>(ids[view.id(e)])] = view.value(e);
    std::size_t last = 0;
    for (const auto e : found.row(i)) {
      check(found.id(e) >= last);
      last = found.id(e);
      values[found.id(e)] = found.value(e);
    }
    check(values == expected);
  }
}

}  // namespace treille::tests
