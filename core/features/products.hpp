#pragma once
// Coded rows times K columns, and their transpose times K columns. Columns are interleaved, K numbers for each feature or row,
// so that a feature costs one cache line, not K.

#include <algorithm>
#include <cstdint>
#include <span>

#include "features/coded_rows.hpp"
#include "parallel.hpp"

namespace treille {

// out[i, k] = sum over the entries of row i of value * weights[id, k].
template <class Word>
void matvec(const CodedRowsView<Word>& rows, std::span<const double> weights, std::size_t n_functions, int threads, double* out) {
  run_between(balanced_cuts(rows.indptr, threads), [&](std::size_t i) {
    double* row = out + i * n_functions;
    if (n_functions == 1) {  // the usual case, with the sum in a register
      double sum = 0;
      for (const Word entry : rows.row(i)) sum += rows.value(entry) * weights[rows.id(entry)];
      *row = sum * rows.scale[i];
      return;
    }
    std::fill_n(row, n_functions, 0.0);
    for (const Word entry : rows.row(i)) {
      const double* w = weights.data() + rows.id(entry) * n_functions;
      const double value = rows.value(entry);
      for (std::size_t k = 0; k < n_functions; ++k) row[k] += value * w[k];
    }
    for (std::size_t k = 0; k < n_functions; ++k) row[k] *= rows.scale[i];
  });
}

// out[i] = the sum of the squares of the values of row i, unscaled, each times the square of its column's weight; no weights: all 1.
template <class Word>
void squares(const CodedRowsView<Word>& rows, std::span<const double> column_weights, int threads, double* out) {
  run_between(balanced_cuts(rows.indptr, threads), [&](std::size_t i) {
    out[i] = 0;
    for (const Word entry : rows.row(i)) {
      const double value = rows.value(entry), weight = column_weights.empty() ? 1.0 : column_weights[rows.id(entry)];
      out[i] += value * value * (weight * weight);
    }
  });
}

// out[id, k] = sum over the entries with that id of value * coefficients[row, k]. A feature's sum goes by rows, whatever the number of
// threads.
template <class Word>
void rmatvec(const CodedRowsView<Word>& rows, std::span<const double> coefficients, std::size_t n_functions, int threads,
             std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  const auto cuts = id_ranges(rows, threads);
  run_shares(threads, [&](int p) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      poll();
      const double* c = coefficients.data() + i * n_functions;
      if (std::all_of(c, c + n_functions, [](double each) { return each == 0; })) continue;  // as most dual variables are
      const auto entries = rows.between(i, cuts[p], cuts[p + 1]);
      if (n_functions == 1) {
        const double own = rows.scale[i] * c[0];
        for (const Word entry : entries) out[rows.id(entry)] += own * rows.value(entry);
        continue;
      }
      for (const Word entry : entries) {
        const double value = rows.scale[i] * rows.value(entry);
        double* sum = out.data() + rows.id(entry) * n_functions;
        for (std::size_t k = 0; k < n_functions; ++k) sum[k] += value * c[k];
      }
    }
  });
}

}  // namespace treille
