#pragma once
// Trees under sanitizers: readers, preorder, matrices and features against slow twins, on random forests and at the edges.

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "trees/brackets.hpp"
#include "trees/preorder.hpp"
#include "trees/subtree_features.hpp"
#include "trees/tree_gram.hpp"
#include "trees/tree_index.hpp"

namespace treille::tests {

struct Woods {
  std::vector<std::int32_t> labels, parents;
  std::vector<std::int64_t> offsets{0};
  Forest view() const { return {labels, parents, offsets}; }
};

// Each node hangs from the one before it or from an ancestor of that: preorder.
inline Woods random_woods(std::mt19937& random, int trees, unsigned largest, unsigned n_labels) {
  Woods woods;
  for (int t = 0; t < trees; ++t) {
    const auto first = woods.labels.size();
    const unsigned n = 1 + random() % largest;
    for (unsigned v = 0; v < n; ++v) {
      std::int32_t parent = static_cast<std::int32_t>(v) - 1;
      for (unsigned up = random() % 3; up > 0 && parent > 0; --up) parent = woods.parents[first + static_cast<std::size_t>(parent)];
      woods.parents.push_back(parent);
      woods.labels.push_back(static_cast<std::int32_t>(random() % n_labels));
    }
    woods.offsets.push_back(static_cast<std::int64_t>(woods.labels.size()));
  }
  return woods;
}

// One tree by pointers, and the kernels on it by recursion from their definitions.
struct PlainTree {
  std::vector<std::int32_t> labels;
  std::vector<std::vector<std::size_t>> children;

  PlainTree(const Forest& forest, std::size_t t) {
    const auto first = static_cast<std::size_t>(forest.offsets[t]), last = static_cast<std::size_t>(forest.offsets[t + 1]);
    labels.assign(forest.labels.begin() + static_cast<long>(first), forest.labels.begin() + static_cast<long>(last));
    children.resize(labels.size());
    for (std::size_t v = 1; v < labels.size(); ++v) children[static_cast<std::size_t>(forest.parents[first + v])].push_back(v);
  }
  std::string text_of(std::size_t v) const {
    std::string text = "(" + std::to_string(labels[v]);
    for (const std::size_t child : children[v]) text += text_of(child);
    return text + ")";
  }
  std::size_t inner(std::size_t v) const {
    std::size_t sum = children[v].empty() ? 0 : 1;
    for (const std::size_t child : children[v]) sum += inner(child);
    return sum;
  }
};

inline double slow_delta(const SubsetTrees& rule, const PlainTree& x, std::size_t u, const PlainTree& y, std::size_t v) {
  const auto &a = x.children[u], &b = y.children[v];
  if (x.labels[u] != y.labels[v] || a.size() != b.size() || (a.empty() && !rule.leaves)) return 0;
  double product = rule.decay;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (x.labels[a[k]] != y.labels[b[k]]) return 0;
    const bool both_leaves = x.children[a[k]].empty() && y.children[b[k]].empty();
    product *= both_leaves && !rule.leaves ? 1.0 : rule.sigma + slow_delta(rule, x, a[k], y, b[k]);
  }
  return product;
}

inline double slow_delta(const PartialTrees& rule, const PlainTree& x, std::size_t u, const PlainTree& y, std::size_t v) {
  if (x.labels[u] != y.labels[v]) return 0;
  const auto &a = x.children[u], &b = y.children[v];
  // ends[i][j]: common subsequences that end at the children i and j
  std::vector<std::vector<double>> ends(a.size(), std::vector<double>(b.size()));
  double sum = rule.decay * rule.decay;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) {
      double before = 1;
      for (std::size_t k = 0; k < i; ++k)
        for (std::size_t l = 0; l < j; ++l)
          before += ends[k][l] * std::pow(rule.decay, static_cast<double>(i - k + j - l) - (rule.gaps ? 2 : 0));
      ends[i][j] = before * slow_delta(rule, x, a[i], y, b[j]);
      sum += ends[i][j];
    }
  return rule.mu * sum;
}

template <class Rule>
void tree_values_equal_their_definition(const Forest& forest, const Rule& rule, int threads) {
  const std::size_t n = forest.size();
  const TreeIndex<typename Rule::Kin> index(forest);
  const auto own = tree_gram(index, forest, rule, true, threads), whole = tree_gram(index, forest, rule, false, threads);
  const auto diagonal = tree_diagonal(forest, rule, threads);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const PlainTree x(forest, i), y(forest, j);
      double expected = 0;
      for (std::size_t u = 0; u < x.labels.size(); ++u)
        for (std::size_t v = 0; v < y.labels.size(); ++v) expected += slow_delta(rule, x, u, y, v);
      const auto close = [&](double value) { return std::abs(value - expected) <= 1e-12 * (1 + expected); };
      check(close(own[i * n + j]) && own[i * n + j] == own[j * n + i]);
      check(close(whole[i * n + j]));
      if (i == j) check(close(diagonal[i]));
    }
}

