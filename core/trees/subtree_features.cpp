#include "trees/subtree_features.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "features/row_builder.hpp"
#include "parallel.hpp"
#include "trees/tree_index.hpp"

namespace treille {
namespace {

// Counts the subtrees of one tree after another. `number(key)` gives a subtree's number and m(s), `visit(number, m, count)` is then
// called for each distinct subtree that counts, in the order in which the tree holds them, which does not depend on their numbers.
class SubtreeCounter {
 public:
  template <class Number, class Visit>
  void count(const Forest& forest, std::size_t t, bool leaves, Number&& number, Visit&& visit) {
    const auto first = static_cast<std::size_t>(forest.offsets[t]), n = static_cast<std::size_t>(forest.offsets[t + 1]) - first;
    count_children(forest.parents.subspan(first, n), arity_);
    waiting_.clear();
    found_.clear();
    for (std::size_t v = n; v-- > 0;) {
      poll();
      key_.assign(1, forest.labels[first + v]);
      key_.insert(key_.end(), waiting_.rbegin(), waiting_.rbegin() + arity_[v]);
      waiting_.resize(waiting_.size() - arity_[v]);
      const auto [id, size] = number(key_);
      waiting_.push_back(static_cast<std::int32_t>(id));
      if (arity_[v] == 0 && !leaves) continue;
      if (id >= slot_.size()) slot_.resize(2 * (std::size_t{id} + 1), 0);
      const std::size_t slot = slot_[id];  // of an earlier tree, maybe
      if (slot < found_.size() && found_[slot].id == id) {
        ++found_[slot].count;
      } else {
        slot_[id] = static_cast<std::uint32_t>(found_.size());
        found_.push_back({id, 1, size});
      }
    }
    for (const Found& each : found_) visit(each.id, each.size, each.count);
  }

