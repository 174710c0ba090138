#pragma once
// Products and powers of features against all tuples of every example.

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "check.hpp"
#include "features/product_features.hpp"

namespace treille::tests {

struct RandomFactor {
  std::vector<std::int64_t> indptr{0};
  std::vector<std::uint32_t> ids;
  std::vector<double> values;

  RandomFactor(std::size_t n, std::uint32_t width, unsigned sparsity, bool binary, std::mt19937& random) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::uint32_t z = 0; z < width; ++z)
        if (i % 9 != 4 && random() % sparsity == 0) {
          ids.push_back(z);
          values.push_back(binary ? 1.0 : 0.25 * static_cast<double>(1 + random() % 1000));
        }
      indptr.push_back(static_cast<std::int64_t>(ids.size()));
    }
  }
  FactorRows rows() const { return {indptr, ids, values}; }
};

using Tuple = std::vector<std::int64_t>;
using SlowRows = std::vector<std::map<Tuple, double>>;

// Every sequence of features, one of each step; those of a power are sorted, and their squares summed.
inline SlowRows slow_products(const Factors& factors) {
  SlowRows out(factors.size());
  for (std::size_t i = 0; i < factors.size(); ++i) {
    std::map<Tuple, double> squares{{{}, 1.0}};
    for (std::size_t step = 0; step < factors.steps(); ++step) {
      const FactorRows& rows = factors.rows[step % factors.rows.size()];
      std::map<Tuple, double> longer;
      for (const auto& [tuple, square] : squares)
        for (auto e = static_cast<std::size_t>(rows.indptr[i]); e < static_cast<std::size_t>(rows.indptr[i + 1]); ++e) {
          Tuple next = tuple;
          next.push_back(rows.ids[e]);
          if (factors.degree > 1) std::sort(next.begin(), next.end());
          longer[next] += square * rows.values[e] * rows.values[e];
        }
      squares = std::move(longer);
    }
    for (const auto& [tuple, square] : squares) out[i][tuple] = std::sqrt(square);
  }
  return out;
}

// Rows hold the slow products that are features.
inline void check_products(const ProductFeatures& features, const CodedEntries& rows, const SlowRows& slow) {
  std::map<Tuple, std::size_t> ids;
  for (std::size_t id = 0; id < features.size(); ++id) {
    Tuple tuple(features.steps());
    features.tuple(id, tuple.data());
    check(ids.empty() || ids.rbegin()->first < tuple);
    ids[tuple] = id;
  }
  const std::vector<double> scale(slow.size(), 1.0);
  rows.visit(scale, features.size(), features.size(), [&](const auto& view) {
    check(view.size() == slow.size());
    for (std::size_t i = 0; i < slow.size(); ++i) {
      std::size_t at = 0;
      for (const auto& [tuple, value] : slow[i])
        if (const auto known = ids.find(tuple); known != ids.end()) {
          check(at < view.row(i).size() && view.id(view.row(i)[at]) == known->second);
          check(std::abs(view.value(view.row(i)[at++]) - value) <= 1e-12 * value);
        }
      check(at == view.row(i).size());
    }
  });
}

inline void products_equal_all_tuples(std::size_t n_factors, std::size_t degree, bool binary, int threads) {
  std::mt19937 random(static_cast<unsigned>(10 * n_factors + degree));
  const unsigned sparsity = degree > 2 ? 5 : 2;
  std::vector<RandomFactor> seen, other;
  Factors fitted{{}, degree}, fresh{{}, degree};
  for (std::size_t f = 0; f < n_factors; ++f) seen.emplace_back(250, 30 + 9 * f, sparsity, binary, random);
  for (std::size_t f = 0; f < n_factors; ++f) other.emplace_back(90, 40, sparsity, binary, random);
  for (const RandomFactor& factor : seen) fitted.rows.push_back(factor.rows());
  for (const RandomFactor& factor : other) fresh.rows.push_back(factor.rows());
  const SlowRows slow = slow_products(fitted), slow_fresh = slow_products(fresh);
  std::set<Tuple> different;
  for (const auto& row : slow)
    for (const auto& [tuple, _] : row) different.insert(tuple);

  CodedEntries rows;
  const ProductFeatures features = ProductFeatures::fit(fitted, threads, rows);
  check(features.size() == different.size());
  check_products(features, rows, slow);
  check_products(features, features.transform(fitted, threads), slow);
  check_products(features, features.transform(fresh, threads), slow_fresh);
  const double estimate = estimate_products(fitted, threads).products, count = static_cast<double>(different.size());
  check(std::abs(estimate - count) < 0.1 * count);

  const Buffer<std::int64_t> all = features.tuples(threads);
  std::vector<std::int64_t> some;  // of every third feature, one of them twice
  for (std::size_t id = 0; id < features.size(); id += 3)
    some.insert(some.end(), all.data() + id * features.steps(), all.data() + (id + 1) * features.steps());
  some.insert(some.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(features.steps()));
  const ProductFeatures few(some, features.steps());
  check(few.size() == (features.size() + 2) / 3);
  check_products(few, few.transform(fresh, threads), slow_fresh);
}

inline void no_examples_have_no_products() {
  const std::vector<std::int64_t> indptr{0};
  for (const std::size_t degree : {1u, 2u, 3u}) {
    CodedEntries rows;
    const ProductFeatures features = ProductFeatures::fit({{{indptr, {}, {}}}, degree}, 2, rows);
    check(features.size() == 0 && rows.indptr.size() == 1);
    check(features.transform({{{indptr, {}, {}}}, degree}, 2).indptr.size() == 1);
  }
}

inline void products() {
  no_examples_have_no_products();
  for (const int threads : {1, 3}) {
    for (const std::size_t degree : {1u, 2u, 3u, 4u}) products_equal_all_tuples(1, degree, degree % 2 == 0, threads);
    for (const bool binary : {false, true}) products_equal_all_tuples(2, 1, binary, threads);
  }
}

}  // namespace treille::tests
