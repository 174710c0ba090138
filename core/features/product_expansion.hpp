#pragma once
// All products of the features of an example, in lexicographic order.

#include <cmath>
#include <cstdint>
#include <vector>

#include "features/product_features.hpp"
#include "interrupt.hpp"

namespace treille {

// A Receiver numbers the products of the first features, extend(step, prefix, feature), which is left there unless known(...), and
// takes the whole ones, add(prefix, feature, value).
template <class Receiver>
class Expansion {
 public:
  Expansion(const Factors& factors, Receiver& receiver) : factors_(factors), receiver_(receiver), rows_(factors.rows.size()) {}

  void row(std::size_t i) {
    for (std::size_t f = 0; f < rows_.size(); ++f) {
      const FactorRows& rows = factors_.rows[f];
      const auto first = static_cast<std::size_t>(rows.indptr[i]);
      rows_[f] = {rows.ids.data() + first, rows.values.data() + first, static_cast<std::size_t>(rows.indptr[i + 1]) - first};
    }
    extend(0, {}, {});
  }

 private:
  struct Row {
    const std::uint32_t* ids;
    const double* values;
    std::size_t size;
  };
  // A product of the first features: the place of the last of them, how often that one occurs, the number of orders of them all, and
  // the product of their values.
  struct Product {
    std::size_t last = 0;
    double repeats = 0, orders = 1, value = 1;
  };

  void extend(std::size_t step, typename Receiver::Prefix prefix, const Product& product) {
    poll();
    const Row row = rows_[step % rows_.size()];
    const bool is_power = factors_.degree > 1, is_last = step + 1 == factors_.steps();
    const double orders = is_power ? product.orders * static_cast<double>(step + 1) : 1, root = std::sqrt(orders);
    for (std::size_t j = is_power ? product.last : 0; j < row.size; ++j) {
      const double value = product.value * row.values[j];
      if (is_power && step > 0 && j == product.last) {
        const double repeats = product.repeats + 1, fewer = orders / repeats;
        follow(step, prefix, row.ids[j], is_last, std::sqrt(fewer), {j, repeats, fewer, value});
      } else {
        follow(step, prefix, row.ids[j], is_last, root, {j, 1, orders, value});
      }
    }
  }
  void follow(std::size_t step, typename Receiver::Prefix prefix, std::uint32_t feature, bool is_last, double root,
              const Product& product) {
    if (is_last) return receiver_.add(prefix, feature, product.value * root);
    const auto next = receiver_.extend(step, prefix, feature);
    if (Receiver::known(next)) extend(step + 1, next, product);
  }

  const Factors& factors_;
  Receiver& receiver_;
  std::vector<Row> rows_;
};

}  // namespace treille
