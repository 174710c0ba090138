#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>

#include "features/pairwise.hpp"
#include "parallel.hpp"
#include "simd.hpp"
#include "text/pattern_gram.hpp"
#include "text/pattern_table.hpp"

namespace treille {
namespace {

// The distinct patterns of every sequence for one choice of positions, and how often each stands there.
struct ChoiceRows {
  std::vector<std::size_t> starts;  // by sequence
  std::vector<std::uint32_t> codes, counts;
};

// The same by code. Well-filled buckets are sets of bits, one a sequence, and the list holds what a sequence has beyond one;
// sparse buckets are the list alone. Entries are sequence << 8 | count, sequences rising, a count above 255 in several entries.
struct ChoiceBuckets {
  std::vector<std::uint32_t> heads;
  Array<std::uint32_t> entries;
};

// Some words at a time: two are what every 64-bit processor has. Compilers other than GCC and Clang would need another spelling.
template <std::size_t N>
struct WordsOf;
template <>
struct WordsOf<2> {
  using type = std::uint64_t __attribute__((vector_size(16)));
};
template <>
struct WordsOf<4> {
  using type = std::uint64_t __attribute__((vector_size(32)));
};
template <>
struct WordsOf<8> {
  using type = std::uint64_t __attribute__((vector_size(64)));
};

// Counters of 512 columns, kept as planes of bits: plane p has the weight 2^p. Sets of columns are added sixteen at a time by carry-save
// adders, about seven operations a vector of words and set (Harley and Seal's way of counting bits), or four where three-way logic is
// one operation.
class BitCounters {
 public:
  static constexpr std::size_t kWords = 8, kPlanes = 16;

  // Room for counts up to `most`, all 0.
  void clear(std::size_t most) {
    used_ = std::clamp<std::size_t>(static_cast<std::size_t>(std::bit_width(most)), 5, kPlanes);
    for (auto& plane : planes_) plane.fill(0);
  }

  // Sixteen sets after another, each 512 columns at its place from `sets` on; N words at a time.
  template <std::size_t N>
  TREILLE_INLINE void add_sixteens(const std::uint64_t* sets, const std::uint32_t* places, const std::uint32_t* stop) {
    using Words = typename WordsOf<N>::type;
    for (; places < stop; places += 16)
      for (std::size_t v = 0; v < kWords; v += N) {
        Words ones, twos, fours, eights, eight_a, eight_b, sixteen;
        load(planes_[0].data() + v, ones);
        load(planes_[1].data() + v, twos);
        load(planes_[2].data() + v, fours);
        load(planes_[3].data() + v, eights);
        add_eight<Words>(sets + v, places, ones, twos, fours, eight_a);
        add_eight<Words>(sets + v, places + 8, ones, twos, fours, eight_b);
        add(eights, eight_a, eight_b, sixteen);
        store(ones, planes_[0].data() + v);
        store(twos, planes_[1].data() + v);
        store(fours, planes_[2].data() + v);
        store(eights, planes_[3].data() + v);
        carry(sixteen, v, 4);
      }
  }

  void add_one(const std::uint64_t* set, std::uint32_t times) {
    using Words = WordsOf<2>::type;
    for (; times != 0; times &= times - 1)
      for (std::size_t v = 0; v < kWords; v += 2) {
        Words words;
        load(set + v, words);
        carry(words, v, static_cast<std::size_t>(std::countr_zero(times)));
      }
  }

  // Adds the counters of columns first..last-1 to sums[first .. last).
  template <class Sum>
  void write(Sum* sums, std::size_t first, std::size_t last) const {
    std::array<std::array<std::uint8_t, 8 * kWords>, kPlanes> bytes;
    std::memcpy(&bytes, &planes_, sizeof bytes);
    for (std::size_t column = first / 8 * 8; column < last; column += 8) {
      std::uint64_t low = 0, high = 0;  // eight counters, a byte each
      for (std::size_t p = 0; p < std::min<std::size_t>(used_, 8); ++p) low |= spread_[bytes[p][column / 8]] << p;
      for (std::size_t p = 8; p < used_; ++p) high |= spread_[bytes[p][column / 8]] << (p - 8);
      std::array<std::uint8_t, 8> lows, highs;
      std::memcpy(&lows, &low, 8);
      std::memcpy(&highs, &high, 8);
      if (first <= column && column + 8 <= last)
        for (std::size_t j = 0; j < 8; ++j) sums[column + j] += static_cast<Sum>(lows[j] | highs[j] << 8);
      else
        for (std::size_t j = std::max(first, column) - column; j < std::min<std::size_t>(8, last - column); ++j)
          sums[column + j] += static_cast<Sum>(lows[j] | highs[j] << 8);
    }
  }

 private:
  // By reference: how vectors are passed depends on the processor.
  template <class Words>
  static TREILLE_INLINE void load(const std::uint64_t* from, Words& to) {
    std::memcpy(&to, from, sizeof to);
  }
  template <class Words>
  static TREILLE_INLINE void store(const Words& from, std::uint64_t* to) {
    std::memcpy(to, &from, sizeof from);
  }

  // sum + a + b = new sum + 2 carry, bit by bit.
  template <class Words>
  static TREILLE_INLINE void add(Words& sum, const Words& a, const Words& b, Words& carry) {
    carry = (sum & a) | ((sum ^ a) & b);
    sum = sum ^ a ^ b;
  }

