#pragma once
// Coded rows from and to CSR arrays: column ids and float64 values.

#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "features/coded_rows.hpp"
#include "features/row_builder.hpp"
#include "parallel.hpp"

namespace treille {

template <class Word>
void to_csr(const CodedRowsView<Word>& rows, int threads, std::uint32_t* ids, double* values) {
  run_between(balanced_cuts(rows.indptr, threads), [&](std::size_t i) {
    auto e = static_cast<std::size_t>(rows.indptr[i]);
    for (const Word entry : rows.row(i)) {
      ids[e] = static_cast<std::uint32_t>(rows.id(entry));
      values[e++] = rows.scale[i] * rows.value(entry);
    }
  });
}

constexpr std::uint32_t kNoId = std::numeric_limits<std::uint32_t>::max();

// Column j becomes the feature ids[j] < n_ids, or is left out where that is kNoId; ids differ within a row.
inline CodedEntries from_csr(std::span<const std::int64_t> indptr, std::span<const std::int32_t> columns, std::span<const double> values,
                             std::span<const std::uint32_t> ids, std::size_t n_ids, int threads) {
  const std::int64_t useful = 1 + (indptr.back() - indptr.front()) / 20000;
  const auto cuts = balanced_cuts(indptr, static_cast<int>(std::min<std::int64_t>(threads, useful)));
  auto shares = fill_shares(cuts, [&](std::size_t, std::size_t first, std::size_t last, RowShare& share) {
    for (std::size_t i = first; i < last; ++i) {
      poll();
      for (auto e = static_cast<std::size_t>(indptr[i]); e < static_cast<std::size_t>(indptr[i + 1]); ++e)
        if (const std::uint32_t id = ids[static_cast<std::size_t>(columns[e])]; id != kNoId) share.add(id, values[e]);
      share.end_row();
    }
  });
  return join_shares(std::move(shares), {}, n_ids);
}

// Rows whose values are multiplied by one weight per column. Entries of weight 0 are left out.
template <class Word>
CodedEntries weigh_columns(const CodedRowsView<Word>& rows, std::span<const double> weights, int threads) {
  auto shares = fill_shares(balanced_cuts(rows.indptr, threads), [&](std::size_t, std::size_t first, std::size_t last, RowShare& share) {
    for (std::size_t i = first; i < last; ++i) {
      poll();
      for (const Word entry : rows.row(i))
        if (const double weight = weights[rows.id(entry)]; weight != 0)
          share.add(static_cast<std::uint32_t>(rows.id(entry)), rows.value(entry) * weight);
      share.end_row();
    }
  });
  return join_shares(std::move(shares), {}, rows.n_features);
}

}  // namespace treille
