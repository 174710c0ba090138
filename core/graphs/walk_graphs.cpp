#include "graphs/walk_graphs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "interrupt.hpp"

namespace treille {
namespace {

constexpr int kMostRounds = 64;

std::size_t first_arc(const Graphs& graphs, std::size_t node) { return static_cast<std::size_t>(graphs.arcs[node]); }

}  // namespace

std::vector<std::uint32_t> stable_colours(const Graphs& graphs, std::size_t g) {
  const auto first = static_cast<std::size_t>(graphs.offsets[g]), n = graphs.n_nodes(g);
  std::vector<std::uint32_t> colours(n), next(n);
  Interner<std::int32_t> known;
  std::vector<std::int32_t> key;
  struct End {
    std::int32_t label;
    std::uint64_t weight;
    std::uint32_t colour;
    auto operator<=>(const End&) const = default;
  };
  std::vector<End> ends;
  for (std::size_t v = 0; v < n; ++v) {
    const std::int32_t label = graphs.labels[first + v];
    colours[v] = known.add({&label, 1});
  }
  for (int round = 0; round < kMostRounds; ++round) {
    const std::size_t before = known.size();
    known = {};
    for (std::size_t v = 0; v < n; ++v) {
      poll();
      ends.clear();
      for (std::size_t a = first_arc(graphs, first + v); a < first_arc(graphs, first + v + 1); ++a)
        ends.push_back({graphs.edge_labels.empty() ? 0 : graphs.edge_labels[a],
                        graphs.weights.empty() ? 0 : std::bit_cast<std::uint64_t>(graphs.weights[a]),
                        colours[static_cast<std::size_t>(graphs.targets[a])]});
      std::ranges::sort(ends);
      key.assign(1, static_cast<std::int32_t>(colours[v]));
      for (const End& end : ends) {
        const auto high = static_cast<std::int32_t>(end.weight >> 32), low = static_cast<std::int32_t>(end.weight);
        key.insert(key.end(), {end.label, high, low, static_cast<std::int32_t>(end.colour)});
      }
      next[v] = known.add(key);
    }
    colours.swap(next);
    if (known.size() == before) return colours;
  }
  std::iota(colours.begin(), colours.end(), 0u);
  return colours;
}

WalkGraphs::WalkGraphs(const Graphs& graphs, ArcTypes& types, bool add) {
  signed_ = std::ranges::any_of(graphs.weights, [](double weight) { return weight < 0; });
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    poll();
    add_graph(graphs, g, types, add);
    blocks_of_.push_back(blocks_.size());
    types_of_.push_back(types_.size());
    roots_of_.push_back(roots_.size());
  }
}

