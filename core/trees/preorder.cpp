#include "trees/preorder.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace treille {
namespace {

// Each node must hang from the one before it or from an ancestor of that: amortised O(1) a node.
bool in_preorder(std::span<const std::int32_t> parents) {
  for (std::size_t v = 0; v < parents.size(); ++v) {
    std::int64_t above = static_cast<std::int64_t>(v) - 1;
    while (above >= 0 && above != parents[v]) above = parents[static_cast<std::size_t>(above)];
    if (above != parents[v] || (above < 0 && v > 0)) return false;
  }
  return true;
}

std::optional<TreeFault> fault_of(std::span<const std::int32_t> parents, std::size_t tree) {
  if (parents.empty()) return TreeFault{tree, 0, "the tree is empty, expected one node at least"};
  std::optional<std::size_t> root;
  for (std::size_t v = 0; v < parents.size(); ++v) {
    if (parents[v] < -1 || parents[v] >= static_cast<std::int64_t>(parents.size()))
      return TreeFault{
          tree, v,
          "the parent is " + std::to_string(parents[v]) + ", expected -1 or one of the " + std::to_string(parents.size()) + " nodes"};
    if (parents[v] != -1) continue;
    if (root) return TreeFault{tree, v, "a second root: node " + std::to_string(*root) + " is one already"};
    root = v;
  }
  return std::nullopt;
}

}  // namespace

Preorder to_preorder(std::span<const std::int32_t> parents, std::span<const std::int64_t> offsets) {
  Preorder result;
  const auto tree = [&](std::size_t t) {
    return parents.subspan(static_cast<std::size_t>(offsets[t]), static_cast<std::size_t>(offsets[t + 1] - offsets[t]));
  };
  bool sorted = true;
  for (std::size_t t = 0; t + 1 < offsets.size(); ++t) {
    if ((result.fault = fault_of(tree(t), t))) return result;
    sorted = sorted && in_preorder(tree(t));
  }
  if (sorted) return result;
  result.order.resize(parents.size());
  result.parents.resize(parents.size());
  std::vector<std::int32_t> starts, children, waiting, place;
  for (std::size_t t = 0; t + 1 < offsets.size(); ++t) {
    const auto own = tree(t);
    const std::size_t n = own.size();
    starts.assign(n + 2, 0);  // of each node's children; the roots, children of -1, come first
    for (const std::int32_t parent : own) ++starts[static_cast<std::size_t>(parent + 2)];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    children.resize(n);
    std::vector<std::int32_t> next(starts.begin(), starts.end() - 1);
    for (std::size_t v = 0; v < n; ++v)
      children[static_cast<std::size_t>(next[static_cast<std::size_t>(own[v] + 1)]++)] = static_cast<std::int32_t>(v);
    place.assign(n, -1);
    waiting.clear();
    if (starts[1] > 0) waiting.push_back(children[0]);
    std::size_t at = static_cast<std::size_t>(offsets[t]);
    while (!waiting.empty()) {
      const auto v = static_cast<std::size_t>(waiting.back());
      waiting.pop_back();
      place[v] = static_cast<std::int32_t>(at - static_cast<std::size_t>(offsets[t]));
      result.order[at] = offsets[t] + static_cast<std::int64_t>(v);
      result.parents[at++] = own[v] < 0 ? -1 : place[static_cast<std::size_t>(own[v])];
      for (auto k = starts[v + 2]; k-- > starts[v + 1];) waiting.push_back(children[static_cast<std::size_t>(k)]);
    }
    if (const auto lost = std::find(place.begin(), place.end(), -1); lost != place.end()) {
      result.fault =
          TreeFault{t, static_cast<std::size_t>(lost - place.begin()), "its parents lead in a circle, expected them to lead to a root"};
      return result;
    }
  }
  return result;
}

}  // namespace treille
