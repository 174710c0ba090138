#pragma once
// Rows of conjunctions from Python to the core.

#include "arrays.hpp"
#include "conjunctions/conjunction_rows.hpp"

namespace treille {

struct ConjunctionRowsIn {
  const ConjunctionFeatures* features;  // Python keeps them
  In<std::int64_t> indptr;
  In<std::uint32_t> items;
  In<double> values, scale;
  std::size_t n_features;

  std::size_t size() const { return indptr.size() - 1; }
  ConjunctionRows rows() const {
    return {*features, {view(indptr), view(items), features->patterns().n_items()}, view(values), view(scale)};
  }
};

template <class Use>
void with_rows(const ConjunctionRowsIn& in, Use&& use) {
  use(in.rows());
}

}  // namespace treille
