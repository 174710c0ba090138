#pragma once
// Coded rows with their columns in another order.

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "features/coded_rows.hpp"
#include "features/row_builder.hpp"
#include "parallel.hpp"

namespace treille {

// Column z becomes column rank[z]; `rank` is a permutation.
template <class Word>
CodedEntries renumbered(const CodedRowsView<Word>& rows, std::span<const std::uint32_t> rank, int threads) {
  CodedEntries out;
  out.code_bits = rows.code_bits;
  out.indptr = Buffer<std::int64_t>(rows.indptr.size());
  std::copy(rows.indptr.begin(), rows.indptr.end(), out.indptr.data());
  out.codebook = Buffer<double>(rows.codebook.size());
  std::copy(rows.codebook.begin(), rows.codebook.end(), out.codebook.data());
  Buffer<Word> entries(rows.entries.size());
  const auto cuts = balanced_cuts(rows.indptr, threads);
  run_parts(threads, [&](int p) {
    RowSorter<Word> sorter(rows.n_features, rows.code_bits);
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) {
      Word* to = entries.data() + rows.indptr[i];
      for (const Word e : rows.row(i)) *to++ = static_cast<Word>(Word{rank[rows.id(e)]} << rows.code_bits | rows.code(e));
      sorter.sort({entries.data() + rows.indptr[i], to});
    }
  });
  out.entries = std::move(entries);
  return out;
}

}  // namespace treille
