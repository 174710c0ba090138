#include "conjunctions/scorer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>

#include "interrupt.hpp"
#include "simd.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace treille {

WeightLists::WeightLists(const CodedRowsView<std::uint32_t>& rows, std::span<const double> coefficients, std::size_t n_functions)
    : words(1, 0), at(rows.n_features, 0) {
  const std::size_t n = rows.size(), n_cells = rows.n_features;
  // The coefficients that are not 0, row by row: most rows have one or two of them.
  struct Coefficient {
    std::uint32_t k;
    double value;
  };
  std::vector<Coefficient> used_coefficients;
  std::vector<std::size_t> first(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n_functions; ++k)
      if (const double value = coefficients[i * n_functions + k]; value != 0)
        used_coefficients.push_back({static_cast<std::uint32_t>(k), value});
    first[i + 1] = used_coefficients.size();
  }
  // The rows of each cell, as far as they have coefficients.
  Array<std::int64_t> begin(n_cells + 1, 0);
  for (std::size_t i = 0; i < n; ++i)
    if (first[i] < first[i + 1])
      for (const std::uint32_t entry : rows.row(i)) ++begin[rows.id(entry) + 1];
  for (std::size_t c = 0; c < n_cells; ++c) begin[c + 1] += begin[c];
  Buffer<std::uint32_t> holders(static_cast<std::size_t>(begin[n_cells]));
  for (std::size_t i = 0; i < n; ++i) {
    poll();
    if (first[i] < first[i + 1])
      for (const std::uint32_t entry : rows.row(i))
        holders[static_cast<std::size_t>(begin[rows.id(entry)]++)] = static_cast<std::uint32_t>(i);
  }
  // Cells of many rows first: their lists, which are read most often, lie together.
  Array<std::uint32_t> frequency(n_cells), order(n_cells);
  for (std::size_t c = 0; c < n_cells; ++c) frequency[c] = static_cast<std::uint32_t>(begin[c] - (c == 0 ? 0 : begin[c - 1]));
  const auto rank = by_falling_frequency(frequency);
  for (std::size_t c = 0; c < n_cells; ++c) order[rank[c]] = static_cast<std::uint32_t>(c);
  std::vector<double> sum(n_functions);
  for (const std::uint32_t c : order) {
    const std::int64_t from = c == 0 ? 0 : begin[c - 1], to = begin[c];
    if (from == to) break;
    std::fill(sum.begin(), sum.end(), 0.0);
    for (std::int64_t h = from; h < to; ++h) {
      const std::uint32_t i = holders[static_cast<std::size_t>(h)];
      for (std::size_t e = first[i]; e < first[i + 1]; ++e) sum[used_coefficients[e].k] += used_coefficients[e].value;
    }
    const auto used = static_cast<std::size_t>(n_functions - static_cast<std::size_t>(std::count(sum.begin(), sum.end(), 0.0)));
    if (used == 0) continue;
    if (words.size() + n_functions + 1 >= ~std::uint32_t{0}) throw std::length_error("more than 2^32 weights of conjunctions");
    at[c] = static_cast<std::uint32_t>(words.size());
    append(sum, used);
  }
  words.insert(words.end(), kSpare, 0);
}

void WeightLists::append(std::span<const double> weights, std::size_t used) {
  const std::size_t n_functions = weights.size();
  const bool masked = n_functions <= kMasked, all = !masked && 2 * used >= n_functions;
  std::uint32_t head = static_cast<std::uint32_t>(all ? n_functions : used);
  if (masked) {
    head = 0;
    for (std::size_t k = 0; k < n_functions; ++k) head |= static_cast<std::uint32_t>(weights[k] != 0) << k;
  }
  words.push_back(head);
  for (std::size_t k = 0; k < n_functions; ++k) {
    if (!all && weights[k] == 0) continue;
    if (!all && !masked) words.push_back(static_cast<std::uint32_t>(k));
    words.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(weights[k])));
  }
}

