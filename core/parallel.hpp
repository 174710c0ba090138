#pragma once
// Threads for work that is cut into contiguous shares. The result of a share never depends on the number of shares, so results are the same
// for any number of threads.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "interrupt.hpp"
#include "memory.hpp"

namespace treille {

// Runs work(0) .. work(shares - 1), one thread each, and waits. The first exception is thrown again here.
void run_shares(int shares, const std::function<void(int)>& work);

// work(i) for the items i between each two cuts, one thread for each two.
template <class Work>
void run_between(const std::vector<std::size_t>& cuts, Work&& work) {
  run_shares(static_cast<int>(cuts.size()) - 1, [&](int p) {
    for (std::size_t i = cuts[static_cast<std::size_t>(p)]; i < cuts[static_cast<std::size_t>(p) + 1]; ++i) {
      poll();
      work(i);
    }
  });
}

// work(0) .. work(n - 1), for items that differ in cost: threads take a few each time.
void run_in_turns(std::size_t n, int threads, const std::function<void(std::size_t)>& work);

// Cuts items 0..n-1 into `shares` contiguous ranges of about equal weight: share p is [cuts[p], cuts[p + 1]).
// `cumulative` has n + 1 entries, the running sum of the items' weights.
std::vector<std::size_t> balanced_cuts(std::span<const std::int64_t> cumulative, int shares);

// Pairs of arrays, each appended to for the items between two cuts, one after another. ends[i + 1], where item i ends in its share, becomes
// where it ends in all.
template <class A, class B>
std::pair<Buffer<A>, Buffer<B>> join_arrays(std::vector<std::pair<Array<A>, Array<B>>>& shares, const std::vector<std::size_t>& cuts,
                                            Buffer<std::int64_t>& ends) {
  std::size_t total = 0, begin = 0;
  for (const auto& share : shares) total += share.first.size();
  std::pair<Buffer<A>, Buffer<B>> out{Buffer<A>(total), Buffer<B>(total)};
  ends[0] = 0;
  for (std::size_t p = 0; p < shares.size(); ++p) {
    const auto share = std::exchange(shares[p], {});
    std::copy(share.first.begin(), share.first.end(), out.first.data() + begin);
    std::copy(share.second.begin(), share.second.end(), out.second.data() + begin);
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) ends[i + 1] += static_cast<std::int64_t>(begin);
    begin += share.first.size();
  }
  return out;
}

}  // namespace treille
