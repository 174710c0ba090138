#include "graphs/walk_features.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <tuple>

#include "features/row_builder.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

// Walks of one sequence of labels, those that end in one node.
struct End {
  std::int32_t edge, label, node;
  double count;
};

// Visits the sequences of one graph after another. `number(prefix, edge, label)` gives the number of a longer prefix, or kAbsent;
// `visit(number, count)` is called for each sequence of min_k to k steps.
template <class Number, class Visit>
class SequenceCounter {
 public:
  SequenceCounter(const Graphs& graphs, int min_k, int k, Number number, Visit visit)
      : graphs_(graphs), min_k_(min_k), k_(k), number_(number), visit_(visit), ends_(static_cast<std::size_t>(k) + 1) {}

  void count(std::size_t g) {
    first_ = static_cast<std::size_t>(graphs_.offsets[g]);
    auto& ends = ends_[0];
    ends.clear();
    for (std::size_t v = 0; v < graphs_.n_nodes(g); ++v) ends.push_back({0, graphs_.labels[first_ + v], static_cast<std::int32_t>(v), 1.0});
    extend(kAbsent, true, 0);
  }

 private:
  // The sequences that ends_[step], not sorted yet, divides into.
  void extend(std::uint32_t prefix, bool known, std::size_t step) {
    auto& ends = ends_[step];
    std::ranges::sort(ends, {}, [](const End& end) { return std::tuple(end.edge, end.label, end.node); });
    for (std::size_t begin = 0, end; begin < ends.size(); begin = end) {
      poll();
      for (end = begin; end < ends.size() && ends[end].edge == ends[begin].edge && ends[end].label == ends[begin].label;) ++end;
      const std::uint32_t id = known ? number_(prefix, ends[begin].edge, ends[begin].label) : kAbsent;
      if (step >= static_cast<std::size_t>(min_k_)) {
        double count = 0;
        for (std::size_t e = begin; e < end; ++e) count += ends[e].count;
        if (count != 0) visit_(id, count);
      }
      if (step == static_cast<std::size_t>(k_)) continue;
      auto& longer = ends_[step + 1];
      longer.clear();
      for (std::size_t e = begin; e < end;) {
        const auto v = first_ + static_cast<std::size_t>(ends[e].node);
        double count = 0;
        for (const std::int32_t node = ends[e].node; e < end && ends[e].node == node; ++e) count += ends[e].count;
        for (auto a = static_cast<std::size_t>(graphs_.arcs[v]); a < static_cast<std::size_t>(graphs_.arcs[v + 1]); ++a) {
          const std::int32_t target = graphs_.targets[a];
          longer.push_back({graphs_.edge_labels.empty() ? 0 : graphs_.edge_labels[a],
                            graphs_.labels[first_ + static_cast<std::size_t>(target)], target,
                            count * (graphs_.weights.empty() ? 1.0 : graphs_.weights[a])});
        }
      }
      extend(id, id != kAbsent, step + 1);
    }
  }

  const Graphs& graphs_;
  int min_k_, k_;
  Number number_;
  Visit visit_;
  std::vector<std::vector<End>> ends_;  // by step
  std::size_t first_ = 0;
};

}  // namespace

WalkFeatures WalkFeatures::fit(const Graphs& graphs, int min_k, int k, Counts counts, RowsWithNorms& rows) {
  WalkFeatures self(min_k, k, counts);
  std::vector<RowPart> parts(1);
  rows.sq_norms.assign(graphs.size(), 0.0);
  Array<std::uint32_t> holders;
  std::size_t row = 0;
  const auto number = [&](std::uint32_t prefix, std::int32_t edge, std::int32_t label) {
    const std::int32_t cells[3]{static_cast<std::int32_t>(prefix), edge, label};
    const std::uint32_t id = self.known_.add(cells);
    if (id == holders.size()) holders.push_back(0);
    return id;
  };
  const auto visit = [&](std::uint32_t id, double count) {
    const double value = transformed(counts, count);
    rows.sq_norms[row] += value * value;
    parts[0].add(id, value);
    ++holders[id];
  };
  SequenceCounter counter(graphs, min_k, k, number, visit);
  expect(graphs.size());
  for (; row < graphs.size(); ++row) {
    counter.count(row);
    parts[0].end_row();
  }
  for (std::size_t id = 0; id < holders.size(); ++id)
    if (holders[id] > 0) self.sequences_.push_back(static_cast<std::int32_t>(id));
  std::ranges::stable_sort(self.sequences_, std::greater{}, [&](std::int32_t id) { return holders[static_cast<std::size_t>(id)]; });
  self.feature_of_.assign(holders.size(), kAbsent);
  for (std::size_t f = 0; f < self.size(); ++f)
    self.feature_of_[static_cast<std::size_t>(self.sequences_[f])] = static_cast<std::uint32_t>(f);
  rows.entries = join_parts(std::move(parts), {self.feature_of_}, self.size());
  return self;
}

