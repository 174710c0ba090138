#pragma once
// Coded rows times K columns, and their transpose times K columns. Columns stand side by side, K numbers for each feature or row,
// so that a feature costs one cache line, not K.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "parallel.hpp"

namespace treille {

// Linear functions: out[i, k] = sum over the entries of row i of value * weights[id, k].
template <class Word>
void outputs(std::span<const std::int64_t> indptr, std::span<const Word> entries, int code_bits, std::span<const double> palette,
             std::span<const double> scale, std::span<const double> weights, std::size_t n_functions, int threads, double* out) {
  const Word mask = (Word{1} << code_bits) - 1;
  const auto cuts = balanced_cuts(indptr, threads);
  run_parts(threads, [&](int p) {
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) {
      double* row = out + i * n_functions;
      if (n_functions == 1) {  // the usual case, with the sum in a register
        double sum = 0;
        for (std::int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
          const Word entry = entries[static_cast<std::size_t>(e)];
          sum += palette[static_cast<std::size_t>(entry & mask)] * weights[static_cast<std::size_t>(entry >> code_bits)];
        }
        *row = sum * scale[i];
        continue;
      }
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

// Sums of rows: out[id, k] = sum over the entries with that id of value * coefficients[row, k].
// A thread takes a range of ids, which is a run of each row: a feature's sum goes by rows, whatever the number of threads.
template <class Word>
void combine(std::span<const std::int64_t> indptr, std::span<const Word> entries, int code_bits, std::span<const double> palette,
             std::span<const double> scale, std::span<const double> coefficients, std::size_t n_functions, int threads,
             std::span<double> out) {
  const Word mask = (Word{1} << code_bits) - 1;
  std::fill(out.begin(), out.end(), 0.0);
  // Ranges of about equal work, by a sample: ids fall with frequency.
  std::vector<Word> sample, cuts;
  const std::size_t stride = entries.size() / 10000 + 1;
  for (std::size_t e = 0; threads > 1 && e < entries.size(); e += stride) sample.push_back(entries[e] >> code_bits);
  std::sort(sample.begin(), sample.end());
  for (int p = 1; p < threads; ++p) cuts.push_back(sample.empty() ? 0 : sample[sample.size() * static_cast<std::size_t>(p) / threads]);
  run_parts(threads, [&](int p) {
    for (std::size_t i = 0; i + 1 < indptr.size(); ++i) {
      const Word* first = entries.data() + indptr[i];
      const Word* last = entries.data() + indptr[i + 1];
      auto before = [&](Word cut) { return std::partition_point(first, last, [&](Word e) { return (e >> code_bits) < cut; }); };
      const Word* e = p > 0 ? before(cuts[p - 1]) : first;
      const Word* stop = p + 1 < threads ? before(cuts[p]) : last;
      const double* c = coefficients.data() + i * n_functions;
      if (n_functions == 1) {
        const double own = scale[i] * c[0];
        for (; e < stop; ++e) out[static_cast<std::size_t>(*e >> code_bits)] += own * palette[static_cast<std::size_t>(*e & mask)];
        continue;
      }
      for (; e < stop; ++e) {
        const double value = scale[i] * palette[static_cast<std::size_t>(*e & mask)];
        double* sum = out.data() + static_cast<std::size_t>(*e >> code_bits) * n_functions;
        for (std::size_t k = 0; k < n_functions; ++k) sum[k] += value * c[k];
      }
    }
  });
}

}  // namespace treille
