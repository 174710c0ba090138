#pragma once
// Patterns of graphs under sanitizers: features against counts written from the definitions, on random graphs.

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "graphs/adjacency.hpp"
#include "graphs/label_patterns.hpp"
#include "graphs/neighbourhoods.hpp"
#include "graphs/refinements.hpp"
#include "graphs/shortest_paths.hpp"

namespace treille::tests {

struct RandomGraphs {
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> offsets{0};
  Adjacency arcs;
  Graphs view() const { return {labels, offsets, arcs.arcs, arcs.targets, arcs.labels, arcs.weights}; }
};

inline RandomGraphs labelled_graphs(std::mt19937& random, int graphs, unsigned largest, bool directed) {
  RandomGraphs made;
  std::vector<std::int64_t> starts{0}, sources, targets;
  std::vector<std::int32_t> edge_labels;
  std::vector<double> weights;
  for (int g = 0; g < graphs; ++g) {
    const unsigned n = random() % (largest + 1);
    for (unsigned v = 0; v < n; ++v) made.labels.push_back(static_cast<std::int32_t>(random() % 3));
    made.offsets.push_back(static_cast<std::int64_t>(made.labels.size()));
    for (unsigned u = 0; u < n; ++u)
      for (unsigned v = directed ? 0 : u; v < n; ++v) {
        if (random() % 4 != 0) continue;
        sources.push_back(u);
        targets.push_back(v);
        edge_labels.push_back(static_cast<std::int32_t>(random() % 2));
        weights.push_back(0.1 * static_cast<double>(random() % 4));
      }
    starts.push_back(static_cast<std::int64_t>(sources.size()));
  }
  made.arcs = adjacency({made.offsets, starts, sources, targets, edge_labels, weights}, directed);
  check(!made.arcs.fault);
  return made;
}

// Patterns by their texts, and how often each occurs.
using PatternCounts = std::map<std::string, double>;

template <class Use>
void each_arc(const Graphs& all, std::size_t g, Use&& use) {
  for (std::size_t v = 0; v < all.n_nodes(g); ++v) {
    const auto node = static_cast<std::size_t>(all.offsets[g]) + v;
    for (auto a = static_cast<std::size_t>(all.arcs[node]); a < static_cast<std::size_t>(all.arcs[node + 1]); ++a)
      use(v, static_cast<std::size_t>(all.targets[a]), a);
  }
}

inline std::int32_t label_of(const Graphs& all, std::size_t g, std::size_t v) {
  return all.labels[static_cast<std::size_t>(all.offsets[g]) + v];
}

inline PatternCounts plain_counts(const Graphs& all, std::size_t g, const Refinements& kind) {
  PatternCounts counts;
  std::vector<std::string> labels(all.n_nodes(g));
  for (std::size_t v = 0; v < labels.size(); ++v) ++counts["0 " + (labels[v] = std::to_string(label_of(all, g, v)))];
  for (int round = 1; round <= kind.rounds; ++round) {
    std::vector<std::multimap<std::string, std::string>> around(labels.size());
    each_arc(all, g, [&](std::size_t v, std::size_t target, std::size_t a) {
      around[v].emplace((kind.edge_labelled ? std::to_string(all.edge_labels[a]) : "") + ":" + labels[target], "");
    });
    for (std::size_t v = 0; v < labels.size(); ++v) {
      labels[v] += "(";
      for (const auto& [text, nothing] : around[v]) labels[v] += text + ",";
      labels[v] += ")";
      ++counts[std::to_string(round) + " " + labels[v]];
    }
  }
  return counts;
}

inline PatternCounts plain_counts(const Graphs& all, std::size_t g, const NodeLabels&) {
  PatternCounts counts;
  for (std::size_t v = 0; v < all.n_nodes(g); ++v) ++counts[std::to_string(label_of(all, g, v))];
  return counts;
}

inline PatternCounts plain_counts(const Graphs& all, std::size_t g, const EdgeLabels& kind) {
  PatternCounts counts;
  each_arc(all, g, [&](std::size_t v, std::size_t target, std::size_t a) {
    if (!kind.directed && v > target) return;
    auto ends = std::pair(label_of(all, g, v), label_of(all, g, target));
    if (!kind.directed && ends.first > ends.second) std::swap(ends.first, ends.second);
    ++counts[std::to_string(all.edge_labels[a]) + (kind.ends ? ":" + std::to_string(ends.first) + "," + std::to_string(ends.second) : "")];
  });
  return counts;
}

inline PatternCounts plain_counts(const Graphs& all, std::size_t g, const ShortestPaths& kind) {
  const std::size_t n = all.n_nodes(g);
  std::vector<double> lengths(n * n, std::numeric_limits<double>::infinity());
  each_arc(all, g, [&](std::size_t v, std::size_t target, std::size_t a) { lengths[v * n + target] = kind.weighted ? all.weights[a] : 1; });
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) lengths[i * n + j] = std::min(lengths[i * n + j], lengths[i * n + k] + lengths[k * n + j]);
  PatternCounts counts;
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = 0; v < n; ++v)
      if (u != v && lengths[u * n + v] <= kind.max_length && std::isfinite(lengths[u * n + v]))
        ++counts[std::to_string(label_of(all, g, u)) + "," + std::to_string(label_of(all, g, v)) + "," +
                 std::to_string(lengths[u * n + v])];
  return counts;
}

