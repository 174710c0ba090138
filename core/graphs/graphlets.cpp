#include "graphs/graphlets.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <numeric>
#include <vector>

#include "interrupt.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

using Count = __int128;

Count pairs(Count n) { return n * (n - 1) / 2; }
Count triples(Count n) { return n * (n - 1) * (n - 2) / 6; }

// Counts the subgraphs of one graph after another; nodes are numbered by rising degree.
class GraphletCounter {
 public:
  void count(const Graphs& graphs, std::size_t g, int size, bool connected, double* row) {
    read(graphs, g);
    find_triangles(size == 4);
    const auto counts = size == 3 ? of_three() : of_four();
    const std::size_t kept = n_graphlets(size, connected);
    for (std::size_t type = 0; type < kept; ++type) row[type] = static_cast<double>(counts[type]);
  }

 private:
  using Node = std::uint32_t;

  std::size_t degree(std::size_t v) const { return starts_[v + 1] - starts_[v]; }
  // Neighbours rise; those after v are forward_[v] on.
  std::span<const Node> around(std::size_t v) const { return {&neighbours_[starts_[v]], degree(v)}; }
  std::span<const Node> after(std::size_t v) const { return {neighbours_.data() + forward_[v], starts_[v + 1] - forward_[v]}; }

  void read(const Graphs& graphs, std::size_t g) {
    const auto first = static_cast<std::size_t>(graphs.offsets[g]);
    n_ = graphs.n_nodes(g);
    rank_.resize(n_);
    order_.resize(n_);
    std::iota(order_.begin(), order_.end(), Node{0});
    const auto arcs = graphs.arcs.subspan(first, n_ + 1);
    const auto n_arcs = [&](Node v) { return arcs[v + 1] - arcs[v]; };
    std::sort(order_.begin(), order_.end(), [&](Node u, Node v) { return n_arcs(u) != n_arcs(v) ? n_arcs(u) < n_arcs(v) : u < v; });
    for (std::size_t place = 0; place < n_; ++place) rank_[order_[place]] = static_cast<Node>(place);
    starts_.assign(1, 0);
    neighbours_.clear();
    forward_.resize(n_);
    for (std::size_t v = 0; v < n_; ++v) {
      poll();
      for (auto arc = arcs[order_[v]]; arc < arcs[order_[v] + 1]; ++arc) {
        const Node target = rank_[static_cast<std::size_t>(graphs.targets[static_cast<std::size_t>(arc)])];
        if (target != v) neighbours_.push_back(target);
      }
      const auto begin = neighbours_.begin() + static_cast<std::ptrdiff_t>(starts_[v]);
      std::sort(begin, neighbours_.end());
      forward_[v] = static_cast<std::size_t>(std::upper_bound(begin, neighbours_.end(), static_cast<Node>(v)) - neighbours_.begin());
      starts_.push_back(neighbours_.size());
    }
    place_.assign(n_, 0);
    common_.assign(n_, 0);
  }

  // Triangles u < v < w from their smallest node; of_edge_ counts the triangles of each edge, at its place among the neighbours of its
  // smaller node. Two triangles of an edge (u, v) make a clique where their third nodes are neighbours.
  void find_triangles(bool cliques) {
    of_edge_.assign(neighbours_.size(), 0);
    triangles_ = cliques_ = 0;
    for (std::size_t u = 0; u < n_; ++u) {
      for (std::size_t e = forward_[u]; e < starts_[u + 1]; ++e) place_[neighbours_[e]] = e + 1;
      for (std::size_t e = forward_[u]; e < starts_[u + 1]; ++e) {
        poll();
        const Node v = neighbours_[e];
        thirds_.clear();
        for (std::size_t f = forward_[v]; f < starts_[v + 1]; ++f)
          if (const Node w = neighbours_[f]; place_[w] != 0) {
            ++of_edge_[e], ++of_edge_[f], ++of_edge_[place_[w] - 1];
            thirds_.push_back(w);
          }
        triangles_ += static_cast<Count>(thirds_.size());
        if (!cliques || thirds_.size() < 2) continue;
        for (const Node w : thirds_) common_[w] = 1;
        for (const Node w : thirds_)
          for (const Node x : after(w)) cliques_ += common_[x];
        for (const Node w : thirds_) common_[w] = 0;
      }
      for (std::size_t e = forward_[u]; e < starts_[u + 1]; ++e) place_[neighbours_[e]] = 0;
    }
  }