  template <class Words>
  static TREILLE_INLINE void add_two(const std::uint64_t* sets, const std::uint32_t* places, Words& ones, Words& two) {
    Words a, b;
    load(sets + std::size_t{places[0]} * kWords, a);
    load(sets + std::size_t{places[1]} * kWords, b);
    add(ones, a, b, two);
  }

  template <class Words>
  static TREILLE_INLINE void add_four(const std::uint64_t* sets, const std::uint32_t* places, Words& ones, Words& twos, Words& four) {
    Words two_a, two_b;
    add_two(sets, places, ones, two_a);
    add_two(sets, places + 2, ones, two_b);
    add(twos, two_a, two_b, four);
  }

  template <class Words>
  static TREILLE_INLINE void add_eight(const std::uint64_t* sets, const std::uint32_t* places, Words& ones, Words& twos, Words& fours,
                                       Words& eight) {
    Words four_a, four_b;
    add_four(sets, places, ones, twos, four_a);
    add_four(sets, places + 4, ones, twos, four_b);
    add(fours, four_a, four_b, eight);
  }

  template <class Words>
  TREILLE_INLINE void carry(Words& words, std::size_t v, std::size_t plane) {
    for (; plane < used_; ++plane) {
      Words own;
      load(planes_[plane].data() + v, own);
      const Words next = own & words;
      own ^= words;
      store(own, planes_[plane].data() + v);
      words = next;
    }
  }

  std::size_t used_ = kPlanes;
  alignas(64) std::array<std::array<std::uint64_t, kWords>, kPlanes> planes_{};
  // Bit j of a byte to byte j of a word, as a little-endian machine counts them.
  static_assert(std::endian::native == std::endian::little);
  static constexpr std::array<std::uint64_t, 256> spread_ = [] {
    std::array<std::uint64_t, 256> table{};
    for (std::size_t byte = 0; byte < 256; ++byte)
      for (std::size_t j = 0; j < 8; ++j) table[byte] |= static_cast<std::uint64_t>(byte >> j & 1u) << 8 * j;
    return table;
  }();
};

#if defined(__x86_64__)
TREILLE_AVX512 void add_avx512(BitCounters& counters, const std::uint64_t* sets, const std::uint32_t* places, const std::uint32_t* stop) {
  counters.add_sixteens<8>(sets, places, stop);
}
TREILLE_AVX2 void add_avx2(BitCounters& counters, const std::uint64_t* sets, const std::uint32_t* places, const std::uint32_t* stop) {
  counters.add_sixteens<4>(sets, places, stop);
}
#endif

void add_sixteens(BitCounters& counters, const std::uint64_t* sets, const std::uint32_t* places, const std::uint32_t* stop) {
#if defined(__x86_64__)
  static const Processor kind = processor();
  if (kind == Processor::avx512) return add_avx512(counters, sets, places, stop);
  if (kind == Processor::avx2) return add_avx2(counters, sets, places, stop);
#endif
  counters.add_sixteens<2>(sets, places, stop);
}

// With b = 1 where a sequence holds a pattern at all and e what it holds beyond that, counts are c = b + e, and in a matrix of a batch
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
    // Some choices at a time, since each round reads and writes the whole matrix; but what a block of columns has in all their buckets
    // must stay in the second cache, and lists in the third.
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
    for (std::size_t first = 0; first < family_.groups(); first += at_once_) {
      const std::size_t count = std::min(at_once_, family_.groups() - first);
      std::atomic<std::size_t> next{0};
      run_parts(threads_, [&](int) {
        for (std::size_t c = next++; c < count; c = next++) {
          read(left_, first + c, own[c]);
          if (!symmetric_) read(right_, first + c, other[c]);
          sort(symmetric_ ? own[c] : other[c], c, buckets[c], bits.data());
        }
      });
      const std::span<const ChoiceRows> some(own.data(), count);
      run_parts(threads_, [&](int part) {
        BitCounters counters;
        const auto sums = [&](std::size_t i) { return reinterpret_cast<Sum*>(K + i * columns_); };
        const auto mine = rows_of(part);
        const RowSets sets = with_bits_ ? sets_of(some, mine, 0) : RowSets();
        const RowSets excess = with_bits_ && symmetric_ ? sets_of(some, mine, 1) : RowSets();
        for (std::size_t block = 0; with_bits_ && block < blocks_; ++block) {
          const std::uint64_t* here = bits.data() + block * at_once_ * buckets_ * BitCounters::kWords;
          const std::size_t begin = block * kBlock, end = std::min(begin + kBlock, columns_);
          for (std::size_t r = 0; r < mine.size(); ++r) {
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
        for (const std::size_t i : mine) add_lists(some, buckets, i, sums(i));
      });
    }
    if constexpr (sizeof(Sum) < sizeof(double)) {
      std::atomic<std::size_t> next_row{0};
      run_parts(threads_, [&](int) {
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

  // Every so many rows go to the next thread: in a lower half, later rows cost more.
  std::vector<std::size_t> rows_of(int part) const {
    std::vector<std::size_t> mine;
    for (std::size_t i = 0; i < rows_; ++i)
      if (i / 16 % static_cast<std::size_t>(threads_) == static_cast<std::size_t>(part)) mine.push_back(i);
    return mine;
  }

  // Which sets each row adds up: those it adds once (or a few times, then named as often), by sixteens, and the others with their count.
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

  // Counts, for the columns of one block, in how many of the row's sets each is.
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
    run_parts(threads_, [&](int) {
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
      auto add = [&](std::uint32_t, std::uint32_t count) { sum += static_cast<double>(count) * count; };
      reader.read(batch.data[i], batch.recode, add);
      return sum;
    };
  });
}

}  // namespace treille
