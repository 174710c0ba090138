#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "parallel.hpp"
#include "spaces/pairwise.hpp"
#include "text/pattern_gram.hpp"
#include "text/pattern_table.hpp"

namespace treille {
namespace {

// The distinct patterns of every sequence for one choice of positions: code, and how often (255 at most: more often is said in parts).
struct ChoiceRows {
  std::vector<std::int64_t> starts;  // by sequence
  Array<std::uint32_t> codes;
  Array<std::uint8_t> counts;
};

// The same by code: entries sequence << 8 | count, sequences rising.
struct ChoiceBuckets {
  Array<std::uint32_t> heads, entries;
};

class BucketGram {
 public:
  BucketGram(const GappedKmerPatterns& family, std::int32_t base, const Recoded& left, const std::optional<Recoded>& right, int threads)
      : family_(family), base_(base), left_(left), right_(right ? *right : left), symmetric_(!right), threads_(threads) {}

  Buffer<double> compute() {
    const std::size_t rows = left_.data.size(), columns = right_.data.size();
    auto K = Buffer<double>::zeros(rows * columns);
    const double strands = family_.complement.empty() ? 1 : 4;
    const double largest = strands * static_cast<double>(family_.groups()) * longest(left_.data) * longest(right_.data);
    if (rows == 0 || columns == 0) return K;
    if (largest < std::numeric_limits<std::int32_t>::max())
      fill<std::int32_t>(K.data());
    else
      fill<double>(K.data());
    if (symmetric_) mirror(K.data(), rows, threads_);
    return K;
  }

 private:
  static double longest(const Sequences& data) {
    std::size_t most = 0;
    for (std::size_t i = 0; i < data.size(); ++i) most = std::max(most, data[i].size());
    return static_cast<double>(most);
  }

  // Sums are kept in the matrix itself, as 32-bit integers in the first half of each row where they fit: half the memory to move.
  template <class Sum>
  void fill(double* K) {
    const std::size_t rows = left_.data.size(), columns = right_.data.size();
    // Some choices at a time: each pass reads and writes the whole matrix, but their buckets together should stay in the cache.
    const std::size_t at_once = std::clamp<std::size_t>((std::size_t{1} << 24) / (4 * right_.data.symbols.size() + 1), 1, 16);
    std::vector<ChoiceRows> own(at_once), other(symmetric_ ? 0 : at_once);
    std::vector<ChoiceBuckets> buckets(at_once);
    const auto cuts = row_cuts();
    for (std::size_t first = 0; first < family_.groups(); first += at_once) {
      const std::size_t count = std::min(at_once, family_.groups() - first);
      std::atomic<std::size_t> next{0};
      run_parts(threads_, [&](int) {
        for (std::size_t c = next++; c < count; c = next++) {
          read(left_, first + c, own[c]);
          if (!symmetric_) read(right_, first + c, other[c]);
          sort(symmetric_ ? own[c] : other[c], buckets[c]);
        }
      });
      run_parts(static_cast<int>(cuts.size()) - 1, [&](int p) {
        std::vector<std::vector<std::uint32_t>> ends(count);
        for (std::size_t c = 0; c < count; ++c) ends[c] = ends_before(buckets[c], cuts[p]);
        for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i)
          for (std::size_t c = 0; c < count; ++c) add_row(own[c], buckets[c], ends[c], i, reinterpret_cast<Sum*>(K + i * columns));
      });
    }
    if constexpr (sizeof(Sum) < sizeof(double))
      run_parts(threads_, [&](int p) {
        const auto share = [&](int q) { return rows * static_cast<std::size_t>(q) / static_cast<std::size_t>(threads_); };
        for (std::size_t i = share(p); i < share(p + 1); ++i) {
          double* row = K + i * columns;
          for (std::size_t j = columns; j-- > 0;) {
            Sum sum;
            std::memcpy(&sum, reinterpret_cast<const char*>(row) + j * sizeof(Sum), sizeof(Sum));
            row[j] = sum;
          }
        }
      });
  }

  // Rows of about equal work for each thread: in a lower half, row i costs its length times the symbols before its end.
  std::vector<std::size_t> row_cuts() const {
    std::vector<std::int64_t> work(left_.data.size() + 1, 0);
    for (std::size_t i = 0; i < left_.data.size(); ++i) {
      const auto length = static_cast<std::int64_t>(left_.data[i].size());
      work[i + 1] = work[i] + length * (symmetric_ ? 1 + (left_.data.offsets[i + 1] - left_.data.offsets[0]) / 1000 : 1);
    }
    return balanced_cuts(work, threads_);
  }

