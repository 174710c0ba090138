#pragma once
// The inner nodes of the suffix tree, read off the shared runs of neighbours: no tree is built.
//
// An interval [first, last] of ranks is a node of depth d: its suffixes share their first d symbols, and neither its neighbours nor all
// of it share more. Children come before their parents, from left to right; the root (depth 0, all ranks) comes last. O(N) time; the
// stack is as deep as the tree. Abouelhoda, Kurtz, Ohlebusch: Replacing suffix trees with enhanced suffix arrays, J. Discrete Algorithms
// 2004, Algorithm 4.4.

#include <algorithm>
#include <vector>

namespace treille {

template <class Index>
struct LcpInterval {
  Index first, last;
  Index depth, parent_depth;
};

// `lcp(r)` is the length that ranks r - 1 and r share, for 1 <= r < n; `visit` is called with each interval once.
template <class Index, class Lcp, class Visit>
void lcp_intervals(Index n, Lcp&& lcp, Visit&& visit) {
  if (n == 0) return;
  struct Open {
    Index first, depth;
  };
  std::vector<Open> open{{0, 0}};
  for (Index r = 1; r <= n; ++r) {
    const Index shared = r < n ? static_cast<Index>(lcp(r)) : Index{0};
    Index first = r - 1;
    while (open.back().depth > shared) {
      const Open done = open.back();
      open.pop_back();
      visit(LcpInterval<Index>{done.first, r - 1, done.depth, std::max(shared, open.back().depth)});
      first = done.first;
    }
    if (open.back().depth < shared) open.push_back({first, shared});
  }
  visit(LcpInterval<Index>{0, n - 1, 0, 0});
}

}  // namespace treille
