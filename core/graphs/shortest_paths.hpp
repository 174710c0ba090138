#pragma once
// Shortest paths between different nodes: patterns (label, label, length) of GraphFeatures. Breadth-first search from every node, O(n (n +
// m)) for a graph of n nodes and m arcs; with weights Dijkstra's algorithm, O(n (n + m) log n). Borgwardt, Kriegel, ICDM 2005.
//
// The key: the labels of the ends, sorted if the path is undirected, then the length, see PathLength. An occurrence: the ends. Of the
// ordered pairs of an undirected graph only u < v are visited. With equal labels a pair counts twice. With different labels the pattern
// represents itself and its reversal, which have equal counts: it counts once, and the factor sqrt 2 gives the same kernel.

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <queue>
#include <utility>
#include <vector>

#include "graphs/graph_features.hpp"

namespace treille {

struct ShortestPaths {
  double max_length;  // edges of a path at most, or the sum of their weights
  bool weighted, directed;

  class Finder {
   public:
    Finder(const Graphs& graphs, const ShortestPaths& kind) : graphs_(graphs), kind_(kind) {}

    template <class Number, class Visit>
    void find(std::size_t g, Number&& number, Visit&& visit) {
      const auto first = static_cast<std::size_t>(graphs_.offsets[g]), n = graphs_.n_nodes(g);
      seen_.assign(n, -1);
      for (std::size_t u = 0; u < n; ++u) {
        poll();
        const auto report = [&](std::size_t v, auto length) {
          if (v == u || (!kind_.directed && v < u)) return;
          const std::int32_t a = graphs_.labels[first + u], b = graphs_.labels[first + v];
          key_ = {a, b};
          kind_.sort(key_);
          write(length);
          const bool once = kind_.directed || a != b;
          visit(PatternFound{number(key_), static_cast<std::int32_t>(u), static_cast<std::int32_t>(v), once ? 1u : 2u,
                             !kind_.directed && a != b ? std::numbers::sqrt2 : 1.0});
        };
        kind_.weighted ? by_weight(first, u, report) : by_edges(first, u, report);
      }
    }

   private:
    template <class Report>
    void by_edges(std::size_t first, std::size_t u, Report&& report) {
      reached_.assign(1, u);
      seen_[u] = static_cast<std::int64_t>(u);
      std::size_t next = 0;
      for (std::int32_t length = 1; length <= kind_.max_length && next < reached_.size(); ++length)
        for (const std::size_t end = reached_.size(); next < end; ++next) {
          poll();
          const std::size_t v = first + reached_[next];
          for (auto a = static_cast<std::size_t>(graphs_.arcs[v]); a < static_cast<std::size_t>(graphs_.arcs[v + 1]); ++a) {
            const auto target = static_cast<std::size_t>(graphs_.targets[a]);
            if (seen_[target] == static_cast<std::int64_t>(u)) continue;
            seen_[target] = static_cast<std::int64_t>(u);
            reached_.push_back(target);
            report(target, length);
          }
        }
    }

    template <class Report>
    void by_weight(std::size_t first, std::size_t u, Report&& report) {
      lengths_.assign(seen_.size(), std::numeric_limits<double>::infinity());
      lengths_[u] = 0;
      using Candidate = std::pair<double, std::size_t>;
      std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> next;
      next.emplace(0.0, u);
      while (!next.empty()) {
        poll();
        const auto [length, node] = next.top();
        next.pop();
        if (length > lengths_[node]) continue;
        if (length > kind_.max_length) break;
        report(node, length);
        const std::size_t v = first + node;
        for (auto a = static_cast<std::size_t>(graphs_.arcs[v]); a < static_cast<std::size_t>(graphs_.arcs[v + 1]); ++a) {
          const auto target = static_cast<std::size_t>(graphs_.targets[a]);
          const double longer = length + (graphs_.weights.empty() ? 1.0 : graphs_.weights[a]);
          if (longer < lengths_[target]) next.emplace(lengths_[target] = longer, target);
        }
      }
    }

    void write(std::int32_t length) { key_.push_back(length); }
    // Nine significant digits as a whole number, and the exponent of the first: sums of weights in another order give the same key.
    void write(double length) {
      if (length != written_) {  // equal lengths often follow each other
        written_ = length;
        exponent_ = length > 0 ? static_cast<std::int32_t>(std::floor(std::log10(length))) : 0;
        digits_ = static_cast<std::int64_t>(std::llround(length * std::pow(10.0L, 8 - exponent_)));
        if (digits_ >= kDigits) {
          digits_ /= 10;
          ++exponent_;
        }
      }
      key_.push_back(static_cast<std::int32_t>(digits_));
      key_.push_back(exponent_);
    }

    const Graphs& graphs_;
    const ShortestPaths& kind_;
    std::vector<std::int64_t> seen_;  // the source that reached a node last
    std::vector<std::size_t> reached_;
    std::vector<double> lengths_;
    double written_ = -1;
    std::int64_t digits_ = 0;
    std::int32_t exponent_ = 0;
    PatternKey key_;
  };

  static constexpr std::int64_t kDigits = 1'000'000'000;

  std::int64_t work(const Graphs& graphs, std::size_t g) const {
    const auto n = static_cast<std::int64_t>(graphs.n_nodes(g));
    return n * (n + graphs.n_arcs(g));
  }
  void sort(PatternKey& key) const {
    if (!directed && key[0] > key[1]) std::swap(key[0], key[1]);
  }
  void recode(PatternKey& key, const PatternCodes& codes) const {
    key[0] = PatternCodes::of(key[0], codes.labels);
    key[1] = PatternCodes::of(key[1], codes.labels);
    sort(key);
  }
  template <class Use>
  void references(std::span<const std::int32_t>, Use&&) const {}
  bool is_sound(std::span<const std::int32_t> key, std::int32_t, std::int32_t n_labels, std::int32_t) const {
    if (key.size() != (weighted ? 4 : 3)) return false;
    if (std::min(key[0], key[1]) < 0 || std::max(key[0], key[1]) >= n_labels) return false;
    return weighted ? key[2] >= 0 && key[2] < kDigits && std::abs(key[3]) < 400 : key[2] >= 1;
  }
};

}  // namespace treille
