#pragma once
// Random walk kernels,   k(x, y) = sum_n mu_n W_n(x, y),   W_n = 1' A^n 1 the weight of the walks of n steps in the direct product of x and
// y (walk_product.hpp), A its adjacency matrix.
//
//   exponential: mu_n = decay^n / n!.   geometric: mu_n = decay^n, which needs decay rho(A) < 1.   counts: mu_n = 1 for first <= n <= last.
//
// Undirected graphs: with v_n = A^n 1, W_2n = v_n.v_n and W_2n+1 = v_n.v_n+1. The geometric series without a last term is 1'z, where
// (I - decay A) z = 1 is solved by conjugate gradients: after j steps, 1'z - sum alpha_i |r_i|^2 lies between 0 and |r_j|^2 / (1 - decay
// rho), at most 1e-11 of the sum at the end: Golub and Meurant, Matrices, moments and quadrature, chapter 12. Other series stop when a
// bound on the terms that are left, W_n+k <= r^k W_n, is below 1e-12 of the sum; r is the product of the largest degrees, or the largest
// quotient of (A v_n)_i and (v_n)_i (Collatz and Wielandt). Gärtner, Flach, Wrobel, COLT 2003; Vishwanathan, Schraudolph, Kondor,
// Borgwardt, JMLR 2010.

#include <cstdint>
#include <vector>

#include "graphs/graphs.hpp"
#include "graphs/walk_graphs.hpp"
#include "memory.hpp"

namespace treille {

struct WalkSeries {
  enum class Kind { exponential, geometric, counts } kind;
  double decay;
  std::int64_t first, last;  // terms; last -1: no last one
  bool directed;
  bool all_starts;  // all pairs of nodes are walks of no steps, not only those with equal labels

  bool is_infinite_geometric() const { return kind == Kind::geometric && last < 0; }
};

// The graphs of one side, prepared. Labels of both sides are numbered alike.
class WalkIndex {
 public:
  explicit WalkIndex(const Graphs& graphs) : graphs_(graphs, types_) {}

  const WalkGraphs& graphs() const { return graphs_; }
  // Prepares other graphs, without arcs that have no counterpart in these.
  WalkGraphs other(const Graphs& graphs) const { return WalkGraphs(graphs, types_); }

 private:
  ArcTypes types_;
  WalkGraphs graphs_;
};

// Bounds on what the matrix costs: numbers in a vector of the largest product, and products of arcs of all pairs.
struct WalkCost {
  double cells, arcs;
};
WalkCost walk_cost(const WalkGraphs& left, const WalkGraphs& right);

// left.size() * right.size() values. The radii are those of `walk_radii`, needed for infinite geometric series of undirected graphs only.
// `own`: left are the graphs of right.
Buffer<double> walk_gram(const WalkGraphs& left, const WalkGraphs& right, const WalkSeries& series, std::span<const double> left_radii,
                         std::span<const double> right_radii, bool own, int threads);
std::vector<double> walk_diagonal(const WalkGraphs& graphs, const WalkSeries& series, std::span<const double> radii, int threads);

// An upper bound on the spectral radius of the product of each graph with itself. Weights are not negative. The bound is sharp to about
// 1e-3, and to 1e-9 where decay * radius is near 1 or above it; it may be less sharp where decay * bound < 0.9. rho(A_xy) <= sqrt(rho(A_xx)
// rho(A_yy)), because W_n is a kernel.
std::vector<double> walk_radii(const WalkGraphs& graphs, double decay, bool directed, int threads);

// Without labels, W_n(x, y) = m_n(x) m_n(y), m_n = 1' A^n 1 of each graph.
// Upper bounds on the spectral radius of each graph, as above, for the product of the graph with itself.
std::vector<double> plain_radii(const Graphs& graphs, double decay, bool directed, int threads);
// m_n / scale^n for n = 0 .. n_terms - 1, graph after graph.
Buffer<double> walk_moments(const Graphs& graphs, std::size_t n_terms, double scale, int threads);
// sum_n coefficients[n] left[i][n] right[j][n]
Buffer<double> moment_gram(std::span<const double> left, std::span<const double> right, std::span<const double> coefficients, bool own,
                           int threads);

}  // namespace treille
