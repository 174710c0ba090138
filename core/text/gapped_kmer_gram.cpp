#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "features/pairwise.hpp"
#include "parallel.hpp"
#include "text/bit_counters.hpp"
#include "text/pattern_gram.hpp"
#include "text/pattern_table.hpp"

namespace treille {
namespace {

// The distinct patterns of every sequence for one choice of positions, and how often each occurs.
struct ChoiceRows {
  std::vector<std::size_t> starts;  // by sequence
  std::vector<std::uint32_t> codes, counts;
};

// The same by code. Well-filled buckets are sets of bits, one a sequence, and the list has the occurrences of a sequence beyond the first;
// sparse buckets are the list alone. Entries are sequence << 8 | count, sequences rising, a count above 255 in several entries.
struct ChoiceBuckets {
  std::vector<std::uint32_t> heads;
  Array<std::uint32_t> entries;
};

// With b = 1 if a sequence has a pattern, and e further occurrences, counts are c = b + e, and in a matrix of a batch
// with itself  c_i c_j = c_i b_j + e_j b_i + e_i e_j.  Row i takes the first term for columns up to i and the second, with i and j
// changing places, from i on: both are sums of sets. The halves are added up in the end. Only patterns that row i holds several times
// have to look into lists, for the third term.
class BucketGram {
 public:
  BucketGram(const GappedKmerPatterns& family, std::int32_t base, const Recoded& left, const std::optional<Recoded>& right, int threads)
      : family_(family),
        base_(base),
        left_(left),
        right_(right ? *right : left),
        symmetric_(!right),
        threads_(threads),
        rows_(left_.data.size()),
        columns_(right_.data.size()),
        buckets_(static_cast<std::size_t>(family.group_size(base))),
        blocks_((columns_ + kBlock - 1) / kBlock) {}

  Buffer<double> compute() {
    auto K = Buffer<double>::zeros(rows_ * columns_);
    if (rows_ == 0 || columns_ == 0) return K;
    const double strands = family_.complement.empty() ? 1 : 2;
    const double longest_left = strands * longest(left_.data), longest_right = strands * longest(right_.data);
    const double symbols = static_cast<double>(right_.data.symbols.size());
    with_bits_ = strands * symbols / static_cast<double>(columns_) > static_cast<double>(buckets_) / 64 && longest_left < 60000;
    // Some choices at a time, since each round reads and writes the whole matrix; but the bits of a block of columns in all their buckets
    // must stay in the second-level cache, and lists in the third.
    const double most =
        with_bits_ ? 786432 / (8.0 * BitCounters::kWords * static_cast<double>(buckets_)) : (1 << 24) / (4 * strands * symbols + 1);
    at_once_ = static_cast<std::size_t>(std::clamp(most, 1.0, 16.0));
    if (with_bits_) at_once_ = std::clamp<std::size_t>(static_cast<std::size_t>(60000 / longest_left), 1, at_once_);
    if (static_cast<double>(family_.groups()) * longest_left * longest_right < std::numeric_limits<std::int32_t>::max())
      fill<std::int32_t>(K.data());
    else
      fill<double>(K.data());
    if (symmetric_) fold(K.data());
    return K;
  }

 private:
  static constexpr std::size_t kBlock = 64 * BitCounters::kWords;  // columns

  static double longest(const Sequences& data) {
    std::size_t most = 1;
    for (std::size_t i = 0; i < data.size(); ++i) most = std::max(most, data[i].size());
    return static_cast<double>(most);
  }

