#pragma once
// Labels of nodes after 0 .. rounds rounds of refinement: a label becomes the label of the node with the multiset of (label of the edge,
// label of the neighbour) over its arcs. KnownPatterns of GraphFeatures; O(rounds (nodes + arcs)) expected, apart from sorting the arcs of
// each node. Weisfeiler, Lehman 1968; Shervashidze et al., JMLR 2011, Algorithm 2.
//
// The key of a label: -1 - code for round 0; later the label of the round before, then the neighbours' labels, each after the label of its
// edge if edges have labels, sorted. An occurrence: node, round.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graphs/graph_features.hpp"

namespace treille {

struct Refinements {
  std::int32_t rounds;
  bool edge_labelled;

  class Finder {
   public:
    Finder(const Graphs& graphs, const Refinements& kind) : graphs_(graphs), kind_(kind) {}

    template <class Number, class Visit>
    void find(std::size_t g, Number&& number, Visit&& visit) {
      const auto first = static_cast<std::size_t>(graphs_.offsets[g]), n = graphs_.n_nodes(g);
      labels_.resize(n);
      for (std::size_t v = 0; v < n; ++v) {
        poll();
        key_.assign(1, -1 - graphs_.labels[first + v]);
        labels_[v] = number(key_);
        visit(PatternFound{labels_[v], static_cast<std::int32_t>(v), 0});
      }
      for (std::int32_t round = 1; round <= kind_.rounds; ++round) {
        // All keys of a round first: their places in the table arrive while others are written.
        cells_.clear();
        ends_.clear();
        for (std::size_t v = 0; v < n; ++v) {
          poll();
          const auto begin = static_cast<std::size_t>(graphs_.arcs[first + v]), end = static_cast<std::size_t>(graphs_.arcs[first + v + 1]);
          around_.resize(end - begin);
          for (std::size_t a = begin; a < end; ++a) {
            const std::uint64_t edge = kind_.edge_labelled ? static_cast<std::uint64_t>(graphs_.edge_labels[a]) << 32 : 0;
            around_[a - begin] = edge | labels_[static_cast<std::size_t>(graphs_.targets[a])];
          }
          const std::size_t start = cells_.size();
          kind_.append(labels_[v], around_, cells_);
          ends_.push_back(cells_.size());
          number.prefetch(std::span(cells_).subspan(start), 0);
        }
        for (const int step : {1, 2}) {
          std::size_t start = 0;
          for (const std::size_t end : ends_) {
            number.prefetch(std::span(cells_).subspan(start, end - start), step);
            start = end;
          }
        }
        std::size_t start = 0;
        for (std::size_t v = 0; v < n; start = ends_[v++]) {
          poll();
          labels_[v] = number(std::span(cells_).subspan(start, ends_[v] - start));
          visit(PatternFound{labels_[v], static_cast<std::int32_t>(v), round});
        }
      }
    }

   private:
    const Graphs& graphs_;
    const Refinements& kind_;
    std::vector<std::uint32_t> labels_;
    std::vector<std::uint64_t> around_;
    std::vector<std::size_t> ends_;
    PatternKey key_, cells_;
  };

  std::int64_t work(const Graphs& graphs, std::size_t g) const {
    return (1 + std::int64_t{rounds}) * (static_cast<std::int64_t>(graphs.n_nodes(g)) + graphs.n_arcs(g));
  }

  void recode(PatternKey& key, const PatternCodes& codes) const {
    if (key[0] < 0) {
      key[0] = -1 - PatternCodes::of(-1 - key[0], codes.labels);
      return;
    }
    std::vector<std::uint64_t> around;
    for (std::size_t i = 1; i < key.size(); i += width()) {
      const auto edge = edge_labelled ? static_cast<std::uint64_t>(PatternCodes::of(key[i], codes.edge_labels)) << 32 : 0;
      around.push_back(edge | static_cast<std::uint32_t>(codes.pattern(key[i + width() - 1])));
    }
    const auto own = static_cast<std::uint32_t>(codes.pattern(key[0]));
    key.clear();
    append(own, around, key);
  }

  template <class Use>
  void references(std::span<const std::int32_t> key, Use&& use) const {
    if (key[0] < 0) return;
    use(key[0]);
    for (std::size_t i = width(); i < key.size(); i += width()) use(key[i]);
  }

  bool is_sound(std::span<const std::int32_t> key, std::int32_t before, std::int32_t n_labels, std::int32_t n_edge_labels) const {
    if (key[0] < 0) return key.size() == 1 && -1 - key[0] < n_labels;
    if (key[0] >= before || (key.size() - 1) % width() != 0) return false;
    for (std::size_t i = 1; i < key.size(); i += width()) {
      const std::int32_t other = key[i + width() - 1];
      if (other < 0 || other >= before || (edge_labelled && (key[i] < 0 || key[i] >= n_edge_labels))) return false;
    }
    return true;
  }

 private:
  std::size_t width() const { return edge_labelled ? 2 : 1; }

  void append(std::uint32_t own, std::vector<std::uint64_t>& around, PatternKey& cells) const {
    std::sort(around.begin(), around.end());
    cells.push_back(static_cast<std::int32_t>(own));
    for (const std::uint64_t each : around) {
      if (edge_labelled) cells.push_back(static_cast<std::int32_t>(each >> 32));
      cells.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(each)));
    }
  }
};

}  // namespace treille