inline double plain_product(const PatternCounts& left, const PatternCounts& right) {
  double sum = 0;
  for (const auto& [pattern, count] : left)
    if (const auto found = right.find(pattern); found != right.end()) sum += count * found->second;
  return sum;
}

inline std::vector<std::map<std::uint64_t, double>> entries_of(const RowsWithNorms& rows) {
  std::vector<std::map<std::uint64_t, double>> entries(rows.sq_norms.size());
  std::visit(
      [&](const auto& words) {
        for (std::size_t i = 0; i < entries.size(); ++i)
          for (auto e = static_cast<std::size_t>(rows.entries.indptr.data()[i]);
               e < static_cast<std::size_t>(rows.entries.indptr.data()[i + 1]); ++e) {
            const auto word = words.data()[e];
            const auto mask = (std::uint64_t{1} << rows.entries.code_bits) - 1;
            entries[i][word >> rows.entries.code_bits] = rows.entries.codebook[static_cast<std::size_t>(word & mask)];
          }
      },
      rows.entries.entries);
  return entries;
}

inline bool nearly(double found, double expected) { return std::abs(found - expected) <= 1e-9 * (1 + std::abs(expected)); }

// Fitted on all graphs and on the first of them: inner products and norms follow the definition, also for features that are read back,
// restricted to some, or merged from two halves.
template <class P>
void patterns_equal_their_definition(const RandomGraphs& made, const P& kind, int threads) {
  const Graphs all = made.view();
  const std::size_t n = all.size(), half = n / 2;
  std::vector<PatternCounts> counts;
  for (std::size_t g = 0; g < n; ++g) counts.push_back(plain_counts(all, g, kind));
  RowsWithNorms rows, first_rows, rest_rows;
  const auto features = GraphFeatures<P>::fit(all, kind, Counts::raw, threads, rows);
  const Graphs first{all.labels, all.offsets.first(half + 1), all.arcs, all.targets, all.edge_labels, all.weights};
  const auto some = GraphFeatures<P>::fit(first, kind, Counts::raw, threads, first_rows);
  const Graphs rest{all.labels, all.offsets.subspan(half), all.arcs, all.targets, all.edge_labels, all.weights};
  const auto [merged, theirs] = some.merge(GraphFeatures<P>::fit(rest, kind, Counts::raw, 1, rest_rows), {}, {});
  check(merged.size() == features.size());

  std::vector<std::int64_t> every(features.size());
  for (std::size_t f = 0; f < every.size(); ++f) every[f] = static_cast<std::int64_t>(f);
  const auto parts = features.parts(every);
  const auto again = GraphFeatures<P>::from_parts(parts.cells, parts.starts, parts.features, 3, 2, kind, Counts::raw);
  const auto whole = entries_of(rows), read = entries_of(again.transform(all, threads)), both = entries_of(merged.transform(all, threads));
  check(whole == entries_of(features.transform(all, threads)));
  check(whole == read);
  const auto unseen = some.transform(all, threads);
  for (std::size_t i = 0; i < n; ++i) {
    check(nearly(rows.sq_norms[i], plain_product(counts[i], counts[i])));
    check(unseen.sq_norms[i] == rows.sq_norms[i]);
    for (std::size_t j = i < 5 ? 0 : i - 5; j <= i; ++j)
      for (const auto* each : {&whole, &both}) {
        double sum = 0;
        for (const auto& [id, value] : (*each)[i])
          if (const auto found = (*each)[j].find(id); found != (*each)[j].end()) sum += value * found->second;
        check(nearly(sum, plain_product(counts[i], counts[j])));
      }
  }
  if (every.empty()) return;
  const std::vector<std::int64_t> last{every.back()};
  const auto few = features.parts(last);
  const auto one = entries_of(GraphFeatures<P>::from_parts(few.cells, few.starts, few.features, 3, 2, kind, Counts::raw).transform(all, 1));
  for (std::size_t i = 0; i < n; ++i) {
    const auto found = whole[i].find(static_cast<std::uint64_t>(every.back()));
    check(one[i].size() == (found == whole[i].end() ? 0 : 1));
    if (!one[i].empty()) check(one[i].begin()->second == found->second);
  }
}

