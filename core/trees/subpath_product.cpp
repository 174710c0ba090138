#include "trees/subpath_product.hpp"

#include <algorithm>

#include "parallel.hpp"
#include "text/lcp_intervals.hpp"
#include "trees/upward_order.hpp"

namespace treille {
namespace {

// use(Index{}), the narrowest that will do.
template <class Use>
auto with_index(const Forest& forest, Use&& use) {
  return forest.n_nodes() < (std::size_t{1} << 31) - 1 ? use(std::int32_t{}) : use(std::int64_t{});
}

// The sum over the edges of the suffix tree of one tree of (W(l) - W(l')) t(count)^2.
double transformed_self(const Forest& tree, std::span<const double> cumulative, Counts counts) {
  return with_index(tree, [&]<class Index>(Index) {
    const SortedStrings<Index> sorted = upward_strings<Index>(tree);
    const auto n = static_cast<Index>(tree.n_nodes()), longest = static_cast<Index>(cumulative.size() - 1);
    const auto lcp = [&](Index r) { return r < n ? std::min(sorted.lcp[static_cast<std::size_t>(r)], longest) : Index{0}; };
    const auto weight = [&](Index above, Index depth) {
      return cumulative[static_cast<std::size_t>(depth)] - cumulative[static_cast<std::size_t>(above)];
    };
    double sum = 0;
    lcp_intervals(n, lcp, [&](const LcpInterval<Index>& u) {
      const double value = transformed(counts, static_cast<double>(u.last - u.first) + 1);
      sum += weight(u.parent_depth, u.depth) * value * value;
    });
    for (Index r = 0; r < n; ++r)  // the paths that only one node has
      sum += weight(std::max(lcp(r), lcp(r + 1)), std::min(sorted.length[static_cast<std::size_t>(r)], longest));
    return sum;
  });
}

}  // namespace

SubstringTree shared_paths(const Forest& forest, std::span<const double> cumulative, std::size_t n_left) {
  return with_index(forest, [&]<class Index>(Index) {
    return SubstringTree::of_sorted(upward_strings<Index>(forest), forest.size(), {1, cumulative}, n_left);
  });
}

std::vector<double> subpath_self(const Forest& forest, std::span<const double> cumulative, int threads, Counts counts) {
  std::vector<double> out(forest.size(), 0.0);
  const std::int64_t useful = 1 + static_cast<std::int64_t>(forest.n_nodes()) / 20000;
  const auto cuts = balanced_cuts(forest.offsets, static_cast<int>(std::min<std::int64_t>(threads, useful)));
  run_between(cuts, [&](std::size_t i) {
    const auto first = static_cast<std::size_t>(forest.offsets[i]), size = static_cast<std::size_t>(forest.offsets[i + 1]) - first;
    const std::vector<std::int64_t> offsets{0, static_cast<std::int64_t>(size)};
    const Forest tree{forest.labels.subspan(first, size), forest.parents.subspan(first, size), offsets};
    out[i] = counts == Counts::raw ? shared_paths(tree, cumulative, 1).own(0) : transformed_self(tree, cumulative, counts);
  });
  return out;
}

SubpathProduct::SubpathProduct(const Forest& forest, std::span<const double> cumulative)
    : own_(forest.size(), 0.0), cumulative_(cumulative.begin(), cumulative.end()), n_nodes_(forest.n_nodes()) {
  with_index(forest, [&]<class Index>(Index) {
    const SortedStrings<Index> sorted = upward_strings<Index>(forest);
    const auto longest = static_cast<Index>(cumulative_.size() - 1);
    Index most = 0;
    for (std::size_t r = 0; r < n_nodes_; ++r) most = std::max(most, std::min(sorted.lcp[r], longest));
    owner_ = Packed(n_nodes_, std::max<std::size_t>(forest.size(), 1) - 1);
    lcp_ = Packed(n_nodes_, static_cast<std::uint64_t>(most));
    for (std::size_t r = 0; r < n_nodes_; ++r) {
      const Index before = std::min(sorted.lcp[r], longest), after = r + 1 < n_nodes_ ? std::min(sorted.lcp[r + 1], longest) : Index{0};
      const auto own = static_cast<std::size_t>(std::min(sorted.length[r], longest)),
                 shared = static_cast<std::size_t>(std::max(before, after));
      owner_.write(r, static_cast<std::uint64_t>(sorted.owner[r]));
      lcp_.write(r, static_cast<std::uint64_t>(before));
      own_[static_cast<std::size_t>(sorted.owner[r])] += cumulative_[own] - cumulative_[shared];
    }
  });
}

void SubpathProduct::column(const double* beta, double* out, std::size_t stride) const {
  Buffer<double> sums(n_nodes_ + 1);
  Buffer<double> steps = Buffer<double>::zeros(n_nodes_ + 1);
  sums[0] = 0;
  for (std::size_t r = 0; r < n_nodes_; ++r) sums[r + 1] = sums[r] + beta[owner_[r] * stride];
  lcp_intervals(
      static_cast<std::int64_t>(n_nodes_), [&](std::int64_t r) { return lcp_[static_cast<std::size_t>(r)]; },
      [&](const LcpInterval<std::int64_t>& u) {
        poll();
        const auto first = static_cast<std::size_t>(u.first), stop = static_cast<std::size_t>(u.last) + 1;
        const double term = (sums[stop] - sums[first]) *
                            (cumulative_[static_cast<std::size_t>(u.depth)] - cumulative_[static_cast<std::size_t>(u.parent_depth)]);
        steps[first] += term;
        steps[stop] -= term;
      });
  for (std::size_t i = 0; i < own_.size(); ++i) out[i * stride] = own_[i] * beta[i * stride];
  double value = 0;
  for (std::size_t r = 0; r < n_nodes_; ++r) out[owner_[r] * stride] += value += steps[r];
}

void SubpathProduct::product(std::span<const double> beta, std::size_t n_functions, int threads, double* out) const {
  const int n_shares = static_cast<int>(std::clamp<std::size_t>(n_functions, 1, static_cast<std::size_t>(threads)));
  run_shares(n_shares, [&](int p) {
    for (auto k = static_cast<std::size_t>(p); k < n_functions; k += static_cast<std::size_t>(n_shares))
      column(beta.data() + k, out + k, n_functions);
  });
}

}  // namespace treille
