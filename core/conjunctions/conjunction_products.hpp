#pragma once
// Rows of conjunctions times weights, for prediction: the same products as of rows that ConjunctionFeatures writes, without the rows.
//
// Conjunctions without weight are left out.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "conjunctions/conjunction_features.hpp"
#include "conjunctions/pattern_tables.hpp"
#include "interrupt.hpp"
#include "parallel.hpp"

namespace treille {

class ConjunctionProducts {
 public:
  // `weights` has `width` columns and a row for each feature, and must outlive the products; values[k]: the value of k items together.
  ConjunctionProducts(const ConjunctionFeatures& features, std::span<const double> weights, std::size_t width,
                      std::span<const double> values)
      : weights_(weights), width_(width), values_(values.begin(), values.end()), constant_(features.constant()) {
    const auto numbers = features.feature_numbers([&](std::size_t id) {
      const auto own = weights.subspan(id * width, width);
      return std::any_of(own.begin(), own.end(), [](double w) { return w != 0; });
    });
    const Patterns& patterns = features.patterns();
    tables_ = PatternTables(patterns.levels(), patterns.items(), numbers, patterns.n_items(), values_.size() - 1);
  }

  std::size_t n_bytes() const { return tables_.n_bytes(); }
  std::size_t n_items() const { return tables_.n_items(); }
  std::size_t width() const { return width_; }

  // Row by row, `width` products each.
  Buffer<double> matvec(const ItemRows& rows, int threads) const {
    Buffer<double> out(rows.size() * width_);
    const auto cuts = balanced_cuts(rows.indptr, threads);
    run_shares(threads, [&](int p) {
      PatternTables::Scratch scratch;
      const std::size_t first = cuts[static_cast<std::size_t>(p)], last = cuts[static_cast<std::size_t>(p) + 1];
      std::fill(out.data() + first * width_, out.data() + last * width_, 0.0);
      by_item(rows, first, last, [&](std::size_t i, std::size_t r, std::size_t next_i, std::size_t next_r) {
        poll();
        tables_.request_pairs(rows.row(next_i), next_r);
        tables_.find_root(rows.row(i), r, scratch, [&](std::uint32_t number) { request(at(number)); });
        double* const own = out.data() + i * width_;
        for (const auto& hit : scratch.found())
          for (std::size_t k = 0; k < width_; ++k) own[k] += values_[hit.level] * at(hit.number)[k];
      });
      if (constant_)
        for (std::size_t i = first; i < last; ++i)
          for (std::size_t k = 0; k < width_; ++k) out[i * width_ + k] += values_[0] * weights_[k];
    });
    return out;
  }

 private:
  // Number 0 is no feature; its address is only requested.
  const double* at(std::uint32_t number) const { return weights_.data() + (number - (number != 0)) * width_; }

  std::span<const double> weights_;
  std::size_t width_;
  std::vector<double> values_;
  bool constant_;
  PatternTables tables_;
};

}  // namespace treille
