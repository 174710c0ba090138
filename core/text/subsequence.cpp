#include "text/subsequence.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>

#include "memory.hpp"
#include "parallel.hpp"
#include "simd.hpp"
#include "text/subsequence_groups.hpp"

namespace treille {
namespace {

// The table of x with W sequences of a group. N is the length of subsequences, or 0 where only `n` tells it. S has n - 1 levels of
// `length` numbers for each sequence.
template <int N, int W>
class Table {
  using V = Simd<W>;
  using Lanes = typename V::Lanes;
  using Mask = typename V::Mask;

 public:
  static TREILLE_INLINE void fill(std::span<const std::int32_t> x, const double* y, std::size_t length, int n, double decay, double* S,
                                  double* out) {
    std::fill_n(S, static_cast<std::size_t>(n - 1) * length * W, 0.0);
    Lanes sum{};
    std::size_t a = 0;
    for (; a + 2 <= x.size(); a += 2) {
      poll();
      rows<2>(x.data() + a, y, length, n, decay, S, sum);
    }
    if (a < x.size()) rows<1>(x.data() + a, y, length, n, decay, S, sum);
    V::store(sum, out);
  }

 private:
  // Several rows at once, so that S is read and written once for all of them; subsequences that end here are added to `sum`.
  template <int Rows>
  static TREILLE_INLINE void rows(const std::int32_t* x, const double* y, std::size_t length, int n, double decay, double* S, Lanes& sum) {
    constexpr int most = N > 1 ? N - 1 : N == 1 ? 1 : kMostLevels;
    const int levels = N > 0 ? N - 1 : n - 1;
    Lanes P[Rows * most], corner[Rows * most];  // by row and level; the corner is S[a - 1, b - 1]
    for (int k = 0; k < Rows * levels; ++k) P[k] = corner[k] = Lanes{};
    Lanes symbol[Rows];
    for (int r = 0; r < Rows; ++r) symbol[r] = Lanes{} + x[r];
    const Lanes d = Lanes{} + decay, one = Lanes{} + 1.0, zero{};
    Lanes total = sum;
    for (std::size_t b = 0; b < length; ++b) {
      Lanes here;
      V::load(y + b * kGroup, here);
      Mask match[Rows];
      for (int r = 0; r < Rows; ++r) match[r] = here == symbol[r];
      for (int r = 0; r < Rows; ++r) total += match[r] ? (levels > 0 ? corner[r * levels + levels - 1] : one) : zero;
      for (int level = levels - 1; level >= 0; --level) {
        double* const at = S + (static_cast<std::size_t>(level) * length + b) * W;
        Lanes value;
        V::load(at, value);
        for (int r = 0; r < Rows; ++r) {
          const int k = r * levels + level;
          const Lanes ends = match[r] ? (level > 0 ? corner[k - 1] : one) : zero;
          P[k] = P[k] * d + ends;
          corner[k] = value;
          value = value * d + P[k];
        }
        V::store(value, at);
      }
    }
    sum = total;
  }
};

// A whole group, W sequences at a time.
template <int W>
TREILLE_INLINE void fill_tables(std::span<const std::int32_t> x, const Group& group, int n, double decay, double* S, double* out) {
  for (std::size_t l = 0; l < kGroup; l += W) {
    const double* y = group.symbols.data() + l;
    if (n == 1)
      Table<1, W>::fill(x, y, group.length, n, decay, S, out + l);
    else if (n == 2)
      Table<2, W>::fill(x, y, group.length, n, decay, S, out + l);
    else if (n == 3)
      Table<3, W>::fill(x, y, group.length, n, decay, S, out + l);
    else if (n == 4)
      Table<4, W>::fill(x, y, group.length, n, decay, S, out + l);
    else
      Table<0, W>::fill(x, y, group.length, n, decay, S, out + l);
  }
}

using Fill = void(std::span<const std::int32_t> x, const Group& group, int n, double decay, double* S, double* out);
void fill_any(std::span<const std::int32_t> x, const Group& group, int n, double decay, double* S, double* out) {
  fill_tables<2>(x, group, n, decay, S, out);
}
TREILLE_AVX2 void fill_avx2(std::span<const std::int32_t> x, const Group& group, int n, double decay, double* S, double* out) {
  fill_tables<4>(x, group, n, decay, S, out);
}
TREILLE_AVX512 void fill_avx512(std::span<const std::int32_t> x, const Group& group, int n, double decay, double* S, double* out) {
  fill_tables<8>(x, group, n, decay, S, out);
}

// The work space of a thread that fills one table after the other.
class Worker {
 public:
  Worker(int n, double decay) : n_(n), decay_(decay), factor_(std::pow(decay, 2 * n)) {
    const Processor kind = processor();
    fill_ = kind == Processor::avx512 ? fill_avx512 : kind == Processor::avx2 ? fill_avx2 : fill_any;
  }