  // Cycles of 4 nodes, with or without chords, from their largest node v: pairs of paths v, w, u with w, u < v.
  Count cycles() {
    Count found = 0;
    for (std::size_t v = 0; v < n_; ++v) {
      const std::span<const Node> before(neighbours_.data() + starts_[v], forward_[v] - starts_[v]);
      for (const Node w : before) {
        poll();
        for (const Node u : around(w)) {
          if (u >= v) break;
          found += common_[u]++;
        }
      }
      for (const Node w : before)
        for (const Node u : around(w)) {
          if (u >= v) break;
          common_[u] = 0;
        }
    }
    return found;
  }

  std::vector<Count> of_three() const {
    const Count n = static_cast<Count>(n_), m = static_cast<Count>(neighbours_.size() / 2);
    Count wedges = 0;
    for (std::size_t v = 0; v < n_; ++v) wedges += pairs(static_cast<Count>(degree(v)));
    const Count triangle = triangles_, path = wedges - 3 * triangle;
    const Count edge = m * (n - 2) - 2 * path - 3 * triangle;
    return {path, triangle, edge, triples(n) - path - triangle - edge};
  }

  std::vector<Count> of_four() {
    const Count n = static_cast<Count>(n_), m = static_cast<Count>(neighbours_.size() / 2), clique = cliques_;
    // Subgraphs, induced or not.
    Count wedges = 0, stars = 0, paths = -3 * triangles_, tailed = 0, chorded = 0;
    for (std::size_t v = 0; v < n_; ++v) {
      const auto d = static_cast<Count>(degree(v));
      wedges += pairs(d);
      stars += triples(d);
      for (std::size_t e = forward_[v]; e < starts_[v + 1]; ++e) {
        const auto other = static_cast<Count>(degree(neighbours_[e])), t = static_cast<Count>(of_edge_[e]);
        paths += (d - 1) * (other - 1);
        tailed += t * (d + other - 4);  // a node has two edges in each of its triangles, and each counts half
        chorded += pairs(t);
      }
    }
    tailed /= 2;
    // Induced ones: subtracts the occurrences in types with more edges.
    const Count chord = chorded - 6 * clique;
    const Count tail = tailed - 4 * chord - 12 * clique;
    const Count cycle = cycles() - chord - 3 * clique;
    const Count star = stars - tail - 2 * chord - 4 * clique;
    const Count path = paths - 4 * cycle - 2 * tail - 6 * chord - 12 * clique;
    const Count triangle = triangles_ * (n - 3) - tail - 2 * chord - 4 * clique;
    const Count wedge = wedges * (n - 3) - 2 * path - 3 * star - 4 * cycle - 5 * tail - 8 * chord - 12 * clique - 3 * triangle;
    const Count two = pairs(m) - wedges - path - 2 * cycle - tail - 2 * chord - 3 * clique;
    const Count edges = 3 * (path + star + triangle) + 4 * (cycle + tail) + 5 * chord + 6 * clique + 2 * (wedge + two);
    const Count one = m * pairs(n - 2) - edges;
    const Count some = path + star + cycle + tail + chord + clique + triangle + wedge + two + one;
    return {path, star, cycle, tail, chord, clique, triangle, wedge, two, one, n * triples(n - 1) / 4 - some};
  }

  std::size_t n_ = 0;
  std::vector<Node> order_, rank_;
  std::vector<std::size_t> starts_, forward_;
  std::vector<Node> neighbours_, thirds_;
  std::vector<std::uint64_t> of_edge_;
  std::vector<std::size_t> place_;     // of the edge to a marked node, plus 1
  std::vector<std::uint64_t> common_;  // paths to a node, or whether it is marked
  Count triangles_ = 0, cliques_ = 0;
};

