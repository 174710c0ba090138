#pragma once
// The contributions of the nodes of a tree x to f(x) = sum over trees y of beta_y k(x, y), for the kernels of tree_gram.hpp.
//
// Each node p of x gets a weight t_p. A fragment is worth the product of the weights of the nodes it covers, so that with
// Delta(u, v) = t_u decay product over the children of (sigma t_child + Delta(child, child)) for subset trees, and
// Delta(u, v) = t_u mu (decay^2 + ...) for partial trees, f is a polynomial in t. The share of p is the integral over s from 0 to 1 of
// df/dt_p at t = s (1, ..., 1): every fragment is split equally among its nodes, and the shares sum to f(x).
//
// The derivatives with respect to all nodes come from one pass up (Delta of each node over its family, kept) and one down (the derivative
// with respect to each Delta): the cost of three kernel values. The integrand is a polynomial whose degree is below the size of the largest
// common fragment, found by the same recursion with maxima for sums. Gauss-Legendre quadrature of m points is exact up to degree 2m - 1;
// for high degrees O(sqrt(degree)) points reach 1e-12. Mostly fewer do, since large fragments weigh little: 4, 8, 16, ... points are tried
// until the error, which the shares of a function with positive coefficients reveal, is below 1e-11.
// Memory: for each node of x one number, and one more for each function, for each member of its family.

#include <span>
#include <vector>

#include "memory.hpp"
#include "trees/tree_gram.hpp"

namespace treille {

// shares[p * n_functions + k] for each node p of all trees `left`; beta has n_functions numbers for each tree of the index.
template <class Rule>
Buffer<double> tree_shares(const TreeIndex<typename Rule::Kin>& index, const Forest& left, const Rule& rule, std::span<const double> beta,
                           std::size_t n_functions, int threads);

// The m points and weights of Gauss and Legendre for integrals from 0 to 1.
struct Quadrature {
  std::vector<double> points, weights;
};
Quadrature quadrature(std::size_t m);

}  // namespace treille
