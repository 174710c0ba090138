#pragma once
// Matrices of string kernels without features in memory: the values are computed directly, by several threads.
// Symbol s of a batch is read as recode[s], and a symbol below 0 is in no window; a code is the same symbol in both batches.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "memory.hpp"
#include "sequences.hpp"
#include "text/patterns.hpp"

namespace treille {

struct Recoded {
  Sequences data;
  std::span<const std::int32_t> recode;
};

// Gapped k-mers, k(x, y) = sum over pairs of windows of C(length - mismatches, k), over 0..base-1.
// For each choice of positions the windows of all sequences are put into buckets by the symbols there; a row of the matrix adds up the
// buckets of its windows: well-filled buckets are sets of bits (20 to 30 columns per operation), others are lists.
// `right` absent: `left` with itself. The table of one choice, base^k buckets, must be small.
Buffer<double> gapped_kmer_gram(const GappedKmerPatterns& family, std::int32_t base, const Recoded& left,
                                const std::optional<Recoded>& right, int threads);
std::vector<double> gapped_kmer_diagonal(const GappedKmerPatterns& family, std::int32_t base, const Recoded& data, int threads);

// k(x, y) = sum over pairs of windows of weights[mismatches]; `weights` has length + 1 entries, length < 256. With `complement`, the
// windows of reverse complements count too. The mismatches of a window pair follow from the pair before it on the diagonal, at
// a constant cost for any length, about a nanosecond.
Buffer<double> mismatch_gram(int length, std::span<const double> weights, std::span<const std::int32_t> complement, const Recoded& left,
                             const std::optional<Recoded>& right, int threads);
std::vector<double> mismatch_diagonal(int length, std::span<const double> weights, std::span<const std::int32_t> complement,
                                      const Recoded& data, int threads);

// Weighted degree with shifts: k(x, y) = sum over n <= d of beta_n sum over i, s <= shift of delta_s
//   (I(x[i+s : i+s+n] == y[i : i+n]) + I(x[i : i+n] == y[i+s : i+s+n])),   delta_s = 1 / (2 (s + 1)),
// beta_n = 2 (d - n + 1) / (d (d + 1)). Cost: (2 shift + 1) |x| a pair, for any d. Raetsch, Sonnenburg, Schoelkopf 2005.
Buffer<double> weighted_degree_gram(int d, int shift, const Recoded& left, const std::optional<Recoded>& right, int threads);
std::vector<double> weighted_degree_diagonal(int d, int shift, const Recoded& data, int threads);

}  // namespace treille
