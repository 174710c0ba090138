#include "trees/heavy_fragments.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "interner.hpp"
#include "interrupt.hpp"
#include "memory.hpp"
#include "trees/fragment_search.hpp"

namespace treille {
namespace {

using namespace fragments;

class SubsetSearch : FragmentSearch {
 public:
  SubsetSearch(const Forest& forest, const SubsetTrees& rule, std::span<const double> beta, std::size_t count, const SearchLimits& limits)
      : FragmentSearch(forest, beta, count, limits),
        step_(std::sqrt(rule.decay)),
        cut_(std::sqrt(rule.sigma)),
        leaf_(std::sqrt(rule.leaves ? rule.decay : 1 - rule.sigma)),
        leaves_(rule.leaves) {
    const std::size_t n = forest.n_nodes();
    best_.assign(n, 1.0);
    production_.assign(n, 0);
    Interner<std::int32_t> productions;
    std::vector<std::int32_t> key;
    for (std::size_t v = n; v-- > 0;) {
      poll();
      key.assign(1, forest.labels[v]);
      double product = links_.arity[v] > 0 ? step_ : leaf_;
      for (std::int32_t c = links_.first_child(v); c != kNone; c = links_.next[static_cast<std::size_t>(c)]) {
        key.push_back(forest.labels[static_cast<std::size_t>(c)]);
        product *= most(static_cast<std::size_t>(c));
      }
      best_[v] = product;
      production_[v] = productions.add(key);
    }
  }

  HeavyFragments run() {
    std::map<std::uint32_t, SearchState> roots;
    for (std::size_t v = 0; v < forest_.n_nodes(); ++v) {
      poll();
      if (links_.arity[v] == 0 && !leaves_) continue;
      const bool leaf = links_.arity[v] == 0;
      SearchState& root = roots[production_[v]];
      if (root.trail == nullptr) {
        root.value = step_;
        root.depth = leaf ? 0 : 1;
        root.trail = with(nullptr, forest_.labels[v], 0, leaf ? FragmentNode::leaf : FragmentNode::inner);
      }
      root.occurrences.push_back({static_cast<std::uint32_t>(leaf ? v : v + 1), leaf ? 1.0 : best_[v] / step_});
    }
    for (auto& [production, root] : roots) {
      settle(std::move(root));
    }
    return search([&](SearchState&& state) { expand(state); });
  }

 private:
  double most(std::size_t v) const { return std::max(cut_, best_[v]); }

  void settle(SearchState&& state) {
    double sum = 0;
    for (const FragmentOccurrence& one : state.occurrences) {
      const double beta = beta_[links_.tree[one.node]];
      sum += state.depth == 0 ? beta : std::max(0.0, beta) * one.value;
    }
    if (state.depth == 0) return offer(state.value * sum, state.trail);
    state.bound = state.value * sum;
    push(std::move(state));
  }

  // The node that follows v in preorder when v has no children; the depth becomes 0 where none follows.
  std::uint32_t follow(std::uint32_t v, std::int32_t& depth) const {
    while (depth > 0 && links_.next[v] == kNone) {
      v = static_cast<std::uint32_t>(links_.parent[v]);
      --depth;
    }
    return depth > 0 ? static_cast<std::uint32_t>(links_.next[v]) : v;
  }

  void expand(const SearchState& state) {
    poll();
    const std::int32_t label = forest_.labels[state.occurrences.front().node];
    SearchState cut, leaf;
    std::map<std::uint32_t, SearchState> grown;
    for (const FragmentOccurrence& one : state.occurrences) {
      const bool inner = links_.arity[one.node] > 0;
      std::int32_t depth = state.depth;
      const std::uint32_t next = follow(one.node, depth);
      const double rest = one.value / most(one.node);
      if (cut_ > 0) {
        cut.occurrences.push_back({next, rest});
        cut.depth = depth;
      }
      if (inner) {
        grown[production_[one.node]].occurrences.push_back({one.node + 1, rest * best_[one.node] / step_});
      } else if (leaf_ > 0) {
        leaf.occurrences.push_back({next, rest});
        leaf.depth = depth;
      }
    }
    const auto finish = [&](SearchState& next, double factor, FragmentNode kind) {
      if (next.occurrences.empty()) return;
      next.value = state.value * factor;
      next.trail = with(state.trail, label, state.depth, kind);
      settle(std::move(next));
    };
    finish(cut, cut_, FragmentNode::cut);
    finish(leaf, leaf_, FragmentNode::leaf);
    for (auto& [production, next] : grown) {
      next.depth = state.depth + 1;
      finish(next, step_, FragmentNode::inner);
    }
  }

