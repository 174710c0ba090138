#include "trees/subpath_features.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "parallel.hpp"
#include "text/lcp_intervals.hpp"
#include "trees/upward_order.hpp"

namespace treille {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

// The nodes of the suffix tree below the root, children first; `edge_start` is a path that lies below the node.
struct SuffixTree {
  Array<std::int32_t> parent, depth, edge_start;
  Buffer<std::int32_t> node_of_path;  // where the upward string of a path ends

  SuffixTree(const RootPaths& paths, const UpwardOrder& order, std::int32_t longest) : node_of_path(paths.size()) {
    struct Done {
      std::int32_t first, last, node;
    };
    std::vector<Done> done;
    const auto length = [&](std::int32_t path) { return std::min(paths.length[at(path)], longest); };
    lcp_intervals(
        static_cast<std::int32_t>(paths.size()), [&](std::int32_t r) { return std::min(order.lcp[at(r)], longest); },
        [&](const LcpInterval<std::int32_t>& u) {
          std::size_t children = done.size();
          while (children > 0 && done[children - 1].first >= u.first) --children;
          const auto on_leaves = [&](auto&& use) {  // strings that end on u, or on an edge below it that no other string shares
            std::int32_t next = u.first;
            for (std::size_t c = children; c <= done.size(); ++c) {
              const std::int32_t stop = c < done.size() ? done[c].first : u.last + 1;
              for (std::int32_t r = next; r < stop; ++r) use(order.path[at(r)]);
              if (c < done.size()) next = done[c].last + 1;
            }
          };
          std::int32_t node = static_cast<std::int32_t>(depth.size());
          on_leaves([&](std::int32_t path) { node += length(path) > u.depth; });
          if (u.depth == 0) node = -1;
          on_leaves([&](std::int32_t path) { node_of_path[at(path)] = length(path) > u.depth ? add(node, length(path), path) : node; });
          for (std::size_t c = children; c < done.size(); ++c) parent[at(done[c].node)] = node;
          if (node >= 0) add(-1, u.depth, order.path[at(u.first)]);
          done.resize(children);
          done.push_back({u.first, u.last, node});
        });
  }

 private:
  std::int32_t add(std::int32_t above, std::int32_t d, std::int32_t path) {
    parent.push_back(above);
    depth.push_back(d);
    edge_start.push_back(path);
    return static_cast<std::int32_t>(depth.size()) - 1;
  }
};

// Ancestors at any distance in O(log) steps, 4 bytes a path. Myers: An applicative random-access stack, Information Processing Letters
// 1983.
class Ancestors {
 public:
  explicit Ancestors(const RootPaths& paths) : paths_(paths), jump_(paths.size()) {
    for (std::size_t v = 0; v < paths.size(); ++v) {
      const std::int32_t p = paths.parent[v];
      if (p < 0) {
        jump_[v] = static_cast<std::int32_t>(v);
        continue;
      }
      const std::int32_t far = jump_[at(p)], farther = jump_[at(far)];
      jump_[v] = length(p) - length(far) == length(far) - length(farther) ? farther : p;
    }
  }
  std::int32_t above(std::int32_t v, std::int32_t distance) const {
    const std::int32_t wanted = length(v) - distance;
    while (length(v) > wanted) v = length(jump_[at(v)]) >= wanted ? jump_[at(v)] : paths_.parent[at(v)];
    return v;
  }

 private:
  std::int32_t length(std::int32_t v) const { return paths_.length[at(v)]; }

  const RootPaths& paths_;
  Buffer<std::int32_t> jump_;
};

}  // namespace