// Visits the connected sets of nodes of one graph after another: each once, from its smallest node, by adding neighbours of the set that
// were none before the last node was added. Wernicke: Efficient detection of network motifs. IEEE/ACM TCBB 3, 2006, algorithm ESU.
class Visitor {
 public:
  Visitor(const Graphs& graphs, int size) : graphs_(graphs), size_(static_cast<std::size_t>(size)), width_(n_graphlets(size, true)) {}

  void visit(std::size_t g, double* rows) {
    first_ = static_cast<std::size_t>(graphs_.offsets[g]);
    near_.assign(graphs_.n_nodes(g), false);
    for (std::size_t v = 0; v < near_.size(); ++v) extend(v, 0, {}, rows);
  }

 private:
  std::span<const std::int32_t> around(std::size_t v) const {
    const auto begin = static_cast<std::size_t>(graphs_.arcs[first_ + v]), end = static_cast<std::size_t>(graphs_.arcs[first_ + v + 1]);
    return graphs_.targets.subspan(begin, end - begin);
  }

  // Adds v to the set of `n` nodes; `others` may be added, too.
  void extend(std::size_t v, std::size_t n, std::vector<std::size_t> others, double* rows) {
    poll();
    set_[n] = v;
    if (n + 1 == size_) return count(rows);
    std::vector<std::size_t> marked;
    const auto mark = [&](std::size_t u) {
      if (u < set_[0] || near_[u]) return false;
      near_[u] = true;
      marked.push_back(u);
      return true;
    };
    if (n == 0) mark(v);
    for (const auto u : around(v))
      if (mark(static_cast<std::size_t>(u))) others.push_back(static_cast<std::size_t>(u));
    while (!others.empty()) {
      const std::size_t next = others.back();
      others.pop_back();
      extend(next, n + 1, others, rows);
    }
    for (const std::size_t u : marked) near_[u] = false;
  }

  void count(double* rows) const {
    int edges = 0, most = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      int degree = 0;
      const auto neighbours = around(set_[i]);
      for (std::size_t j = 0; j < size_; ++j)
        degree += j != i && std::binary_search(neighbours.begin(), neighbours.end(), static_cast<std::int32_t>(set_[j]));
      edges += degree;
      most = std::max(most, degree);
    }
    edges /= 2;
    const int type = size_ == 3 ? edges - 2 : edges > 4 ? edges - 1 : 2 * (edges - 3) + (most == 3);
    for (std::size_t i = 0; i < size_; ++i) ++rows[set_[i] * width_ + static_cast<std::size_t>(type)];
  }

  const Graphs& graphs_;
  std::size_t size_, width_, first_ = 0;
  std::array<std::size_t, 4> set_{};
  std::vector<bool> near_;  // in the set, or neighbours of it
};

}  // namespace

Buffer<double> graphlets_of_nodes(const Graphs& graphs, int size, int threads) {
  const std::size_t width = n_graphlets(size, true);
  Buffer<double> counts(static_cast<std::size_t>(graphs.offsets.back()) * width);
  std::fill(counts.data(), counts.data() + counts.size(), 0.0);
  run_in_turns(graphs.size(), threads,
               [&](std::size_t g) { Visitor(graphs, size).visit(g, counts.data() + static_cast<std::size_t>(graphs.offsets[g]) * width); });
  return counts;
}

Buffer<double> graphlets(const Graphs& graphs, int size, bool connected, int threads) {
  assert(size == 3 || size == 4);
  const std::size_t n = graphs.size(), width = n_graphlets(size, connected);
  constexpr std::size_t few = 16;
  Buffer<double> counts(n * width);
  std::atomic<std::size_t> next{0};
  expect(n);
  run_shares(threads, [&](int) {
    GraphletCounter counter;
    for (std::size_t first; (first = next.fetch_add(few)) < n;)
      for (std::size_t g = first; g < std::min(n, first + few); ++g) {
        tick();
        counter.count(graphs, g, size, connected, counts.data() + g * width);
      }
  });
  return counts;
}

}  // namespace treille
