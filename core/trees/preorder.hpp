#pragma once
// Nodes in preorder from nodes in any order: a node before its children, and these in the order in which they are given. O(N).

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "memory.hpp"

namespace treille {

// What makes a list of parents no tree. `node` counts from the first node of its tree.
struct TreeFault {
  std::size_t tree, node;
  std::string message;
};

struct Preorder {
  Array<std::int64_t> order;    // where each node stood before; empty where all stand as they should
  Array<std::int32_t> parents;  // in the new order; empty likewise
  std::optional<TreeFault> fault;
};

// Parents count from the first node of their tree; that of a root is -1.
Preorder to_preorder(std::span<const std::int32_t> parents, std::span<const std::int64_t> offsets);

}  // namespace treille
