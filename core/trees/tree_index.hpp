#pragma once
// The distinct subtrees of many trees, and the trees that contain each: the input for matrices of tree kernels.
//
// A subtree is a node with all its descendants. The common fragments of two nodes depend on their subtrees alone, so equal subtrees are
// kept once ("hash-consing", but exact): label, and numbers of the children's subtrees. Subtrees that can have something in common are
// kin: subtrees of one production (label and labels of the children), or of one label. Kin are contiguous, in the order of first
// occurrence, so that the kin found in the trees 0 .. i are the first of their family.
// O(N) time for N nodes; per distinct subtree 24 bytes and 4 a child, per tree that holds it 8.

#include <cstdint>
#include <span>
#include <vector>

#include "interner.hpp"
#include "memory.hpp"
#include "trees/forest.hpp"

namespace treille {

// The key of kin subtrees, from a node's label and the labels of its children.
struct ByProduction {
  static constexpr bool kChildren = true;
};
struct ByLabel {
  static constexpr bool kChildren = false;
};

struct Holder {
  std::uint32_t tree, count;
};

template <class Kin>
class TreeIndex {
 public:
  explicit TreeIndex(const Forest& forest);

  std::size_t size() const { return n_trees_; }
  std::size_t n_subtrees() const { return child_starts_.size() - 1; }

  // A family: places start .. start + size of the subtrees with this key that stand in the trees 0 .. last.
  struct Family {
    std::uint32_t start, size;
  };
  Family family(std::span<const std::int32_t> key, std::uint32_t last) const;

  // The places of the children of the subtree at a place.
  std::span<const std::uint32_t> children(std::size_t place) const {
    return {children_.data() + child_starts_[place], static_cast<std::size_t>(child_starts_[place + 1] - child_starts_[place])};
  }
  // The trees with the subtree at a place, in order.
  std::span<const Holder> holders(std::size_t place) const {
    return {holders_.data() + holder_starts_[place], static_cast<std::size_t>(holder_starts_[place + 1] - holder_starts_[place])};
  }

 private:
  std::size_t n_trees_;
  Interner<std::int32_t> families_;
  Array<std::uint32_t> family_starts_, children_;
  Array<std::int64_t> child_starts_, holder_starts_;
  Array<Holder> holders_;
};

// The number of children of each node of a forest.
inline void count_children(std::span<const std::int32_t> parents, std::vector<std::uint32_t>& arity) {
  arity.assign(parents.size(), 0);
  for (std::size_t v = 1; v < parents.size(); ++v) ++arity[static_cast<std::size_t>(parents[v])];
}

}  // namespace treille
