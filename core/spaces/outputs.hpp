#pragma once
// Outputs of K linear functions on coded rows: out[i, k] = sum over the entries of row i of value * weights[id, k].
// `weights` holds K numbers for each feature, side by side, so that a feature costs one cache line, not K.

#include <algorithm>
#include <cstdint>
#include <span>

#include "parallel.hpp"

namespace treille {

template <class Word>
void outputs(std::span<const std::int64_t> indptr, std::span<const Word> entries, int code_bits, std::span<const double> palette,
             std::span<const double> scale, std::span<const double> weights, std::size_t n_functions, int threads, double* out) {
  const Word mask = (Word{1} << code_bits) - 1;
  const auto cuts = balanced_cuts(indptr, threads);
  run_parts(threads, [&](int p) {
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) {
      double* row = out + i * n_functions;
      std::fill_n(row, n_functions, 0.0);
      for (std::int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
        const Word entry = entries[static_cast<std::size_t>(e)];
        const double* w = weights.data() + static_cast<std::size_t>(entry >> code_bits) * n_functions;
        const double value = palette[static_cast<std::size_t>(entry & mask)];
        for (std::size_t k = 0; k < n_functions; ++k) row[k] += value * w[k];
      }
      for (std::size_t k = 0; k < n_functions; ++k) row[k] *= scale[i];
    }
  });
}

}  // namespace treille
