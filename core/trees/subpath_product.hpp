#pragma once
// Products with the matrix of the subpath kernel (see subpath_features.hpp) in the least memory: for each node, in the order of upward
// strings, the bits of its tree's number and of the length it shares with the node before, and nothing else.
//
// (K beta)_i is the sum over the nodes v of tree i of sum over intervals that hold v of (W(l) - W(l')) s, s being the sum of beta over the
// nodes of the interval: a difference of prefix sums. Each interval adds its term where it begins and takes it back where it ends; the
// running sum of these is the value of each node. O(N) a column, 16 bytes a node while it works. Sums and differences of the whole forest
// round to about 1e-16 of the largest: SubstringTree, which takes no differences, loses less, and is faster.

#include <cstdint>
#include <span>
#include <vector>

#include "features/count_transform.hpp"
#include "succinct/packed.hpp"
#include "text/substring_tree.hpp"
#include "trees/forest.hpp"

namespace treille {

// The same products by plain arrays, with upward strings as suffixes. The first n_left trees are the rows of K, and the others its
// columns; all are both where there are no others.
SubstringTree shared_paths(const Forest& forest, std::span<const double> cumulative, std::size_t n_left);

// k(x, x) of every tree, computed separately. Multi-threaded over trees.
std::vector<double> subpath_self(const Forest& forest, std::span<const double> cumulative, int threads, Counts counts = Counts::raw);

class SubpathProduct {
 public:
  SubpathProduct(const Forest& forest, std::span<const double> cumulative);

  // out = K beta; both matrices have n_functions columns and are written row by row. A thread takes a column at a time.
  void product(std::span<const double> beta, std::size_t n_functions, int threads, double* out) const;

  std::size_t n_bytes() const { return owner_.n_bytes() + lcp_.n_bytes() + 8 * (own_.size() + cumulative_.size()); }

 private:
  void column(const double* beta, double* out, std::size_t stride) const;

  Packed owner_{0, 0}, lcp_{0, 0};
  std::vector<double> own_;  // by tree: of the paths that one node alone has
  std::vector<double> cumulative_;
  std::size_t n_nodes_;
};

}  // namespace treille
