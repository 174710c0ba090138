// N-grams, patterns and suffixes of sequences.

#include <cmath>
#include <map>

#include "check.hpp"
#include "corpus.hpp"
#include "features/csr.hpp"
#include "patterns.hpp"
#include "text/encode.hpp"
#include "text/lcp_intervals.hpp"
#include "text/ngram_features.hpp"
#include "text/substring_tree.hpp"
#include "text/suffix_array.hpp"

namespace treille::tests {
namespace {

using Gram = std::vector<std::int32_t>;
using Counts = std::map<Gram, double>;

Counts count_slowly(std::span<const std::int32_t> sequence, int min_order, int max_order, const std::vector<double>& weights) {
  Counts counts;
  for (int order = min_order; order <= max_order; ++order)
    for (std::size_t i = 0; i + static_cast<std::size_t>(order) <= sequence.size(); ++i)
      counts[Gram(sequence.begin() + static_cast<long>(i), sequence.begin() + static_cast<long>(i) + order)] +=
          weights[static_cast<std::size_t>(order - min_order)];
  return counts;
}

struct Expanded {
  std::vector<std::uint32_t> ids;
  std::vector<double> values;
};

Expanded expand_all(const CodedEntries& rows, std::size_t n) {
  const std::vector<double> scale(n, 1.0);
  return rows.visit(scale, 0, 0, [&](const auto& view) {
    Expanded out{std::vector<std::uint32_t>(view.entries.size()), std::vector<double>(view.entries.size())};
    to_csr(view, 2, out.ids.data(), out.values.data());
    return out;
  });
}

void rows_hold_exactly_the_counted_grams(std::int32_t alphabet, int min_order, int max_order, int threads) {
  std::mt19937 random(static_cast<unsigned>(alphabet + 10 * max_order + threads));
  const Corpus corpus = random_corpus(random, 300, 400, alphabet);
  const Sequences data = corpus.view();
  std::vector<double> weights;
  for (int order = min_order; order <= max_order; ++order) weights.push_back(1.0 + 0.5 * (order - min_order));
  RowsWithNorms rows;
  const auto features = NGramFeatures::fit(data, min_order, max_order, weights, alphabet, threads, rows);
  std::vector<std::int32_t> identity(static_cast<std::size_t>(alphabet));
  for (std::int32_t s = 0; s < alphabet; ++s) identity[static_cast<std::size_t>(s)] = s;
  const auto again = NGramFeatures::from_grams(features.grams(), min_order == max_order ? Gram{} : features.orders(), min_order, max_order,
                                               weights, alphabet)
                         .transform(data, identity, threads);

  for (const RowsWithNorms* found : {static_cast<const RowsWithNorms*>(&rows), &again}) {
    const Expanded entries = expand_all(found->entries, data.size());
    for (std::size_t i = 0; i < data.size(); ++i) {
      const Counts expected = count_slowly(data[i], min_order, max_order, weights);
      const auto first = static_cast<std::size_t>(found->entries.indptr[i]), last = static_cast<std::size_t>(found->entries.indptr[i + 1]);
      check(last - first == expected.size());
      double sq_norm = 0;
      for (std::size_t e = first; e < last; ++e) {
        check(e == first || entries.ids[e - 1] < entries.ids[e]);
        const auto at = expected.find(features.gram(entries.ids[e]));
        check(at != expected.end() && std::abs(at->second - entries.values[e]) < 1e-12 * at->second);
        sq_norm += at->second * at->second;
      }
      check(std::abs(sq_norm - found->sq_norms[i]) <= 1e-9 * sq_norm);
    }
  }
}

void unknown_symbols_match_nothing_but_count_in_the_norm() {
  const Corpus train{{0, 1, 0, 1}, {0, 4}}, test{{0, 2, 2, 2, 0, 1}, {0, 6}};
  const std::vector<double> weights{1.0};
  RowsWithNorms rows;
  const auto features = NGramFeatures::fit(train.view(), 2, 2, weights, 2, 1, rows);
  for (const std::int32_t unknown : {2, 255, 256, 70000}) {
    const std::vector<std::int32_t> recode{0, 1, unknown};
    const auto found = features.transform(test.view(), recode, 1);
    check(found.entries.indptr[1] == 1);        // 01
    check(found.sq_norms[0] == 1 + 4 + 1 + 1);  // 02, 22 twice, 20, 01
  }
}

// Occurrences by position, and ids of merged features, each against its definition.
void occurrences_and_merged_features_equal_their_definition(std::int32_t alphabet, int min_order, int max_order, int threads) {
  std::mt19937 random(static_cast<unsigned>(alphabet + max_order));
  const Corpus corpus = random_corpus(random, 40, 60, alphabet), more = random_corpus(random, 40, 60, alphabet);
  const Sequences data = corpus.view(), other = more.view();
  const std::vector<double> weights(static_cast<std::size_t>(max_order - min_order + 1), 1.0);
  RowsWithNorms rows;
  const auto features = NGramFeatures::fit(data, min_order, max_order, weights, alphabet, threads, rows);
  std::map<Gram, std::int64_t> id_of;
  for (std::uint32_t id = 0; id < features.size(); ++id) id_of[features.gram(id)] = id;
  std::vector<std::int32_t> recode(static_cast<std::size_t>(alphabet)), wide;
  for (std::int32_t s = 0; s < alphabet; ++s) {
    recode[static_cast<std::size_t>(s)] = s;
    wide.push_back(s % 2 == 0 ? s : s + 70000);  // every other symbol is new, and needs a wider type
  }
  const Occurrences found = features.occurrences(other, recode, threads);
  std::size_t at = 0;
  for (std::size_t i = 0; i < other.size(); ++i) {
    check(found.offsets[i] == static_cast<std::int64_t>(at));
    for (std::size_t start = 0; start < other[i].size(); ++start)
      for (auto order = static_cast<std::size_t>(min_order); order <= static_cast<std::size_t>(max_order); ++order) {
        if (start + order > other[i].size()) continue;
        const auto window = other[i].subspan(start, order);
        const auto known = id_of.find(Gram(window.begin(), window.end()));
        if (known == id_of.end()) continue;
        check(at < found.ids.size() && found.ids[at] == known->second && found.starts[at] == static_cast<std::int64_t>(start));
        ++at;
      }
  }
  check(at == found.ids.size() && found.offsets[other.size()] == static_cast<std::int64_t>(at));

  const auto second = NGramFeatures::fit(other, min_order, max_order, weights, alphabet, threads, rows);
  for (const auto& code : {recode, wide}) {
    const auto [merged, ids] = features.merge(second, code);
    for (std::uint32_t id = 0; id < features.size(); ++id) check(merged.gram(id) == features.gram(id));
    std::size_t size = features.size();
    for (std::uint32_t id = 0; id < second.size(); ++id) {
      Gram gram = second.gram(id);
      for (auto& s : gram) s = code[static_cast<std::size_t>(s)];
      const auto known = id_of.find(gram);
      check(merged.gram(static_cast<std::uint32_t>(ids[id])) == gram);
      check(ids[id] == (known != id_of.end() ? known->second : static_cast<std::int64_t>(size++)));
    }
    check(merged.size() == size);
  }
}

void texts_of_all_widths_become_symbols() {
  const std::uint8_t narrow[] = {'b', 'a'};
  const std::uint16_t middle[] = {0x3B1, 'a'};
  const std::uint32_t wide[] = {0x1F600, 'b', 0x3B1};
  const std::vector<Text> texts{{narrow, 2, 1}, {middle, 2, 2}, {nullptr, 0, 1}, {wide, 3, 4}};
  const Encoded encoded = encode(texts, AllCharacters{}, {}, 3);
  check(encoded.alphabet == std::vector<std::int32_t>{'a', 'b', 0x3B1, 0x1F600});
  const std::vector<std::int32_t> expected{1, 0, 2, 0, 3, 1, 2};
  check(std::equal(expected.begin(), expected.end(), encoded.symbols.data()) && encoded.symbols.size() == 7);
}

template <class Index>
void suffixes_are_sorted_and_intervals_are_nodes(int which, int threads) {
  std::mt19937 random(static_cast<unsigned>(which));
  const Corpus corpus = nasty_corpus(random, which);
  const Sequences data = corpus.view();
  const auto sorted = suffix_array<Index>(data, std::max(1, which), threads);
  const auto n = static_cast<Index>(sorted.lcp.size());
  check(sorted.lcp.size() == corpus.symbols.size());
  const auto suffix = [&](Index r) {
    const auto i = static_cast<std::size_t>(sorted.sequence[static_cast<std::size_t>(r)]);
    return Gram(corpus.symbols.begin() + sorted.suffix[static_cast<std::size_t>(r)], corpus.symbols.begin() + corpus.offsets[i + 1]);
  };
  std::map<Gram, Index> holders;  // by substring: how many suffixes begin with it
  for (Index r = 0; r < n; ++r) {
    const Gram x = suffix(r);
    for (std::size_t l = 0; l <= x.size(); ++l) ++holders[Gram(x.begin(), x.begin() + static_cast<long>(l))];
    if (r == 0) continue;
    const Gram before = suffix(r - 1);
    check(before <= x);
    const auto differ = std::mismatch(x.begin(), x.end(), before.begin(), before.end()).first;
    check(differ - x.begin() == sorted.lcp[static_cast<std::size_t>(r)]);
  }
  std::map<Gram, int> visits;
  lcp_intervals(
      n, [&](Index r) { return sorted.lcp[static_cast<std::size_t>(r)]; },
      [&](const LcpInterval<Index>& u) {
        const Gram x = suffix(u.first);
        const Gram z(x.begin(), x.begin() + u.depth);
        check(holders[z] == u.last - u.first + 1 && u.parent_depth <= u.depth);
        for (Index l = u.parent_depth + 1; l < u.depth; ++l) check(holders[Gram(z.begin(), z.begin() + l)] == holders[z]);
        ++visits[z];
      });
  for (const auto& [z, times] : visits) check(times == 1);
  for (const auto& [z, count] : holders) {  // a substring that continues in two ways, or continues and ends, is a node
    if (z.empty()) continue;
    const Gram shorter(z.begin(), z.end() - 1);
    if (count < holders[shorter]) check(visits.count(shorter) == 1);
  }
}

void products_are_sums_over_common_substrings(int which, int threads) {
  std::mt19937 random(static_cast<unsigned>(which));
  const Corpus corpus = nasty_corpus(random, which);
  const Sequences data = corpus.view();
  const std::vector<double> weights{0.5, 2.0, 1.0, 0.25}, cumulative{0.0, 0.0, 0.5, 2.5, 3.5, 3.75};  // lengths 2 to 5
  std::vector<std::vector<double>> K(data.size(), std::vector<double>(data.size(), 0.0));
  for (std::size_t i = 0; i < data.size(); ++i)
    for (std::size_t j = 0; j < data.size(); ++j) {
      const std::vector<double> ones(4, 1.0);
      const Counts x = count_slowly(data[i], 2, 5, ones), y = count_slowly(data[j], 2, 5, ones);
      for (const auto& [z, count] : x)
        if (y.count(z) > 0) K[i][j] += weights[z.size() - 2] * count * y.at(z);
    }
  const auto self = substring_self(data, std::max(1, which), {2, cumulative}, threads);
  for (std::size_t i = 0; i < data.size(); ++i) check(std::abs(self[i] - K[i][i]) <= 1e-12 * K[i][i]);
  for (const std::size_t n_left : {data.size(), data.size() / 2}) {
    const auto tree = SubstringTree::build(data, std::max(1, which), {2, cumulative}, n_left, threads);
    const std::size_t first = data.size() - tree.n_columns(), n_functions = 11;
    std::vector<double> beta(tree.n_columns() * n_functions), out(tree.n_rows() * n_functions), gram(tree.n_rows() * tree.n_columns());
    for (double& b : beta) b = static_cast<double>(random() % 7);
    tree.product(beta, n_functions, threads, out.data());
    tree.gram(threads, gram.data());
    for (std::size_t i = 0; i < tree.n_rows(); ++i) {
      for (std::size_t j = 0; j < tree.n_columns(); ++j)
        check(std::abs(gram[i * tree.n_columns() + j] - K[i][first + j]) <= 1e-12 * K[i][first + j]);
      for (std::size_t k = 0; k < n_functions; ++k) {
        double expected = 0;
        for (std::size_t j = 0; j < tree.n_columns(); ++j) expected += K[i][first + j] * beta[j * n_functions + k];
        check(std::abs(out[i * n_functions + k] - expected) <= 1e-12 * expected);
      }
    }
  }
}

}  // namespace

void text() {
  for (const std::int32_t alphabet : {1, 3, 300, 70000})
    for (const int threads : {1, 3}) {
      rows_hold_exactly_the_counted_grams(alphabet, 3, 3, threads);
      rows_hold_exactly_the_counted_grams(alphabet, 1, 4, threads);
      rows_hold_exactly_the_counted_grams(alphabet, 40, 40, threads);
    }
  for (const std::int32_t alphabet : {1, 3, 300})
    for (const int threads : {1, 3}) {
      occurrences_and_merged_features_equal_their_definition(alphabet, 2, 2, threads);
      occurrences_and_merged_features_equal_their_definition(alphabet, 1, 4, threads);
    }
  unknown_symbols_match_nothing_but_count_in_the_norm();
  texts_of_all_widths_become_symbols();
  for (const int which : {0, 1, 2, 3, 300})
    for (const int threads : {1, 3}) {
      suffixes_are_sorted_and_intervals_are_nodes<std::int32_t>(which, threads);
      suffixes_are_sorted_and_intervals_are_nodes<std::int64_t>(which, threads);
      products_are_sums_over_common_substrings(which, threads);
    }
  for (const int longest : {3, 25})
    for (const int threads : {1, 3}) {
      std::mt19937 random(5);
      const Corpus corpus = random_corpus(random, 12, longest, 5);
      patterns_are_their_definition(corpus.view(), threads);
    }
  for (const int threads : {1, 3}) {
    std::mt19937 random(7);
    long_rows_are_their_definition(random_corpus(random, 6, 2000, 4).view(), threads);
  }
}

}  // namespace treille::tests
