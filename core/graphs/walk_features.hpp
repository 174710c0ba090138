#pragma once
// Features of the walks of min_k to k steps: sequences of labels, node, edge, node, ..., edge, node.
//
//   phi_s(x) = t(sum over the walks of x with labels s of the product of the weights of their arcs),   t as in
//   features/count_transform.hpp.
//
// Sequences are extended one step at a time, with the number of walks that end in each node: depth first, so that only one sequence is in
// memory. A graph costs, for each of its sequences, the arcs of the nodes where its walks end, times a logarithm. Ids fall with the number
// of graphs that hold the sequence; ties go by first occurrence.

#include <cstdint>
#include <span>
#include <vector>

#include "features/coded_rows.hpp"
#include "features/count_transform.hpp"
#include "features/interned_features.hpp"
#include "graphs/graphs.hpp"

namespace treille {

class WalkFeatures {
 public:
  static WalkFeatures fit(const Graphs& graphs, int min_k, int k, Counts counts, RowsWithNorms& rows);

  // Frozen features from the cells and features of `parts`. The key of a prefix: the number of the prefix before it or -1, the
  // label of the last edge, the label of the last node.
  static WalkFeatures from_parts(std::span<const std::int32_t> steps, std::span<const std::int32_t> sequences, int min_k, int k,
                                 Counts counts);
  // The arrays that rebuild the features `ids`, which rise.
  InternedFeatures::Arrays parts(std::span<const std::int64_t> ids) const;

  // Labels are numbered as in fit; labels never seen have numbers never used there.
  RowsWithNorms transform(const Graphs& graphs, int threads) const;

  // The contribution of each node and each arc to functions of the rows, `weights` a row of n_functions numbers for each feature: the
  // weight times the value of each walk, shared equally among its visits of nodes and arcs. Written to `nodes` and `arcs`, a row for each.
  void contributions(const Graphs& graphs, std::span<const double> weights, std::size_t n_functions, double* nodes, double* arcs) const;

  std::size_t size() const { return sequences_.size(); }
  // Labels: node, edge, node, ...
  std::vector<std::int32_t> labels(std::uint32_t id) const;

 private:
  // The number of a longer prefix, or Interner::kAbsent.
  std::uint32_t find(std::uint32_t prefix, std::int32_t edge, std::int32_t label) const {
    const std::int32_t cells[3]{static_cast<std::int32_t>(prefix), edge, label};
    return sequences_.known.find(cells);
  }

  WalkFeatures(int min_k, int k, Counts counts) : min_k_(min_k), k_(k), counts_(counts) {}

  int min_k_, k_;
  Counts counts_;
  InternedFeatures sequences_;  // of prefixes
};

}  // namespace treille
