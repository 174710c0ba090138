#include "graphs/neighbourhoods.hpp"

#include <algorithm>

#include "interrupt.hpp"

namespace treille {
namespace {

// Breadth-first search from one node, continued on demand.
class Search {
 public:
  Search(const Graphs& graphs, std::span<const std::int64_t> edges) : graphs_(graphs), edges_(edges) {}

  void begin(std::size_t g, std::int32_t node) {
    first_ = static_cast<std::size_t>(graphs_.offsets[g]);
    const auto n_nodes = graphs_.n_nodes(g), n_arcs = static_cast<std::size_t>(graphs_.n_arcs(g));
    node_seen_.resize(std::max(node_seen_.size(), n_nodes), 0);
    edge_seen_.resize(std::max(edge_seen_.size(), n_arcs), 0);
    ++stamp_;
    n_nodes_ = static_cast<std::int64_t>(n_nodes);
    rounds_ = 0;
    next_ = 0;
    nodes_.assign(1, node);
    node_seen_[static_cast<std::size_t>(node)] = stamp_;
    found_edges_.clear();
  }

  void reach(std::int32_t rounds) {
    for (; rounds_ < rounds && next_ < nodes_.size(); ++rounds_)
      for (const std::size_t end = nodes_.size(); next_ < end; ++next_) {
        poll();
        const std::size_t v = first_ + static_cast<std::size_t>(nodes_[next_]);
        for (auto a = static_cast<std::size_t>(graphs_.arcs[v]); a < static_cast<std::size_t>(graphs_.arcs[v + 1]); ++a) {
          const auto target = static_cast<std::size_t>(graphs_.targets[a]), edge = static_cast<std::size_t>(edges_[a]);
          if (edge_seen_[edge] != stamp_) found_edges_.push_back(edges_[a]);
          edge_seen_[edge] = stamp_;
          if (node_seen_[target] != stamp_) nodes_.push_back(static_cast<std::int64_t>(target));
          node_seen_[target] = stamp_;
        }
      }
  }

  void write(Covered& covered) const {
    covered.parts.insert(covered.parts.end(), nodes_.begin(), nodes_.end());
    for (const std::int64_t edge : found_edges_) covered.parts.push_back(n_nodes_ + edge);
    covered.offsets.push_back(static_cast<std::int64_t>(covered.parts.size()));
  }

 private:
  const Graphs& graphs_;
  std::span<const std::int64_t> edges_;
  std::size_t first_ = 0, next_ = 0;
  std::int64_t n_nodes_ = 0;
  std::int32_t rounds_ = 0;
  std::uint64_t stamp_ = 0;
  std::vector<std::uint64_t> node_seen_, edge_seen_;
  std::vector<std::int64_t> nodes_, found_edges_;
};

}  // namespace

Covered neighbourhoods(const Graphs& graphs, std::span<const std::int64_t> edges, std::span<const std::int64_t> owners,
                       std::span<const std::int32_t> nodes, std::span<const std::int32_t> rounds, std::size_t most) {
  Covered covered;
  Search search(graphs, edges);
  for (std::size_t g = 0; g < graphs.size(); ++g)
    for (auto i = static_cast<std::size_t>(owners[g]); i < static_cast<std::size_t>(owners[g + 1]); ++i) {
      const bool goes_on = i > static_cast<std::size_t>(owners[g]) && nodes[i] == nodes[i - 1] && rounds[i] >= rounds[i - 1];
      if (!goes_on) search.begin(g, nodes[i]);
      search.reach(rounds[i]);
      search.write(covered);
      if (covered.parts.size() > most) return covered;
    }
  return covered;
}

}  // namespace treille
