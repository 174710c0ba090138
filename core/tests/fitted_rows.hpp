#pragma once
// Rows of fitted features as solvers read them.

#include <algorithm>

#include "features/coded_rows.hpp"

namespace treille::tests {

using NarrowRows = CodedRowsView<std::uint32_t>;

inline NarrowRows narrow_view(const CodedEntries& rows, std::span<const double> scale, std::size_t n_features, std::size_t n_shared) {
  const auto& words = std::get<Buffer<std::uint32_t>>(rows.entries);
  const std::span<const std::int64_t> indptr(rows.indptr.data(), rows.indptr.size());
  return {indptr, {words.data(), words.size()}, rows.code_bits, {rows.codebook.data(), rows.codebook.size()}, scale, n_features, n_shared};
}

// The same where ids fall in frequency, with singletons apart from the shared features.
inline NarrowRows folded_view(const CodedEntries& rows, std::span<const double> scale, std::size_t n_features) {
  NarrowRows view = narrow_view(rows, scale, n_features, n_features);
  const auto counts = column_counts(view, 1);
  view.n_shared = static_cast<std::size_t>(std::count_if(counts.data(), counts.data() + counts.size(), [](auto n) { return n > 1; }));
  return view;
}

}  // namespace treille::tests
