#pragma once
// Features of many sequences for any family of patterns (patterns.hpp): fitted on some, then frozen and applied to others.
//
//   phi_z(x) = s_z t(sum of the values of z's occurrences in x, without their common factor s_z),   t as in features/count_transform.hpp.
//
// For a lattice, the expected sum: patterns of a window of fixed length are read off its expected n-grams, gappy ones are counted as they
// are (automata/prefix_counter.hpp).
// Patterns of a small universe (gapped k-mers of DNA) have an address each in a table, and ids rise with the address. Others go through
// a dictionary that confirms them cell by cell, and ids fall with the number of examples that hold the pattern. Both are exact.

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "automata/lattices.hpp"
#include "features/coded_rows.hpp"
#include "features/count_transform.hpp"
#include "features/ngram_dictionary.hpp"
#include "sequences.hpp"
#include "text/patterns.hpp"

namespace treille {

constexpr std::uint32_t kNoPattern = NGramDictionary<std::int32_t>::kAbsent;

// A table of all possible patterns by address: rank[address] is the id, or 2^32 - 1.
struct PatternTable {
  Array<std::uint32_t> rank;
  Array<std::uint32_t> addresses;  // by id
};

using PatternStore =
    std::variant<NGramDictionary<std::uint8_t>, NGramDictionary<std::uint16_t>, NGramDictionary<std::int32_t>, PatternTable>;

// Families as compaction takes them (features/helmert_basis.hpp).
struct PatternFamilies {
  std::vector<std::uint32_t> sizes, family, member;
};

class PatternFeatures {
 public:
  // Symbol s of the data is read as recode[s]: 0..alphabet_size-1, or -1 to leave it out.
  // The result does not depend on the number of threads.
  static PatternFeatures fit(const PatternFamily& family, const Sequences& data, std::span<const std::int32_t> recode,
                             std::int32_t alphabet_size, int threads, RowsWithNorms& rows, Counts counts = Counts::raw);
  static PatternFeatures fit(const PatternFamily& family, const Lattices& data, std::span<const std::int32_t> recode,
                             std::int32_t alphabet_size, int threads, RowsWithNorms& rows, Counts counts = Counts::raw);

  // Frozen features from their patterns: `cells` holds width() of each, `lengths` how many of them count (empty: all).
  static PatternFeatures from_patterns(const PatternFamily& family, std::span<const std::int32_t> cells,
                                       std::span<const std::int32_t> lengths, std::int32_t alphabet_size, Counts counts = Counts::raw);

  // Values of recode from the fitted alphabet size on stand for symbols never seen.
  RowsWithNorms transform(const Sequences& data, std::span<const std::int32_t> recode, int threads) const;
  RowsWithNorms transform(const Lattices& data, std::span<const std::int32_t> recode, int threads) const;

  // The contribution of each symbol, or arc, to functions of the rows, `weights` a row of n_functions numbers for each feature: the weight
  // times the value of each occurrence of a pattern, shared equally among the symbols that it covers. Occurrences in a lattice count as
  // they are expected. Added to `out`, a row for each symbol or arc.
  void contributions(const Sequences& data, std::span<const std::int32_t> recode, std::span<const double> weights, std::size_t n_functions,
                     int threads, double* out) const;
  void contributions(const Lattices& data, std::span<const std::int32_t> recode, std::span<const double> weights, std::size_t n_functions,
                     int threads, double* out) const;

  // Patterns that are shifts of each other, A.C... and .A.C.., are one family of nearly equal columns: gapped k-mers in a table only.
  std::optional<PatternFamilies> families() const;

  std::size_t size() const;
  int width() const;
  // Whether a pattern and its reverse complement are one feature.
  bool paired() const;
  std::vector<std::int32_t> pattern(std::uint32_t id) const;
  // All patterns, width() cells each, padded with zeros; and how many cells count (empty: all).
  std::vector<std::int32_t> patterns() const;
  std::vector<std::int32_t> lengths() const;

 private:
  // The id of a pattern, or kNoPattern.
  std::uint32_t find(const std::int32_t* cells, int n) const;

  PatternFeatures(const PatternFamily& family, PatternStore store, std::int32_t alphabet_size, Counts counts)
      : family_(family), store_(std::move(store)), alphabet_size_(alphabet_size), counts_(counts) {}

  PatternFamily family_;
  PatternStore store_;
  std::int32_t alphabet_size_;
  Counts counts_;
};

}  // namespace treille
