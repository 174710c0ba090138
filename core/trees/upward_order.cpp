#include "trees/upward_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "interrupt.hpp"
#include "tag_index.hpp"

namespace treille {
namespace {

struct Keyed {
  std::uint64_t key;
  std::int32_t path;
};

// Sorts by key, in passes over 11 bits each; passes over bits that all keys share are left out.
void radix_sort(Buffer<Keyed>& items, int bits) {
  constexpr int kDigit = 11;
  if (items.size() < 256) {
    std::sort(items.data(), items.data() + items.size(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
    return;
  }
  Buffer<Keyed> other(items.size());
  for (int shift = 0; shift < bits; shift += kDigit) {
    poll();
    const auto digit = [&](const Keyed& item) { return static_cast<std::size_t>(item.key >> shift) & ((std::size_t{1} << kDigit) - 1); };
    std::array<std::size_t, std::size_t{1} << kDigit> place{};
    for (std::size_t i = 0; i < items.size(); ++i) ++place[digit(items[i])];
    if (place[digit(items[0])] == items.size()) continue;
    std::size_t sum = 0;
    for (std::size_t& p : place) sum += std::exchange(p, sum);
    for (std::size_t i = 0; i < items.size(); ++i) other[place[digit(items[i])]++] = items[i];
    std::swap(items, other);
  }
}

class UpwardSort {
 public:
  explicit UpwardSort(const RootPaths& paths) : paths_(paths), n_(paths.size()), keys_(n_) {
    const std::int32_t longest = *std::max_element(paths.length.begin(), paths.length.end());
    const std::int32_t largest = *std::max_element(paths.label.begin(), paths.label.end());
    bits_ = static_cast<int>(std::bit_width(static_cast<std::uint32_t>(largest) + 1));  // of label + 1: 0 is no label
    width_ = std::min(64 / bits_, longest);
  }

  UpwardOrder sort() {
    UpwardOrder order{Buffer<std::int32_t>(n_), Buffer<std::int32_t>(n_)};
    by_first_labels(order.path);
    double_until_told_apart(order.path);
    order.lcp[0] = 0;
    for (std::size_t r = 1; r < n_; ++r) {
      poll();
      order.lcp[r] = shared(order.path[r - 1], order.path[r]);
    }
    return order;
  }

 private:
  // Paths have the same name where their first `step` labels are the same: the first rank of their group. `ancestor` is `step` above.
  struct Level {
    std::int32_t step;
    Buffer<std::int32_t> ancestor, name;
  };
  struct Group {
    std::int32_t first, last;  // ranks, last one excluded
  };

  void by_first_labels(Buffer<std::int32_t>& by_rank) {
    Buffer<Keyed> items(n_);
    for (std::size_t v = 0; v < n_; ++v) {
      const std::int32_t p = paths_.parent[v];
      const std::uint64_t above = p < 0 ? 0 : keys_[static_cast<std::size_t>(p)] >> bits_;
      keys_[v] = (static_cast<std::uint64_t>(paths_.label[v]) + 1) << (bits_ * (width_ - 1)) | (width_ > 1 ? above : 0);
      items[v] = {keys_[v], static_cast<std::int32_t>(v)};
    }
    radix_sort(items, bits_ * width_);
    for (std::size_t r = 0; r < n_; ++r) by_rank[r] = items[r].path;
    collect_groups(items.size(), [&](std::size_t r) { return items[r - 1].key == items[r].key; });
  }

  // Runs of ranks whose neighbours are the `same`.
  template <class Same>
  void collect_groups(std::size_t n, Same&& same) {
    for (std::size_t first = 0, r = 1; r <= n; ++r) {
      if (r < n && same(r)) continue;
      if (r - first > 1) groups_.push_back({static_cast<std::int32_t>(first), static_cast<std::int32_t>(r)});
      first = r;
    }
  }

  void double_until_told_apart(Buffer<std::int32_t>& by_rank) {
    if (groups_.empty()) return;
    Buffer<std::int32_t> name(n_);
    for (std::size_t r = 0; r < n_; ++r) name[static_cast<std::size_t>(by_rank[r])] = static_cast<std::int32_t>(r);
    for (const Group g : groups_)
      for (std::int32_t r = g.first; r < g.last; ++r) name[static_cast<std::size_t>(by_rank[static_cast<std::size_t>(r)])] = g.first;
    levels_.push_back({width_, ancestors(width_), std::move(name)});
    std::vector<std::pair<std::int32_t, std::int32_t>> items;  // the name of the ancestor, the path
    while (!groups_.empty()) {
      const Level& level = levels_.back();
      Buffer<std::int32_t> refined(n_);
      std::copy_n(level.name.data(), n_, refined.data());
      std::vector<Group> rest;
      for (const Group g : groups_) {
        poll();
        items.clear();
        for (std::int32_t r = g.first; r < g.last; ++r) {
          const std::int32_t v = by_rank[static_cast<std::size_t>(r)], a = level.ancestor[static_cast<std::size_t>(v)];
          items.emplace_back(a < 0 ? -1 : level.name[static_cast<std::size_t>(a)], v);
        }
        std::sort(items.begin(), items.end());
        std::int32_t first = g.first;
        for (std::int32_t r = g.first; r < g.last; ++r) {
          const auto k = static_cast<std::size_t>(r - g.first);
          if (k > 0 && items[k].first != items[k - 1].first) {
            if (r - first > 1) rest.push_back({first, r});
            first = r;
          }
          by_rank[static_cast<std::size_t>(r)] = items[k].second;
          refined[static_cast<std::size_t>(items[k].second)] = first;
        }
        if (g.last - first > 1) rest.push_back({first, g.last});
      }
      groups_ = std::move(rest);
      if (groups_.empty()) return;
      Buffer<std::int32_t> further(n_);
      for (std::size_t v = 0; v < n_; ++v) further[v] = follow(level.ancestor[v], level.ancestor);
      levels_.push_back({2 * level.step, std::move(further), std::move(refined)});
    }
  }

  static std::int32_t follow(std::int32_t v, const Buffer<std::int32_t>& to) { return v < 0 ? -1 : to[static_cast<std::size_t>(v)]; }

  Buffer<std::int32_t> ancestors(std::int32_t step) const {
    Buffer<std::int32_t> found(n_), power(n_);
    for (std::size_t v = 0; v < n_; ++v) {
      found[v] = static_cast<std::int32_t>(v);
      power[v] = paths_.parent[v];
    }
    for (; step > 0; step >>= 1)
      for (std::size_t v = n_; v-- > 0;) {  // ancestors come first: entries read from `power` are not overwritten yet
        poll();
        if (step & 1) found[v] = follow(found[v], power);
        power[v] = follow(power[v], power);
      }
    return found;
  }

  std::int32_t shared(std::int32_t u, std::int32_t v) const {
    std::int32_t length = 0;
    for (std::size_t k = levels_.size(); k-- > 0 && u >= 0 && v >= 0;) {
      const Level& level = levels_[k];
      const auto a = static_cast<std::size_t>(u), b = static_cast<std::size_t>(v);
      if (level.name[a] != level.name[b]) continue;
      length += level.step;
      u = level.ancestor[a];
      v = level.ancestor[b];
    }
    if (u < 0 || v < 0) return length;
    const std::uint64_t differ = keys_[static_cast<std::size_t>(u)] ^ keys_[static_cast<std::size_t>(v)];
    return length + (std::countl_zero(differ) - (64 - bits_ * width_)) / bits_;
  }

  const RootPaths& paths_;
  std::size_t n_;
  int bits_, width_;
  Buffer<std::uint64_t> keys_;
  std::vector<Group> groups_;  // of paths not distinguished yet
  std::vector<Level> levels_;
};

}  // namespace

RootPaths root_paths(const Forest& forest) {
  RootPaths paths{Buffer<std::int32_t>(forest.n_nodes()), {}, {}, {}};
  TagIndex index("paths from the root");  // by the path above and the last label
  for (std::size_t i = 0; i < forest.size(); ++i) {
    const auto first = static_cast<std::size_t>(forest.offsets[i]), last = static_cast<std::size_t>(forest.offsets[i + 1]);
    for (std::size_t v = first; v < last; ++v) {
      poll();
      const std::int32_t p = forest.parents[v], label = forest.labels[v];
      const std::int32_t parent = p < 0 ? -1 : paths.of_node[first + static_cast<std::size_t>(p)];
      const std::uint64_t hash = mix(mix(0, static_cast<std::uint32_t>(parent)), static_cast<std::uint32_t>(label));
      auto same = [&](std::uint32_t path) { return paths.parent[path] == parent && paths.label[path] == label; };
      paths.of_node[v] = static_cast<std::int32_t>(index.find_or_add(tag_of(hash), same, [&] {
        paths.label.push_back(label);
        paths.parent.push_back(parent);
        paths.length.push_back(parent < 0 ? 1 : paths.length[static_cast<std::size_t>(parent)] + 1);
      }));
    }
  }
  return paths;
}

UpwardOrder upward_order(const RootPaths& paths) {
  if (paths.size() == 0) return {};
  return UpwardSort(paths).sort();
}

template <class Index>
SortedStrings<Index> upward_strings(const Forest& forest) {
  const std::size_t n = forest.n_nodes();
  const RootPaths paths = root_paths(forest);
  const UpwardOrder order = upward_order(paths);
  Buffer<Index> place = Buffer<Index>::zeros(paths.size());  // by path: how many nodes it has, then where the next of them goes
  for (std::size_t v = 0; v < n; ++v) ++place[static_cast<std::size_t>(paths.of_node[v])];
  SortedStrings<Index> out{Buffer<std::int32_t>(n), Buffer<Index>(n), Buffer<Index>(n)};
  std::size_t first = 0;
  for (std::size_t r = 0; r < paths.size(); ++r) {
    const auto path = static_cast<std::size_t>(order.path[r]);
    const auto count = static_cast<std::size_t>(std::exchange(place[path], static_cast<Index>(first)));
    std::fill_n(out.length.data() + first, count, static_cast<Index>(paths.length[path]));
    std::fill_n(out.lcp.data() + first, count, static_cast<Index>(paths.length[path]));
    out.lcp[first] = static_cast<Index>(order.lcp[r]);
    first += count;
  }
  for (std::size_t i = 0; i < forest.size(); ++i)
    for (auto v = static_cast<std::size_t>(forest.offsets[i]); v < static_cast<std::size_t>(forest.offsets[i + 1]); ++v)
      out.owner[static_cast<std::size_t>(place[static_cast<std::size_t>(paths.of_node[v])]++)] = static_cast<std::int32_t>(i);
  return out;
}

template SortedStrings<std::int32_t> upward_strings(const Forest&);
template SortedStrings<std::int64_t> upward_strings(const Forest&);

}  // namespace treille
