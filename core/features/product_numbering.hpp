#pragma once
// Numbers all products of features in lexicographic order of their tuples.
//
// It works by projection: the occurrences of a prefix (example, place of its last feature) are grouped by the feature that comes next, from
// the first feature to the last. Every group is small, so that marks of the features found stay in the cache; a hash table of all products
// would miss it at almost every step. Threads take first features. Time is linear in the number of products of all examples, apart from
// sorting the different ones within a group.

#include <cstdint>
#include <vector>

#include "features/product_features.hpp"
#include "memory.hpp"

namespace treille {

struct NumberedProducts {
  Buffer<std::uint32_t> ids;               // of all products of all examples, in the order of Expansion, minus the id in `first`
  Array<std::uint32_t> first;              // the lowest id of the products that begin with a feature
  std::vector<Array<std::uint64_t>> keys;  // of each table (product_features.hpp), by id
};

// Products of example i are offsets[i] .. offsets[i + 1).
std::vector<std::int64_t> product_offsets(const Factors& factors);
NumberedProducts number_products(const Factors& factors, const std::vector<std::int64_t>& offsets, int threads);

}  // namespace treille
