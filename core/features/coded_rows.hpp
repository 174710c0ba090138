#pragma once
// Sparse rows in few bytes, always exact. An entry is one word, id << code_bits | code: the feature `id` with the value
// scale[i] * codebook[code] in row i. Counts have few distinct values, so 4 bytes hold an entry (Word = uint32) whenever the bits
// of the number of features and of the largest code sum to at most 32; otherwise 8 bytes do (uint64). One word also means one
// stream of memory per row: rows are visited in random order, and the start of each stream is a cache miss.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <variant>
#include <vector>

#include "memory.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace treille {

// The sum of value(entry) * weights[id(entry)] over [e, stop). Four sums, which the compiler may not make of one.
// Inlined: for a row of some words a call takes as long as the sum.
template <class Entry, class Id, class Value>
TREILLE_INLINE double gather(const Entry* e, const Entry* stop, const double* weights, Id&& id, Value&& value) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (; e + 4 <= stop; e += 4) {
    s0 += value(e[0]) * weights[id(e[0])];
    s1 += value(e[1]) * weights[id(e[1])];
    s2 += value(e[2]) * weights[id(e[2])];
    s3 += value(e[3]) * weights[id(e[3])];
  }
  for (; e < stop; ++e) s0 += value(*e) * weights[id(*e)];
  return (s0 + s1) + (s2 + s3);
}

// weights[id(entry)] += change(entry) over [e, stop). The ids of a row differ, so four reads may go before four writes: the compiler, which
// cannot know, would wait for each.
template <class Entry, class Id, class Change>
TREILLE_INLINE void scatter(const Entry* e, const Entry* stop, double* weights, Id&& id, Change&& change) {
  for (; e + 4 <= stop; e += 4) {
    double &w0 = weights[id(e[0])], &w1 = weights[id(e[1])], &w2 = weights[id(e[2])], &w3 = weights[id(e[3])];
    const double s0 = w0 + change(e[0]), s1 = w1 + change(e[1]);
    const double s2 = w2 + change(e[2]), s3 = w3 + change(e[3]);
    w0 = s0;
    w1 = s1;
    w2 = s2;
    w3 = s3;
  }
  for (; e < stop; ++e) weights[id(*e)] += change(*e);
}

// Does not own its arrays. Row i is entries[indptr[i] .. indptr[i + 1]); the ids of a row rise.
template <class Word>
struct CodedRowsView {
  std::span<const std::int64_t> indptr;
  std::span<const Word> entries;
  int code_bits;
  std::span<const double> codebook;
  std::span<const double> scale;
  std::size_t n_features;
  std::size_t n_shared;  // features from this id on occur in at most one row; n_features where that is unknown

  std::size_t size() const { return indptr.size() - 1; }
  const Word* begin(std::size_t i) const { return entries.data() + indptr[i]; }
  const Word* end(std::size_t i) const { return entries.data() + indptr[i + 1]; }
  std::span<const Word> row(std::size_t i) const { return {begin(i), end(i)}; }
  std::size_t id(Word entry) const { return static_cast<std::size_t>(entry >> code_bits); }
  std::size_t code(Word entry) const { return static_cast<std::size_t>(entry & ((Word{1} << code_bits) - 1)); }
  double value(Word entry) const { return codebook[code(entry)]; }  // without the scale of its row
  double dot(const Word* e, const Word* stop, const double* weights) const {
    return gather(e, stop, weights, [this](Word entry) { return id(entry); }, [this](Word entry) { return value(entry); });
  }
  template <class Change>
  void add(const Word* e, const Word* stop, double* weights, Change&& change) const {
    scatter(e, stop, weights, [this](Word entry) { return id(entry); }, change);
  }
  // Requests the start of the entries while others are read: the hardware follows a row once begun, but cannot guess the next.
  static void prefetch(const Word* e, const Word* stop) {
    const char* first = reinterpret_cast<const char*>(e);
    const char* last = std::min(reinterpret_cast<const char*>(stop), first + 1024);
    for (; first < last; first += 64) request(first);
  }
  // The entries of row i whose ids are in [first, last).
  std::span<const Word> between(std::size_t i, std::size_t first, std::size_t last) const {
    auto before = [&](const Word* from, std::size_t cut) {
      return std::partition_point(from, end(i), [&](Word entry) { return id(entry) < cut; });
    };
    const Word* from = first > 0 ? before(begin(i), first) : begin(i);
    return {from, last < n_features ? before(from, last) : end(i)};
  }
};

