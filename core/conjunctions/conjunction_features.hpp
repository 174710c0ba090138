#pragma once
// Explicit features of conjunctions: phi_P(x) = sqrt(c_|P|) for every frequent pattern P that x holds, else 0; and a constant sqrt(c_0).
//
// With all patterns (min_support = 1) and c_k = sum_r C(d, r) c0^(d-r) k! S(r, k), the inner product is (c0 + |x and y|)^d.
// Mining: mine.hpp; matching: patterns.hpp. Time is linear in the occurrences of patterns in rows. Ids rise in depth-first order of the
// patterns, whatever the number of threads.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "conjunctions/items.hpp"
#include "conjunctions/mine.hpp"
#include "conjunctions/patterns.hpp"
#include "features/coded_rows.hpp"
#include "memory.hpp"

namespace treille {

class ConjunctionFeatures {
 public:
  static constexpr std::uint32_t kNoFeature = ~std::uint32_t{0};

  // The patterns of at most `degree` items that occur in at least `min_support` rows; std::length_error if there are more than `most`.
  static ConjunctionFeatures mine(const ItemRows& rows, int degree, std::size_t min_support, std::size_t most, bool constant, int threads,
                                  std::size_t long_array = Patterns::kLongArray);

  // Patterns that are not `kept` only lead to others: they are no features. `kept` empty: all are. With `constant`, feature 0 is it.
  ConjunctionFeatures(PatternTrees trees, std::size_t n_items, std::span<const std::uint8_t> kept, bool constant,
                      std::size_t long_array = Patterns::kLongArray);

  std::size_t size() const { return n_features_; }
  bool constant() const { return constant_; }
  const Patterns& patterns() const { return patterns_; }

  // use(id, level) for the features of a row, ids rising; the constant has level 0.
  template <class Use>
  void match(std::span<const Item> row, const ItemSet& present, Use&& use) const {
    if (constant_) use(std::size_t{0}, 0);
    match(row, 0, row.size(), present, use);
  }
  // The same without the constant, for conjunctions that begin with one of row[first .. last).
  template <class Use>
  void match(std::span<const Item> row, std::size_t first, std::size_t last, const ItemSet& present, Use&& use) const {
    match_nodes(row, first, last, present, [&](std::size_t node, std::size_t id) {
      if (id != kNoFeature) use(id, patterns_.level(node));
    });
  }

  // Rows of examples: values[k] is the value of a conjunction of k items.
  CodedEntries rows(const ItemRows& rows, std::span<const double> values, int threads) const;

  // Rows of examples whose items have other numbers than 1, for which the value of P = {i, j, ...} is the part of (c0 + x . y)^d, y
  // binary, that all columns of P share: d! [t^d] exp(c0 t) prod_{i in P} (exp(x_i t) - 1), over values[|P|]. So inner products with
  // rows of zeros and ones are those of the polynomial kernel.
  CodedEntries real_rows(const ItemRows& rows, std::span<const double> numbers, double c0, std::span<const double> values,
                         int threads) const;

  // The number of features of each level in each row, without the constant: row by row, `degree` numbers each.
  Buffer<double> level_counts(const ItemRows& rows, std::size_t degree, int threads) const;

  // The items of the pattern of a feature.
  std::vector<Item> items_of(std::size_t id) const;

  // The trees of some features, which rise, and which of their nodes are features.
  std::pair<PatternTrees, Array<std::uint8_t>> restricted(std::span<const std::int64_t> ids) const;
  // For each node, 1 + its feature if has_weight(feature), else 0.
  template <class HasWeight>
  Array<std::uint32_t> feature_numbers(HasWeight&& has_weight) const {
    Array<std::uint32_t> numbers(patterns_.size(), 0);
    for (std::size_t node = 0; node < patterns_.size(); ++node) {
      const std::size_t id = ids_.empty() ? node + (constant_ ? 1 : 0) : std::size_t{ids_[node]};
      if (id != kNoFeature && has_weight(id)) numbers[node] = static_cast<std::uint32_t>(id + 1);
    }
    return numbers;
  }
  Array<std::uint8_t> kept() const;  // empty: all nodes are features

 private:
  // use(node, id) for the patterns of a row, id kNoFeature where the node is no feature.
  template <class Use>
  void match_nodes(std::span<const Item> row, std::size_t first, std::size_t last, const ItemSet& present, Use&& use) const {
    if (ids_.empty())
      patterns_.match(row, first, last, present, [&](std::size_t node) { use(node, node + (constant_ ? 1 : 0)); });
    else
      patterns_.match(row, first, last, present, [&](std::size_t node) { use(node, std::size_t{ids_[node]}); });
  }
  template <class Write>
  CodedEntries write_rows(const ItemRows& rows, int threads, Write&& write) const;

  Patterns patterns_;
  Array<std::uint32_t> ids_;  // of nodes; empty: all are features
  bool constant_;
  std::size_t n_features_;
};

// The number of frequent patterns, and of their occurrences in all rows: exactly if all patterns occur at most `budget` times,
// otherwise from a sample of the roots, in about that many steps.
struct ConjunctionSizes {
  double patterns, occurrences;
};
ConjunctionSizes estimate_conjunctions(const ItemRows& rows, int degree, std::size_t min_support, double budget);

}  // namespace treille
