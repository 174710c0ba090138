#include "trees/xbw.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "parallel.hpp"
#include "trees/upward_order.hpp"

namespace treille {
namespace {

// Nodes of the forest by place.
Buffer<std::int64_t> by_place(const Forest& forest) {
  const std::size_t n = forest.n_nodes();
  const RootPaths paths = root_paths(forest);
  Buffer<std::int32_t> rank(paths.size());
  {
    const UpwardOrder order = upward_order(paths);
    for (std::size_t r = 0; r < paths.size(); ++r) rank[static_cast<std::size_t>(order.path[r])] = static_cast<std::int32_t>(r) + 1;
  }
  const auto above = [&](std::size_t v) {  // the rank of the path to the parent; 0 for roots
    const std::int32_t path = paths.parent[static_cast<std::size_t>(paths.of_node[v])];
    return path < 0 ? std::size_t{0} : static_cast<std::size_t>(rank[static_cast<std::size_t>(path)]);
  };
  Buffer<std::int64_t> next = Buffer<std::int64_t>::zeros(paths.size() + 1), order(n);
  for (std::size_t v = 0; v < n; ++v) ++next[above(v)];
  std::int64_t sum = 0;
  for (std::size_t r = 0; r <= paths.size(); ++r) sum += std::exchange(next[r], sum);
  for (std::size_t v = 0; v < n; ++v) order[static_cast<std::size_t>(next[above(v)]++)] = static_cast<std::int64_t>(v);
  return order;
}

}  // namespace

Xbw::Xbw(const Forest& forest) {
  const std::size_t n = forest.n_nodes();
  BitWriter inner(n), last_child(n), last(n);  // the first two by node
  for (std::size_t i = 0; i < forest.size(); ++i) {
    const auto first = static_cast<std::size_t>(forest.offsets[i]);
    if (i + 1 == forest.size()) last_child.set(first);
    for (auto v = static_cast<std::size_t>(forest.offsets[i + 1]) - 1; v > first; --v) {  // the last child is met first
      const std::size_t parent = first + static_cast<std::size_t>(forest.parents[v]);
      if (!inner[parent]) last_child.set(v);
      inner.set(parent);
    }
  }
  std::vector<std::int32_t> sequence(n);
  {
    const Buffer<std::int64_t> node = by_place(forest);
    for (std::size_t place = 0; place < n; ++place) {
      const auto v = static_cast<std::size_t>(node[place]);
      sequence[place] = 2 * forest.labels[v] + !inner[v];
      if (last_child[v]) last.set(place);
    }
  }
  last_ = std::move(last).done();

  BitWriter symbols(n == 0 ? 0 : static_cast<std::size_t>(*std::max_element(sequence.begin(), sequence.end())) + 1);
  for (const std::int32_t s : sequence) symbols.set(static_cast<std::size_t>(s));
  symbols_ = std::move(symbols).done();
  std::vector<std::int64_t> counts(symbols_.n_ones(), 0);
  for (std::int32_t& s : sequence) {
    s = symbol(s >> 1, s & 1);
    ++counts[static_cast<std::size_t>(s)];
  }
  count_blocks(counts);
  sequence_ = WaveletTree(std::move(sequence), counts);
}

Xbw::Xbw(BitVector last, std::span<const std::int32_t> symbols, WaveletTree sequence)
    : last_(std::move(last)), sequence_(std::move(sequence)) {
  const auto sound = [](bool so) {
    if (!so) throw std::invalid_argument("bits and symbols are of no forest");
  };
  const std::size_t n = last_.size();
  sound(symbols.size() == sequence_.lengths().size());
  sound(symbols.empty() || symbols[0] >= 0);
  sound(std::adjacent_find(symbols.begin(), symbols.end(), std::greater_equal<>()) == symbols.end());
  sound(n == 0 || last_[n - 1]);
  BitWriter present(symbols.empty() ? 0 : static_cast<std::size_t>(symbols.back()) + 1);
  for (const std::int32_t s : symbols) present.set(static_cast<std::size_t>(s));
  symbols_ = std::move(present).done();
  const std::size_t n_blocks = count_blocks(sequence_.counts(n));
  sound(n == 0 || last_.n_ones() == n_blocks);
}

std::size_t Xbw::count_blocks(std::span<const std::int64_t> counts) {
  first_block_ = Packed(counts.size(), n_nodes() + 1);
  std::size_t blocks = 1;
  for (std::size_t s = 0; s < counts.size(); ++s) {
    first_block_.write(s, blocks);
    if (!(meaning(static_cast<std::int32_t>(s)) & 1)) blocks += static_cast<std::size_t>(counts[s]);
  }
  return blocks;
}

std::vector<std::int32_t> Xbw::symbols() const {
  std::vector<std::int32_t> found(symbols_.n_ones());
  for (std::size_t s = 0; s < found.size(); ++s) found[s] = static_cast<std::int32_t>(symbols_.select1(s));
  return found;
}

std::int32_t Xbw::symbol(std::int32_t label, bool leaf) const {
  const auto place = 2 * static_cast<std::size_t>(label) + leaf;
  return place < symbols_.size() && symbols_[place] ? static_cast<std::int32_t>(symbols_.rank1(place)) : -1;
}

Xbw::Range Xbw::children(std::size_t place) const {
  const auto [symbol, before] = sequence_.at(place);
  return children_of(symbol, before);
}

Xbw::Range Xbw::children_of(std::int32_t symbol, std::size_t before) const {
  if (meaning(symbol) & 1) return {0, 0};
  const std::size_t block = first_block_[static_cast<std::size_t>(symbol)] + before;
  const std::size_t first = block_begin(block);
  std::size_t stop = first;  // families are small: the next bits are inspected one by one before they are counted
  while (stop < first + 64 && !last_[stop]) ++stop;
  return {first, last_[stop] ? stop + 1 : block_begin(block + 1)};
}

std::optional<std::size_t> Xbw::parent(std::size_t place) const {
  const std::size_t block = last_.rank1(place);
  if (block == 0) return std::nullopt;
  const std::size_t s = first_block_.upper_bound(0, symbols_.n_ones(), block) - 1;
  return sequence_.select(static_cast<std::int32_t>(s), block - first_block_[s]);
}

std::size_t Xbw::root(std::size_t place) const {
  const std::size_t n_trees = size();
  for (std::size_t steps = 0; place >= n_trees; ++steps) {
    if (steps > n_nodes()) throw std::invalid_argument("bits and symbols are of no forest");
    place = *parent(place);
  }
  return place;
}

std::optional<Xbw::Range> Xbw::below(std::span<const std::int32_t> path) const {
  Range range{0, n_nodes()};
  for (const std::int32_t label : path) {
    const std::int32_t s = symbol(label, false);
    if (s < 0) return std::nullopt;
    const std::size_t first = sequence_.rank(s, range.first), last = sequence_.rank(s, range.second);
    if (first == last) return std::nullopt;
    const std::size_t block = first_block_[static_cast<std::size_t>(s)];
    range = {block_begin(block + first), block_begin(block + last)};
  }
  return range;
}

std::size_t Xbw::count(std::span<const std::int32_t> path) const {
  const auto range = below(path.first(path.size() - 1));
  std::size_t sum = 0;
  for (const bool leaf : {false, true})
    if (const std::int32_t s = symbol(path.back(), leaf); range && s >= 0)
      sum += sequence_.rank(s, range->second) - sequence_.rank(s, range->first);
  return sum;
}

std::vector<std::int64_t> Xbw::find(std::span<const std::int32_t> path) const {
  const auto range = below(path.first(path.size() - 1));
  std::vector<std::int64_t> places;
  for (const bool leaf : {false, true})
    if (const std::int32_t s = symbol(path.back(), leaf); range && s >= 0)
      for (std::size_t k = sequence_.rank(s, range->first), stop = sequence_.rank(s, range->second); k < stop; ++k)
        places.push_back(static_cast<std::int64_t>(sequence_.select(s, k)));
  std::sort(places.begin(), places.end());
  return places;
}

void Xbw::append_subtree(std::size_t place, Array<std::int32_t>& labels, Array<std::int32_t>& parents) const {
  struct Open {
    std::size_t place;
    std::int32_t parent;
  };
  std::vector<Open> open{{place, -1}};
  const std::size_t begin = labels.size();
  while (!open.empty()) {
    const Open node = open.back();
    open.pop_back();
    const auto number = static_cast<std::int32_t>(labels.size() - begin);
    if (labels.size() - begin + open.size() >= n_nodes()) throw std::invalid_argument("bits and symbols are of no forest");
    const auto [s, before] = sequence_.at(node.place);
    labels.push_back(static_cast<std::int32_t>(meaning(s) >> 1));
    parents.push_back(node.parent);
    const Range below = children_of(s, before);
    for (std::size_t child = below.second; child-- > below.first;) open.push_back({child, number});
  }
}

Subtrees Xbw::subtrees(std::span<const std::int64_t> places, int threads) const {
  const std::size_t n = places.size();
  std::vector<std::pair<Array<std::int32_t>, Array<std::int32_t>>> shares(
      std::clamp<std::size_t>(n / 1000, 1, static_cast<std::size_t>(threads)));
  std::vector<std::size_t> cuts;
  for (std::size_t p = 0; p <= shares.size(); ++p) cuts.push_back(n * p / shares.size());
  Subtrees out{{}, {}, Buffer<std::int64_t>(n + 1)};
  run_shares(static_cast<int>(shares.size()), [&](int p) {
    auto& [labels, parents] = shares[static_cast<std::size_t>(p)];
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) {
      append_subtree(static_cast<std::size_t>(places[i]), labels, parents);
      out.offsets[i + 1] = static_cast<std::int64_t>(labels.size());
    }
  });
  std::tie(out.labels, out.parents) = join_arrays(shares, cuts, out.offsets);
  return out;
}

}  // namespace treille
