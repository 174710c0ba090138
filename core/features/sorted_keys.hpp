#pragma once
// Keys of products found by several threads, sorted and merged.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "interrupt.hpp"
#include "memory.hpp"
#include "parallel.hpp"

namespace treille {

struct NumberedKey {
  std::uint64_t key;
  std::uint32_t id;
};

// By counting passes over the bits that differ. Costs as much memory again.
inline void sort_keys(Buffer<NumberedKey>& keys) {
  constexpr int width = 11;
  constexpr std::size_t buckets = std::size_t{1} << width;
  std::uint64_t used = 0;
  for (std::size_t k = 0; k < keys.size(); ++k) used |= keys[k].key ^ keys[0].key;
  Buffer<NumberedKey> other(keys.size());
  for (int shift = 0; shift < 64 && used >> shift != 0; shift += width) {
    shift += std::countr_zero(used >> shift);
    poll();
    std::vector<std::size_t> heads(buckets, 0);
    for (std::size_t k = 0; k < keys.size(); ++k) ++heads[keys[k].key >> shift & (buckets - 1)];
    std::size_t sum = 0;
    for (auto& head : heads) sum += std::exchange(head, sum);
    for (std::size_t k = 0; k < keys.size(); ++k) other[heads[keys[k].key >> shift & (buckets - 1)]++] = keys[k];
    std::swap(keys, other);
  }
}

// Merges the keys in [from, to) of sorted runs: use(run, key, rank) with the rank among the different keys. Returns their number.
template <class Use>
std::size_t merge_runs(const std::vector<Buffer<NumberedKey>>& runs, std::uint64_t from, std::uint64_t to, Use&& use) {
  struct Head {
    const NumberedKey *at, *end;
    std::size_t run;
  };
  std::vector<Head> heads;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const NumberedKey *const begin = runs[r].data(), *const end = begin + runs[r].size();
    const auto before = [&](std::uint64_t cut) {
      return std::partition_point(begin, end, [&](const NumberedKey& each) { return each.key < cut; });
    };
    if (const Head head{before(from), before(to), r}; head.at < head.end) heads.push_back(head);
  }
  std::size_t count = 0;
  while (!heads.empty()) {
    std::uint64_t least = heads[0].at->key;
    for (const Head& head : heads) least = std::min(least, head.at->key);
    bool ended = false;
    for (Head& head : heads)
      if (head.at->key == least) {
        use(head.run, *head.at++, count);
        ended |= head.at == head.end;
      }
    if ((++count & 0xFFF) == 0) poll();
    if (ended) std::erase_if(heads, [](const Head& head) { return head.at == head.end; });
  }
  return count;
}

// The different keys of all shares, sorted; those of a share differ. A key is (prefix << 32 | feature): prefixes are renamed first, unless
// `renamed` is empty, which then receives the new number of every key of every share.
inline Array<std::uint64_t> merge_sorted(std::vector<Array<std::uint64_t>> keys, std::vector<Array<std::uint32_t>>& renamed) {
  const auto shares = static_cast<int>(keys.size());
  std::vector<Buffer<NumberedKey>> runs(keys.size());
  std::vector<Array<std::uint32_t>> numbers(keys.size());
  run_parts(shares, [&](int p) {
    const auto share = static_cast<std::size_t>(p);
    Array<std::uint64_t> own = std::move(keys[share]);
    runs[share] = Buffer<NumberedKey>(own.size());
    for (std::size_t id = 0; id < own.size(); ++id) {
      const std::uint64_t prefix = own[id] >> 32, feature = own[id] & 0xFFFFFFFFu;
      const std::uint64_t key = (renamed.empty() ? prefix : renamed[share][prefix]) << 32 | feature;
      runs[share][id] = {key, static_cast<std::uint32_t>(id)};
    }
    numbers[share].resize(own.size());
    own = {};
    sort_keys(runs[share]);
  });
  std::vector<std::uint64_t> cuts{0};  // of keys, about equally many between two
  const auto& longest = *std::max_element(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  for (std::size_t p = 1; p < keys.size(); ++p) cuts.push_back(longest.size() > 0 ? longest[longest.size() * p / keys.size()].key : 0);
  cuts.push_back(~std::uint64_t{0});
  std::vector<std::size_t> first(keys.size() + 1, 0);
  run_parts(shares, [&](int p) {
    first[static_cast<std::size_t>(p) + 1] = merge_runs(runs, cuts[p], cuts[p + 1], [](std::size_t, const NumberedKey&, std::size_t) {});
  });
  for (std::size_t p = 1; p < first.size(); ++p) first[p] += first[p - 1];
  Array<std::uint64_t> all(first.back());
  run_parts(shares, [&](int p) {
    merge_runs(runs, cuts[p], cuts[p + 1], [&](std::size_t run, const NumberedKey& each, std::size_t rank) {
      all[first[p] + rank] = each.key;
      numbers[run][each.id] = static_cast<std::uint32_t>(first[p] + rank);
    });
  });
  renamed = std::move(numbers);
  return all;
}

}  // namespace treille
