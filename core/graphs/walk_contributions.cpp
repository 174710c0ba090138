#include <algorithm>
#include <tuple>
#include <vector>

#include "graphs/walk_features.hpp"
#include "interrupt.hpp"

namespace treille {
namespace {

// Walks of one sequence of labels that come by one arc, and end in one node.
struct WalkEnd {
  std::int32_t edge, label, node;
  double count;            // walks, by the weights of their arcs
  std::size_t arc = 0;     // the last
  std::size_t before = 0;  // the place of the node before it, among the ends of the step before
  double weight = 1;       // of the arc
};

// The worth of each walk goes back along it: worth_[step] has, for each end of a sequence, the worth of one walk that continues from there.
template <class Find, class Price>
class WalkShares {
 public:
  WalkShares(const Graphs& graphs, int min_k, int k, std::size_t width, Find find, Price price, double* nodes, double* arcs)
      : graphs_(graphs),
        min_k_(static_cast<std::size_t>(min_k)),
        k_(static_cast<std::size_t>(k)),
        width_(width),
        find_(find),
        price_(price),
        nodes_(nodes),
        arcs_(arcs),
        ends_(k_ + 1),
        worth_(k_ + 1) {}

  void share(std::size_t g) {
    first_ = static_cast<std::size_t>(graphs_.offsets[g]);
    ends_[0].clear();
    for (std::size_t v = 0; v < graphs_.n_nodes(g); ++v)
      ends_[0].push_back({0, graphs_.labels[first_ + v], static_cast<std::int32_t>(v), 1.0});
    extend(kAbsent, 0);
    for (std::size_t e = 0; e < ends_[0].size(); ++e) add(nodes_ + node_at(ends_[0][e]) * width_, 1.0, worth_[0].data() + e * width_);
  }

 private:
  std::size_t node_at(const WalkEnd& end) const { return first_ + static_cast<std::size_t>(end.node); }
  void add(double* to, double factor, const double* values) const {
    for (std::size_t f = 0; f < width_; ++f) to[f] += factor * values[f];
  }

  // Sorts ends_[step] by sequence and node, and fills worth_[step].
  void extend(std::uint32_t prefix, std::size_t step) {
    auto& ends = ends_[step];
    auto& worth = worth_[step];
    std::ranges::sort(ends, {}, [](const WalkEnd& end) { return std::tuple(end.edge, end.label, end.node, end.arc); });
    worth.assign(ends.size() * width_, 0.0);
    std::vector<double> own(width_);
    for (std::size_t begin = 0, end; begin < ends.size(); begin = end) {
      poll();
      double total = 0;
      for (end = begin; end < ends.size() && ends[end].edge == ends[begin].edge && ends[end].label == ends[begin].label; ++end)
        total += ends[end].count;
      const std::uint32_t id = find_(prefix, ends[begin].edge, ends[begin].label);
      if (id == kAbsent) continue;  // no longer sequence is known either
      std::fill(own.begin(), own.end(), 0.0);
      if (step >= min_k_ && total != 0) price_(id, total, own.data());
      if (step < k_) leave(id, begin, end, step);
      for (std::size_t e = begin; e < end; ++e) {
        if (e > begin && ends[e].node == ends[e - 1].node)
          std::copy_n(worth.data() + (e - 1) * width_, width_, worth.data() + e * width_);
        else
          add(worth.data() + e * width_, 1.0 / static_cast<double>(2 * step + 1), own.data());
      }
    }
  }

  // One more step from the ends begin .. end - 1, which are of one sequence.
  void leave(std::uint32_t id, std::size_t begin, std::size_t end, std::size_t step) {
    auto& ends = ends_[step];
    auto& longer = ends_[step + 1];
    longer.clear();
    for (std::size_t e = begin; e < end;) {
      const std::size_t before = e, v = node_at(ends[e]);
      double count = 0;
      for (; e < end && ends[e].node == ends[before].node; ++e) count += ends[e].count;
      for (auto a = static_cast<std::size_t>(graphs_.arcs[v]); a < static_cast<std::size_t>(graphs_.arcs[v + 1]); ++a) {
        const std::int32_t target = graphs_.targets[a];
        const double weight = graphs_.weights.empty() ? 1.0 : graphs_.weights[a];
        longer.push_back({graphs_.edge_labels.empty() ? 0 : graphs_.edge_labels[a],
                          graphs_.labels[first_ + static_cast<std::size_t>(target)], target, count * weight, a, before, weight});
      }
    }
    extend(id, step + 1);
    for (std::size_t e = 0; e < longer.size(); ++e) {
      const double* const ahead = worth_[step + 1].data() + e * width_;
      add(worth_[step].data() + longer[e].before * width_, longer[e].weight, ahead);
      add(arcs_ + longer[e].arc * width_, longer[e].count, ahead);
      add(nodes_ + node_at(longer[e]) * width_, longer[e].count, ahead);
    }
  }

  const Graphs& graphs_;
  std::size_t min_k_, k_, width_;
  Find find_;
  Price price_;
  double* nodes_;
  double* arcs_;
  std::vector<std::vector<WalkEnd>> ends_;  // by step
  std::vector<std::vector<double>> worth_;  // by step
  std::size_t first_ = 0;
};

}  // namespace

void WalkFeatures::contributions(const Graphs& graphs, std::span<const double> weights, std::size_t n_functions, double* nodes,
                                 double* arcs) const {
  std::fill_n(nodes, graphs.labels.size() * n_functions, 0.0);
  std::fill_n(arcs, graphs.targets.size() * n_functions, 0.0);
  const auto number = [&](std::uint32_t prefix, std::int32_t edge, std::int32_t label) { return find(prefix, edge, label); };
  const auto price = [&](std::uint32_t id, double count, double* to) {
    const std::uint32_t feature = sequences_.id_of(id);
    if (feature == kAbsent) return;
    const double each = transformed(counts_, count) / count;
    for (std::size_t f = 0; f < n_functions; ++f) to[f] = each * weights[std::size_t{feature} * n_functions + f];
  };
  WalkShares shares(graphs, min_k_, k_, n_functions, number, price, nodes, arcs);
  expect(graphs.size());
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    shares.share(g);
    tick();
  }
}

}  // namespace treille
