#pragma once
// Explicit features of the subpath kernel: one for each edge of the suffix tree of the upward strings of a forest.
//
//   k(x, y) = sum over downward paths p of weight(|p|) t(count_x(p)) t(count_y(p)),    W(l) = weight(1) + ... + weight(l),
//
// t as in features/count_transform.hpp.
//
// All paths on the edge into a node of depth l, whose parent has depth l', occur at the same nodes of the forest: they make one feature,
// phi(x) = sqrt(W(l) - W(l')) t(count_x). In a new tree a node may match an edge only in part, down to depth m: if it is the c-th that
// matches so far, it then brings (W(m) - W(l')) (t(c) - t(c - 1)) / sqrt(W(l) - W(l')), so that products with fitted rows stay exact.
// Depths beyond the last entry of W are cut to it. There are at most two features for each distinct path from a root.
//
// Fitting costs a sort (see upward_order.hpp); a row costs a step for each label that its nodes share with the fitted paths above them,
// each a binary search where an edge ends. Shibuya: Constructing the suffix tree of a tree with a large alphabet, IEICE Trans. 2003;
// Kimura, Kashima: Fast computation of subpath kernel for trees, ICML 2012.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "features/count_transform.hpp"
#include "memory.hpp"
#include "trees/forest.hpp"

namespace treille {

struct SparseRows {
  Buffer<std::int64_t> indptr;
  Buffer<std::int32_t> features;  // distinct within a row, in no order
  Buffer<double> values;
};

class SubpathFeatures {
 public:
  // The paths that edges spell, as a trie, and the nodes of the suffix tree; both with parents before children. An edge is read off
  // path_label from edge_start[u] upwards, as many labels as node u is deeper than its parent. A node without a feature has -1.
  struct Arrays {
    Array<std::int32_t> path_label, path_parent;
    Array<std::int32_t> node_parent, node_depth, edge_start, feature;
  };

  // Labels are 0..n_labels-1. Features are numbered by node.
  static SubpathFeatures fit(const Forest& forest, std::int32_t n_labels, std::span<const double> cumulative, Counts counts = Counts::raw);
  SubpathFeatures(Arrays arrays, std::int32_t n_labels, std::span<const double> cumulative, Counts counts = Counts::raw);

  // Labels from n_labels on match nothing.
  SparseRows transform(const Forest& forest, int threads) const;
  // The contribution of each node to functions of the rows, `weights` a row of n_functions numbers for each feature: a path shares its
  // weight equally among its nodes. Added to `out`, a row for each node.
  void contributions(const Forest& forest, std::span<const double> weights, std::size_t n_functions, double* out) const;
  // Feature ids[k] is number k, and the others are none.
  SubpathFeatures restrict(std::span<const std::int64_t> ids) const;

  // The longest path of a feature, read upwards, and the length of its shortest.
  std::pair<std::vector<std::int32_t>, std::int32_t> path(std::size_t id) const;

  const Arrays& parts() const { return arrays_; }
  std::size_t size() const { return node_of_.size(); }
  // An upper bound of the entries in the rows of the fitted forest; 0 if nothing was fitted.
  std::int64_t most_entries() const { return most_entries_; }

 private:
  std::int32_t depth_above(std::size_t u) const {
    const std::int32_t parent = arrays_.node_parent[u];
    return parent < 0 ? 0 : arrays_.node_depth[static_cast<std::size_t>(parent)];
  }
  std::int32_t child(std::int32_t u, std::int32_t label) const;
  template <class Meet>
  void match(const Forest& forest, std::size_t first, std::size_t v, Meet&& meet) const;

  Arrays arrays_;
  std::int32_t n_labels_;
  Counts counts_;
  std::vector<double> cumulative_;
  Array<double> root_of_weight_;       // by node: sqrt(W(l) - W(l'))
  std::vector<std::int32_t> at_root_;  // by label: the child of the root, or -1
  Array<std::int32_t> children_;       // of other nodes, sorted by node, then by the first label of the edge
  Array<std::int32_t> first_child_;    // by node, and one more
  Array<std::int32_t> node_of_;        // by feature
  std::int64_t most_entries_ = 0;
};

}  // namespace treille