  void read(const Recoded& batch, std::size_t group, ChoiceRows& out) const {
    GappedKmerPatterns::Addresses addresses(family_, base_);
    std::vector<std::uint32_t> counts(static_cast<std::size_t>(family_.group_size(base_)), 0), list;
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
        for (std::uint32_t& left = counts[code]; left > 0; left -= std::min(left, 255u)) {
          out.codes.push_back(code);
          out.counts.push_back(static_cast<std::uint8_t>(std::min(left, 255u)));
        }
      out.starts.push_back(static_cast<std::int64_t>(out.codes.size()));
    }
  }

  void sort(const ChoiceRows& rows, ChoiceBuckets& out) const {
    out.heads.assign(static_cast<std::size_t>(family_.group_size(base_)) + 1, 0);
    for (const std::uint32_t code : rows.codes) ++out.heads[code + 1];
    for (std::size_t code = 1; code < out.heads.size(); ++code) out.heads[code] += out.heads[code - 1];
    out.entries.resize(rows.codes.size());
    std::vector<std::uint32_t> to(out.heads.begin(), out.heads.end() - 1);
    for (std::size_t i = 0; i + 1 < rows.starts.size(); ++i)
      for (auto e = static_cast<std::size_t>(rows.starts[i]); e < static_cast<std::size_t>(rows.starts[i + 1]); ++e)
        out.entries[to[rows.codes[e]]++] = static_cast<std::uint32_t>(i << 8 | rows.counts[e]);
  }

  // Where row `i` and those after it begin in each bucket; in a whole matrix, where each bucket ends.
  std::vector<std::uint32_t> ends_before(const ChoiceBuckets& buckets, std::size_t i) const {
    std::vector<std::uint32_t> ends(buckets.heads.begin() + 1, buckets.heads.end());
    if (symmetric_)
      for (std::size_t code = 0; code < ends.size(); ++code) {
        const auto* first = buckets.entries.data() + buckets.heads[code];
        ends[code] = buckets.heads[code] + static_cast<std::uint32_t>(
                                               std::lower_bound(first, buckets.entries.data() + ends[code], static_cast<std::uint32_t>(i << 8)) - first);
      }
    return ends;
  }

  template <class Sum>
  void add_row(const ChoiceRows& own, const ChoiceBuckets& buckets, std::vector<std::uint32_t>& ends, std::size_t i, Sum* row) const {
    const auto first = static_cast<std::size_t>(own.starts[i]), last = static_cast<std::size_t>(own.starts[i + 1]);
    if (symmetric_)
      for (std::size_t e = first; e < last; ++e) ++ends[own.codes[e]];
    for (std::size_t e = first; e < last; ++e) {
      const std::uint32_t code = own.codes[e], times = own.counts[e];
      const std::uint32_t* entry = buckets.entries.data() + buckets.heads[code];
      const std::uint32_t* stop = buckets.entries.data() + ends[code];
      if (times == 1)
        for (; entry < stop; ++entry) row[*entry >> 8] += static_cast<Sum>(*entry & 255u);
      else
        for (; entry < stop; ++entry) row[*entry >> 8] += static_cast<Sum>(times * (*entry & 255u));
    }
  }

  const GappedKmerPatterns& family_;
  std::int32_t base_;
  Recoded left_, right_;
  bool symmetric_;
  int threads_;
};

}  // namespace

Buffer<double> gapped_kmer_gram(const GappedKmerPatterns& family, std::int32_t base, const Recoded& left, const std::optional<Recoded>& right,
                                int threads) {
  return BucketGram(family, base, left, right, threads).compute();
}

std::vector<double> gapped_kmer_diagonal(const GappedKmerPatterns& family, std::int32_t base, const Recoded& batch, int threads) {
  return on_diagonal(batch.data.size(), threads, [&] {
    return [&, reader = TableReader<GappedKmerPatterns>(family, base)](std::size_t i) mutable {
      double sum = 0;
      reader.read(batch.data[i], batch.recode, [&](std::uint32_t, std::uint32_t count) { sum += static_cast<double>(count) * count; });
      return sum;
    };
  });
}

}  // namespace treille
