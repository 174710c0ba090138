#pragma once
// Sequences side by side, so that tables of a sequence with several others are filled by vector instructions.

#include <algorithm>
#include <numeric>
#include <vector>

#include "memory.hpp"
#include "sequences.hpp"

namespace treille {

constexpr std::size_t kGroup = 8;

// Some sequences side by side: symbol b of the one at place l is symbols[b * kGroup + l], -1 beyond its end.
struct Group {
  std::vector<std::size_t> members;  // at most kGroup
  Array<double> symbols;
  std::size_t length = 0;
};

// Sequences in groups of about equal length, the shortest first.
inline std::vector<Group> grouped(const Sequences& all) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return all[i].size() < all[j].size(); });
  std::vector<Group> groups((all.size() + kGroup - 1) / kGroup);
  for (std::size_t k = 0; k < groups.size(); ++k) {
    Group& group = groups[k];
    group.members.assign(order.begin() + static_cast<std::ptrdiff_t>(k * kGroup),
                         order.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), (k + 1) * kGroup)));
    group.length = all[group.members.back()].size();
    group.symbols.assign(group.length * kGroup, -1.0);
    for (std::size_t lane = 0; lane < group.members.size(); ++lane) {
      const auto y = all[group.members[lane]];
      for (std::size_t b = 0; b < y.size(); ++b) group.symbols[b * kGroup + lane] = y[b];
    }
  }
  return groups;
}

}  // namespace treille