void WalkGraphs::add_graph(const Graphs& graphs, std::size_t g, ArcTypes& types, bool add) {
  const auto first = static_cast<std::size_t>(graphs.offsets[g]), n = graphs.n_nodes(g);
  const auto colours = stable_colours(graphs, g);
  const auto weight = [&](std::size_t arc) { return graphs.weights.empty() ? 1.0 : graphs.weights[arc]; };
  double degree = 0;
  std::vector<double> sizes;
  std::vector<std::size_t> nodes;  // the first of each class
  for (std::size_t v = 0; v < n; ++v) {
    if (colours[v] == sizes.size()) {
      sizes.push_back(0);
      nodes.push_back(first + v);
      double sum = 0;
      for (std::size_t a = first_arc(graphs, first + v); a < first_arc(graphs, first + v + 1); ++a) sum += std::abs(weight(a));
      degree = std::max(degree, sum);
    }
    ++sizes[colours[v]];
  }
  nodes_.push_back(static_cast<double>(n));
  degrees_.push_back(degree);

  std::vector<std::uint32_t> order(nodes.size()), block_of(nodes.size()), place(nodes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t c) { return graphs.labels[nodes[c]]; });
  const std::size_t first_block = blocks_.size();
  for (std::uint32_t k = 0; k < order.size(); ++k) {
    const std::uint32_t c = order[k];
    const std::int32_t label = graphs.labels[nodes[c]];
    if (blocks_.size() == first_block || blocks_.back().label != label) blocks_.push_back({label, k, 0, 0});
    block_of[c] = static_cast<std::uint32_t>(blocks_.size() - 1 - first_block);
    place[c] = blocks_.back().size++;
    blocks_.back().nodes += sizes[c];
    roots_.push_back(std::sqrt(sizes[c]));
  }

  std::vector<TypedArc> arcs;
  for (std::size_t c = 0; c < nodes.size(); ++c)
    for (std::size_t a = first_arc(graphs, nodes[c]); a < first_arc(graphs, nodes[c] + 1); ++a) {
      const std::uint32_t d = colours[static_cast<std::size_t>(graphs.targets[a])];
      const std::int32_t key[] = {graphs.labels[nodes[c]], graphs.edge_labels.empty() ? 0 : graphs.edge_labels[a], graphs.labels[nodes[d]]};
      const std::uint32_t type = add ? types.add(key) : types.find(key);
      if (type != ArcTypes::kAbsent)
        arcs.push_back({type, place[c], place[d], block_of[c], block_of[d], weight(a) * std::sqrt(sizes[c] / sizes[d])});
    }
  std::ranges::stable_sort(arcs, {}, [](const TypedArc& arc) { return std::tuple(arc.type, arc.source, arc.target); });
  std::size_t kept = 0;  // arcs of a class to the same class are one
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    if (kept > 0 && arcs[kept - 1].type == arcs[a].type && arcs[kept - 1].source == arcs[a].source &&
        arcs[kept - 1].target == arcs[a].target)
      arcs[kept - 1].weight += arcs[a].weight;
    else
      arcs[kept++] = arcs[a];
  }
  arcs.resize(kept);
  for (std::size_t a = 0, end; a < arcs.size(); a = end) {
    for (end = a; end < arcs.size() && arcs[end].type == arcs[a].type; ++end) continue;
    add_type(std::span(arcs).subspan(a, end - a));
  }
}

void WalkGraphs::add_type(std::span<const TypedArc> arcs) {
  const auto at = [](const auto& all) { return static_cast<std::int64_t>(all.size()); };
  Type type{arcs[0].type, arcs[0].source_block, arcs[0].target_block, at(groups_), 0, at(columns_), 0, at(rows_), 0, at(arcs_), 0};
  std::vector<TypedArc> by_group(arcs.begin(), arcs.end());
  std::ranges::stable_sort(by_group, {}, [](const TypedArc& arc) { return std::pair(arc.source / kLanes, arc.target); });
  for (const TypedArc& arc : by_group) {
    const auto number = static_cast<std::uint32_t>(arc.source / kLanes);
    const Entry entry{static_cast<std::uint32_t>(arc.target / kLanes), static_cast<std::uint32_t>(arc.target % kLanes), {}};
    const bool begins = at(groups_) == type.groups || groups_.back().number != number;
    if (begins) groups_.push_back({number, at(entries_), at(entries_)});
    if (begins || entries_.back().group != entry.group || entries_.back().lane != entry.lane) entries_.push_back(entry);
    entries_.back().coefficients[arc.source % kLanes] = arc.weight;
    groups_.back().end = at(entries_);
    columns_.push_back(arc.target);
  }
  type.groups_end = at(groups_);
  const auto begin = columns_.begin() + type.columns;
  std::sort(begin, columns_.end());
  columns_.erase(std::unique(begin, columns_.end()), columns_.end());
  std::vector<std::span<const TypedArc>> rows;
  for (std::size_t a = 0, end; a < arcs.size(); a = end) {
    for (end = a; end < arcs.size() && arcs[end].source == arcs[a].source; ++end) continue;
    rows.push_back(arcs.subspan(a, end - a));
  }
  std::ranges::stable_sort(rows, {}, [](const auto& row) { return row.size(); });
  for (const auto& row : rows) {
    rows_.push_back({row[0].source, static_cast<std::uint32_t>(row.size())});
    for (const TypedArc& arc : row)
      arcs_.push_back({static_cast<std::size_t>(std::lower_bound(begin, columns_.end(), arc.target) - begin), arc.weight});
  }
  type.rows_end = at(rows_);
  type.arcs_end = at(arcs_);
  while ((at(columns_) - type.columns) % static_cast<std::int64_t>(kLanes) != 0) columns_.push_back(std::uint32_t{columns_.back()});
  type.columns_end = at(columns_);
  types_.push_back(type);
}

}  // namespace treille
