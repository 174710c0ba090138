#pragma once
// Labels of nodes, and labels of edges with or without those of their ends: patterns of GraphFeatures, in linear time.

#include <algorithm>
#include <cstdint>

#include "graphs/graph_features.hpp"

namespace treille {

// The key: the label. An occurrence: the node.
struct NodeLabels {
  struct Finder {
    Finder(const Graphs& all, const NodeLabels&) : graphs(all) {}

    template <class Number, class Visit>
    void find(std::size_t g, Number&& number, Visit&& visit) {
      const auto first = static_cast<std::size_t>(graphs.offsets[g]);
      for (std::size_t v = 0; v < graphs.n_nodes(g); ++v) {
        poll();
        key.assign(1, graphs.labels[first + v]);
        visit(PatternFound{number(key), static_cast<std::int32_t>(v), 0});
      }
    }

    const Graphs& graphs;
    PatternKey key;
  };

  std::int64_t work(const Graphs& graphs, std::size_t g) const { return static_cast<std::int64_t>(graphs.n_nodes(g)); }
  void recode(PatternKey& key, const PatternCodes& codes) const { key[0] = PatternCodes::of(key[0], codes.labels); }
  template <class Use>
  void references(std::span<const std::int32_t>, Use&&) const {}
  bool is_sound(std::span<const std::int32_t> key, std::int32_t, std::int32_t n_labels, std::int32_t) const {
    return key.size() == 1 && key[0] >= 0 && key[0] < n_labels;
  }
};

// The key: the label of the edge, 0 if there are none; with `ends` the labels of its ends after it, sorted if the edge is undirected.
// An occurrence: its arc, counted from the first of the graph. Of the two arcs of an undirected edge, the arc from the smaller node counts.
struct EdgeLabels {
  bool ends, directed;

  struct Finder {
    Finder(const Graphs& all, const EdgeLabels& its) : graphs(all), kind(its) {}

    template <class Number, class Visit>
    void find(std::size_t g, Number&& number, Visit&& visit) {
      const auto first = static_cast<std::size_t>(graphs.offsets[g]);
      const std::int64_t start = graphs.arcs[first];
      for (std::size_t v = 0; v < graphs.n_nodes(g); ++v)
        for (std::int64_t a = graphs.arcs[first + v]; a < graphs.arcs[first + v + 1]; ++a) {
          poll();
          const auto target = static_cast<std::size_t>(graphs.targets[static_cast<std::size_t>(a)]);
          if (!kind.directed && target < v) continue;
          key.assign(1, graphs.edge_labels.empty() ? 0 : graphs.edge_labels[static_cast<std::size_t>(a)]);
          if (kind.ends) {
            key.push_back(graphs.labels[first + v]);
            key.push_back(graphs.labels[first + target]);
            kind.sort(key);
          }
          visit(PatternFound{number(key), static_cast<std::int32_t>(a - start), 0});
        }
    }

    const Graphs& graphs;
    const EdgeLabels& kind;
    PatternKey key;
  };

  std::int64_t work(const Graphs& graphs, std::size_t g) const { return graphs.n_arcs(g); }
  void sort(PatternKey& key) const {
    if (!directed && key[1] > key[2]) std::swap(key[1], key[2]);
  }
  void recode(PatternKey& key, const PatternCodes& codes) const {
    key[0] = PatternCodes::of(key[0], codes.edge_labels);
    if (!ends) return;
    key[1] = PatternCodes::of(key[1], codes.labels);
    key[2] = PatternCodes::of(key[2], codes.labels);
    sort(key);
  }
  template <class Use>
  void references(std::span<const std::int32_t>, Use&&) const {}
  bool is_sound(std::span<const std::int32_t> key, std::int32_t, std::int32_t n_labels, std::int32_t n_edge_labels) const {
    if (key.size() != (ends ? 3 : 1) || key[0] < 0 || key[0] >= std::max(1, n_edge_labels)) return false;
    const auto ends_of = key.subspan(1);
    return std::ranges::all_of(ends_of, [&](std::int32_t label) { return label >= 0 && label < n_labels; });
  }
};

}  // namespace treille
