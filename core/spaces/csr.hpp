#pragma once
// Coded rows from and to the arrays that other libraries have: column ids and float64 values.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "spaces/row_builder.hpp"

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

// The rows of a CSR matrix, column j renamed to ids[j] < n_ids, or left out where that is kNoId. Columns differ within a row.
// Time is linear in the entries; memory while it works is that of the result, and 8 to 40 bytes for each distinct value.
constexpr std::uint32_t kNoId = std::numeric_limits<std::uint32_t>::max();
inline CodedEntries code_rows(std::span<const std::int64_t> indptr, std::span<const std::int32_t> columns, std::span<const double> values,
                              std::span<const std::uint32_t> ids, std::size_t n_ids, int threads) {
  const std::int64_t useful = 1 + (indptr.back() - indptr.front()) / 20000;
  const int n_parts = static_cast<int>(std::min<std::int64_t>(threads, useful));
  const auto cuts = balanced_cuts(indptr, n_parts);
  std::vector<RowPart> parts(static_cast<std::size_t>(n_parts));
  run_parts(n_parts, [&](int p) {
    RowPart& part = parts[static_cast<std::size_t>(p)];
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) {
      for (auto e = static_cast<std::size_t>(indptr[i]); e < static_cast<std::size_t>(indptr[i + 1]); ++e) {
        const std::uint32_t id = ids[static_cast<std::size_t>(columns[e])];
        if (id != kNoId) part.add(id, values[e]);
      }
      part.end_row();
    }
  });
  return join_parts(std::move(parts), {}, n_ids);
}

}  // namespace treille
