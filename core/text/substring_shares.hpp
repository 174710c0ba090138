#pragma once
// The contributions of the symbols of a sequence x to f(x) = sum over y of beta_y k(x, y), k(x, y) = sum over substrings z of weight(|z|)
// count_x(z) count_y(z): every occurrence of z in x shares weight(|z|) sum over y of beta_y count_y(z) equally among its symbols.
//
// The suffixes of all y are sorted. From each place of x, the range of suffixes that begin with its first l symbols is narrowed for
// l = 1, 2, ..., until it is empty or the weights that are left are negligible; sums of beta over ranges are differences of running sums.
// O(log N) for each place and length, O(1) where one suffix is left.

#include "memory.hpp"
#include "sequences.hpp"
#include "text/substring_tree.hpp"

namespace treille {

// shares[p * n_functions + k] for each symbol p of all sequences `left`; beta has n_functions numbers for each of `right`. Equal numbers
// are equal symbols in both.
Buffer<double> substring_shares(const Sequences& left, const Sequences& right, std::int32_t alphabet_size, const SubstringWeights& weights,
                                std::span<const double> beta, std::size_t n_functions, int threads);

}  // namespace treille
