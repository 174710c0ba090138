#pragma once
// The nodes of a forest in the order of their upward strings: the label of a node, the label of its parent, and so on to the root.
//
// Nodes with equal upward strings are those that the same labels lead to from the root: the trie of root paths holds each string once.
// Its M <= N nodes, here called paths, are sorted by as many labels as 64 bits hold, by radix; strings that share these are ordered by
// prefix doubling over ancestors: the names of the first h labels of a path and of its h-th ancestor name the first 2h. The length that
// neighbours share is then found by binary descent through the same names. A string that is a prefix of another comes before it.
//
// Cost: O(N) expected for the trie, O(M log(depth)) passes and sorts for the order; no recursion. While building, about 60 bytes a path and
// 8 more for each doubling that is needed: one or none where trees are shallow, 17 for a chain of 100,000 nodes.
// This is the order of the XBW transform: Ferragina, Luccio, Manzini, Muthukrishnan: Structuring labeled trees, FOCS 2005; doubling over
// ancestors: Kosaraju: Efficient tree pattern matching, FOCS 1989.

#include <cstdint>

#include "memory.hpp"
#include "text/substring_tree.hpp"
#include "trees/forest.hpp"

namespace treille {

// The trie of root paths, parents before children.
struct RootPaths {
  Buffer<std::int32_t> of_node;
  Array<std::int32_t> label;   // the last label of the path, which its nodes have
  Array<std::int32_t> parent;  // the path without its last label, or -1
  Array<std::int32_t> length;  // in labels

  std::size_t size() const { return label.size(); }
};

// Throws std::length_error where there are 2^31 paths or more.
RootPaths root_paths(const Forest& forest);

// Paths by upward string, all of them different.
struct UpwardOrder {
  Buffer<std::int32_t> path;  // by rank
  Buffer<std::int32_t> lcp;   // by rank: labels shared with the path before; lcp[0] = 0
};

UpwardOrder upward_order(const RootPaths& paths);

// The nodes by upward string, those with equal strings in preorder. Index is std::int32_t for fewer than 2^31 nodes.
template <class Index>
SortedStrings<Index> upward_strings(const Forest& forest);

}  // namespace treille