  // Sums are kept in the matrix itself, as 32-bit integers in the first half of each row where they fit: half the memory to move.
  template <class Sum>
  void fill(double* K) {
    std::vector<ChoiceRows> own(at_once_), other(symmetric_ ? 0 : at_once_);
    std::vector<ChoiceBuckets> buckets(at_once_);
    Array<std::uint64_t> bits(with_bits_ ? blocks_ * at_once_ * buckets_ * BitCounters::kWords : 0);
    expect(family_.groups());
    for (std::size_t first = 0; first < family_.groups(); first += at_once_) {
      const std::size_t count = std::min(at_once_, family_.groups() - first);
      std::atomic<std::size_t> next{0};
      run_shares(threads_, [&](int) {
        for (std::size_t c = next++; c < count; c = next++) {
          tick();
          read(left_, first + c, own[c]);
          if (!symmetric_) read(right_, first + c, other[c]);
          sort(symmetric_ ? own[c] : other[c], c, buckets[c], bits.data());
        }
      });
      const std::span<const ChoiceRows> some(own.data(), count);
      run_shares(threads_, [&](int p) {
        BitCounters counters;
        const auto sums = [&](std::size_t i) { return reinterpret_cast<Sum*>(K + i * columns_); };
        const auto mine = rows_of(p);
        const RowSets sets = with_bits_ ? sets_of(some, mine, 0) : RowSets();
        const RowSets excess = with_bits_ && symmetric_ ? sets_of(some, mine, 1) : RowSets();
        for (std::size_t block = 0; with_bits_ && block < blocks_; ++block) {
          const std::uint64_t* here = bits.data() + block * at_once_ * buckets_ * BitCounters::kWords;
          const std::size_t begin = block * kBlock, end = std::min(begin + kBlock, columns_);
          for (std::size_t r = 0; r < mine.size(); ++r) {
            poll();
            const std::size_t i = mine[r], stop = symmetric_ ? std::min(end, i + 1) : end;
            if (begin < stop) {
              add_bits(sets, r, here, counters);
              counters.write(sums(i) + begin, 0, stop - begin);
            }
            if (symmetric_ && i < end && excess.total[r] > 0) {
              add_bits(excess, r, here, counters);
              counters.write(sums(i) + begin, std::max(i, begin) - begin, end - begin);
            }
          }
        }
        for (const std::size_t i : mine) {
          poll();
          add_lists(some, buckets, i, sums(i));
        }
      });
    }
    if constexpr (sizeof(Sum) < sizeof(double)) {
      std::atomic<std::size_t> next_row{0};
      run_shares(threads_, [&](int) {
        for (std::size_t i = next_row++; i < rows_; i = next_row++) {
          double* row = K + i * columns_;
          for (std::size_t j = columns_; j-- > 0;) {
            Sum sum;
            std::memcpy(&sum, reinterpret_cast<const char*>(row) + j * sizeof(Sum), sizeof(Sum));
            row[j] = sum;
          }
        }
      });
    }
  }

  void read(const Recoded& batch, std::size_t group, ChoiceRows& out) const {
    GappedKmerPatterns::Addresses addresses(family_, base_);
    std::vector<std::uint32_t> counts(buckets_, 0), list;
    std::vector<std::int32_t> sequence;
    out.starts.assign(1, 0);
    out.codes.clear();
    out.counts.clear();
    for (std::size_t i = 0; i < batch.data.size(); ++i) {
      poll();
      sequence.clear();
      for (const std::int32_t s : batch.data[i]) sequence.push_back(batch.recode[static_cast<std::size_t>(s)]);
      addresses.read(sequence);
      addresses.list(group, list);
      for (const std::uint32_t code : list) ++counts[code];
      for (const std::uint32_t code : list)
        if (counts[code] > 0) {
          out.codes.push_back(code);
          out.counts.push_back(std::exchange(counts[code], 0));
        }
      out.starts.push_back(out.codes.size());
    }
  }

  // `bits` has the sets of a block of columns together: block, then choice, then bucket.
  void sort(const ChoiceRows& rows, std::size_t choice, ChoiceBuckets& out, std::uint64_t* bits) const {
    const std::uint32_t in_bits = with_bits_ ? 1 : 0;
    out.heads.assign(buckets_ + 1, 0);
    for (std::size_t e = 0; e < rows.codes.size(); ++e) out.heads[rows.codes[e] + 1] += (rows.counts[e] - in_bits + 254) / 255;
    for (std::size_t code = 1; code < out.heads.size(); ++code) out.heads[code] += out.heads[code - 1];
    out.entries.resize(out.heads.back());
    const auto sets = [&](std::size_t block) { return bits + (block * at_once_ + choice) * buckets_ * BitCounters::kWords; };
    for (std::size_t block = 0; with_bits_ && block < blocks_; ++block)
      std::fill(sets(block), sets(block) + buckets_ * BitCounters::kWords, 0);
    std::vector<std::uint32_t> to(out.heads.begin(), out.heads.end() - 1);
    for (std::size_t i = 0; i + 1 < rows.starts.size(); ++i)
      for (std::size_t e = rows.starts[i]; e < rows.starts[i + 1]; ++e) {
        const std::uint32_t code = rows.codes[e];
        if (with_bits_) sets(i / kBlock)[code * BitCounters::kWords + i % kBlock / 64] |= std::uint64_t{1} << i % 64;
        for (std::uint32_t left = rows.counts[e] - in_bits; left > 0; left -= std::min(left, 255u))
          out.entries[to[code]++] = static_cast<std::uint32_t>(i << 8 | std::min(left, 255u));
      }
  }

  // Threads take rows in turn: in a lower half, later rows cost more.
  std::vector<std::size_t> rows_of(int p) const {
    std::vector<std::size_t> mine;
    for (std::size_t i = 0; i < rows_; ++i)
      if (i / 16 % static_cast<std::size_t>(threads_) == static_cast<std::size_t>(p)) mine.push_back(i);
    return mine;
  }

