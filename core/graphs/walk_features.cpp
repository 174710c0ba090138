#include "graphs/walk_features.hpp"

#include <algorithm>
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
  std::vector<RowShare> written(1);
  rows.sq_norms.assign(graphs.size(), 0.0);
  Array<std::uint32_t> holders;
  std::size_t row = 0;
  const auto number = [&](std::uint32_t prefix, std::int32_t edge, std::int32_t label) {
    const std::int32_t cells[3]{static_cast<std::int32_t>(prefix), edge, label};
    const std::uint32_t id = self.sequences_.known.add(cells);
    if (id == holders.size()) holders.push_back(0);
    return id;
  };
  const auto visit = [&](std::uint32_t id, double count) {
    const double value = transformed(counts, count);
    rows.sq_norms[row] += value * value;
    written[0].add(id, value);
    ++holders[id];
  };
  SequenceCounter counter(graphs, min_k, k, number, visit);
  expect(graphs.size());
  for (; row < graphs.size(); ++row) {
    counter.count(row);
    written[0].end_row();
  }
  const std::vector<Renaming> ids{self.sequences_.rank(holders)};
  rows.entries = join_shares(std::move(written), ids, self.size());
  return self;
}

RowsWithNorms WalkFeatures::transform(const Graphs& graphs, int threads) const {
  constexpr std::int64_t kWorthAThread = 1 << 10;
  const int n_shares = static_cast<int>(std::clamp<std::int64_t>(graphs.offsets.back() / kWorthAThread, 1, threads));
  RowsWithNorms rows;
  rows.sq_norms.assign(graphs.size(), 0.0);
  expect(graphs.size());
  const auto cuts = balanced_cuts(graphs.offsets, n_shares);
  auto written = fill_shares(cuts, [&](std::size_t, std::size_t row, std::size_t last, RowShare& share) {
    const auto number = [&](std::uint32_t prefix, std::int32_t edge, std::int32_t label) { return find(prefix, edge, label); };
    const auto visit = [&](std::uint32_t id, double count) {
      const double value = transformed(counts_, count);
      rows.sq_norms[row] += value * value;
      if (const std::uint32_t feature = sequences_.id_of(id); feature != kAbsent) share.add(feature, value);
    };
    SequenceCounter counter(graphs, min_k_, k_, number, visit);
    for (; row < last; ++row) {
      counter.count(row);
      share.end_row();
    }
  });
  rows.entries = join_shares(std::move(written), {}, size());
  return rows;
}

WalkFeatures WalkFeatures::from_parts(std::span<const std::int32_t> steps, std::span<const std::int32_t> sequences, int min_k, int k,
                                      Counts counts) {
  WalkFeatures self(min_k, k, counts);
  std::vector<std::int64_t> starts{0};
  while (starts.back() + 3 <= static_cast<std::int64_t>(steps.size())) starts.push_back(starts.back() + 3);
  const auto is_sound = [](std::span<const std::int32_t> step, std::int32_t number) { return step[0] >= -1 && step[0] < number; };
  self.sequences_ = InternedFeatures::from_parts(steps, starts, sequences, "walks", is_sound);
  return self;
}

InternedFeatures::Arrays WalkFeatures::parts(std::span<const std::int64_t> ids) const {
  return sequences_.parts(
      ids,
      [](std::span<const std::int32_t> step, auto&& use) {
        if (step[0] >= 0) use(step[0]);
      },
      [](InternedFeatures::Key& step, std::span<const std::uint32_t> numbers) {
        if (step[0] >= 0) step[0] = static_cast<std::int32_t>(numbers[static_cast<std::size_t>(step[0])]);
      });
}

std::vector<std::int32_t> WalkFeatures::labels(std::uint32_t id) const {
  std::vector<std::int32_t> labels;
  for (std::int32_t prefix = sequences_.item_of(id); prefix >= 0;) {
    const auto step = sequences_.known[static_cast<std::size_t>(prefix)];
    labels.push_back(step[2]);
    prefix = step[0];
    if (prefix >= 0) labels.push_back(step[1]);
  }
  std::ranges::reverse(labels);
  return labels;
}

}  // namespace treille
