#include "text/substring_shares.hpp"

#include <algorithm>
#include <vector>

#include "parallel.hpp"
#include "text/suffix_array.hpp"

namespace treille {
namespace {

constexpr double kNegligible = 1e-18;

template <class Index>
Buffer<double> shares_of(const Sequences& left, const Sequences& right, std::int32_t alphabet_size, const SubstringWeights& weights,
                         std::span<const double> beta, std::size_t n_functions, int threads) {
  const SuffixArray<Index> sorted = suffix_array<Index>(right, alphabet_size, threads);
  const std::size_t n = sorted.suffix.size();
  Array<double> sums((n + 1) * n_functions, 0.0);  // of beta over the suffixes before each
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t k = 0; k < n_functions; ++k)
      sums[(r + 1) * n_functions + k] = sums[r * n_functions + k] + beta[static_cast<std::size_t>(sorted.sequence[r]) * n_functions + k];

  const auto& cumulative = weights.cumulative;
  const std::int32_t* const symbols = right.symbols.data() + right.offsets.front();
  // The symbol of the suffix of this rank, after `at` symbols; -1 beyond its end.
  const auto symbol = [&](std::size_t rank, std::size_t at) {
    const std::int64_t place = static_cast<std::int64_t>(sorted.suffix[rank]) + static_cast<std::int64_t>(at);
    const std::int64_t end = right.offsets[static_cast<std::size_t>(sorted.sequence[rank]) + 1] - right.offsets.front();
    return place < end ? symbols[place] : -1;
  };
  Buffer<double> shares(left.symbols.size() * n_functions);
  std::fill_n(shares.data(), shares.size(), 0.0);
  run_in_turns(left.size(), threads, [&](std::size_t i) {
    const auto x = left[i];
    double* const out = shares.data() + static_cast<std::size_t>(left.offsets[i] - left.offsets.front()) * n_functions;
    std::vector<double> each, total(n_functions);  // by length and function
    for (std::size_t a = 0; a < x.size(); ++a) {
      poll();
      each.clear();
      std::size_t first = 0, last = n;
      for (std::size_t length = 1; length <= std::min(x.size() - a, cumulative.size() - 1); ++length) {
        const std::int32_t wanted = x[a + length - 1];
        if (last - first == 1) {
          if (symbol(first, length - 1) != wanted) break;
        } else {
          const auto place = [&](std::int32_t bound) {  // the first suffix in the range that continues with `bound` or more
            std::size_t low = first, high = last;
            while (low < high) {
              const std::size_t middle = low + (high - low) / 2;
              (symbol(middle, length - 1) < bound ? low : high) = symbol(middle, length - 1) < bound ? middle + 1 : middle;
            }
            return low;
          };
          const std::size_t begin = place(wanted), end = place(wanted + 1);
          first = begin;
          last = end;
        }
        if (first == last) break;
        const double weight = (cumulative[length] - cumulative[length - 1]) / static_cast<double>(length);
        for (std::size_t k = 0; k < n_functions; ++k)
          each.push_back(weight * (sums[last * n_functions + k] - sums[first * n_functions + k]));
        if (cumulative.back() - cumulative[length] <= kNegligible * cumulative[length]) break;
        if ((length & 1023) == 0) poll();
      }
      std::fill(total.begin(), total.end(), 0.0);
      for (std::size_t length = each.size() / n_functions; length > 0; --length)
        for (std::size_t k = 0; k < n_functions; ++k)
          out[(a + length - 1) * n_functions + k] += total[k] += each[(length - 1) * n_functions + k];
    }
  });
  return shares;
}

}  // namespace

Buffer<double> substring_shares(const Sequences& left, const Sequences& right, std::int32_t alphabet_size, const SubstringWeights& weights,
                                std::span<const double> beta, std::size_t n_functions, int threads) {
  return needs_wide_index(right) ? shares_of<std::int64_t>(left, right, alphabet_size, weights, beta, n_functions, threads)
                                 : shares_of<std::int32_t>(left, right, alphabet_size, weights, beta, n_functions, threads);
}

}  // namespace treille
