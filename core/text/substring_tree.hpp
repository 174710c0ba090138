#pragma once
// Products with the kernel matrix of weighted substring counts, in time linear in the symbols.
//
//   k(x, y) = sum over substrings z of weight(|z|) count_x(z) count_y(z)
//           = sum over suffixes p of x and q of y of W(|p and q share|),    W(l) = weight(1) + ... + weight(l).
//
// The strings that end on the edge into a node u of the suffix tree occur equally often. With s(u) = the sum of beta over the suffixes
// below u, and v(u) = v(parent) + s(u) (W(depth of u) - W(depth of parent)),
//
//   (K beta)_j = sum over the suffixes of x_j of v at their places.
//
// A part of the tree below which all suffixes belong to one sequence only adds to that sequence's own coefficient: it is folded into one
// number. Memory: 16 bytes (24 with 64-bit indices) for each node that several sequences share, and 4 bytes for each suffix below. Sums
// have positive terms wherever beta has: differences of W lose nothing in k, whose terms add up to W again.
//
// Vishwanathan, Smola: Fast kernels for string and tree matching, NIPS 2002 (there by matching statistics).

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "memory.hpp"
#include "sequences.hpp"

namespace treille {

// Strings in lexicographic order, prefixes first: the owner of each, the length it shares with the one before, and its length.
template <class Index>
struct SortedStrings {
  Buffer<std::int32_t> owner;
  Buffer<Index> lcp, length;
};

// The weights of lengths: W is 0 up to min_length - 1, and constant from its last entry on.
struct SubstringWeights {
  std::int64_t min_length;
  std::span<const double> cumulative;  // W(0) = 0, W(1), ...
};

class SubstringTree {
 public:
  // For K of all sequences with themselves; if n_left < data.size(), of the first n_left sequences (the rows of K) with the others
  // (its columns): then nodes of one side alone are dropped.
  // Building needs about 30 bytes a symbol, with 32-bit indices.
  static SubstringTree build(const Sequences& data, std::int32_t alphabet_size, const SubstringWeights& weights, std::size_t n_left,
                             int threads);

  // The same for any strings in order: `strings` are then the suffixes, and their owners, of which there are n_owners, the sequences.
  template <class Index>
  static SubstringTree of_sorted(const SortedStrings<Index>& strings, std::size_t n_owners, const SubstringWeights& weights,
                                 std::size_t n_left);

  // out = K beta; both matrices have n_functions columns and are written row by row. A thread takes eight columns at a time, and for
  // them 64 bytes a node.
  void product(std::span<const double> beta, std::size_t n_functions, int threads, double* out) const;

  // K itself, n_rows x n_columns, by products: O(N) a column.
  void gram(int threads, double* out) const;

  std::size_t n_rows() const { return n_left_; }
  std::size_t n_columns() const { return two_sided() ? n_sequences_ - n_left_ : n_sequences_; }
  std::size_t n_nodes() const;
  std::size_t n_entries() const { return entries_.size(); }
  std::size_t n_bytes() const;
  // The part of k(x, x) of sequence i by substrings of no other sequence: all of it if there is only one.
  double own(std::size_t i) const { return own_[i]; }

  // A node follows its children. Its entries, the sequences of suffixes that hang on it directly, end where the entries of the next begin.
  template <class Index>
  struct Node {
    double weight;  // of the strings that end on the edge into it
    Index parent;   // n_nodes for the root
    Index entries_end;
  };

 private:
  SubstringTree(std::size_t n_sequences, std::size_t n_left)
      : own_(n_left < n_sequences ? 0 : n_sequences), n_sequences_(n_sequences), n_left_(n_left) {}
  bool two_sided() const { return n_left_ < n_sequences_; }
  template <class Index, class Length>
  void fill(const Buffer<std::int32_t>& owner, const Buffer<Index>& lcp, Length&& length, const SubstringWeights& weights);
  template <class Load, class Store>
  void by_columns(std::size_t n_functions, int threads, Load&& load, Store&& store) const;

  std::variant<Array<Node<std::int32_t>>, Array<Node<std::int64_t>>> nodes_;
  Array<std::int32_t> entries_;
  std::vector<double> own_;  // by sequence: the part that no other shares; empty if there are two sides
  std::size_t n_sequences_, n_left_;
};

// k(x, x) of every sequence, computed separately. Multi-threaded over sequences.
std::vector<double> substring_self(const Sequences& data, std::int32_t alphabet_size, const SubstringWeights& weights, int threads);

}  // namespace treille
