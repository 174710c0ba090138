#pragma once
// Rational kernels: features of lattices by a transducer T, and kernel values by a transducer U.
//
//   phi_z(X) = sum over x of X(x) T(x, z)            K(X, Y) = sum over x, y of X(x) U(x, y) Y(y)
//
// X and Y are acyclic and read no empty string (lattices.hpp, without_epsilon). Features are found by forward propagation: at each pair of
// a state of X and a state of T waits each output string so far, interned, with the sum of the weights of all ways to it. Pairs from which
// nothing is accepted are never entered; at pairs from which no more output can come, a string's value is the sum that waits there times
// the sum of the weights of all ways to the end, and it goes no further. Paths are never listed.
// Cost: one step for every (pair, string that waits there) and every transition of the pair.
// Allauzen, Mohri, Talwalkar: equations 1 and 2, Phi_X = projection on the output of X o T.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "automata/assembly.hpp"
#include "automata/interned_strings.hpp"
#include "automata/lattices.hpp"
#include "features/coded_rows.hpp"

namespace treille {

// One cycle of arcs of T that read the empty string, in order; without `writing` one whose arcs write nothing either. Empty where there is
// no such cycle.
std::vector<LabelledArc> epsilon_cycle(const Machine& T, bool writing);

class RationalFeatures {
 public:
  // T has no cycle of arcs that read the empty string. Symbol s of the data is read as the label recode[s]; 0: T does not know it.
  // Ids fall with the number of lattices that hold the string; ties go by first occurrence.
  static RationalFeatures fit(const Machine& T, const Lattices& data, std::span<const std::int32_t> recode, int threads,
                              RowsWithNorms& rows);
  // Restores features from their strings: labels of T's output, and the offset of each string.
  static RationalFeatures from_strings(std::span<const std::int32_t> labels, std::span<const std::int64_t> offsets);

  RowsWithNorms transform(const Machine& T, const Lattices& data, std::span<const std::int32_t> recode, int threads) const;

  // The contribution of each arc to functions of the rows, `weights` a row of n_functions numbers for each feature: the weight times the
  // value of each way through X o T, shared equally among the symbols that it reads on arcs of T that write; and to `base` the value of
  // output that is written without reading a symbol. The lattices may have arcs that read the empty string.
  void contributions(const Machine& T, const Lattices& data, std::span<const std::int32_t> recode, std::span<const double> weights,
                     std::size_t n_functions, int threads, double* out, double* base) const;

  std::size_t size() const { return nodes_.size(); }
  std::vector<std::int32_t> string(std::uint32_t id) const;
  // All strings, as from_strings takes them.
  std::pair<std::vector<std::int32_t>, std::vector<std::int64_t>> strings() const;

 private:
  InternedStrings trie_;
  std::vector<std::uint32_t> nodes_;  // of each feature
  std::vector<std::uint32_t> ids_;    // of each node, or kAbsent
};

struct LabelledLattices {
  Lattices data;
  std::span<const std::int32_t> recode;
};

// K between all lattices of two batches, row by row. Cost and memory of a pair: at most |X| |U| |Y| cells.
std::vector<double> rational_gram(const Machine& U, const LabelledLattices& left, const LabelledLattices& right, int threads);
// K of each lattice of `left` with the lattice of `right` of the same number.
std::vector<double> rational_diagonal(const Machine& U, const LabelledLattices& left, const LabelledLattices& right, int threads);

}  // namespace treille
