#include "text/subsequence_shares.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "parallel.hpp"
#include "simd.hpp"
#include "text/subsequence.hpp"
#include "text/subsequence_groups.hpp"

namespace treille {
namespace {

// Rows of S for W sequences of a group: n - 1 levels of `length` numbers for each sequence. L is the number of levels, or -1 where only
// `n_levels` tells it.
template <int W, int L>
class Rows {
  using V = Simd<W>;
  using Lanes = typename V::Lanes;
  using Mask = typename V::Mask;

 public:
  // S after a symbol of x from S before it.
  static TREILLE_INLINE void up(std::int32_t x, const double* y, std::size_t length, int n_levels, double decay, const double* before,
                                double* after) {
    constexpr int most = L > 0 ? L : L == 0 ? 1 : kMostLevels;
    const int levels = L >= 0 ? L : n_levels;
    Lanes P[most], corner[most];
    for (int k = 0; k < levels; ++k) P[k] = corner[k] = Lanes{};
    const Lanes symbol = Lanes{} + x, d = Lanes{} + decay, one = Lanes{} + 1.0, zero{};
    for (std::size_t b = 0; b < length; ++b) {
      Lanes here;
      V::load(y + b * kGroup, here);
      const Mask match = here == symbol;
      for (int level = levels - 1; level >= 0; --level) {
        const std::size_t at = (static_cast<std::size_t>(level) * length + b) * W;
        Lanes value;
        V::load(before + at, value);
        P[level] = P[level] * d + (match ? (level > 0 ? corner[level - 1] : one) : zero);
        corner[level] = value;
        V::store(value * d + P[level], after + at);
      }
    }
  }

  // The derivative for a symbol of x, from S before it and from R, the same sums from the end; R is updated to this row.
  static TREILLE_INLINE void down(std::int32_t x, const double* y, std::size_t length, int n_levels, double decay, const double* before,
                                  double* R, double* out) {
    constexpr int most = L > 0 ? L : L == 0 ? 1 : kMostLevels;
    const int levels = L >= 0 ? L : n_levels;
    Lanes P[most], corner[most];
    for (int k = 0; k < levels; ++k) P[k] = corner[k] = Lanes{};
    const Lanes symbol = Lanes{} + x, d = Lanes{} + decay, one = Lanes{} + 1.0, zero{};
    Lanes sum{};
    for (std::size_t b = length; b-- > 0;) {
      Lanes here;
      V::load(y + b * kGroup, here);
      const Mask match = here == symbol;
      Lanes both = levels > 0 ? corner[levels - 1] : one;  // subsequences that begin here
      for (int l = 1; l <= levels; ++l) {
        Lanes left{};
        if (b > 0) V::load(before + (static_cast<std::size_t>(l - 1) * length + b - 1) * W, left);
        both += l < levels ? left * corner[levels - l - 1] : left;
      }
      sum += match ? both : zero;
      for (int level = levels - 1; level >= 0; --level) {
        double* const at = R + (static_cast<std::size_t>(level) * length + b) * W;
        Lanes value;
        V::load(at, value);
        P[level] = P[level] * d + (match ? (level > 0 ? corner[level - 1] : one) : zero);
        corner[level] = value;
        V::store(value * d + P[level], at);
      }
    }
    V::store(sum, out);
  }
};

struct Job {
  std::span<const std::int32_t> x;
  const Group& group;
  int levels;
  double decay;
  std::vector<double>& memory;
  double* out;  // kGroup numbers for each symbol of x
};

template <int W, int L>
TREILLE_INLINE void run_levels(const Job& job) {
  const std::size_t rows = job.x.size(), length = job.group.length, row = static_cast<std::size_t>(job.levels) * length * W;
  const auto step = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(rows))));
  const std::size_t blocks = (rows + step - 1) / step;
  job.memory.resize(std::max(job.memory.size(), (blocks + step + 2) * row));
  double* const kept = job.memory.data();            // S before each block
  double* const within = kept + (blocks + 1) * row;  // S before each row of a block; the last is R
  double* const R = within + step * row;
  for (std::size_t l = 0; l < kGroup; l += W) {
    if (l >= job.group.members.size()) break;
    const double* const y = job.group.symbols.data() + l;
    std::fill_n(kept, row, 0.0);
    for (std::size_t a = 0; a < rows; ++a) {
      poll();
      const std::size_t block = a / step;
      if (a % step == 0) std::copy_n(kept + block * row, row, kept + (block + 1) * row);
      double* const S = kept + (block + 1) * row;
      Rows<W, L>::up(job.x[a], y, length, job.levels, job.decay, S, S);
    }
    std::fill_n(R, row, 0.0);
    for (std::size_t block = blocks; block-- > 0;) {
      const std::size_t first = block * step, last = std::min(rows, first + step);
      std::copy_n(kept + block * row, row, within);
      for (std::size_t a = first; a + 1 < last; ++a) {
        poll();
        double* const before = within + (a - first) * row;
        Rows<W, L>::up(job.x[a], y, length, job.levels, job.decay, before, before + row);
      }
      for (std::size_t a = last; a-- > first;) {
        poll();
        Rows<W, L>::down(job.x[a], y, length, job.levels, job.decay, within + (a - first) * row, R, job.out + a * kGroup + l);
      }
    }
  }
}

