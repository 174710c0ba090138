#pragma once
// N-gram features of many sequences: fitted on some, then frozen and applied to others.
//
//   phi_z(x) = weight[|z|] * t(number of occurrences of z in x),   min_order <= |z| <= max_order,   t as in features/count_transform.hpp.
//
// For a lattice, the number of occurrences is the expected number (automata/prefix_counter.hpp).
// Cost: one pass over the symbols per order; expected O(1) a window, and n symbols for each distinct n-gram of an example. Exact for
// any order and alphabet.
// Ids fall with the number of examples that hold the n-gram; ties go by first occurrence in the training data.

#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "automata/lattices.hpp"
#include "features/coded_rows.hpp"
#include "features/count_transform.hpp"
#include "features/ngram_dictionary.hpp"
#include "sequences.hpp"

namespace treille {

// Occurrences of n-grams, sequence by sequence and by position: [offsets[i], offsets[i + 1]) are in sequence i.
struct Occurrences {
  Buffer<std::int64_t> ids, starts, offsets;
};

class NGramFeatures {
 public:
  // `weights` has one entry for each order min_order..max_order. Symbols are 0..alphabet_size-1.
  // The result does not depend on the number of threads.
  static NGramFeatures fit(const Sequences& data, int min_order, int max_order, std::span<const double> weights, std::int32_t alphabet_size,
                           int threads, RowsWithNorms& rows, Counts counts = Counts::raw);
  static NGramFeatures fit(const Lattices& data, int min_order, int max_order, std::span<const double> weights, std::int32_t alphabet_size,
                           int threads, RowsWithNorms& rows, Counts counts = Counts::raw);

  // Frozen features from their grams: `grams` holds max_order symbols each, `orders` the length of each (empty: all max_order).
  static NGramFeatures from_grams(std::span<const std::int32_t> grams, std::span<const std::int32_t> orders, int min_order, int max_order,
                                  std::span<const double> weights, std::int32_t alphabet_size, Counts counts = Counts::raw);

  // Symbol s of the data is read as recode[s]; values >= the fitted alphabet size stand for symbols never seen.
  RowsWithNorms transform(const Sequences& data, std::span<const std::int32_t> recode, int threads) const;
  RowsWithNorms transform(const Lattices& data, std::span<const std::int32_t> recode, int threads) const;

  // Every occurrence of a fitted n-gram; it covers as many symbols as the n-gram has.
  Occurrences occurrences(const Sequences& data, std::span<const std::int32_t> recode, int threads) const;

  // The contribution of each symbol, or arc, to functions of the rows, `weights` a row of n_functions numbers for each feature: the weight
  // times the value of each occurrence of an n-gram, shared equally among its symbols. Occurrences in a lattice count as they are expected.
  // Added to `out`, a row for each symbol or arc.
  void contributions(const Sequences& data, std::span<const std::int32_t> recode, std::span<const double> weights, std::size_t n_functions,
                     int threads, double* out) const;
  void contributions(const Lattices& data, std::span<const std::int32_t> recode, std::span<const double> weights, std::size_t n_functions,
                     int threads, double* out) const;

  // Merges with `other`: the n-grams of this one with their ids, then the new ones of `other`, in their order; and the ids of `other` in
  // the result. Symbol s of `other` is recode[s] here; symbols that are new must follow those of this alphabet.
  std::pair<NGramFeatures, std::vector<std::int64_t>> merge(const NGramFeatures& other, std::span<const std::int32_t> recode) const;
  // The same in place, in time that does not depend on the number of n-grams here.
  std::vector<std::int64_t> absorb(const NGramFeatures& other, std::span<const std::int32_t> recode);

  std::size_t size() const;
  int min_order() const { return min_order_; }
  int max_order() const { return max_order_; }
  const std::vector<double>& weights() const { return weights_; }
  std::vector<std::int32_t> gram(std::uint32_t id) const;
  // All grams, max_order symbols each, padded with zeros; and their lengths.
  std::vector<std::int32_t> grams() const;
  std::vector<std::int32_t> orders() const;

 private:
  void widen(std::int64_t symbols);

  using Dictionary = std::variant<NGramDictionary<std::uint8_t>, NGramDictionary<std::uint16_t>, NGramDictionary<std::int32_t>>;
  NGramFeatures(Dictionary dictionary, int min_order, int max_order, std::span<const double> weights, Counts counts)
      : dictionary_(std::move(dictionary)),
        min_order_(min_order),
        max_order_(max_order),
        weights_(weights.begin(), weights.end()),
        counts_(counts) {}

  Dictionary dictionary_;
  int min_order_, max_order_;
  std::vector<double> weights_;
  Counts counts_;
};

}  // namespace treille
