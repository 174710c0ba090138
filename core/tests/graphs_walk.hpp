#pragma once
// Walks in products of graphs against powers of the product's adjacency matrix, written out.

#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "check.hpp"
#include "graphs/adjacency.hpp"
#include "graphs/random_walk.hpp"
#include "graphs/walk_features.hpp"

namespace treille::tests {

// Graphs with the arrays that they view.
struct Network {
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> offsets{0}, starts{0}, sources, targets;
  std::vector<std::int32_t> edge_labels;
  std::vector<double> weights;
  Adjacency arcs;

  void end_graph() {
    offsets.push_back(static_cast<std::int64_t>(labels.size()));
    starts.push_back(static_cast<std::int64_t>(sources.size()));
  }
  void add_edge(std::int64_t u, std::int64_t v, std::int32_t label, double weight) {
    sources.push_back(u);
    targets.push_back(v);
    edge_labels.push_back(label);
    weights.push_back(weight);
  }
  Graphs view(bool directed, bool labelled, bool weighted) {
    const std::vector<std::int32_t> no_labels;
    const std::vector<double> no_weights;
    arcs = adjacency({offsets, starts, sources, targets, labelled ? edge_labels : no_labels, weighted ? weights : no_weights}, directed);
    check(!arcs.fault);
    return {labels, offsets, arcs.arcs, arcs.targets, arcs.labels, arcs.weights};
  }
};

inline Network random_network(std::mt19937& random, int graphs, unsigned largest, unsigned n_labels) {
  Network all;
  for (int g = 0; g < graphs; ++g) {
    const unsigned n = random() % (largest + 1);
    for (unsigned v = 0; v < n; ++v) {
      all.labels.push_back(static_cast<std::int32_t>(random() % n_labels));
      if (v == 0) continue;
      all.add_edge(v, random() % v, static_cast<std::int32_t>(random() % n_labels), 0.25 + 0.25 * (random() % 4));
      if (random() % 3 == 0) all.add_edge(v, v, 0, 0.5);
    }
    all.end_graph();
  }
  return all;
}

// W_0 .. W_last of two graphs.
inline std::vector<double> slow_walks(const Graphs& graphs, std::size_t x, std::size_t y, int last) {
  const auto a = static_cast<std::size_t>(graphs.offsets[x]), b = static_cast<std::size_t>(graphs.offsets[y]);
  std::map<std::pair<std::size_t, std::size_t>, double> ends;
  for (std::size_t u = 0; u < graphs.n_nodes(x); ++u)
    for (std::size_t v = 0; v < graphs.n_nodes(y); ++v)
      if (graphs.labels[a + u] == graphs.labels[b + v]) ends[{u, v}] = 1;
  std::vector<double> walks;
  for (int step = 0; step <= last; ++step) {
    double sum = 0;
    std::map<std::pair<std::size_t, std::size_t>, double> next;
    for (const auto& [pair, count] : ends) {
      sum += count;
      for (auto i = graphs.arcs[a + pair.first]; i < graphs.arcs[a + pair.first + 1]; ++i)
        for (auto j = graphs.arcs[b + pair.second]; j < graphs.arcs[b + pair.second + 1]; ++j) {
          const auto p = static_cast<std::size_t>(i), q = static_cast<std::size_t>(j);
          const auto u = static_cast<std::size_t>(graphs.targets[p]), v = static_cast<std::size_t>(graphs.targets[q]);
          if (graphs.labels[a + u] != graphs.labels[b + v]) continue;
          if (!graphs.edge_labels.empty() && graphs.edge_labels[p] != graphs.edge_labels[q]) continue;
          next[{u, v}] += count * (graphs.weights.empty() ? 1.0 : graphs.weights[p] * graphs.weights[q]);
        }
    }
    walks.push_back(sum);
    ends.swap(next);
  }
  return walks;
}

inline bool near(double found, double expected, double tolerance = 1e-10) {
  return std::abs(found - expected) <= tolerance * std::max(1e-300, std::abs(expected));
}

inline void walks_equal_their_definition(int n_labels, bool directed, bool weighted, int threads) {
  std::mt19937 random(7);
  constexpr int kTerms = 60;
  Network all = random_network(random, 6, 9, static_cast<unsigned>(n_labels));
  const Graphs graphs = all.view(directed, n_labels > 1, weighted);
  const std::size_t n = graphs.size();
  const WalkIndex index(graphs);
  const WalkGraphs left = index.other(graphs);
  check(walk_cost(left, index.graphs()).cells > 0);

  double most = 0;
  for (const double radius : walk_radii(index.graphs(), 1e-3, directed, threads)) most = std::max(most, radius);
  const double decay = 0.5 / std::max(1.0, most);
  const auto radii = walk_radii(index.graphs(), decay, directed, threads);
  using Kind = WalkSeries::Kind;
  const WalkSeries all_series[] = {{Kind::exponential, 0.1, 0, -1, directed, false},
                                   {Kind::exponential, 0.1, 0, 3, directed, true},
                                   {Kind::geometric, decay, 0, -1, directed, false},
                                   {Kind::geometric, 0.2, 0, 4, directed, false},
                                   {Kind::counts, 1.0, 2, 3, directed, false}};
  for (const WalkSeries& series : all_series) {
    const auto K = walk_gram(left, index.graphs(), series, radii, radii, false, threads);
    const auto own = walk_gram(index.graphs(), index.graphs(), series, radii, radii, true, threads);
    const auto diagonal = walk_diagonal(index.graphs(), series, radii, threads);
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t y = 0; y < n; ++y) {
        const auto walks = slow_walks(graphs, x, y, series.last < 0 ? kTerms : static_cast<int>(series.last));
        double expected = 0, factor = 1;
        for (std::size_t k = 0; k < walks.size(); ++k) {
          if (k > 0 && series.kind != Kind::counts)
            factor *= series.decay / (series.kind == Kind::exponential ? static_cast<double>(k) : 1.0);
          if (static_cast<std::int64_t>(k) >= series.first) expected += factor * walks[k];
        }
        if (series.all_starts) expected += static_cast<double>(graphs.n_nodes(x) * graphs.n_nodes(y)) - walks[0];
        check(near(K[x * n + y], expected));
        check(near(own[x * n + y], expected));
        if (x == y) check(near(diagonal[x], expected));
      }
  }