SubpathFeatures SubpathFeatures::fit(const Forest& forest, std::int32_t n_labels, std::span<const double> cumulative, Counts counts) {
  RootPaths paths = root_paths(forest);
  SuffixTree tree(paths, upward_order(paths), static_cast<std::int32_t>(cumulative.size()) - 1);
  const Ancestors ancestors(paths);
  Arrays arrays;
  const auto n = static_cast<std::int32_t>(tree.depth.size());
  Array<std::int32_t> above(at(n));  // nodes on the way to the root, itself included
  for (std::int32_t u = n - 1; u >= 0; --u) {
    const std::int32_t parent = tree.parent[at(u)];
    above[at(u)] = parent < 0 ? 1 : above[at(parent)] + 1;
    arrays.node_parent.push_back(parent < 0 ? -1 : n - 1 - parent);
    arrays.node_depth.push_back(tree.depth[at(u)]);
    arrays.edge_start.push_back(ancestors.above(tree.edge_start[at(u)], parent < 0 ? 0 : tree.depth[at(parent)]));
    arrays.feature.push_back(n - 1 - u);
  }
  std::int64_t most_entries = 0;
  for (std::size_t v = 0; v < forest.n_nodes(); ++v) most_entries += above[at(tree.node_of_path[at(paths.of_node[v])])];
  arrays.path_label = std::move(paths.label);
  arrays.path_parent = std::move(paths.parent);
  SubpathFeatures features(std::move(arrays), n_labels, cumulative, counts);
  features.most_entries_ = most_entries;
  return features;
}

SubpathFeatures::SubpathFeatures(Arrays arrays, std::int32_t n_labels, std::span<const double> cumulative, Counts counts)
    : arrays_(std::move(arrays)),
      n_labels_(n_labels),
      counts_(counts),
      cumulative_(cumulative.begin(), cumulative.end()),
      at_root_(at(n_labels), -1) {
  const std::size_t n = arrays_.node_parent.size();
  const auto first_label = [&](std::int32_t u) { return arrays_.path_label[at(arrays_.edge_start[at(u)])]; };
  first_child_.assign(n + 1, 0);
  for (std::size_t u = 0; u < n; ++u) {
    root_of_weight_.push_back(std::sqrt(cumulative_[at(arrays_.node_depth[u])] - cumulative_[at(depth_above(u))]));
    const std::int32_t parent = arrays_.node_parent[u];
    if (parent < 0)
      at_root_[at(first_label(static_cast<std::int32_t>(u)))] = static_cast<std::int32_t>(u);
    else
      ++first_child_[at(parent) + 1];
    if (arrays_.feature[u] >= 0) node_of_.push_back(static_cast<std::int32_t>(u));
  }
  std::sort(node_of_.begin(), node_of_.end(), [&](auto u, auto v) { return arrays_.feature[at(u)] < arrays_.feature[at(v)]; });
  std::partial_sum(first_child_.begin(), first_child_.end(), first_child_.begin());
  children_.resize(at(first_child_[n]));
  Array<std::int32_t> next(first_child_.begin(), first_child_.end());
  for (std::size_t u = 0; u < n; ++u)
    if (const std::int32_t parent = arrays_.node_parent[u]; parent >= 0) children_[at(next[at(parent)]++)] = static_cast<std::int32_t>(u);
  for (std::size_t u = 0; u < n; ++u)
    std::sort(children_.begin() + first_child_[u], children_.begin() + first_child_[u + 1],
              [&](auto a, auto b) { return first_label(a) < first_label(b); });
}

std::int32_t SubpathFeatures::child(std::int32_t u, std::int32_t label) const {
  if (u < 0) return label < n_labels_ ? at_root_[at(label)] : -1;
  const auto first_label = [&](std::int32_t c) { return arrays_.path_label[at(arrays_.edge_start[at(c)])]; };
  const auto end = children_.begin() + first_child_[at(u) + 1];
  const auto found = std::lower_bound(children_.begin() + first_child_[at(u)], end, label,
                                      [&](std::int32_t c, std::int32_t wanted) { return first_label(c) < wanted; });
  return found != end && first_label(*found) == label ? *found : -1;
}

// Follows the upward string of node v of the tree that begins at `first`: meet(u, m) for each edge into u that it enters, down to depth m.
template <class Meet>
void SubpathFeatures::match(const Forest& forest, std::size_t first, std::size_t v, Meet&& meet) const {
  std::int32_t place = static_cast<std::int32_t>(v - first), u = -1, depth = 0;
  while (place >= 0) {
    const auto label = [&] { return forest.labels[first + at(place)]; };
    u = child(u, label());
    if (u < 0) return;
    for (std::int32_t edge = arrays_.edge_start[at(u)]; place >= 0 && depth < arrays_.node_depth[at(u)];
         edge = arrays_.path_parent[at(edge)]) {
      if (label() != arrays_.path_label[at(edge)]) break;
      ++depth;
      place = forest.parents[first + at(place)];
    }
    meet(at(u), depth);
    if (depth < arrays_.node_depth[at(u)]) return;
  }
}

