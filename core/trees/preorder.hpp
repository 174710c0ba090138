#pragma once
// Nodes in preorder from nodes in any order: a node before its children, and these in the order in which they are given. O(N).

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "memory.hpp"

namespace treille {

// The reason why a list of parents is no tree. `node` counts from the first node of its tree.
struct TreeFault {
  std::size_t tree, node;
  std::string message;
};

struct Preorder {
  Array<std::int64_t> order;    // the old place of each node; empty if all are in preorder already
  Array<std::int32_t> parents;  // in the new order; empty likewise
  std::optional<TreeFault> fault;
};

// Parents count from the first node of their tree; the parent of a root is -1.
Preorder to_preorder(std::span<const std::int32_t> parents, std::span<const std::int64_t> offsets);

}  // namespace treille
