#include "trees/tree_index.hpp"

#include <algorithm>

namespace treille {
namespace {

// All subtrees, numbered by first occurrence, and the number of each node's subtree. Nodes are visited from the last to the first:
// children come before their parent, and wait on a stack, the first child on top.
Interner<std::int32_t> distinct_subtrees(const Forest& forest, Array<std::uint32_t>& of_node) {
  Interner<std::int32_t> subtrees;
  of_node.resize(forest.n_nodes());
  std::vector<std::uint32_t> arity;
  std::vector<std::int32_t> waiting, key;
  for (std::size_t t = 0; t < forest.size(); ++t) {
    const auto first = static_cast<std::size_t>(forest.offsets[t]), n = static_cast<std::size_t>(forest.offsets[t + 1]) - first;
    count_children(forest.parents.subspan(first, n), arity);
    waiting.clear();
    for (std::size_t v = n; v-- > 0;) {
      key.assign(1, forest.labels[first + v]);
      key.insert(key.end(), waiting.rbegin(), waiting.rbegin() + arity[v]);
      waiting.resize(waiting.size() - arity[v]);
      const std::uint32_t id = subtrees.add(key);
      of_node[first + v] = id;
      waiting.push_back(static_cast<std::int32_t>(id));
    }
  }
  return subtrees;
}

}  // namespace

template <class Kin>
TreeIndex<Kin>::TreeIndex(const Forest& forest) : n_trees_(forest.size()) {
  Array<std::uint32_t> of_node;
  const Interner<std::int32_t> subtrees = distinct_subtrees(forest, of_node);
  const std::size_t n = subtrees.size();

  std::vector<std::int32_t> key;
  Array<std::uint32_t> family_of(n), place(n);
  for (std::size_t id = 0; id < n; ++id) {
    const auto subtree = subtrees[id];
    key.assign(1, subtree[0]);
    if (Kin::kChildren)
      for (const std::int32_t child : subtree.subspan(1)) key.push_back(subtrees[static_cast<std::size_t>(child)][0]);
    family_of[id] = families_.add(key);
  }
  family_starts_.assign(families_.size() + 1, 0);
  for (const std::uint32_t family : family_of) ++family_starts_[family + 1];
  for (std::size_t f = 0; f < families_.size(); ++f) family_starts_[f + 1] += family_starts_[f];
  Array<std::uint32_t> next(family_starts_.begin(), family_starts_.end() - 1);
  for (std::size_t id = 0; id < n; ++id) place[id] = next[family_of[id]]++;

  child_starts_.assign(n + 1, 0);
  for (std::size_t id = 0; id < n; ++id) child_starts_[place[id] + 1] = static_cast<std::int64_t>(subtrees[id].size() - 1);
  for (std::size_t p = 0; p < n; ++p) child_starts_[p + 1] += child_starts_[p];
  children_.resize(static_cast<std::size_t>(child_starts_[n]));
  for (std::size_t id = 0; id < n; ++id)
    std::ranges::transform(subtrees[id].subspan(1), children_.begin() + child_starts_[place[id]],
                           [&](std::int32_t child) { return place[static_cast<std::size_t>(child)]; });

  // Nodes come tree by tree: a subtree was in this tree before if its last holder is this tree.
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  Array<std::uint32_t> last(n, kNone);
  holder_starts_.assign(n + 1, 0);
  const auto each_node = [&](auto&& visit) {
    for (std::size_t t = 0; t < n_trees_; ++t)
      for (auto v = forest.offsets[t]; v < forest.offsets[t + 1]; ++v)
        visit(static_cast<std::uint32_t>(t), place[of_node[static_cast<std::size_t>(v)]]);
  };
  each_node([&](std::uint32_t tree, std::uint32_t p) {
    if (last[p] != tree) ++holder_starts_[p + 1];
    last[p] = tree;
  });
  for (std::size_t p = 0; p < n; ++p) holder_starts_[p + 1] += holder_starts_[p];
  holders_.resize(static_cast<std::size_t>(holder_starts_[n]));
  Array<std::int64_t> end(holder_starts_.begin(), holder_starts_.end() - 1);
  last.assign(n, kNone);
  each_node([&](std::uint32_t tree, std::uint32_t p) {
    if (last[p] != tree) holders_[static_cast<std::size_t>(end[p]++)] = {tree, 0};
    last[p] = tree;
    ++holders_[static_cast<std::size_t>(end[p] - 1)].count;
  });
}

template <class Kin>
typename TreeIndex<Kin>::Family TreeIndex<Kin>::family(std::span<const std::int32_t> key, std::uint32_t last) const {
  const std::uint32_t f = families_.find(key);
  if (f == Interner<std::int32_t>::kAbsent) return {0, 0};
  std::uint32_t low = family_starts_[f], high = family_starts_[f + 1];
  if (last + 1 < n_trees_)
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (holders(middle)[0].tree <= last)
        low = middle + 1;
      else
        high = middle;
    }
  return {family_starts_[f], high - family_starts_[f]};
}

template class TreeIndex<ByProduction>;
template class TreeIndex<ByLabel>;

}  // namespace treille
