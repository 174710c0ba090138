#include "graphs/adjacency.hpp"

#include <algorithm>

#include "interrupt.hpp"

namespace treille {

Adjacency adjacency(const EdgeLists& edges, bool directed) {
  struct Arc {
    std::int32_t target;
    std::int64_t edge;
  };
  Adjacency out;
  const auto n_nodes = static_cast<std::size_t>(edges.offsets.back());
  std::vector<std::int64_t> heads(n_nodes + 1, 0);
  const auto each_arc = [&](std::size_t g, auto&& visit) {
    const std::int64_t first = edges.offsets[g];
    for (auto e = static_cast<std::size_t>(edges.starts[g]); e < static_cast<std::size_t>(edges.starts[g + 1]); ++e) {
      const std::int64_t u = edges.sources[e], v = edges.targets[e];
      visit(static_cast<std::size_t>(first + u), v, e);
      if (!directed && u != v) visit(static_cast<std::size_t>(first + v), u, e);
    }
  };
  for (std::size_t g = 0; g + 1 < edges.starts.size(); ++g) {
    poll();
    const std::int64_t n = edges.offsets[g + 1] - edges.offsets[g];
    for (auto e = static_cast<std::size_t>(edges.starts[g]); e < static_cast<std::size_t>(edges.starts[g + 1]); ++e)
      if (std::min(edges.sources[e], edges.targets[e]) < 0 || std::max(edges.sources[e], edges.targets[e]) >= n) {
        out.fault = {g, static_cast<std::int64_t>(e) - edges.starts[g], -1};
        return out;
      }
    each_arc(g, [&](std::size_t v, std::int64_t, std::size_t) { ++heads[v + 1]; });
  }
  for (std::size_t v = 0; v < n_nodes; ++v) heads[v + 1] += heads[v];
  std::vector<Arc> arcs(static_cast<std::size_t>(heads.back()));
  std::vector<std::int64_t> next(heads.begin(), heads.end() - 1);
  for (std::size_t g = 0; g + 1 < edges.starts.size(); ++g) {
    poll();
    each_arc(g, [&](std::size_t v, std::int64_t target, std::size_t e) {
      arcs[static_cast<std::size_t>(next[v]++)] = {static_cast<std::int32_t>(target), static_cast<std::int64_t>(e)};
    });
  }

  out.arcs.assign(1, 0);
  out.arcs.reserve(n_nodes + 1);
  for (std::size_t g = 0; g + 1 < edges.starts.size(); ++g) {
    for (auto v = static_cast<std::size_t>(edges.offsets[g]); v < static_cast<std::size_t>(edges.offsets[g + 1]); ++v) {
      poll();
      const auto own = std::span(arcs).subspan(static_cast<std::size_t>(heads[v]), static_cast<std::size_t>(heads[v + 1] - heads[v]));
      std::ranges::sort(own, [](const Arc& a, const Arc& b) { return a.target != b.target ? a.target < b.target : a.edge < b.edge; });
      for (std::size_t a = 0; a < own.size(); ++a) {
        const auto e = static_cast<std::size_t>(own[a].edge);
        if (a > 0 && own[a].target == own[a - 1].target) {
          const auto before = static_cast<std::size_t>(own[a - 1].edge);
          const bool same = (edges.labels.empty() || edges.labels[e] == edges.labels[before]) &&
                            (edges.weights.empty() || edges.weights[e] == edges.weights[before]);
          if (same) continue;
          out.fault = {g, static_cast<std::int64_t>(e) - edges.starts[g], static_cast<std::int64_t>(before) - edges.starts[g]};
          return out;
        }
        out.targets.push_back(own[a].target);
        if (!edges.labels.empty()) out.labels.push_back(edges.labels[e]);
        if (!edges.weights.empty()) out.weights.push_back(edges.weights[e]);
      }
      out.arcs.push_back(static_cast<std::int64_t>(out.targets.size()));
    }
  }
  return out;
}

}  // namespace treille
