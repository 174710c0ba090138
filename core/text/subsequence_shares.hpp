#pragma once
// The contributions of the symbols of a sequence x to f(x) = sum over y of beta_y k(x, y), k the subsequence kernel of n symbols.
//
// A common subsequence is shared equally among its n symbols: k is homogeneous of degree n in weights of the symbols of x, so the share of
// a symbol is the derivative of k with respect to its weight, divided by n. With E_l[a, b] as in subsequence.hpp, and O_m[a, b] the sum
// over the ways to continue from x_a and y_b by m more symbols, computed from the end in the same way, it is
//
//   decay^(2n) / n  sum over b, l of E_l[a, b] O_{n-l}[a, b].
//
// From the end, E is needed row by row in the opposite order. It is kept every sqrt(|x|) rows and computed again between these:
// O(n |x| |y|) time, about four kernel values a pair, and O(n |y| sqrt(|x|)) memory.

#include <span>

#include "memory.hpp"
#include "sequences.hpp"

namespace treille {

// shares[p * n_functions + k] for each symbol p of all sequences `left`; beta has n_functions numbers for each of `right`.
Buffer<double> subsequence_shares(const Sequences& left, const Sequences& right, int n, double decay, std::span<const double> beta,
                                  std::size_t n_functions, int threads);

}  // namespace treille