RowsWithNorms WalkFeatures::transform(const Graphs& graphs, int threads) const {
  constexpr std::int64_t kWorthAThread = 1 << 10;
  const int n_parts = static_cast<int>(std::clamp<std::int64_t>(graphs.offsets.back() / kWorthAThread, 1, threads));
  const auto cuts = balanced_cuts(graphs.offsets, n_parts);
  std::vector<RowPart> parts(static_cast<std::size_t>(n_parts));
  RowsWithNorms rows;
  rows.sq_norms.assign(graphs.size(), 0.0);
  expect(graphs.size());
  run_parts(n_parts, [&](int part) {
    const auto p = static_cast<std::size_t>(part);
    std::size_t row = cuts[p];
    const auto number = [&](std::uint32_t prefix, std::int32_t edge, std::int32_t label) { return find(prefix, edge, label); };
    const auto visit = [&](std::uint32_t id, double count) {
      const double value = transformed(counts_, count);
      rows.sq_norms[row] += value * value;
      if (id != kAbsent && feature_of_[id] != kAbsent) parts[p].add(feature_of_[id], value);
    };
    SequenceCounter counter(graphs, min_k_, k_, number, visit);
    for (; row < cuts[p + 1]; ++row) {
      counter.count(row);
      parts[p].end_row();
    }
  });
  rows.entries = join_parts(std::move(parts), {}, size());
  return rows;
}

WalkFeatures WalkFeatures::from_parts(std::span<const std::int32_t> steps, std::span<const std::int32_t> sequences, int min_k, int k,
                                      Counts counts) {
  WalkFeatures self(min_k, k, counts);
  const auto refuse = [](bool wrong) {
    if (wrong) throw std::invalid_argument("the walks in the file do not fit together");
  };
  refuse(steps.size() % 3 != 0);
  for (std::size_t id = 0; 3 * id < steps.size(); ++id) {
    const auto step = steps.subspan(3 * id, 3);
    refuse(step[0] < -1 || step[0] >= static_cast<std::int32_t>(id) || self.known_.add(step) != id);
  }
  self.feature_of_.assign(self.known_.size(), kAbsent);
  for (const std::int32_t id : sequences) {
    refuse(id < 0 || static_cast<std::size_t>(id) >= self.known_.size());
    refuse(self.feature_of_[static_cast<std::size_t>(id)] != kAbsent);
    self.feature_of_[static_cast<std::size_t>(id)] = static_cast<std::uint32_t>(self.sequences_.size());
    self.sequences_.push_back(id);
  }
  return self;
}

WalkFeatures::Parts WalkFeatures::parts(std::span<const std::int64_t> ids) const {
  std::vector<bool> kept(known_.size(), false);
  for (const std::int64_t id : ids) kept[static_cast<std::size_t>(sequences_[static_cast<std::size_t>(id)])] = true;
  for (std::size_t s = known_.size(); s-- > 0;)
    if (kept[s] && known_[s][0] >= 0) kept[static_cast<std::size_t>(known_[s][0])] = true;
  Parts parts;
  std::vector<std::int32_t> renamed(known_.size(), -1);
  for (std::size_t s = 0; s < known_.size(); ++s) {
    if (!kept[s]) continue;
    const auto step = known_[s];
    renamed[s] = static_cast<std::int32_t>(parts.steps.size() / 3);
    parts.steps.insert(parts.steps.end(), {step[0] < 0 ? -1 : renamed[static_cast<std::size_t>(step[0])], step[1], step[2]});
  }
  for (const std::int64_t id : ids) parts.sequences.push_back(renamed[static_cast<std::size_t>(sequences_[static_cast<std::size_t>(id)])]);
  return parts;
}

std::vector<std::int32_t> WalkFeatures::labels(std::uint32_t id) const {
  std::vector<std::int32_t> labels;
  for (std::int32_t prefix = sequences_[id]; prefix >= 0;) {
    const auto step = known_[static_cast<std::size_t>(prefix)];
    labels.push_back(step[2]);
    prefix = step[0];
    if (prefix >= 0) labels.push_back(step[1]);
  }
  std::ranges::reverse(labels);
  return labels;
}

}  // namespace treille
