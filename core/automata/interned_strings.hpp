#pragma once
// Strings with numbers, exactly: a string is its longest prefix's number and its last symbol. Node 0 is the empty string.
// 23 to 35 bytes per node.

#include <cstdint>
#include <vector>

#include "memory.hpp"
#include "tag_index.hpp"

namespace treille {

class InternedStrings {
  struct Node {
    std::uint32_t parent;
    std::int32_t symbol, length;
  };

  static std::uint32_t tag(std::uint32_t node, std::int32_t symbol) {
    const std::uint64_t pair = std::uint64_t{node} << 32 | static_cast<std::uint32_t>(symbol);
    return tag_of(mix(0, pair) * 0xBEA225F9EB34556Du);
  }
  auto is_child(std::uint32_t node, std::int32_t symbol) const {
    return [this, node, symbol](std::uint32_t k) { return nodes_[k + 1].parent == node && nodes_[k + 1].symbol == symbol; };
  }

 public:
  static constexpr std::uint32_t kAbsent = TagIndex::kAbsent;

  void clear() {
    index_.clear();
    nodes_.assign(1, Node{0, 0, 0});
  }

  std::size_t size() const { return nodes_.size(); }
  std::uint32_t parent(std::uint32_t node) const { return nodes_[node].parent; }
  std::int32_t symbol(std::uint32_t node) const { return nodes_[node].symbol; }
  std::int32_t length(std::uint32_t node) const { return nodes_[node].length; }

  // The string `node` with one more symbol; given a number where it has none.
  std::uint32_t child(std::uint32_t node, std::int32_t symbol) {
    return 1 + index_.find_or_add(tag(node, symbol), is_child(node, symbol), [&] { nodes_.push_back({node, symbol, length(node) + 1}); });
  }
  std::uint32_t find_child(std::uint32_t node, std::int32_t symbol) const {
    const std::uint32_t found = index_.find(tag(node, symbol), is_child(node, symbol));
    return found == kAbsent ? kAbsent : 1 + found;
  }

  // The symbols of a string.
  void spell(std::uint32_t node, std::vector<std::int32_t>& symbols) const {
    symbols.resize(static_cast<std::size_t>(length(node)));
    for (std::size_t k = symbols.size(); k-- > 0; node = parent(node)) symbols[k] = symbol(node);
  }

 private:
  Array<Node> nodes_ = Array<Node>(1);
  TagIndex index_{"strings"};  // of all nodes but the first
};

}  // namespace treille