SparseRows SubpathFeatures::transform(const Forest& forest, int threads) const {
  const std::int64_t useful = 1 + static_cast<std::int64_t>(forest.n_nodes()) / 20000;
  const auto cuts = balanced_cuts(forest.offsets, static_cast<int>(std::min<std::int64_t>(threads, useful)));
  std::vector<std::pair<Array<std::int32_t>, Array<double>>> shares(cuts.size() - 1);
  SparseRows rows;
  rows.indptr = Buffer<std::int64_t>(forest.size() + 1);
  run_shares(static_cast<int>(shares.size()), [&](int p) {
    auto& [features, values] = shares[static_cast<std::size_t>(p)];
    Array<std::int32_t> whole(root_of_weight_.size(), 0);   // by node of the suffix tree: nodes of the row that match its whole edge
    Array<std::int32_t> partly(root_of_weight_.size(), 0);  // the others
    Array<double> in_part(root_of_weight_.size(), 0.0);     // their contributions
    struct End {
      std::size_t node;
      std::int32_t depth;
    };
    std::vector<End> ends;  // of the others
    std::vector<std::size_t> met;
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) {
      poll();
      met.clear();
      ends.clear();
      const auto first = static_cast<std::size_t>(forest.offsets[i]), last = static_cast<std::size_t>(forest.offsets[i + 1]);
      for (std::size_t v = first; v < last; ++v)
        match(forest, first, v, [&](std::size_t u, std::int32_t depth) {
          if (whole[u] == 0 && partly[u] == 0) met.push_back(u);
          if (depth == arrays_.node_depth[u]) {
            ++whole[u];
          } else {
            ++partly[u];
            ends.push_back({u, depth});
          }
        });
      // Deeper matches count first. Read from the least deep on, a match is the last of those not yet read.
      if (counts_ != Counts::raw) std::ranges::sort(ends, {}, &End::depth);
      for (const auto& [u, depth] : ends) {
        const auto matches = static_cast<std::uint32_t>(whole[u] + partly[u]--);
        const double step = transformed(counts_, matches) - transformed(counts_, matches - 1);
        in_part[u] += (cumulative_[at(depth)] - cumulative_[at(depth_above(u))]) * step;
      }
      for (const std::size_t u : met) {
        const double value =
            transformed(counts_, static_cast<std::uint32_t>(whole[u])) * root_of_weight_[u] + in_part[u] / root_of_weight_[u];
        whole[u] = 0;
        in_part[u] = 0;
        if (arrays_.feature[u] < 0) continue;
        features.push_back(arrays_.feature[u]);
        values.push_back(value);
      }
      rows.indptr[i + 1] = static_cast<std::int64_t>(features.size());
    }
  });
  std::tie(rows.features, rows.values) = join_arrays(shares, cuts, rows.indptr);
  return rows;
}

