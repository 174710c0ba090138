#pragma once
// Coded rows spread out into the arrays that other libraries read: column ids and float64 values.

#include <cstdint>
#include <span>

#include "parallel.hpp"

namespace treille {

template <class Word>
void expand(std::span<const std::int64_t> indptr, std::span<const Word> entries, int code_bits, std::span<const double> palette,
            std::span<const double> scale, int threads, std::uint32_t* ids, double* values) {
  const Word mask = (Word{1} << code_bits) - 1;
  const auto cuts = balanced_cuts(indptr, threads);
  run_parts(threads, [&](int p) {
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i)
      for (auto e = static_cast<std::size_t>(indptr[i]); e < static_cast<std::size_t>(indptr[i + 1]); ++e) {
        ids[e] = static_cast<std::uint32_t>(entries[e] >> code_bits);
        values[e] = scale[i] * palette[static_cast<std::size_t>(entries[e] & mask)];
      }
  });
}

}  // namespace treille