  // values[l] = k(x, the sequence at place l)
  void run(std::span<const std::int32_t> x, const Group& group, double* values) {
    const auto n = static_cast<std::size_t>(n_);
    if (x.size() < n || group.length < n) {
      std::fill_n(values, kGroup, 0.0);
      return;
    }
    S_.resize(std::max<std::size_t>(S_.size(), (n - 1) * group.length * kGroup));
    fill_(x, group, n_, decay_, S_.data(), values);
    for (std::size_t l = 0; l < kGroup; ++l) values[l] *= factor_;
  }

 private:
  int n_;
  double decay_, factor_;
  Fill* fill_;
  Array<double> S_;
};

// Threads take turns at the items; each has its own worker.
template <class Work>
void by_workers(std::size_t items, int n, double decay, int threads, Work&& work) {
  std::atomic<std::size_t> next{0};
  expect(items);
  run_shares(threads, [&](int) {
    Worker worker(n, decay);
    for (std::size_t k; (k = next++) < items;) {
      work(worker, k);
      tick();
    }
  });
}

}  // namespace

void subsequence_gram(const Sequences& left, const Sequences& right, int n, double decay, int threads, double* out) {
  const auto groups = grouped(right);
  const std::size_t width = right.size();
  by_workers(left.size() * groups.size(), n, decay, threads, [&](Worker& worker, std::size_t k) {
    const std::size_t i = k / groups.size();
    const Group& group = groups[k % groups.size()];
    double values[kGroup];
    worker.run(left[i], group, values);
    for (std::size_t lane = 0; lane < group.members.size(); ++lane) out[i * width + group.members[lane]] = values[lane];
  });
}

void subsequence_gram(const Sequences& all, int n, double decay, int threads, double* out) {
  const auto groups = grouped(all);
  const std::size_t width = all.size();
  // A group is paired with itself and all later groups. Pairs within a group are computed both ways, and the second value is dropped.
  by_workers(groups.size(), n, decay, threads, [&](Worker& worker, std::size_t k) {
    const Group& first = groups[groups.size() - 1 - k];  // the longest begin
    for (std::size_t g = 0; g <= groups.size() - 1 - k; ++g) {
      const Group& second = groups[g];
      for (std::size_t row = 0; row < first.members.size(); ++row) {
        double values[kGroup];
        worker.run(all[first.members[row]], second, values);
        for (std::size_t lane = 0; lane < (&first == &second ? row + 1 : second.members.size()); ++lane) {
          const std::size_t i = first.members[row], j = second.members[lane];
          out[i * width + j] = out[j * width + i] = values[lane];
        }
      }
    }
  });
}

void subsequence_diagonal(const Sequences& all, int n, double decay, int threads, double* out) {
  const auto groups = grouped(all);
  by_workers(groups.size(), n, decay, threads, [&](Worker& worker, std::size_t k) {
    double values[kGroup];
    for (std::size_t lane = 0; lane < groups[k].members.size(); ++lane) {
      worker.run(all[groups[k].members[lane]], groups[k], values);
      out[groups[k].members[lane]] = values[lane];
    }
  });
}

}  // namespace treille
