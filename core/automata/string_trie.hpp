#pragma once
// Strings of symbols, and the trie of many of them: the deterministic machine with one state for each prefix.
//
// The children of a state stand side by side in the order of their labels, after it. Labels below 256 stand in bytes, apart from all else:
// to find a child among its siblings, mostly one line of memory is read. Building costs one counting sort for each position of the
// longest string.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "memory.hpp"
#include "sequences.hpp"

namespace treille {

inline std::size_t common_prefix(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

// The strings' numbers in the order of the strings, a prefix before its extensions.
inline Array<std::uint32_t> sorted_strings(const Sequences& strings) {
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

  // `order` is sorted_strings(strings); the strings differ.
  StringTrie(const Sequences& strings, std::span<const std::uint32_t> order) : end_(strings.size()) {
    lay_out(strings, order);
    number();
    for (std::size_t z = 0; z < strings.size(); ++z) {
      std::uint32_t state = 0;
      for (const std::int32_t symbol : strings[z]) state = child(state, symbol);
      end_[z] = state;
    }
  }

  std::size_t size() const { return states_.size(); }
  std::size_t n_arcs() const { return size() - 1; }
  std::uint32_t end(std::size_t z) const { return end_[z]; }  // the state of string z
  // The label of the arc that leads to the state.
  std::int32_t label(std::uint32_t state) const { return bytes_.empty() ? labels_[state] : bytes_[state]; }
  std::uint32_t first_child(std::uint32_t state) const { return states_[state].first; }
  std::uint32_t end_of_children(std::uint32_t state) const { return states_[state].first + states_[state].children; }

  // kNone if no string continues with this label.
  std::uint32_t child(std::uint32_t state, std::int32_t symbol) const {
    const std::uint32_t first = first_child(state);
    if (bytes_.empty()) {
      const auto last = labels_.begin() + end_of_children(state), found = std::lower_bound(labels_.begin() + first, last, symbol);
      return found != last && *found == symbol ? static_cast<std::uint32_t>(found - labels_.begin()) : kNone;
    }
    if (symbol < 0 || symbol > 255) return kNone;
    const void* found = std::memchr(bytes_.data() + first, symbol, states_[state].children);
    return found != nullptr ? static_cast<std::uint32_t>(static_cast<const std::uint8_t*>(found) - bytes_.data()) : kNone;
  }

  // Prefetches the memory that a search among the children will read.
  void prefetch_children(std::uint32_t state) const {
    const std::uint32_t first = first_child(state);
    request(bytes_.empty() ? static_cast<const void*>(labels_.data() + first) : bytes_.data() + first);
  }

  std::size_t nbytes() const { return sizeof(State) * states_.size() + 4 * labels_.size() + bytes_.size() + 4 * end_.size(); }

 private:
  struct State {
    std::uint32_t first = 0, children = 0;
  };

  // Breadth first: the children of a state are then side by side as they come.
  void lay_out(const Sequences& strings, std::span<const std::uint32_t> order) {
    std::vector<std::size_t> next{1};  // by depth: states so far, then the number of the next one
    visit_new_prefixes(strings, order, [&](std::size_t depth, std::uint32_t) {
      if (next.size() <= depth) next.resize(depth + 1, 0);
      ++next[depth];
    });
    const std::size_t n = std::accumulate(next.begin(), next.end(), std::size_t{0});
    if (n >= kNone) throw std::length_error("a trie of more than 2^32 states");
    std::exclusive_scan(next.begin(), next.end(), next.begin(), std::size_t{0});
    states_.resize(n);
    labels_.resize(n);
    std::vector<std::uint32_t> path(next.size(), 0);
    visit_new_prefixes(strings, order, [&](std::size_t depth, std::uint32_t z) {
      path[depth] = static_cast<std::uint32_t>(next[depth]++);
      labels_[path[depth]] = strings[z][depth - 1];
      State& parent = states_[path[depth - 1]];
      if (parent.children++ == 0) parent.first = path[depth];
    });
  }

  // Depth first, each time all children of a state: a path without branches is then one run of memory.
  void number() {
    Array<State> numbered;
    Array<std::int32_t> labels;
    numbered.reserve(states_.size());
    labels.reserve(states_.size());
    numbered.push_back(states_[0]);
    labels.push_back(0);
    std::vector<std::uint32_t> waiting{0};
    while (!waiting.empty()) {
      const std::uint32_t s = waiting.back();
      waiting.pop_back();
      const std::uint32_t from = numbered[s].first;
      const auto to = static_cast<std::uint32_t>(numbered.size());
      numbered[s].first = to;
      for (std::uint32_t k = from; k < from + numbered[s].children; ++k) {
        numbered.push_back(states_[k]);
        labels.push_back(labels_[k]);
      }
      for (std::uint32_t k = numbered[s].children; k-- > 0;) waiting.push_back(to + k);
    }
    states_ = std::move(numbered);
    labels_ = std::move(labels);
    const auto [least, most] = std::minmax_element(labels_.begin(), labels_.end());
    if (*least >= 0 && *most <= 255) {
      bytes_.assign(labels_.begin(), labels_.end());
      labels_ = {};
    }
  }

  template <class Visit>
  static void visit_new_prefixes(const Sequences& strings, std::span<const std::uint32_t> order, Visit&& visit) {
    std::span<const std::int32_t> before;
    for (const std::uint32_t z : order) {
      const auto string = strings[z];
      for (std::size_t depth = common_prefix(before, string) + 1; depth <= string.size(); ++depth) visit(depth, z);
      before = string;
    }
  }

  Array<State> states_;
  Array<std::int32_t> labels_;  // by state; or, where they fit, bytes_
  Array<std::uint8_t> bytes_;
  Array<std::uint32_t> end_;
};

}  // namespace treille