  double step_, cut_, leaf_;
  bool leaves_;
  Array<double> best_;  // the largest value of a fragment at each node
  Array<std::uint32_t> production_;
};

class PartialSearch : FragmentSearch {
 public:
  PartialSearch(const Forest& forest, const PartialTrees& rule, std::span<const double> beta, std::size_t count, const SearchLimits& limits)
      : FragmentSearch(forest, beta, count, limits),
        node_(std::sqrt(rule.mu)),
        decay_(rule.decay),
        adjacent_(rule.gaps ? 1.0 : rule.decay) {
    const std::size_t n = forest.n_nodes();
    inside_.assign(n, 0.0);
    beside_.assign(n, 1.0);
    std::map<std::int32_t, double> sums;
    std::vector<std::size_t> children;
    for (std::size_t v = n; v-- > 0;) {
      poll();
      children.clear();
      for (std::int32_t c = links_.first_child(v); c != kNone; c = links_.next[static_cast<std::size_t>(c)])
        children.push_back(static_cast<std::size_t>(c));
      sums.clear();
      double most = 0, all = 1, count_so_far = 0;
      for (std::size_t k = children.size(); k-- > 0;) {  // from the last: the siblings that follow each
        beside_[children[k]] = most <= 1 ? 1.0 : several(most, all, count_so_far);
        const double own = node_ * inside_[children[k]];
        most = std::max(most, sums[forest.labels[children[k]]] += own);
        all *= 1 + own;
        count_so_far += 1;
      }
      inside_[v] = std::max(decay_, most <= 1 ? stretched(count_so_far) * most : several(most, all, count_so_far));
    }
  }

  HeavyFragments run() {
    std::map<std::int32_t, SearchState> roots;
    for (std::size_t v = 0; v < forest_.n_nodes(); ++v)
      roots[forest_.labels[v]].occurrences.push_back({static_cast<std::uint32_t>(v), node_ * decay_});
    for (auto& [label, root] : roots) {
      root.trail = with(nullptr, label, 0, FragmentNode::inner);
      settle(std::move(root));
    }
    return search([&](SearchState&& state) { expand(state); });
  }

 private:
  static constexpr std::size_t kMany = 1 << 16;

  // Embeddings that end in the same node have the same continuations.
  static void merge(std::vector<FragmentOccurrence>& occurrences) {
    std::stable_sort(occurrences.begin(), occurrences.end(),
                     [](const FragmentOccurrence& a, const FragmentOccurrence& b) { return a.node < b.node; });
    std::size_t kept = 0;
    for (std::size_t k = 1; k < occurrences.size(); ++k) {
      if (occurrences[k].node == occurrences[kept].node)
        occurrences[kept].value += occurrences[k].value;
      else
        occurrences[++kept] = occurrences[k];
    }
    occurrences.resize(kept + 1);
  }

  // A decay above 1 lets the factor of skipped children grow.
  double stretched(double children) const { return decay_ > 1 ? std::pow(decay_, children) : 1.0; }

  // A bound of the sum over embeddings of any sequence of children: label by label, or all subsets.
  double several(double most, double all, double children) const { return stretched(children) * std::min(std::pow(most, children), all); }

  void settle(SearchState&& state) {
    double weight = 0, bound = 0;
    for (const FragmentOccurrence& one : state.occurrences) {
      const double beta = beta_[links_.tree[one.node]];
      weight += beta * one.value;
      if (beta <= 0) continue;
      double most = one.value * inside_[one.node] / decay_;
      std::uint32_t v = one.node;
      for (std::int32_t depth = state.depth; depth > 0; --depth, v = static_cast<std::uint32_t>(links_.parent[v])) most *= beside_[v];
      bound += beta * most;
    }
    offer(weight, state.trail);
    state.bound = bound;
    push(std::move(state));
  }

  void expand(const SearchState& state) {
    poll();
    std::map<std::pair<std::int32_t, std::int32_t>, std::vector<FragmentOccurrence>> grown;  // by depth and label
    std::uint64_t added = 0;
    const auto add = [&](std::int32_t depth, std::int32_t node, double value) {
      auto& occurrences = grown[{depth, forest_.labels[static_cast<std::size_t>(node)]}];
      occurrences.push_back({static_cast<std::uint32_t>(node), value});
      if ((++added & 0xFFFFF) == 0) poll();
      if (occurrences.size() >= kMany && occurrences.size() == occurrences.capacity()) merge(occurrences);
    };
    for (const FragmentOccurrence& one : state.occurrences) {
      for (std::int32_t c = links_.first_child(one.node); c != kNone; c = links_.next[static_cast<std::size_t>(c)])
        add(state.depth + 1, c, one.value * node_);  // its parent has children now: the factor decay is the child's
      std::uint32_t v = one.node;
      for (std::int32_t depth = state.depth; depth > 0; --depth, v = static_cast<std::uint32_t>(links_.parent[v])) {
        double factor = one.value * node_ * decay_ * adjacent_;
        for (std::int32_t c = links_.next[v]; c != kNone; c = links_.next[static_cast<std::size_t>(c)], factor *= decay_)
          add(depth, c, factor);
      }
    }
    visit(added);
    for (auto& [key, occurrences] : grown) {
      merge(occurrences);
      SearchState next;
      next.occurrences = std::move(occurrences);
      next.depth = key.first;
      next.trail = with(state.trail, key.second, key.first, FragmentNode::inner);
      settle(std::move(next));
    }
  }

  double node_, decay_, adjacent_;
  Array<double> inside_;  // the largest value of a fragment at each node, without its own factor
  Array<double> beside_;  // the largest factor by the siblings that follow
};

}  // namespace

template <>
HeavyFragments heavy_fragments(const Forest& forest, const SubsetTrees& rule, std::span<const double> beta, std::size_t count,
                               const SearchLimits& limits) {
  return SubsetSearch(forest, rule, beta, count, limits).run();
}

template <>
HeavyFragments heavy_fragments(const Forest& forest, const PartialTrees& rule, std::span<const double> beta, std::size_t count,
                               const SearchLimits& limits) {
  return PartialSearch(forest, rule, beta, count, limits).run();
}

}  // namespace treille