struct CodedEntries {
  Buffer<std::int64_t> indptr;
  std::variant<Buffer<std::uint32_t>, Buffer<std::uint64_t>> entries;
  int code_bits = 0;
  Buffer<double> codebook;

  // use(view) with the word type of the entries.
  template <class Use>
  decltype(auto) visit(std::span<const double> scale, std::size_t n_features, std::size_t n_shared, Use&& use) const {
    return std::visit(
        [&]<class Word>(const Buffer<Word>& words) -> decltype(auto) {
          return use(CodedRowsView<Word>{{indptr.data(), indptr.size()},
                                         {words.data(), words.size()},
                                         code_bits,
                                         {codebook.data(), codebook.size()},
                                         scale,
                                         n_features,
                                         n_shared});
        },
        entries);
  }
};

// Calls use(Word{}) with the narrowest word for ids below n_ids and codes of this many bits.
template <class Use>
auto with_word_type(std::size_t n_ids, int code_bits, Use&& use) {
  if (code_bits + std::bit_width(n_ids) <= 32) return use(std::uint32_t{});
  return use(std::uint64_t{});
}

// The rows of examples over fitted features.
struct RowsWithNorms {
  CodedEntries entries;
  std::vector<double> sq_norms;  // squared norms of the whole vectors, including features that have no id
};

// Ranges of ids of about equal numbers of entries, one for each thread, by a sample: [cuts[p], cuts[p + 1]). Threads that sum over
// columns take a range each, so that the order of a column's sum does not depend on their number.
template <class Word>
std::vector<std::size_t> id_ranges(const CodedRowsView<Word>& rows, int threads) {
  std::vector<std::size_t> sample, cuts{0};
  const std::size_t stride = rows.entries.size() / 10000 + 1;
  for (std::size_t e = 0; threads > 1 && e < rows.entries.size(); e += stride) sample.push_back(rows.id(rows.entries[e]));
  std::sort(sample.begin(), sample.end());
  for (int p = 1; p < threads; ++p)
    cuts.push_back(sample.empty() ? 0 : sample[sample.size() * static_cast<std::size_t>(p) / static_cast<std::size_t>(threads)]);
  cuts.push_back(rows.n_features);
  return cuts;
}

// The number of rows in which each column occurs.
template <class Word>
Buffer<std::uint32_t> column_counts(const CodedRowsView<Word>& rows, int threads) {
  auto counts = Buffer<std::uint32_t>::zeros(rows.n_features);
  const auto cuts = id_ranges(rows, threads);
  run_shares(threads, [&](int p) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (const Word entry : rows.between(i, cuts[p], cuts[p + 1])) ++counts[rows.id(entry)];
  });
  return counts;
}

// Ranks by falling frequency; equals keep their order.
inline Array<std::uint32_t> by_falling_frequency(std::span<const std::uint32_t> frequency) {
  const std::uint32_t most = frequency.empty() ? 0 : *std::max_element(frequency.begin(), frequency.end());
  Array<std::uint32_t> head(std::size_t{most} + 2, 0), rank(frequency.size());
  for (const std::uint32_t f : frequency) ++head[most - f + 1];
  std::partial_sum(head.begin(), head.end(), head.begin());
  for (std::size_t id = 0; id < frequency.size(); ++id) rank[id] = head[most - frequency[id]]++;
  return rank;
}

}  // namespace treille
