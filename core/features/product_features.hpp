#pragma once
// Explicit features of products and powers of kernels.
//
// left * right: one feature per pair z, z' of features of both, phi_z(x) psi_z'(x). k ** d: one feature per multiset of d features,
// sqrt(d! / (m_1! m_2! ...)) phi_z1(x)^m_1 phi_z2(x)^m_2 ... A product is built feature by feature, in steps: an example with p and q
// features has p q of them, and (p + d - 1 over d) in a power. Each step has an exact table (product of the first features, next
// feature) -> product; those of the last step are the features. Training examples are numbered by projection
// (product_numbering.hpp), new ones are looked up in the tables. Time is linear in the number of products of all examples; ids rise in
// lexicographic order of the tuples, whatever the number of threads.

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "features/coded_rows.hpp"
#include "features/product_table.hpp"
#include "memory.hpp"

namespace treille {

// The features of one factor in every example; the ids of a row rise.
struct FactorRows {
  std::span<const std::int64_t> indptr;
  std::span<const std::uint32_t> ids;
  std::span<const double> values;
};

// Two factors of degree 1, or one of any degree.
struct Factors {
  std::vector<FactorRows> rows;
  std::size_t degree;

  std::size_t size() const { return rows[0].indptr.size() - 1; }
  std::size_t steps() const { return rows.size() * degree; }
};

class ProductFeatures {
 public:
  // The products in these examples, and the rows of the examples.
  static ProductFeatures fit(const Factors& factors, int threads, CodedEntries& rows);
  // Feature j is the product of tuples[j * steps .. (j + 1) * steps). Tuples that occur again are left out.
  ProductFeatures(std::span<const std::int64_t> tuples, std::size_t steps);

  // Rows of other examples; products that are no feature have no entry.
  CodedEntries transform(const Factors& factors, int threads) const;

  std::size_t size() const { return found_->tables.back().size(); }
  std::size_t steps() const { return steps_; }
  void tuple(std::size_t id, std::int64_t* out) const;
  Buffer<std::int64_t> tuples(int threads) const;

 private:
  // The tables of the second step and all after it; of the first if there is no other.
  struct Tables {
    std::vector<ProductTable> tables;
    std::once_flag built;
  };
  ProductFeatures(std::size_t steps, std::vector<ProductTable> tables);
  // Their slots are built when rows are asked for: models keep only some of the features that they were fitted with.
  const std::vector<ProductTable>& searchable() const;

  std::size_t steps_;
  std::unique_ptr<Tables> found_ = std::make_unique<Tables>();
};

// Estimates the numbers of distinct products and of distinct values of examples: within a few percent, in little memory, at a fraction of
// the cost of computing them.
struct ProductSizes {
  double products, values;
};
ProductSizes estimate_products(const Factors& factors, int threads);

}  // namespace treille
