#pragma once
// Upward strings, their products, features and index under sanitizers, against slow twins.

#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "trees.hpp"
#include "trees/subpath_features.hpp"
#include "trees/subpath_product.hpp"
#include "trees/upward_order.hpp"
#include "trees/xbw.hpp"

namespace treille::tests {

using Path = std::vector<std::int32_t>;

// Paths read upwards, and how often each occurs in a tree.
inline std::map<Path, double> path_counts(const Forest& forest, std::size_t t) {
  std::map<Path, double> counts;
  const auto first = static_cast<std::size_t>(forest.offsets[t]), last = static_cast<std::size_t>(forest.offsets[t + 1]);
  for (std::size_t v = first; v < last; ++v) {
    Path path;
    for (auto u = static_cast<std::int32_t>(v - first); u >= 0; u = forest.parents[first + static_cast<std::size_t>(u)]) {
      path.push_back(forest.labels[first + static_cast<std::size_t>(u)]);
      ++counts[path];
    }
  }
  return counts;
}

inline void paths_equal_their_definition(const Woods& woods, std::int32_t n_labels, std::size_t longest, int threads) {
  const Forest forest = woods.view();
  const std::size_t n = forest.size();
  std::vector<double> cumulative(longest + 1, 0.0);
  for (std::size_t l = 1; l <= longest; ++l) cumulative[l] = cumulative[l - 1] + std::pow(0.7, l);
  std::vector<std::map<Path, double>> counts;
  for (std::size_t t = 0; t < n; ++t) counts.push_back(path_counts(forest, t));
  std::vector<double> K(n * n, 0.0), beta(2 * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (const auto& [path, count] : counts[i])
        if (const auto found = counts[j].find(path); found != counts[j].end() && path.size() <= longest)
          K[i * n + j] += count * found->second * (cumulative[path.size()] - cumulative[path.size() - 1]);
  std::iota(beta.begin(), beta.end(), -3.0);
  const auto close = [&](double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(b)); };

  const SubstringTree tree = shared_paths(forest, cumulative, n);
  const SubpathProduct packed(forest, cumulative);
  std::vector<double> fast(2 * n), small(2 * n);
  tree.product(beta, 2, threads, fast.data());
  packed.product(beta, 2, threads, small.data());
  const auto own = subpath_self(forest, cumulative, threads);
  const SubpathFeatures fitted = SubpathFeatures::fit(forest, n_labels, cumulative);
  std::vector<std::int64_t> half;
  for (std::size_t id = 0; id < fitted.size(); id += 2) half.push_back(static_cast<std::int64_t>(id));
  const SparseRows rows = fitted.transform(forest, threads), some = fitted.restrict(half).transform(forest, threads);
  check(rows.indptr[n] <= fitted.most_entries() && some.indptr[n] <= rows.indptr[n]);
  std::vector<std::map<std::int32_t, double>> phi(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (auto e = static_cast<std::size_t>(rows.indptr[i]); e < static_cast<std::size_t>(rows.indptr[i + 1]); ++e)
      phi[i][rows.features[e]] = rows.values[e];
    for (auto e = static_cast<std::size_t>(some.indptr[i]); e < static_cast<std::size_t>(some.indptr[i + 1]); ++e)
      check(some.values[e] == phi[i][2 * some.features[e]]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    check(close(own[i], K[i * n + i]));
    for (const std::size_t k : {0, 1}) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += K[i * n + j] * beta[2 * j + k];
      check(close(fast[2 * i + k], sum) && close(small[2 * i + k], sum));
    }
    for (std::size_t j = 0; j < n; ++j) {
      double dot = 0;
      for (const auto& [id, value] : phi[i])
        if (const auto found = phi[j].find(id); found != phi[j].end()) dot += value * found->second;
      check(close(dot, K[i * n + j]));
    }
  }

  const Xbw index(forest);
  const auto symbols = index.symbols();
  const Xbw again(index.last(), symbols, index.sequence());
  std::vector<std::int64_t> roots(n);
  std::iota(roots.begin(), roots.end(), 0);
  for (const Xbw* each : {&index, &again}) {
    const Subtrees back = each->subtrees(roots, threads);
    check(each->size() == n && std::equal(woods.labels.begin(), woods.labels.end(), back.labels.data()) &&
          std::equal(woods.parents.begin(), woods.parents.end(), back.parents.data()) &&
          std::equal(woods.offsets.begin(), woods.offsets.end(), back.offsets.data()));
  }
  std::map<Path, double> all;
  for (const auto& one : counts)
    for (const auto& [path, count] : one) all[path] += count;
  for (const auto& [path, count] : all) {
    const Path downwards(path.rbegin(), path.rend());
    check(static_cast<double>(index.count(downwards)) == count && index.find(downwards).size() == index.count(downwards));
  }
  for (std::size_t place = 0; place < index.n_nodes(); ++place) {
    const auto [first, last] = index.children(place);
    for (std::size_t child = first; child < last; ++child) check(index.parent(child) == place && index.root(child) == index.root(place));
    check(index.is_leaf(place) == (first == last) && index.parent(place).has_value() == (place >= n));
  }
}

inline void subpaths_equal_their_definition(int threads) {
  std::mt19937 random(static_cast<unsigned>(threads));
  for (const unsigned n_labels : {1u, 3u, 70000u}) {
    paths_equal_their_definition(random_woods(random, 12, 40, n_labels), static_cast<std::int32_t>(n_labels), 60, threads);
    paths_equal_their_definition(random_woods(random, 5, 30, n_labels), static_cast<std::int32_t>(n_labels), 2, threads);
  }
  Woods chain;  // needs doubling: 300 labels are more than a word holds
  for (const int tree : {0, 1, 2}) {
    for (std::int32_t v = 0; v < 300; ++v) {
      chain.parents.push_back(v - 1);
      chain.labels.push_back(tree == 2 && v % 97 == 0);
    }
    chain.offsets.push_back(static_cast<std::int64_t>(chain.labels.size()));
  }
  const SortedStrings<std::int64_t> sorted = upward_strings<std::int64_t>(chain.view());
  for (std::size_t r = 1; r < 900; ++r) check(sorted.lcp[r] <= std::min(sorted.length[r - 1], sorted.length[r]));
  paths_equal_their_definition(random_woods(random, 1, 1, 1), 1, 5, threads);
  paths_equal_their_definition(Woods{}, 1, 5, threads);
}

}  // namespace treille::tests
