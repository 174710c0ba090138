#pragma once
// Strings of symbols, and the trie of many of them: the deterministic machine with one state for each prefix.
//
// States are numbered breadth first, the children of a state side by side and in the order of their labels, so that two numbers a
// state are all there is. Building costs one counting sort for each position of the longest string.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "memory.hpp"

namespace treille {

// String z is symbols[offsets[z] .. offsets[z + 1]). Symbols are not negative.
struct SymbolStrings {
  std::span<const std::int32_t> symbols;
  std::span<const std::int64_t> offsets;

  std::size_t size() const { return offsets.size() - 1; }
  std::span<const std::int32_t> operator[](std::size_t z) const {
    return symbols.subspan(static_cast<std::size_t>(offsets[z]), static_cast<std::size_t>(offsets[z + 1] - offsets[z]));
  }
};

inline std::size_t common_prefix(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

// The strings' numbers in the order of the strings, a prefix before what it begins.
inline Array<std::uint32_t> sorted_strings(const SymbolStrings& strings) {
  const std::size_t n = strings.size();
  std::size_t longest = 0;
  for (std::size_t z = 0; z < n; ++z) longest = std::max(longest, strings[z].size());
  const auto most = strings.symbols.empty() ? 0 : *std::max_element(strings.symbols.begin(), strings.symbols.end());
  Array<std::uint32_t> order(n), other(n);
  std::iota(order.begin(), order.end(), 0u);
  std::vector<std::size_t> first(static_cast<std::size_t>(most) + 3);
  for (std::size_t column = longest; column-- > 0;) {
    auto key = [&](std::uint32_t z) {
      const auto string = strings[z];
      return column < string.size() ? static_cast<std::size_t>(string[column]) + 1 : 0;
    };
    std::fill(first.begin(), first.end(), 0);
    for (std::uint32_t z = 0; z < n; ++z) ++first[key(z) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    for (const std::uint32_t z : order) other[first[key(z)]++] = z;
    order.swap(other);
  }
  return order;
}

class StringTrie {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  StringTrie() = default;

  // `order` is sorted_strings(strings); the strings differ.
  StringTrie(const SymbolStrings& strings, std::span<const std::uint32_t> order) : end_(strings.size()) {
    std::vector<std::size_t> next{1};  // by depth: states so far, then the number of the next one
    visit_new_prefixes(strings, order, [&](std::size_t depth, std::uint32_t) {
      if (next.size() <= depth) next.resize(depth + 1, 0);
      ++next[depth];
    });
    const std::size_t n = std::accumulate(next.begin(), next.end(), std::size_t{0});
    if (n >= kNone) throw std::length_error("a trie of more than 2^32 states");
    std::exclusive_scan(next.begin(), next.end(), next.begin(), std::size_t{0});
    label_.resize(n);
    first_.resize(n + 1);
    std::vector<std::uint32_t> path(next.size(), 0);
    visit_new_prefixes(strings, order, [&](std::size_t depth, std::uint32_t z) {
      path[depth] = static_cast<std::uint32_t>(next[depth]++);
      label_[path[depth]] = strings[z][depth - 1];
      ++first_[path[depth - 1] + 1];
    });
    first_[0] = 1;
    for (std::size_t s = 0; s < n; ++s) first_[s + 1] += first_[s];
    for (std::size_t z = 0; z < strings.size(); ++z) {
      std::uint32_t state = 0;
      for (const std::int32_t symbol : strings[z]) state = child(state, symbol);
      end_[z] = state;
    }
  }

  std::size_t size() const { return label_.size(); }
  std::size_t n_arcs() const { return size() - 1; }
  std::uint32_t end(std::size_t z) const { return end_[z]; }  // the state of string z
  std::int32_t label(std::uint32_t state) const { return label_[state]; }
  std::uint32_t first_child(std::uint32_t state) const { return first_[state]; }
  std::uint32_t end_of_children(std::uint32_t state) const { return first_[state + 1]; }

  // kNone where no string goes on that way.
  std::uint32_t child(std::uint32_t state, std::int32_t symbol) const {
    std::uint32_t low = first_[state], high = first_[state + 1];
    while (high - low > 8) {
      const std::uint32_t middle = low + (high - low) / 2;
      (label_[middle] <= symbol ? low : high) = middle;
    }
    for (; low < high; ++low)
      if (label_[low] == symbol) return low;
    return kNone;
  }

  std::size_t nbytes() const { return 4 * (label_.size() + first_.size() + end_.size()); }

 private:
  template <class Visit>
  static void visit_new_prefixes(const SymbolStrings& strings, std::span<const std::uint32_t> order, Visit&& visit) {
    std::span<const std::int32_t> before;
    for (const std::uint32_t z : order) {
      const auto string = strings[z];
      for (std::size_t depth = common_prefix(before, string) + 1; depth <= string.size(); ++depth) visit(depth, z);
      before = string;
    }
  }

  Array<std::int32_t> label_;   // of the arc that leads to a state
  Array<std::uint32_t> first_;  // the children of s are first_[s] .. first_[s + 1]
  Array<std::uint32_t> end_;
};

}  // namespace treille