inline void subtrees_are_counted(const Forest& forest, int threads) {
  RowsWithNorms rows;
  const auto features = SubtreeFeatures::fit(forest, 0.5, false, rows);
  std::vector<std::int64_t> everyone(features.size());
  for (std::size_t f = 0; f < everyone.size(); ++f) everyone[f] = static_cast<std::int64_t>(f);
  const auto parts = features.parts(everyone);
  const auto again = SubtreeFeatures::from_parts(parts.cells, parts.starts, parts.features, 0.5, false).transform(forest, threads);
  for (std::size_t t = 0; t < forest.size(); ++t) {
    const PlainTree tree(forest, t);
    std::map<std::string, double> counts;
    std::map<std::string, double> values;
    for (std::size_t v = 0; v < tree.labels.size(); ++v)
      if (!tree.children[v].empty()) {
        ++counts[tree.text_of(v)];
        values[tree.text_of(v)] = std::pow(0.5, 0.5 * static_cast<double>(tree.inner(v)));
      }
    double expected = 0;
    for (const auto& [text, count] : counts) expected += count * count * values[text] * values[text];
    check(std::abs(rows.sq_norms[t] - expected) <= 1e-12 * (1 + expected) && again.sq_norms[t] == rows.sq_norms[t]);
    check(rows.entries.indptr[t + 1] - rows.entries.indptr[t] == static_cast<std::int64_t>(counts.size()));
    check(again.entries.indptr[t + 1] == rows.entries.indptr[t + 1]);
  }
  for (std::size_t f = 0; f < features.size(); ++f) {
    const auto [labels, arities] = features.nodes(static_cast<std::uint32_t>(f));
    check(labels.size() == arities.size() && arities[0] > 0);
  }
}

inline void brackets_are_read_or_refused() {
  const std::vector<std::string_view> bad = {"",     " ",       "(",          ")",        "()", "(())",  "(a",
                                             "(a))", "(a) (b)", "( (a) (b))", "( (a) b)", "a",  "(a) b", "( ( a)"};
  for (const std::string_view text : bad) check(read_brackets(std::span(&text, 1), 2).fault.has_value());
  const std::string deep(100000, '(');
  std::string chain;
  for (int depth = 0; depth < 100000; ++depth) chain += "(a ";
  chain += std::string(100000, ')');
  const std::vector<std::string_view> good = {"(b a)", "( (c))", chain, "(a(b)(c d))"};
  for (const int threads : {1, 3}) {
    const auto trees = read_brackets(good, threads);
    check(!trees.fault && trees.alphabet == std::vector<std::string>{"a", "b", "c", "d"});
    check(trees.offsets == std::vector<std::int64_t>{0, 2, 3, 100003, 100007} && trees.parents[100002] == 99998);
    const std::vector<std::int32_t> last(trees.parents.end() - 4, trees.parents.end());
    check(last == std::vector<std::int32_t>{-1, 0, 0, 2});
  }
  check(read_brackets({}, 2).offsets.size() == 1);
  check(find_brackets("\n(a\n(b))\nx\n(c) (d)\n(e") == std::vector<std::int64_t>{1, 8, 9, 10, 11, 18, 19, 21});
  check(find_brackets("").empty() && find_brackets(deep).size() == 2);
}

inline void nodes_are_put_in_preorder() {
  const auto sort = [](std::vector<std::int32_t> parents) {
    const std::vector<std::int64_t> offsets{0, static_cast<std::int64_t>(parents.size())};
    return to_preorder(parents, offsets);
  };
  check(sort({-1, 0, 1, 0}).order.empty() && !sort({-1, 0, 1, 0}).fault);
  const auto moved = sort({3, 3, 0, -1});
  check(std::vector<std::int64_t>(moved.order.begin(), moved.order.end()) == std::vector<std::int64_t>{3, 0, 2, 1});
  check(std::vector<std::int32_t>(moved.parents.begin(), moved.parents.end()) == std::vector<std::int32_t>{-1, 0, 1, 0});
  for (const auto& bad : {std::vector<std::int32_t>{}, {0}, {1, 0}, {-1, -1}, {-1, 2, 1}, {-1, 5}, {-1, -2}})
    check(sort(bad).fault.has_value());
}

inline void trees_equal_their_definition(unsigned largest, int threads) {
  std::mt19937 random(7);
  const Woods woods = random_woods(random, 12, largest, 3);
  for (const double sigma : {0.0, 0.5, 1.0})
    for (const bool leaves : {false, true}) tree_values_equal_their_definition(woods.view(), SubsetTrees{0.6, sigma, leaves}, threads);
  for (const bool gaps : {false, true}) tree_values_equal_their_definition(woods.view(), PartialTrees{0.6, 0.5, gaps}, threads);
  subtrees_are_counted(woods.view(), threads);
  brackets_are_read_or_refused();
  nodes_are_put_in_preorder();
}

}  // namespace treille::tests