  // The sets that each row adds up: sets added once (or a few times, then listed as often), by sixteens, and others with their count.
  struct RowSets {
    std::vector<std::size_t> few_starts{0}, many_starts{0}, total;
    std::vector<std::uint32_t> few;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> many;
  };

  // Each set as often as the row holds its pattern, less `beyond`.
  RowSets sets_of(std::span<const ChoiceRows> own, const std::vector<std::size_t>& rows, std::uint32_t beyond) const {
    RowSets sets;
    for (const std::size_t i : rows) {
      std::size_t total = 0;
      for (std::size_t c = 0; c < own.size(); ++c)
        for (std::size_t e = own[c].starts[i]; e < own[c].starts[i + 1]; ++e) {
          const auto place = static_cast<std::uint32_t>(c * buckets_ + own[c].codes[e]);
          const std::uint32_t count = own[c].counts[e] - beyond;
          total += count;
          if (count <= 4)
            sets.few.insert(sets.few.end(), count, place);
          else
            sets.many.emplace_back(place, count);
        }
      for (; (sets.few.size() - sets.few_starts.back()) % 16 != 0; sets.few.pop_back()) sets.many.emplace_back(sets.few.back(), 1);
      sets.few_starts.push_back(sets.few.size());
      sets.many_starts.push_back(sets.many.size());
      sets.total.push_back(total);
    }
    return sets;
  }

  // Counts in how many of the row's sets each column of one block is.
  static void add_bits(const RowSets& sets, std::size_t row, const std::uint64_t* bits, BitCounters& counters) {
    counters.clear(sets.total[row]);
    add_sixteens(counters, bits, sets.few.data() + sets.few_starts[row], sets.few.data() + sets.few_starts[row + 1]);
    for (std::size_t e = sets.many_starts[row]; e < sets.many_starts[row + 1]; ++e)
      counters.add_one(bits + std::size_t{sets.many[e].first} * BitCounters::kWords, sets.many[e].second);
  }

  template <class Sum>
  void add_lists(std::span<const ChoiceRows> own, std::span<const ChoiceBuckets> buckets, std::size_t i, Sum* sums) const {
    const std::uint32_t beyond = symmetric_ ? static_cast<std::uint32_t>((i + 1) << 8) : std::numeric_limits<std::uint32_t>::max();
    const std::uint32_t in_sets = symmetric_ && with_bits_ ? 1 : 0;
    for (std::size_t c = 0; c < own.size(); ++c)
      for (std::size_t e = own[c].starts[i]; e < own[c].starts[i + 1]; ++e) {
        const std::uint32_t code = own[c].codes[e], times = own[c].counts[e] - in_sets;
        if (times == 0) continue;
        const std::uint32_t* entry = buckets[c].entries.data() + buckets[c].heads[code];
        const std::uint32_t* stop = buckets[c].entries.data() + buckets[c].heads[code + 1];
        for (; entry < stop && *entry < beyond; ++entry) sums[*entry >> 8] += static_cast<Sum>(times * (*entry & 255u));
      }
  }

  // Both halves of a symmetric matrix become their sum.
  void fold(double* K) const {
    constexpr std::size_t kSide = 64;
    std::atomic<std::size_t> next{0};
    run_shares(threads_, [&](int) {
      for (std::size_t top = kSide * next++; top < rows_; top = kSide * next++)
        for (std::size_t left = 0; left <= top; left += kSide)
          for (std::size_t i = top; i < std::min(rows_, top + kSide); ++i)
            for (std::size_t j = left; j < std::min(i, left + kSide); ++j) K[j * rows_ + i] = K[i * rows_ + j] += K[j * rows_ + i];
    });
  }

  const GappedKmerPatterns& family_;
  std::int32_t base_;
  Recoded left_, right_;
  bool symmetric_;
  int threads_;
  std::size_t rows_, columns_, buckets_, blocks_;
  bool with_bits_ = false;
  std::size_t at_once_ = 1;
};

}  // namespace

Buffer<double> gapped_kmer_gram(const GappedKmerPatterns& family, std::int32_t base, const Recoded& left,
                                const std::optional<Recoded>& right, int threads) {
  return BucketGram(family, base, left, right, threads).compute();
}

std::vector<double> gapped_kmer_diagonal(const GappedKmerPatterns& family, std::int32_t base, const Recoded& batch, int threads) {
  return on_diagonal(batch.data.size(), threads, [&] {
    return [&, reader = TableReader<GappedKmerPatterns>(family, base)](std::size_t i) mutable {
      double sum = 0;
      auto add = [&](std::uint32_t, std::uint32_t count, double scale) { sum += squared(count, scale); };
      reader.read(batch.data[i], batch.recode, add);
      return sum;
    };
  });
}

}  // namespace treille
