#pragma once
// Best-first search for the heaviest fragments of trees, see heavy_fragments.hpp: states, and which of them is expanded next.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "trees/forest.hpp"
#include "trees/heavy_fragments.hpp"

namespace treille::fragments {

inline constexpr std::int32_t kNone = -1;

// Nodes of all trees, numbered through.
struct Links {
  Array<std::int32_t> parent, next;  // the next sibling
  Array<std::uint32_t> arity, tree;

  explicit Links(const Forest& forest) {
    const std::size_t n = forest.n_nodes();
    parent.assign(n, kNone);
    next.assign(n, kNone);
    arity.assign(n, 0);
    tree.assign(n, 0);
    Array<std::int32_t> last(n, kNone);
    for (std::size_t t = 0; t < forest.size(); ++t)
      for (auto v = forest.offsets[t]; v < forest.offsets[t + 1]; ++v) {
        const auto at = static_cast<std::size_t>(v);
        tree[at] = static_cast<std::uint32_t>(t);
        if (v == forest.offsets[t]) continue;
        const auto up = static_cast<std::size_t>(forest.offsets[t] + forest.parents[at]);
        parent[at] = static_cast<std::int32_t>(up);
        ++arity[up];
        if (last[up] != kNone) next[static_cast<std::size_t>(last[up])] = static_cast<std::int32_t>(v);
        last[up] = static_cast<std::int32_t>(v);
      }
  }
  std::int32_t first_child(std::size_t v) const { return arity[v] > 0 ? static_cast<std::int32_t>(v) + 1 : kNone; }
};

// A fragment so far, as a list of its nodes from the last to the first; parts are shared.
struct Trail {
  std::shared_ptr<const Trail> before;
  std::int32_t label, depth;
  FragmentNode kind;
};
using TrailEnd = std::shared_ptr<const Trail>;

inline TrailEnd with(TrailEnd before, std::int32_t label, std::int32_t depth, FragmentNode kind) {
  return std::make_shared<const Trail>(Trail{std::move(before), label, depth, kind});
}

struct FragmentOccurrence {
  std::uint32_t node;
  double value;  // its contribution to phi; for subset trees, the most that later nodes can add
};

struct SearchState {
  double bound = 0, value = 1;  // for subset trees, the value of all occurrences
  std::int32_t depth = 0;       // of the next node, or the last
  TrailEnd trail;
  std::vector<FragmentOccurrence> occurrences;
};

// Collects the heaviest fragments, and the states that may hold others. A rule of fragments is a class derived from it.
class FragmentSearch {
 protected:
  FragmentSearch(const Forest& forest, std::span<const double> beta, std::size_t count, const SearchLimits& limits)
      : forest_(forest), beta_(beta), links_(forest), count_(count), limits_(limits) {}

  double threshold() const {
    if (count_ == 0) return std::numeric_limits<double>::infinity();
    return found_.size() < count_ ? 0.0 : found_.front().first;
  }

  void offer(double weight, const TrailEnd& trail) {
    if (!(weight > threshold())) return;
    if (found_.size() == count_) {
      std::pop_heap(found_.begin(), found_.end(), lighter);
      found_.pop_back();
    }
    found_.emplace_back(weight, trail);
    std::push_heap(found_.begin(), found_.end(), lighter);
  }

  void visit(std::uint64_t occurrences) { visited_ += occurrences; }

  void push(SearchState&& state) {
    if (!(state.bound > threshold())) return;
    stored_ += state.occurrences.size();
    if (stored_ > limits_.most_stored) {
      aside_.push_back(std::move(state));
      return;
    }
    waiting_.push_back(std::move(state));
    std::push_heap(waiting_.begin(), waiting_.end(), lower);
  }

  template <class Expand>
  HeavyFragments search(Expand&& expand) {
    bool complete = true;
    while (!waiting_.empty() || !aside_.empty()) {
      SearchState state;
      if (!aside_.empty()) {
        state = std::move(aside_.back());
        aside_.pop_back();
      } else {
        std::pop_heap(waiting_.begin(), waiting_.end(), lower);
        state = std::move(waiting_.back());
        waiting_.pop_back();
        if (!(state.bound > threshold())) break;
      }
      stored_ -= state.occurrences.size();
      if (!(state.bound > threshold())) continue;
      visited_ += state.occurrences.size();
      if (visited_ > limits_.most_visited) {
        complete = false;
        break;
      }
      expand(std::move(state));
    }
    std::sort_heap(found_.begin(), found_.end(), lighter);
    HeavyFragments heavy{{}, complete};
    for (const auto& [weight, trail] : found_) {
      Fragment fragment{weight, {}, {}, {}};
      for (const Trail* node = trail.get(); node != nullptr; node = node->before.get()) {
        fragment.labels.push_back(node->label);
        fragment.depths.push_back(node->depth);
        fragment.kinds.push_back(static_cast<std::uint8_t>(node->kind));
      }
      std::reverse(fragment.labels.begin(), fragment.labels.end());
      std::reverse(fragment.depths.begin(), fragment.depths.end());
      std::reverse(fragment.kinds.begin(), fragment.kinds.end());
      heavy.found.push_back(std::move(fragment));
    }
    return heavy;
  }

  const Forest& forest_;
  std::span<const double> beta_;
  Links links_;

 private:
  using Found = std::pair<double, TrailEnd>;
  static bool lighter(const Found& a, const Found& b) { return a.first > b.first; }
  static bool lower(const SearchState& a, const SearchState& b) { return a.bound < b.bound; }

  std::size_t count_;
  SearchLimits limits_;
  std::vector<Found> found_;
  std::vector<SearchState> waiting_, aside_;
  std::uint64_t stored_ = 0, visited_ = 0;
};

}  // namespace treille::fragments
