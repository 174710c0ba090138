#pragma once
// Strings with numbers, exactly: a string is its longest prefix's number and its last symbol. Node 0 is the empty string.
// 16 bytes a node and 32 to 64 of slots.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "memory.hpp"

namespace treille {

class InternedStrings {
 public:
  static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

  InternedStrings() { clear(); }

  void clear() {
    if (nodes_.size() * 8 < slots_.size()) {  // few strings in a large table: empty their slots only
      for (std::size_t node = 1; node < nodes_.size(); ++node) slots_[nodes_[node].slot] = kAbsent;
    } else {
      slots_.assign(slots_.size(), kAbsent);
    }
    nodes_.assign(1, Node{0, 0, 0, 0});
  }

  std::size_t size() const { return nodes_.size(); }
  std::uint32_t parent(std::uint32_t node) const { return nodes_[node].parent; }
  std::int32_t symbol(std::uint32_t node) const { return nodes_[node].symbol; }
  std::int32_t length(std::uint32_t node) const { return nodes_[node].length; }

  // The string `node` with one more symbol; given a number where it has none.
  std::uint32_t child(std::uint32_t node, std::int32_t symbol) {
    std::size_t slot = slot_of(node, symbol);
    if (slots_[slot] != kAbsent) return slots_[slot];
    if (nodes_.size() >= kAbsent) throw std::length_error("more than 4 billion distinct strings");
    const auto fresh = static_cast<std::uint32_t>(nodes_.size());
    slots_[slot] = fresh;
    nodes_.push_back({node, symbol, nodes_[node].length + 1, static_cast<std::uint32_t>(slot)});
    if (2 * nodes_.size() > slots_.size()) grow();
    return fresh;
  }
  std::uint32_t find_child(std::uint32_t node, std::int32_t symbol) const { return slots_[slot_of(node, symbol)]; }

  // The symbols of a string.
  void spell(std::uint32_t node, std::vector<std::int32_t>& symbols) const {
    symbols.resize(static_cast<std::size_t>(length(node)));
    for (std::size_t k = symbols.size(); k-- > 0; node = parent(node)) symbols[k] = symbol(node);
  }

 private:
  struct Node {
    std::uint32_t parent;
    std::int32_t symbol, length;
    std::uint32_t slot;
  };

  // Where the child stands, or the free place for it.
  std::size_t slot_of(std::uint32_t node, std::int32_t symbol) const {
    std::uint64_t h = (std::uint64_t{node} << 32 | static_cast<std::uint32_t>(symbol)) * 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
    h *= 0xBEA225F9EB34556Du;
    std::size_t slot = (h >> 32) & (slots_.size() - 1);
    for (; slots_[slot] != kAbsent; slot = (slot + 1) & (slots_.size() - 1)) {
      const Node& there = nodes_[slots_[slot]];
      if (there.parent == node && there.symbol == symbol) break;
    }
    return slot;
  }

  void grow() {
    slots_.assign(2 * slots_.size(), kAbsent);
    for (std::uint32_t node = 1; node < nodes_.size(); ++node) {
      const std::size_t slot = slot_of(nodes_[node].parent, nodes_[node].symbol);
      slots_[slot] = node;
      nodes_[node].slot = static_cast<std::uint32_t>(slot);
    }
  }

  Array<std::uint32_t> slots_ = Array<std::uint32_t>(1 << 8, kAbsent);
  Array<Node> nodes_;
};

}  // namespace treille
