#pragma once
// Runs of symbols that windows may cover, and choices of positions in a window.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace treille {

using Symbols = std::span<const std::int32_t>;

// Calls use(run) for each longest run without left-out symbols that has `length` symbols at least.
template <class Use>
void clean_runs(Symbols x, std::size_t length, Use&& use) {
  for (std::size_t begin = 0; begin < x.size();) {
    std::size_t end = begin;
    while (end < x.size() && x[end] >= 0) ++end;
    if (end - begin >= length) use(x.subspan(begin, end - begin));
    begin = end + 1;
  }
}

// All choices of k out of `length` positions, in lexicographic order, k numbers each.
inline std::vector<int> choices(int length, int k) {
  std::vector<int> all, now(static_cast<std::size_t>(k));
  for (int j = 0; j < k; ++j) now[static_cast<std::size_t>(j)] = j;
  for (;;) {
    all.insert(all.end(), now.begin(), now.end());
    int j = k - 1;
    while (j >= 0 && now[static_cast<std::size_t>(j)] == length - k + j) --j;
    if (j < 0) return all;
    ++now[static_cast<std::size_t>(j)];
    for (int i = j + 1; i < k; ++i) now[static_cast<std::size_t>(i)] = now[static_cast<std::size_t>(i - 1)] + 1;
  }
}

}  // namespace treille
