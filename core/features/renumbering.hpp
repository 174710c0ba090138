#pragma once
// Coded rows with other ids for their columns: in another order, as some of the columns of others, or without some of them.

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "features/coded_rows.hpp"
#include "features/row_builder.hpp"
#include "parallel.hpp"

namespace treille {

// Column z becomes column ids[z] of n_features, and is left out where that is the largest number of its type, or negative.
template <class Word, class Id>
CodedEntries renumbered(const CodedRowsView<Word>& rows, std::span<const Id> ids, std::size_t n_features, int threads) {
  const auto exists = [&](Id id) { return static_cast<std::uint64_t>(id) < n_features; };
  const bool all = std::all_of(ids.begin(), ids.end(), exists);
  const auto stays = [&](Word entry) { return all || exists(ids[rows.id(entry)]); };
  CodedEntries out;
  out.code_bits = rows.code_bits;
  out.indptr = Buffer<std::int64_t>(rows.indptr.size());
  out.codebook = Buffer<double>(rows.codebook.size());
  std::copy(rows.codebook.begin(), rows.codebook.end(), out.codebook.data());
  const auto cuts = balanced_cuts(rows.indptr, threads);
  std::copy(rows.indptr.begin(), rows.indptr.end(), out.indptr.data());
  if (!all) {
    run_between(cuts, [&](std::size_t i) { out.indptr[i + 1] = std::count_if(rows.begin(i), rows.end(i), stays); });
    for (std::size_t i = 0; i < rows.size(); ++i) out.indptr[i + 1] += out.indptr[i];
  }
  with_word_type(n_features, rows.code_bits, [&]<class To>(To) {
    Buffer<To> entries(static_cast<std::size_t>(out.indptr[rows.size()]));
    run_shares(threads, [&](int p) {
      RowSorter<To> sorter(n_features, rows.code_bits);
      for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) {
        poll();
        To *const start = entries.data() + out.indptr[i], *to = start;
        bool rising = true;
        for (const Word e : rows.row(i)) {
          if (!stays(e)) continue;
          *to = static_cast<To>(static_cast<To>(ids[rows.id(e)]) << rows.code_bits | rows.code(e));
          rising &= to == start || to[-1] < *to;
          ++to;
        }
        if (!rising) sorter.sort({start, to});
      }
    });
    out.entries = std::move(entries);
  });
  return out;
}

}  // namespace treille
