#pragma once
// The subsequence kernel: common subsequences of n symbols, gaps allowed, weighted by their spans.
//
//   k(x, y) = sum over z in Sigma^n, i: x[i] = z, j: y[j] = z of decay^(span(i) + span(j)),   span(i) = i_n - i_1 + 1
//
// Computed by dynamic programming: let E_l[a, b] be the sum over the common subsequences of length l that end at x_a and y_b, without the
// factor decay^2 of each of their symbols. E_1 = [x_a = y_b], and for l > 1
//
//   E_l[a, b] = [x_a = y_b] S_{l-1}[a - 1, b - 1],      S_l[a, b] = sum over a' <= a, b' <= b of decay^(a - a' + b - b') E_l[a', b'],
//
// k = decay^(2n) sum E_n. S is kept for one row a: P = E[b] + decay P (along b), S[b] = decay S[b] + P. O(n |x| |y|) a pair,
// O(n |y|) memory. All terms are positive: no cancellation.
// Lodhi et al., JMLR 2002, section 4 (there as K' and K'').
//
// The sum along b depends on the number before, so that one pair cannot use a processor's vectors: several y of about the same length
// are taken side by side, the shorter ones filled up with a symbol that nothing equals.

#include "sequences.hpp"

namespace treille {

constexpr int kLongestSubsequence = 64;  // n
constexpr int kMostLevels = kLongestSubsequence - 1;

// out[i * right.size() + j] = k(left[i], right[j]). Equal numbers are equal symbols in both.
void subsequence_gram(const Sequences& left, const Sequences& right, int n, double decay, int threads, double* out);

// The same of `all` with itself: one half is computed, the other copied.
void subsequence_gram(const Sequences& all, int n, double decay, int threads, double* out);

// k(x, x) of every x.
void subsequence_diagonal(const Sequences& all, int n, double decay, int threads, double* out);

}  // namespace treille