namespace {

bool are_lists(std::span<const std::uint32_t> lists, std::span<const std::uint32_t> words, std::size_t n_functions) {
  return std::all_of(lists.begin(), lists.end(), [&](std::size_t at) {
    if (at == 0) return true;
    if (at >= words.size()) return false;
    const std::size_t n = words[at];
    if (n_functions <= WeightLists::kMasked)
      return n >> n_functions == 0 && at + static_cast<std::size_t>(std::popcount(n)) + WeightLists::kSpare < words.size();
    if (n == n_functions) return at + n < words.size();
    if (n > n_functions || at + 2 * n >= words.size()) return false;
    for (std::size_t p = 0; p < n; ++p)
      if (words[at + 1 + 2 * p] >= n_functions) return false;
    return true;
  });
}

#if defined(__x86_64__)
// For each byte, the rank of each bit among the bits that are set; below 0: the bit is not set.
constexpr auto kPlaces = [] {
  std::array<std::array<std::int8_t, 8>, 256> places{};
  for (unsigned mask = 0; mask < 256; ++mask)
    for (unsigned k = 0; k < 8; ++k)
      places[mask][k] = (mask >> k & 1) != 0 ? static_cast<std::int8_t>(std::popcount(mask & ((1u << k) - 1))) : -1;
  return places;
}();

// For 8 N functions, without a branch that depends on which of them have weight.
template <int N>
TREILLE_AVX2 void sum_lists(const std::uint32_t* words, std::span<const PatternTables::Hit> hits, const float* c, float* sums) {
  __m256 total[N];
  for (int v = 0; v < N; ++v) total[v] = _mm256_setzero_ps();
  for (const auto& hit : hits) {
    const std::uint32_t* list = words + hit.number;
    std::uint32_t mask = *list++;
    const __m256 scale = _mm256_set1_ps(c[hit.level - 1]);
    for (int v = 0; v < N; ++v, mask >>= 8) {
      const __m256i places = _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(kPlaces[mask & 255].data())));
      const __m256 own = _mm256_permutevar8x32_ps(_mm256_loadu_ps(reinterpret_cast<const float*>(list)), places);
      const __m256 kept = _mm256_andnot_ps(_mm256_castsi256_ps(_mm256_srai_epi32(places, 31)), own);
      total[v] = _mm256_fmadd_ps(scale, kept, total[v]);
      list += std::popcount(mask & 255);
    }
  }
  for (int v = 0; v < N; ++v) _mm256_storeu_ps(sums + 8 * v, total[v]);
}
#endif

}  // namespace

ConjunctionScorer::ConjunctionScorer(std::span<const std::uint8_t> levels, std::span<const Item> items,
                                     std::span<const std::uint32_t> lists, std::span<const std::uint32_t> words, std::size_t n_items,
                                     std::size_t n_functions, std::span<const double> c, Item first_late)
    : n_functions_(n_functions), words_(words), c_(c.begin(), c.end()) {
  if (lists.size() != items.size() || !are_lists(lists, words, n_functions))
    throw std::invalid_argument("the conjunctions do not agree with each other");
  tables_ = PatternTables(levels, items, lists, n_items, c.size(), first_late);
}

void ConjunctionScorer::find(std::span<const Item> row, PatternTables::Scratch& scratch) const {
  tables_.find(row, scratch, [&](std::uint32_t list) { request(words_.data() + list); });
}

void ConjunctionScorer::find_below(std::span<const Item> more, PatternTables::Scratch& scratch) const {
  tables_.find_below(more, scratch, [&](std::uint32_t list) { request(words_.data() + list); });
}

void ConjunctionScorer::add(std::span<const Item> row, Scratch& scratch, float* scores) const {
  find(row, scratch.row);
  sum(scratch.row.found(), scores);
  scratch.known.clear();
  scratch.sums.clear();
}

void ConjunctionScorer::add_rows(const ItemRows& rows, float* scores) const {
  // The lists of an item are summed when those of the next one are requested.
  PatternTables::Scratch scratch, before;
  std::size_t row_before = 0;
  by_item(rows, 0, rows.size(), [&](std::size_t i, std::size_t r, std::size_t next_i, std::size_t next_r) {
    poll();
    tables_.request_pairs(rows.row(next_i), next_r);
    tables_.find_root(rows.row(i), r, scratch, [&](std::uint32_t list) { request(words_.data() + list); });
    sum(before.found(), scores + row_before * n_functions_);
    std::swap(scratch, before);
    row_before = i;
  });
  if (rows.size() > 0) sum(before.found(), scores + row_before * n_functions_);
}