  RowsWithNorms rows;
  const auto features = WalkFeatures::fit(graphs, 1, 3, Counts::raw, rows);
  const auto again = features.transform(graphs, threads);
  for (std::size_t x = 0; x < n; ++x) {
    const auto walks = slow_walks(graphs, x, x, 3);
    check(near(rows.sq_norms[x], walks[1] + walks[2] + walks[3]) && near(again.sq_norms[x], rows.sq_norms[x]));
  }
  std::vector<std::int64_t> some;
  for (std::size_t id = 0; id < features.size(); id += 2) some.push_back(static_cast<std::int64_t>(id));
  const auto parts = features.parts(some);
  const auto rebuilt = WalkFeatures::from_parts(parts.cells, parts.features, 1, 3, Counts::raw);
  check(rebuilt.size() == some.size());
  for (std::size_t k = 0; k < some.size(); ++k)
    check(rebuilt.labels(static_cast<std::uint32_t>(k)) == features.labels(static_cast<std::uint32_t>(some[k])));

  if (n_labels == 1) {
    const auto moments = walk_moments(graphs, 4, 2.0, threads);
    const double coefficients[] = {1.0, 4.0, 16.0, 64.0};
    const auto K = moment_gram({moments.data(), moments.size()}, {moments.data(), moments.size()}, coefficients, true, threads);
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t y = 0; y < n; ++y) {
        const auto walks = slow_walks(graphs, x, y, 3);
        check(near(K[x * n + y], walks[0] + walks[1] + walks[2] + walks[3]));
      }
  }
}

inline void symmetric_nodes_form_one_class() {
  Network all;  // a ring of ten, and a star of eight
  for (int v = 0; v < 10; ++v) {
    all.labels.push_back(0);
    all.add_edge(v, (v + 1) % 10, 0, 1.0);
  }
  all.end_graph();
  for (int v = 0; v < 9; ++v) {
    all.labels.push_back(0);
    if (v > 0) all.add_edge(0, v, 0, 1.0);
  }
  all.end_graph();
  const Graphs graphs = all.view(false, false, false);
  const WalkIndex index(graphs);
  check(index.graphs().roots(0).size() == 1 && index.graphs().roots(1).size() == 2);
  const auto radii = walk_radii(index.graphs(), 0.001, false, 1), plain = plain_radii(graphs, 0.1249, false, 1);
  check(near(radii[0], 4.0) && near(plain[1], 8.0, 1e-6));
}

}  // namespace treille::tests
