#pragma once
// Features of the subtree kernel: complete subtrees, each a node with all its descendants.
//
//   phi_s(x) = decay^(m(s) / 2) * t(number of occurrences of s in x),   m(s) the number of nodes of s, leaves only where `leaves`; t as in
//   features/count_transform.hpp.
//
// Fitted on some trees, then frozen. Subtrees are compared exactly: label and numbers of the children's subtrees (see interner.hpp).
// O(N) for N nodes. Ids fall with the number of trees that hold the subtree; ties go by first occurrence.

#include <cstdint>
#include <span>
#include <vector>

#include "features/coded_rows.hpp"
#include "features/count_transform.hpp"
#include "features/interned_features.hpp"
#include "trees/forest.hpp"

namespace treille {

class SubtreeFeatures {
 public:
  static SubtreeFeatures fit(const Forest& forest, double decay, bool leaves, RowsWithNorms& rows, Counts counts = Counts::raw);

  // Frozen features from the result of `parts`: the key of a subtree is its label, then the numbers of its children's subtrees.
  static SubtreeFeatures from_parts(std::span<const std::int32_t> cells, std::span<const std::int64_t> starts,
                                    std::span<const std::int32_t> subtrees, double decay, bool leaves, Counts counts = Counts::raw);
  // The arrays that rebuild the features `ids`, which rise.
  InternedFeatures::Arrays parts(std::span<const std::int64_t> ids) const;

  // Labels of the forest are numbered as in fit; labels never seen have numbers never used there.
  RowsWithNorms transform(const Forest& forest, int threads) const;

  // The feature of the complete subtree at each node, or -1.
  std::vector<std::int32_t> at_nodes(const Forest& forest) const;

  std::size_t size() const { return subtrees_.size(); }

  // Labels of the subtree's nodes in preorder, and how many children each has.
  std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>> nodes(std::uint32_t id) const;

 private:
  SubtreeFeatures(double decay, bool leaves, Counts counts) : decay_(decay), leaves_(leaves), counts_(counts) {}

  // The value of a subtree that occurs `count` times.
  double value(std::int64_t nodes, std::uint32_t count) const;

  double decay_;
  bool leaves_;
  Counts counts_;
  InternedFeatures subtrees_;
  Array<std::int64_t> sizes_;  // m(s) of the known subtrees
};

}  // namespace treille