inline void patterns_equal_their_definition(bool directed, int threads) {
  std::mt19937 random(7);
  const RandomGraphs made = labelled_graphs(random, 600, 12, directed);  // enough for several threads
  for (const int rounds : {0, 1, 4})
    for (const bool edges : {false, true}) patterns_equal_their_definition(made, Refinements{rounds, edges}, threads);
  patterns_equal_their_definition(made, NodeLabels{}, threads);
  for (const bool ends : {false, true}) patterns_equal_their_definition(made, EdgeLabels{ends, directed}, threads);
  for (const double length : {0.25, 2.0, std::numeric_limits<double>::infinity()})
    for (const bool weighted : {false, true}) patterns_equal_their_definition(made, ShortestPaths{length, weighted, directed}, threads);
}

inline void counts_beyond_32_bits_are_exact() {
  OccurrenceCounter counter;
  for (int i = 0; i < 3; ++i) counter.add({5, 0, 0, 0xFFFFFFFFu});
  check(counter.sums().size() == 1 && counter.sums()[0].value(Counts::raw) == 3.0 * 0xFFFFFFFFu);
}

// A path of four nodes, seen from its second node.
inline void neighbourhoods_grow_by_a_step_a_round() {
  const std::vector<std::int32_t> labels(4, 0), nodes{1, 1, 1, 3}, rounds{0, 1, 7, 1};
  const std::vector<std::int64_t> offsets{0, 4}, starts{0, 3}, sources{0, 1, 2}, targets{1, 2, 3}, edges{0, 0, 1, 1, 2, 2}, owners{0, 4};
  const auto arcs = adjacency({offsets, starts, sources, targets, {}, {}}, false);
  const auto covered = neighbourhoods({labels, offsets, arcs.arcs, arcs.targets, {}, {}}, edges, owners, nodes, rounds, 100);
  check(covered.offsets == std::vector<std::int64_t>{0, 1, 6, 13, 16});
  check(covered.parts == std::vector<std::int64_t>{1, 1, 0, 2, 4, 5, 1, 0, 2, 3, 4, 5, 6, 3, 2, 6});
}

}  // namespace treille::tests