void SubpathFeatures::contributions(const Forest& forest, std::span<const double> weights, std::size_t n_functions, double* out) const {
  struct Met {
    std::size_t v, u;
    std::int32_t depth;
    double factor;  // of each path
  };
  std::vector<Met> met;
  Array<std::int32_t> whole(root_of_weight_.size(), 0), partly(root_of_weight_.size(), 0);
  for (std::size_t i = 0; i < forest.size(); ++i) {
    const auto first = static_cast<std::size_t>(forest.offsets[i]), last = static_cast<std::size_t>(forest.offsets[i + 1]);
    met.clear();
    for (std::size_t v = first; v < last; ++v)
      match(forest, first, v, [&](std::size_t u, std::int32_t depth) {
        ++(depth == arrays_.node_depth[u] ? whole : partly)[u];
        met.push_back({v, u, depth, 1.0});
      });
    if (counts_ != Counts::raw) {
      // As in `transform`: matches of the whole edge share t(count) equally, the others follow, deeper ones first.
      std::ranges::stable_sort(met, {}, &Met::depth);
      for (Met& each : met) {
        const auto all = static_cast<std::uint32_t>(whole[each.u]);
        if (each.depth == arrays_.node_depth[each.u]) {
          each.factor = transformed(counts_, all) / all;
        } else {
          const auto matches = all + static_cast<std::uint32_t>(partly[each.u]--);
          each.factor = transformed(counts_, matches) - transformed(counts_, matches - 1);
        }
      }
    }
    for (const auto& [v, u, depth, factor] : met) {
      poll();
      whole[u] = partly[u] = 0;
      if (arrays_.feature[u] < 0) continue;
      // The node at height h above v is part of the paths longer than h: the share grows from the top of the path to v.
      const double* const own = weights.data() + at(arrays_.feature[u]) * n_functions;
      const std::int32_t above = depth_above(u);
      std::vector<double> shares(at(depth), 0.0);
      double share = 0;
      for (std::int32_t d = depth; d > 0; --d) {
        if (d > above) share += factor * (cumulative_[at(d)] - cumulative_[at(d - 1)]) / root_of_weight_[u] / d;
        shares[at(d - 1)] = share;
      }
      auto place = static_cast<std::int32_t>(v - first);
      for (std::int32_t h = 0; h < depth; ++h, place = forest.parents[first + at(place)])
        for (std::size_t f = 0; f < n_functions; ++f) out[(first + at(place)) * n_functions + f] += shares[at(h)] * own[f];
    }
    tick();
  }
}

SubpathFeatures SubpathFeatures::restrict(std::span<const std::int64_t> ids) const {
  const std::size_t n = arrays_.node_parent.size(), n_paths = arrays_.path_label.size();
  // Nodes and paths: -1 if dropped, then the new number.
  Array<std::int32_t> node(n, -1), path(n_paths, -1), feature(n, -1);
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const std::int32_t kept = node_of_[static_cast<std::size_t>(ids[k])];
    feature[at(kept)] = static_cast<std::int32_t>(k);
    for (std::int32_t u = kept; u >= 0 && node[at(u)] < 0; u = arrays_.node_parent[at(u)]) {
      node[at(u)] = 0;
      for (std::int32_t p = arrays_.edge_start[at(u)]; p >= 0 && path[at(p)] < 0; p = arrays_.path_parent[at(p)]) path[at(p)] = 0;
    }
  }
  Arrays out;
  for (std::size_t p = 0; p < n_paths; ++p) {
    if (path[p] < 0) continue;
    path[p] = static_cast<std::int32_t>(out.path_label.size());
    out.path_label.push_back(arrays_.path_label[p]);
    out.path_parent.push_back(arrays_.path_parent[p] < 0 ? -1 : path[at(arrays_.path_parent[p])]);
  }
  for (std::size_t u = 0; u < n; ++u) {
    if (node[u] < 0) continue;
    node[u] = static_cast<std::int32_t>(out.node_parent.size());
    out.node_parent.push_back(arrays_.node_parent[u] < 0 ? -1 : node[at(arrays_.node_parent[u])]);
    out.node_depth.push_back(arrays_.node_depth[u]);
    out.edge_start.push_back(path[at(arrays_.edge_start[u])]);
    out.feature.push_back(feature[u]);
  }
  return SubpathFeatures(std::move(out), n_labels_, cumulative_, counts_);
}

std::pair<std::vector<std::int32_t>, std::int32_t> SubpathFeatures::path(std::size_t id) const {
  const std::int32_t node = node_of_[id];
  std::vector<std::int32_t> edges, labels;
  for (std::int32_t u = node; u >= 0; u = arrays_.node_parent[at(u)]) edges.push_back(u);
  for (std::size_t e = edges.size(); e-- > 0;) {
    std::int32_t p = arrays_.edge_start[at(edges[e])];
    for (auto d = depth_above(at(edges[e])); d < arrays_.node_depth[at(edges[e])]; ++d, p = arrays_.path_parent[at(p)])
      labels.push_back(arrays_.path_label[at(p)]);
  }
  return {std::move(labels), depth_above(at(node)) + 1};
}

}  // namespace treille
