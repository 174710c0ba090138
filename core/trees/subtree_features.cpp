#include "trees/subtree_features.hpp"

#include <algorithm>
#include <cmath>

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
      const std::size_t slot = slot_[id];  // possibly of an earlier tree
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
  std::vector<RowShare> written(1);
  rows.sq_norms.assign(forest.size(), 0.0);
  Array<std::uint32_t> holders;
  SubtreeCounter counter;
  const auto number = [&](const std::vector<std::int32_t>& key) {
    const std::uint32_t id = self.subtrees_.known.add(key);
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
      written[0].add(id, value);
      ++holders[id];
    });
    written[0].end_row();
  }

  const std::vector<Renaming> ids{self.subtrees_.rank(holders)};
  rows.entries = join_shares(std::move(written), ids, self.size());
  return self;
}

RowsWithNorms SubtreeFeatures::transform(const Forest& forest, int threads) const {
  constexpr std::int64_t kWorthAThread = 1 << 13;
  const int n_shares = static_cast<int>(std::clamp<std::int64_t>(forest.offsets.back() / kWorthAThread, 1, threads));
  RowsWithNorms rows;
  rows.sq_norms.assign(forest.size(), 0.0);
  const auto cuts = balanced_cuts(forest.offsets, n_shares);
  auto written = fill_shares(cuts, [&](std::size_t, std::size_t first, std::size_t last, RowShare& share) {
    const auto n_known = static_cast<std::int32_t>(subtrees_.known.size());
    Interner<std::int32_t> unseen;  // numbered after the known ones
    Array<std::int64_t> sizes;
    const auto size = [&](std::size_t id) { return id < subtrees_.known.size() ? sizes_[id] : sizes[id - subtrees_.known.size()]; };
    const auto number = [&](const std::vector<std::int32_t>& key) {
      const bool may_be_known = std::all_of(key.begin() + 1, key.end(), [&](std::int32_t child) { return child < n_known; });
      std::uint32_t id = may_be_known ? subtrees_.known.find(key) : kAbsent;
      if (id == kAbsent) {
        id = unseen.add(key);
        if (id == sizes.size()) sizes.push_back(size_of(std::span(key), leaves_, size));
        id += static_cast<std::uint32_t>(n_known);
      }
      return std::pair(id, size(id));
    };
    SubtreeCounter counter;
    for (std::size_t t = first; t < last; ++t) {
      counter.count(forest, t, leaves_, number, [&](std::uint32_t id, std::int64_t m, std::uint32_t count) {
        const double v = value(m, count);
        rows.sq_norms[t] += v * v;
        if (const std::uint32_t feature = subtrees_.id_of(id); feature != kAbsent) share.add(feature, v);
      });
      share.end_row();
    }
  });
  rows.entries = join_shares(std::move(written), {}, size());
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
      const std::uint32_t id = may_be_known ? subtrees_.known.find(key) : kAbsent;
      waiting.push_back(id == kAbsent ? -1 : static_cast<std::int32_t>(id));
      if (arity[v] > 0 || leaves_) found[first + v] = static_cast<std::int32_t>(subtrees_.id_of(id));  // kAbsent is -1
    }
  }
  return found;
}

SubtreeFeatures SubtreeFeatures::from_parts(std::span<const std::int32_t> cells, std::span<const std::int64_t> starts,
                                            std::span<const std::int32_t> subtrees, double decay, bool leaves, Counts counts) {
  SubtreeFeatures self(decay, leaves, counts);
  const auto is_sound = [](std::span<const std::int32_t> key, std::int32_t number) {
    return std::ranges::all_of(key.subspan(1), [&](std::int32_t child) { return child >= 0 && child < number; });
  };
  self.subtrees_ = InternedFeatures::from_parts(cells, starts, subtrees, "subtrees", is_sound);
  const auto& known = self.subtrees_.known;
  for (std::size_t s = 0; s < known.size(); ++s)
    self.sizes_.push_back(size_of(known[s], leaves, [&](std::size_t child) { return self.sizes_[child]; }));
  return self;
}

InternedFeatures::Arrays SubtreeFeatures::parts(std::span<const std::int64_t> ids) const {
  return subtrees_.parts(
      ids, [](std::span<const std::int32_t> key, auto&& use) { std::ranges::for_each(key.subspan(1), use); },
      [](InternedFeatures::Key& key, std::span<const std::uint32_t> numbers) {
        for (std::int32_t& child : std::span(key).subspan(1)) child = static_cast<std::int32_t>(numbers[static_cast<std::size_t>(child)]);
      });
}

std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>> SubtreeFeatures::nodes(std::uint32_t id) const {
  std::vector<std::int32_t> labels, arities, waiting{subtrees_.item_of(id)};
  while (!waiting.empty()) {
    const auto subtree = subtrees_.known[static_cast<std::size_t>(waiting.back())];
    waiting.pop_back();
    labels.push_back(subtree[0]);
    arities.push_back(static_cast<std::int32_t>(subtree.size() - 1));
    waiting.insert(waiting.end(), subtree.rbegin(), subtree.rend() - 1);
  }
  return {labels, arities};
}

}  // namespace treille
