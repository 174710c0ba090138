#pragma once
// The heaviest fragments of tree kernels: k(x, y) = sum over fragments z of phi_z(x) phi_z(y), and z has the weight
// w_z = sum over trees x of beta_x phi_z(x).
//
// Subset trees: phi_z(x) is the number of nodes where z occurs, times sqrt(decay) for each inner node of z (and leaf, if leaves are
// nodes), times sqrt(sigma) for each node where it is cut. Partial trees: the sum over embeddings of the product over the nodes of z of
// sqrt(mu), times decay for a node without children in z, times decay^d for one whose children skip d (tree_gram.hpp).
//
// Fragments are grown node by node in preorder: subset trees by deciding for the next node whether it is cut or which production it has,
// partial trees by a new last child of a node on the path to the last node. A state is a fragment with its occurrences in all trees; each
// is known by one node, the next or the last. The bound of a state is the sum over occurrences in trees with positive beta of the largest
// value that they can grow to, by node, so that no fragment below the state weighs more. The state with the largest bound is expanded
// first, until no bound exceeds the weight of the last of the `count` heaviest fragments found. If the states in memory have more than
// `most_stored` occurrences, those that follow are searched depth first. `most_visited` bounds the time: a search that visits more
// occurrences stops.

#include <cstdint>
#include <span>
#include <vector>

#include "trees/forest.hpp"
#include "trees/tree_gram.hpp"

namespace treille {

enum class FragmentNode : std::uint8_t { inner, cut, leaf };

struct Fragment {
  double weight;
  std::vector<std::int32_t> labels, depths;  // in preorder
  std::vector<std::uint8_t> kinds;
};

struct HeavyFragments {
  std::vector<Fragment> found;  // of positive weight, the heaviest first
  bool complete;                // whether the search was completed
};

struct SearchLimits {
  std::uint64_t most_visited, most_stored;
};

template <class Rule>
HeavyFragments heavy_fragments(const Forest& forest, const Rule& rule, std::span<const double> beta, std::size_t count,
                               const SearchLimits& limits);

}  // namespace treille