 private:
  struct Found {
    std::uint32_t id, count;
    std::int64_t size;
  };
  std::vector<std::uint32_t> arity_;
  std::vector<std::int32_t> waiting_, key_;
  Array<std::uint32_t> slot_;
  std::vector<Found> found_;
};

template <class Size>
std::int64_t size_of(std::span<const std::int32_t> key, bool leaves, Size&& size) {
  std::int64_t sum = key.size() > 1 || leaves ? 1 : 0;
  for (const std::int32_t child : key.subspan(1)) sum += size(static_cast<std::size_t>(child));
  return sum;
}

}  // namespace

double SubtreeFeatures::value(std::int64_t nodes, std::uint32_t count) const {
  return transformed(counts_, count) * std::pow(decay_, 0.5 * static_cast<double>(nodes));
}

SubtreeFeatures SubtreeFeatures::fit(const Forest& forest, double decay, bool leaves, RowsWithNorms& rows, Counts counts) {
  SubtreeFeatures self(decay, leaves, counts);
  std::vector<RowPart> parts(1);
  rows.sq_norms.assign(forest.size(), 0.0);
  Array<std::uint32_t> holders;
  SubtreeCounter counter;
  const auto number = [&](const std::vector<std::int32_t>& key) {
    const std::uint32_t id = self.known_.add(key);
    if (id == self.sizes_.size()) {
      self.sizes_.push_back(size_of(std::span(key), leaves, [&](std::size_t child) { return self.sizes_[child]; }));
      holders.push_back(0);
    }
    return std::pair(id, self.sizes_[id]);
  };
  for (std::size_t t = 0; t < forest.size(); ++t) {
    counter.count(forest, t, leaves, number, [&](std::uint32_t id, std::int64_t size, std::uint32_t count) {
      const double value = self.value(size, count);
      rows.sq_norms[t] += value * value;
      parts[0].add(id, value);
      ++holders[id];
    });
    parts[0].end_row();
  }

  for (std::size_t id = 0; id < holders.size(); ++id)
    if (holders[id] > 0) self.subtrees_.push_back(static_cast<std::int32_t>(id));
  std::ranges::stable_sort(self.subtrees_, std::greater{}, [&](std::int32_t id) { return holders[static_cast<std::size_t>(id)]; });
  self.feature_of_.assign(holders.size(), kAbsent);
  for (std::size_t f = 0; f < self.size(); ++f)
    self.feature_of_[static_cast<std::size_t>(self.subtrees_[f])] = static_cast<std::uint32_t>(f);
  rows.entries = join_parts(std::move(parts), {self.feature_of_}, self.size());
  return self;
}

RowsWithNorms SubtreeFeatures::transform(const Forest& forest, int threads) const {
  constexpr std::int64_t kWorthAThread = 1 << 13;
  const int n_parts = static_cast<int>(std::clamp<std::int64_t>(forest.offsets.back() / kWorthAThread, 1, threads));
  const auto cuts = balanced_cuts(forest.offsets, n_parts);
  std::vector<RowPart> parts(static_cast<std::size_t>(n_parts));
  RowsWithNorms rows;
  rows.sq_norms.assign(forest.size(), 0.0);
  run_parts(n_parts, [&](int part) {
    const auto p = static_cast<std::size_t>(part);
    const auto n_known = static_cast<std::int32_t>(known_.size());
    Interner<std::int32_t> unseen;  // numbered after the known ones
    Array<std::int64_t> sizes;
    const auto size = [&](std::size_t id) { return id < known_.size() ? sizes_[id] : sizes[id - known_.size()]; };
    const auto number = [&](const std::vector<std::int32_t>& key) {
      const bool may_be_known = std::all_of(key.begin() + 1, key.end(), [&](std::int32_t child) { return child < n_known; });
      std::uint32_t id = may_be_known ? known_.find(key) : kAbsent;
      if (id == kAbsent) {
        id = unseen.add(key);
        if (id == sizes.size()) sizes.push_back(size_of(std::span(key), leaves_, size));
        id += static_cast<std::uint32_t>(n_known);
      }
      return std::pair(id, size(id));
    };
    SubtreeCounter counter;
    for (std::size_t t = cuts[p]; t < cuts[p + 1]; ++t) {
      counter.count(forest, t, leaves_, number, [&](std::uint32_t id, std::int64_t m, std::uint32_t count) {
        const double v = value(m, count);
        rows.sq_norms[t] += v * v;
        if (id < feature_of_.size() && feature_of_[id] != kAbsent) parts[p].add(feature_of_[id], v);
      });
      parts[p].end_row();
    }
  });
  rows.entries = join_parts(std::move(parts), {}, size());
  return rows;
}

std::vector<std::int32_t> SubtreeFeatures::at_nodes(const Forest& forest) const {
  std::vector<std::int32_t> found(forest.labels.size(), -1), waiting, key;
  std::vector<std::uint32_t> arity;
  for (std::size_t t = 0; t < forest.size(); ++t) {
    const auto first = static_cast<std::size_t>(forest.offsets[t]), n = static_cast<std::size_t>(forest.offsets[t + 1]) - first;
    count_children(forest.parents.subspan(first, n), arity);
    waiting.clear();
    for (std::size_t v = n; v-- > 0;) {
      poll();
      key.assign(1, forest.labels[first + v]);
      key.insert(key.end(), waiting.rbegin(), waiting.rbegin() + arity[v]);
      waiting.resize(waiting.size() - arity[v]);
      const bool may_be_known = std::all_of(key.begin() + 1, key.end(), [](std::int32_t child) { return child >= 0; });
      const std::uint32_t id = may_be_known ? known_.find(key) : kAbsent;
      waiting.push_back(id == kAbsent ? -1 : static_cast<std::int32_t>(id));
      if (id != kAbsent && (arity[v] > 0 || leaves_) && feature_of_[id] != kAbsent)
        found[first + v] = static_cast<std::int32_t>(feature_of_[id]);
    }
  }
  return found;
}

SubtreeFeatures SubtreeFeatures::from_parts(std::span<const std::int32_t> cells, std::span<const std::int64_t> starts,
                                            std::span<const std::int32_t> subtrees, double decay, bool leaves, Counts counts) {
  SubtreeFeatures self(decay, leaves, counts);
  const auto refuse = [](bool wrong) {
    if (wrong) throw std::invalid_argument("the subtrees in the file do not fit together");
  };
  refuse(starts.empty() || starts.front() != 0 || starts.back() != static_cast<std::int64_t>(cells.size()));
  for (std::size_t id = 0; id + 1 < starts.size(); ++id) {
    refuse(starts[id] >= starts[id + 1] || starts[id + 1] > static_cast<std::int64_t>(cells.size()));
    const auto key = cells.subspan(static_cast<std::size_t>(starts[id]), static_cast<std::size_t>(starts[id + 1] - starts[id]));
    for (const std::int32_t child : key.subspan(1)) refuse(child < 0 || static_cast<std::size_t>(child) >= id);
    refuse(self.known_.add(key) != id);
    self.sizes_.push_back(size_of(key, leaves, [&](std::size_t child) { return self.sizes_[child]; }));
  }
  self.feature_of_.assign(self.known_.size(), kAbsent);
  for (const std::int32_t id : subtrees) {
    refuse(id < 0 || static_cast<std::size_t>(id) >= self.known_.size());
    refuse(self.feature_of_[static_cast<std::size_t>(id)] != kAbsent);
    self.feature_of_[static_cast<std::size_t>(id)] = static_cast<std::uint32_t>(self.subtrees_.size());
    self.subtrees_.push_back(id);
  }
  return self;
}

SubtreeFeatures::Parts SubtreeFeatures::parts(std::span<const std::int64_t> ids) const {
  std::vector<bool> kept(known_.size(), false);
  for (const std::int64_t id : ids) kept[static_cast<std::size_t>(subtrees_[static_cast<std::size_t>(id)])] = true;
  for (std::size_t s = known_.size(); s-- > 0;)
    if (kept[s])
      for (const std::int32_t child : known_[s].subspan(1)) kept[static_cast<std::size_t>(child)] = true;
  Parts parts;
  std::vector<std::int32_t> renamed(known_.size(), -1);
  parts.starts.push_back(0);
  for (std::size_t s = 0; s < known_.size(); ++s) {
    if (!kept[s]) continue;
    renamed[s] = static_cast<std::int32_t>(parts.starts.size() - 1);
    parts.cells.push_back(known_[s][0]);
    for (const std::int32_t child : known_[s].subspan(1)) parts.cells.push_back(renamed[static_cast<std::size_t>(child)]);
    parts.starts.push_back(static_cast<std::int64_t>(parts.cells.size()));
  }
  for (const std::int64_t id : ids) parts.subtrees.push_back(renamed[static_cast<std::size_t>(subtrees_[static_cast<std::size_t>(id)])]);
  return parts;
}

std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>> SubtreeFeatures::nodes(std::uint32_t id) const {
  std::vector<std::int32_t> labels, arities, waiting{subtrees_[id]};
  while (!waiting.empty()) {
    const auto subtree = known_[static_cast<std::size_t>(waiting.back())];
    waiting.pop_back();
    labels.push_back(subtree[0]);
    arities.push_back(static_cast<std::int32_t>(subtree.size() - 1));
    waiting.insert(waiting.end(), subtree.rbegin(), subtree.rend() - 1);
  }
  return {labels, arities};
}

}  // namespace treille
