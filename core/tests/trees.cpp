// Kernels of trees, the order of their paths, and succinct structures.

#include "trees.hpp"

#include "subpath.hpp"
#include "succinct.hpp"

namespace treille::tests {

void trees() {
  for (const int threads : {1, 3}) {
    for (const unsigned largest : {1u, 25u}) trees_equal_their_definition(largest, threads);
    subpaths_equal_their_definition(threads);
  }
  for (const std::size_t n : {0, 1, 64, 511, 512, 513, 65536, 200000})
    for (const unsigned one_in : {0u, 1u, 2u, 1000u}) bits_are_counted_and_found(n, one_in);
  for (const std::uint64_t largest : {0ull, 1ull, 5ull, 255ull, (1ull << 33) + 7}) packed_numbers_round_trip(largest);
  for (const std::int32_t n_symbols : {1, 2, 3, 20, 900}) symbols_are_counted_and_found(1000, n_symbols);
}

}  // namespace treille::tests
