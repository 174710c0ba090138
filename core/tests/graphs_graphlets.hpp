#pragma once
// Numbers of subgraphs of each type, counted one by one.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "check.hpp"
#include "graphs/adjacency.hpp"
#include "graphs/graphlets.hpp"

namespace treille::tests {

// The type of an induced subgraph is known by the degrees of its nodes.
inline std::size_t graphlet_type(std::vector<int> degrees) {
  static const std::map<std::vector<int>, std::size_t> types = {{{1, 1, 2}, 0},    {{2, 2, 2}, 1},    {{0, 1, 1}, 2},    {{0, 0, 0}, 3},
                                                                {{1, 1, 2, 2}, 0}, {{1, 1, 1, 3}, 1}, {{2, 2, 2, 2}, 2}, {{1, 2, 2, 3}, 3},
                                                                {{2, 2, 3, 3}, 4}, {{3, 3, 3, 3}, 5}, {{0, 2, 2, 2}, 6}, {{0, 1, 1, 2}, 7},
                                                                {{1, 1, 1, 1}, 8}, {{0, 0, 1, 1}, 9}, {{0, 0, 0, 0}, 10}};
  std::sort(degrees.begin(), degrees.end());
  return types.at(degrees);
}

inline void graphlets_equal_their_definition(unsigned one_in, int threads) {
  std::mt19937 random(one_in);
  std::vector<std::int64_t> offsets{0}, starts{0}, sources, targets;
  std::vector<std::array<std::array<bool, 10>, 10>> joined;
  for (std::int64_t n = 0; n <= 10; ++n) {
    joined.emplace_back();
    for (std::int64_t u = 0; u < n; ++u)
      for (std::int64_t v = u; v < n; ++v)  // loops too, which do not count
        if (random() % one_in == 0) {
          sources.push_back(u), targets.push_back(v);
          joined.back()[u][v] = joined.back()[v][u] = true;
        }
    offsets.push_back(offsets.back() + n);
    starts.push_back(static_cast<std::int64_t>(sources.size()));
  }
  const auto found = adjacency({offsets, starts, sources, targets, {}, {}}, false);
  const std::vector<std::int32_t> labels(static_cast<std::size_t>(offsets.back()));
  const Graphs graphs{labels, offsets, found.arcs, found.targets, {}, {}};
  for (const int size : {3, 4}) {
    const auto all = graphlets(graphs, size, false, threads), connected = graphlets(graphs, size, true, threads);
    const std::size_t width = n_graphlets(size, false), kept = n_graphlets(size, true);
    const auto of_nodes = graphlets_of_nodes(graphs, size, threads);
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      std::vector<double> expected(width);
      for (unsigned set = 0; set < 1u << g; ++set) {
        if (std::popcount(set) != size) continue;
        std::vector<int> degrees;
        for (std::size_t u = 0; u < g; ++u) {
          if (!(set >> u & 1)) continue;
          degrees.push_back(0);
          for (std::size_t v = 0; v < g; ++v) degrees.back() += v != u && (set >> v & 1) && joined[g][u][v];
        }
        ++expected[graphlet_type(degrees)];
      }
      check(std::equal(expected.begin(), expected.end(), all.data() + g * width));
      for (std::size_t type = 0; type < kept; ++type) {
        double shared = 0;
        for (std::size_t v = 0; v < g; ++v) shared += of_nodes.data()[(static_cast<std::size_t>(offsets[g]) + v) * kept + type];
        check(shared == size * expected[type]);
      }
      check(std::equal(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(kept), connected.data() + g * kept));
    }
  }
}

// A star of n leaves has C(n, 3) stars of 4 nodes, and the nodes without edges make C(n + 1, 4) - C(n, 3) sets of 4.
inline void graphlets_of_large_graphs_do_not_overflow() {
  const std::int64_t n = 300'000;
  std::vector<std::int64_t> sources(n), targets(n);
  for (std::int64_t v = 0; v < n; ++v) targets[v] = v + 1;
  const std::vector<std::int64_t> offsets{0, n + 1}, starts{0, n};
  const auto found = adjacency({offsets, starts, sources, targets, {}, {}}, false);
  const std::vector<std::int32_t> labels(n + 1);
  const auto counts = graphlets({labels, offsets, found.arcs, found.targets, {}, {}}, 4, false, 1);
  const double d = static_cast<double>(n);
  const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-14 * b; };
  check(near(counts.data()[1], d * (d - 1) / 2 * (d - 2) / 3));
  check(near(counts.data()[10], d * (d - 1) / 2 * (d - 2) / 3 * (d - 3) / 4));
  check(std::all_of(counts.data() + 2, counts.data() + 10, [](double count) { return count == 0; }) && counts.data()[0] == 0);
}

}  // namespace treille::tests
