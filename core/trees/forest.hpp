#pragma once
// Many labelled, rooted, ordered trees in flat arrays, nodes in preorder: tree i has the nodes offsets[i] .. offsets[i + 1].

#include <cstdint>
#include <span>

namespace treille {

struct Forest {
  std::span<const std::int32_t> labels;
  std::span<const std::int32_t> parents;  // counted from the root of the tree, which is 0 and has the parent -1
  std::span<const std::int64_t> offsets;

  std::size_t size() const { return offsets.size() - 1; }
  std::size_t n_nodes() const { return labels.size(); }
};

}  // namespace treille
