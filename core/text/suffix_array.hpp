#pragma once
// The suffixes of many sequences in lexicographic order, and the number of symbols that neighbours share.
//
// They are sorted as in one text, all sequences one after another, each followed by a separator smaller than every symbol. No shared run
// crosses the end of a sequence: `lcp` stops there, so suffixes that are equal to their ends count as equal, in an order of no meaning.
//
// Cost: O(N + alphabet) for N symbols, on any input. Suffixes by induced sorting (Nong, Zhang, Chan: Two efficient algorithms for linear
// time suffix array construction, IEEE Trans. Computers 2011, the algorithm SA-IS); shared runs by way of the text order (Kärkkäinen,
// Manzini, Puglisi: Permuted longest-common-prefix array, CPM 2009). While building, about 20 bytes a symbol with 32-bit indices.

#include <cstdint>

#include "memory.hpp"
#include "sequences.hpp"

namespace treille {

// Index is std::int32_t for fewer than 2^31 symbols and sequences together, std::int64_t for any number.
template <class Index>
struct SuffixArray {
  Buffer<Index> suffix;           // by rank: where the suffix begins in the symbols
  Buffer<std::int32_t> sequence;  // by rank: whose suffix it is
  Buffer<Index> lcp;              // by rank: symbols shared with the suffix before; lcp[0] = 0
};

// Symbols are 0..alphabet_size-1. Threads share out the shared runs, not the sorting.
template <class Index>
SuffixArray<Index> suffix_array(const Sequences& data, std::int32_t alphabet_size, int threads);

// The smallest Index will do.
inline bool needs_wide_index(const Sequences& data) {
  return data.offsets.back() - data.offsets.front() + static_cast<std::int64_t>(data.size()) >= (std::int64_t{1} << 31) - 1;
}

}  // namespace treille