template <int W>
TREILLE_INLINE void run_lanes(const Job& job) {
  if (job.levels == 1)
    run_levels<W, 1>(job);
  else if (job.levels == 2)
    run_levels<W, 2>(job);
  else if (job.levels == 3)
    run_levels<W, 3>(job);
  else
    run_levels<W, -1>(job);
}

void run_any(const Job& job) { run_lanes<2>(job); }
TREILLE_AVX2 void run_avx2(const Job& job) { run_lanes<4>(job); }
TREILLE_AVX512 void run_avx512(const Job& job) { run_lanes<8>(job); }

}  // namespace

Buffer<double> subsequence_shares(const Sequences& left, const Sequences& right, int n, double decay, std::span<const double> beta,
                                  std::size_t n_functions, int threads) {
  Buffer<double> shares(left.symbols.size() * n_functions);
  std::fill_n(shares.data(), shares.size(), 0.0);
  const auto groups = grouped(right);
  const Processor kind = processor();
  const auto run = kind == Processor::avx512 ? run_avx512 : kind == Processor::avx2 ? run_avx2 : run_any;
  const double factor = std::pow(decay, 2 * n) / n;
  // Sums of some groups, added in their order: the result does not depend on the number of threads.
  constexpr std::size_t kGroups = 8, kMost = std::size_t{1} << 23;
  const std::size_t chunks = (groups.size() + kGroups - 1) / kGroups, least = static_cast<std::size_t>(n);
  expect(left.size() * chunks);
  for (std::size_t i = 0, end; i < left.size() && chunks > 0; i = end) {
    const auto at = [&](std::size_t j) { return static_cast<std::size_t>(left.offsets[j] - left.offsets[i]) * n_functions; };
    for (end = i + 1; end < left.size() && at(end + 1) * chunks <= kMost;) ++end;
    const std::size_t width = at(end);
    std::vector<double> sums(width * chunks, 0.0);
    std::atomic<std::size_t> next{0};
    run_shares(threads, [&](int) {
      std::vector<double> memory, found;
      for (std::size_t k; (k = next++) < (end - i) * chunks; tick()) {
        const std::size_t j = i + k / chunks, chunk = k % chunks;
        const auto x = left[j];
        double* const out = sums.data() + chunk * width + at(j);
        for (std::size_t g = chunk * kGroups; g < std::min(groups.size(), (chunk + 1) * kGroups); ++g) {
          if (x.size() < least || groups[g].length < least) continue;
          found.assign(x.size() * kGroup, 0.0);
          run({x, groups[g], n - 1, decay, memory, found.data()});
          for (std::size_t a = 0; a < x.size(); ++a)
            for (std::size_t lane = 0; lane < groups[g].members.size(); ++lane)
              for (std::size_t f = 0; f < n_functions; ++f)
                out[a * n_functions + f] += found[a * kGroup + lane] * factor * beta[groups[g].members[lane] * n_functions + f];
        }
      }
    });
    double* const out = shares.data() + static_cast<std::size_t>(left.offsets[i] - left.offsets[0]) * n_functions;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk)
      for (std::size_t p = 0; p < width; ++p) out[p] += sums[chunk * width + p];
  }
  return shares;
}

}  // namespace treille