void ConjunctionScorer::open(std::span<const Item> row, Scratch& scratch) const {
  tables_.open(row, scratch.row);
  scratch.known.clear();
  scratch.sums.clear();
}

void ConjunctionScorer::add_more(std::span<const Item> more, Scratch& scratch, float* scores) const {
  find(more, scratch.more);
  sum(scratch.more.found(), scores);
  if (deep()) {
    find_below(more, scratch.row);
    sum(scratch.row.found(), scores);
    return;
  }
  prepare(more, scratch);
  for (const Item item : more) {
    const auto place = std::find(scratch.known.begin(), scratch.known.end(), item) - scratch.known.begin();
    const float* const own = scratch.sums.data() + static_cast<std::size_t>(place) * n_functions_;
    for (std::size_t k = 0; k < n_functions_; ++k) scores[k] += own[k];
  }
}

void ConjunctionScorer::prepare(std::span<const Item> late, Scratch& scratch) const {
  const std::size_t n_known = scratch.known.size();
  for (const Item item : late)
    if (std::find(scratch.known.begin(), scratch.known.end(), item) == scratch.known.end()) scratch.known.push_back(item);
  const auto fresh = std::span<const Item>(scratch.known).subspan(n_known);
  if (fresh.empty()) return;
  tables_.find_late(fresh, scratch.row, scratch.ends, [&](std::uint32_t list) { request(words_.data() + list); });
  scratch.sums.resize(scratch.known.size() * n_functions_, 0.0f);
  for (std::size_t r = 0, begin = 0; r < fresh.size(); begin = scratch.ends[r++])
    sum(scratch.row.found().subspan(begin, scratch.ends[r] - begin), scratch.sums.data() + (n_known + r) * n_functions_);
}

float ConjunctionScorer::weight(std::uint32_t list, std::size_t k) const {
  const std::uint32_t* words = &words_[list];
  const std::uint32_t n = *words++;
  if (n_functions_ <= WeightLists::kMasked) {
    if ((n >> k & 1) == 0) return 0;
    return std::bit_cast<float>(words[std::popcount(n & ((1u << k) - 1))]);
  }
  if (n == n_functions_) return std::bit_cast<float>(words[k]);
  for (const std::uint32_t* const end = words + 2 * n; words < end; words += 2)
    if (words[0] == k) return std::bit_cast<float>(words[1]);
  return 0;
}

void ConjunctionScorer::sum(std::span<const PatternTables::Hit> hits, float* scores) const {
  if (n_functions_ > WeightLists::kMasked) return sum_pairs(hits, scores);
#if defined(__x86_64__)
  static const bool avx2 = processor() != Processor::any;
  if (avx2) {
    float sums[WeightLists::kMasked];
    const std::size_t blocks = (n_functions_ + 7) / 8;
    (blocks == 1   ? sum_lists<1>
     : blocks == 2 ? sum_lists<2>
     : blocks == 3 ? sum_lists<3>
                   : sum_lists<4>)(words_.data(), hits, c_.data(), sums);
    for (std::size_t k = 0; k < n_functions_; ++k) scores[k] += sums[k];
    return;
  }
#endif
  sum_masked(hits, scores);
}

void ConjunctionScorer::sum_masked(std::span<const PatternTables::Hit> hits, float* scores) const {
  for (const auto& hit : hits) {
    const std::uint32_t* list = &words_[hit.number];
    for (std::uint32_t mask = *list++; mask != 0; mask &= mask - 1)
      scores[std::countr_zero(mask)] += c_[hit.level - 1] * std::bit_cast<float>(*list++);
  }
}

void ConjunctionScorer::sum_pairs(std::span<const PatternTables::Hit> hits, float* scores) const {
  for (const auto& hit : hits) {
    const std::uint32_t* list = &words_[hit.number];
    const float c = c_[hit.level - 1];
    const std::uint32_t n = *list++;
    if (n == n_functions_) {
      for (std::size_t k = 0; k < n_functions_; ++k) scores[k] += c * std::bit_cast<float>(list[k]);
    } else {
      for (const std::uint32_t* const end = list + 2 * n; list < end; list += 2) scores[list[0]] += c * std::bit_cast<float>(list[1]);
    }
  }
}

}  // namespace treille
