#pragma once
// Matrices of tree kernels,   k(x, y) = sum over nodes u of x and v of y of Delta(u, v),   Delta(u, v) = 0 unless u and v are kin.
//
// A row of the matrix at a time, against the distinct subtrees of all y (see tree_index.hpp): from the last node u of x to its root,
// Delta(u, .) is computed for the whole family of u at once, from the values of u's children, which wait on a stack, equal ones once; then
// each value is added to the trees that hold the subtree. So Delta is computed once for each distinct subtree, not for each node, and all
// memory is read in runs. A row costs the size of its nodes' families and of their lists of trees.
//
// Delta of the subset tree kernel (Collins and Duffy, NIPS 2001), kin by production, sigma 1; sigma 0: subtrees (Vishwanathan and
// Smola 2002):
//   decay * product over the children of (sigma + Delta(child of u, child of v)).
// Leaves are nodes, Delta = decay (`leaves`), or they are not: then a factor between two leaves is 1.
//
// Delta of the partial tree kernel (Moschitti, ECML 2006), kin by label:
//   mu (decay^2 + sum over equally long child subsequences I of u, J of v of decay^(d(I) + d(J)) prod_k Delta(I_k, J_k)),
// d the number of children skipped between the first and the last (`gaps`, as SVM-light-TK computes it), or last - first (as the paper's
// formula has it). For all lengths at once in O(children of u * children of v), by the sums of subsequence.hpp.

#include "memory.hpp"
#include "trees/forest.hpp"
#include "trees/tree_index.hpp"

namespace treille {

struct SubsetTrees {
  using Kin = ByProduction;
  double decay, sigma;
  bool leaves;
};

struct PartialTrees {
  using Kin = ByLabel;
  double decay, mu;
  bool gaps;
};

// left.size() * index.size() values, row by row. Equal labels are equal numbers in both. `own`: `left` are the trees of the index; one half
// of the matrix is computed, the other copied.
template <class Rule>
Buffer<double> tree_gram(const TreeIndex<typename Rule::Kin>& index, const Forest& left, const Rule& rule, bool own, int threads);

// k(x, x) of every tree.
template <class Rule>
std::vector<double> tree_diagonal(const Forest& all, const Rule& rule, int threads);

}  // namespace treille
