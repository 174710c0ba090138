// The core under sanitizers, without Python: each routine against a slow twin written from its definition, on random data.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "automata.hpp"
#include "automata_algorithms.hpp"
#include "gram_road.hpp"
#include "lattices.hpp"
#include "patterns.hpp"
#include "planes.hpp"
#include "solve/one_vs_rest.hpp"
#include "spaces/code_rows.hpp"
#include "spaces/csr.hpp"
#include "spaces/outputs.hpp"
#include "spaces/rows.hpp"
#include "spaces/side_by_side.hpp"
#include "subpath.hpp"
#include "succinct.hpp"
#include "text/encode.hpp"
#include "text/lcp_intervals.hpp"
#include "text/ngram_rows.hpp"
#include "text/substring_tree.hpp"
#include "text/suffix_array.hpp"
#include "trees.hpp"
#include "weights.hpp"

using namespace treille;

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (false)

namespace {

using Gram = std::vector<std::int32_t>;
using Counts = std::map<Gram, double>;

struct Corpus {
  std::vector<std::int32_t> symbols;
  std::vector<std::int64_t> offsets{0};
  Sequences view() const { return {symbols, offsets}; }
};

Corpus random_corpus(std::mt19937& random, int n, int longest, std::int32_t alphabet) {
  Corpus corpus;
  for (int i = 0; i < n; ++i) {
    const auto length = random() % static_cast<unsigned>(longest + 1);
    for (unsigned k = 0; k < length; ++k) corpus.symbols.push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(alphabet)));
    corpus.offsets.push_back(static_cast<std::int64_t>(corpus.symbols.size()));
  }
  return corpus;
}

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
  return std::visit(
      [&](const auto& entries) {
        Expanded out{std::vector<std::uint32_t>(entries.size()), std::vector<double>(entries.size())};
        const std::vector<double> scale(n, 1.0);
        using Word = std::remove_cvref_t<decltype(entries[0])>;
        expand<Word>({rows.indptr.data(), n + 1}, {entries.data(), entries.size()}, rows.code_bits,
                     {rows.palette.data(), rows.palette.size()}, scale, 2, out.ids.data(), out.values.data());
        return out;
      },
      rows.entries);
}

void rows_hold_exactly_the_counted_grams(std::int32_t alphabet, int min_order, int max_order, int threads) {
  std::mt19937 random(static_cast<unsigned>(alphabet + 10 * max_order + threads));
  const Corpus corpus = random_corpus(random, 300, 400, alphabet);
  const Sequences data = corpus.view();
  std::vector<double> weights;
  for (int order = min_order; order <= max_order; ++order) weights.push_back(1.0 + 0.5 * (order - min_order));
  NGramRows rows;
  const auto features = NGramFeatures::fit(data, min_order, max_order, weights, alphabet, threads, rows);
  std::vector<std::int32_t> identity(static_cast<std::size_t>(alphabet));
  for (std::int32_t s = 0; s < alphabet; ++s) identity[static_cast<std::size_t>(s)] = s;
  const auto again = NGramFeatures::from_grams(features.grams(), min_order == max_order ? Gram{} : features.orders(), min_order, max_order,
                                               weights, alphabet)
                         .transform(data, identity, threads);

  for (const NGramRows* found : {static_cast<const NGramRows*>(&rows), &again}) {
    const Expanded entries = expand_all(found->entries, data.size());
    for (std::size_t i = 0; i < data.size(); ++i) {
      const Counts expected = count_slowly(data[i], min_order, max_order, weights);
      const auto first = static_cast<std::size_t>(found->entries.indptr[i]), last = static_cast<std::size_t>(found->entries.indptr[i + 1]);
      CHECK(last - first == expected.size());
      double sq_norm = 0;
      for (std::size_t e = first; e < last; ++e) {
        CHECK(e == first || entries.ids[e - 1] < entries.ids[e]);
        const auto at = expected.find(features.gram(entries.ids[e]));
        CHECK(at != expected.end() && std::abs(at->second - entries.values[e]) < 1e-12 * at->second);
        sq_norm += at->second * at->second;
      }
      CHECK(std::abs(sq_norm - found->sq_norms[i]) <= 1e-9 * sq_norm);
    }
  }
}

void unknown_symbols_match_nothing_but_count_in_the_norm() {
  const Corpus train{{0, 1, 0, 1}, {0, 4}}, test{{0, 2, 2, 2, 0, 1}, {0, 6}};
  const std::vector<double> weights{1.0};
  NGramRows rows;
  const auto features = NGramFeatures::fit(train.view(), 2, 2, weights, 2, 1, rows);
  for (const std::int32_t unknown : {2, 255, 256, 70000}) {
    const std::vector<std::int32_t> recode{0, 1, unknown};
    const auto found = features.transform(test.view(), recode, 1);
    CHECK(found.entries.indptr[1] == 1);        // 01
    CHECK(found.sq_norms[0] == 1 + 4 + 1 + 1);  // 02, 22 twice, 20, 01
  }
}

void the_gap_is_reached_and_private_features_change_nothing(bool squared_hinge, double bias) {
  std::mt19937 random(7);
  const Corpus corpus = random_corpus(random, 200, 60, 4);
  const Sequences data = corpus.view();
  const std::vector<double> weights{1.0}, scale(data.size(), 0.5), C(data.size(), 2.0);
  std::vector<std::int32_t> labels(data.size());
  for (auto& label : labels) label = static_cast<std::int32_t>(random() % 3);
  NGramRows rows;
  const auto features = NGramFeatures::fit(data, 5, 5, weights, 4, 2, rows);
  const auto& entries = std::get<Buffer<std::uint32_t>>(rows.entries.entries);
  std::vector<double> objectives[2];
  std::size_t shared[2] = {features.n_shared(), features.size()};
  CHECK(shared[0] < shared[1]);
  for (int plain = 0; plain < 2; ++plain) {
    const CodedRows<std::uint32_t> space({{rows.entries.indptr.data(), data.size() + 1},
                                          {entries.data(), entries.size()},
                                          rows.entries.code_bits,
                                          {rows.entries.palette.data(), rows.entries.palette.size()},
                                          scale,
                                          features.size(),
                                          shared[plain]});
    const DualCDOptions options{bias, 1e-6, 20000, true, false, 1};
    const std::vector<std::int32_t> classes{0, 1, 2};
    objectives[plain].resize(3);
    solve_one_vs_rest(
        space, labels, classes, C, squared_hinge, {}, options, 2, [](std::int64_t, std::int64_t, double) { return true; },
        [&](std::size_t k, auto&& solution) {
          CHECK(solution.status == Status::converged && solution.gap() <= 1e-6 * solution.primal);
          CHECK(solution.dual <= solution.primal);
          // The weights as given to the outside reproduce the primal value, from the definition.
          std::vector<double> w(features.size(), 0.0), out(data.size());
          space.write_weights(solution.w, w.data(), 1);
          outputs<std::uint32_t>({rows.entries.indptr.data(), data.size() + 1}, {entries.data(), entries.size()}, rows.entries.code_bits,
                                 {rows.entries.palette.data(), rows.entries.palette.size()}, scale, w, 1, 2, out.data());
          double primal = 0.5 * solution.b * solution.b;
          for (const double weight : w) primal += 0.5 * weight * weight;
          for (std::size_t i = 0; i < data.size(); ++i) {
            const double slack = std::max(0.0, 1 - (labels[i] == classes[k] ? 1 : -1) * (out[i] + bias * solution.b));
            primal += C[i] * (squared_hinge ? slack * slack : slack);
          }
          CHECK(std::abs(primal - solution.primal) <= 1e-9 * primal);
          objectives[plain][k] = solution.primal;
        });
  }
  for (std::size_t k = 0; k < 3; ++k) CHECK(std::abs(objectives[0][k] - objectives[1][k]) <= 2e-6 * objectives[0][k]);
}

// Two parts, of words of either width, one of them with a centre, against rows written out in full.
void parts_side_by_side_are_dense_rows() {
  const std::vector<std::int64_t> indptr{0, 2, 3, 3, 5};
  const std::vector<std::uint32_t> narrow{0 << 1 | 1, 2 << 1, 0 << 1, 0 << 1 | 1, 1 << 1};  // ids 1 and 2 stand in one row each
  const std::vector<std::uint64_t> wide{0, 1, 0, 1, 2};
  const std::vector<double> palette{1, 3}, one{2}, scale{0.5, 2, 1, 1.5}, mean{0.25, -1, 2}, shift{1, 0.5, 0, 3};
  double dense[4][6] = {};
  for (std::size_t i = 0; i < 4; ++i)
    for (auto e = static_cast<std::size_t>(indptr[i]); e < static_cast<std::size_t>(indptr[i + 1]); ++e) {
      dense[i][narrow[e] >> 1] += scale[i] * palette[narrow[e] & 1];
      dense[i][3 + wide[e]] += scale[i] * one[0];
    }
  std::vector<double> dots(4, 0.0);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t z = 0; z < 3; ++z) {
      dots[i] += dense[i][3 + z] * mean[z];
      dense[i][3 + z] -= shift[i] * mean[z];
    }
  using Both = SideBySide<CodedRows<std::uint32_t>, CodedRows<std::uint64_t>>;
  std::vector<Both::Part> parts;
  parts.push_back({CodedRows<std::uint32_t>({indptr, narrow, 1, palette, scale, 3, 1}), 3, {}});
  parts.push_back({CodedRows<std::uint64_t>({indptr, wide, 0, one, scale, 3, 3}), 3, {mean, shift, dots}});
  const Both rows(std::move(parts));
  CHECK(rows.size() == 4);
  auto w = rows.zero<double>();
  std::vector<double> expected(6, 0.0);
  std::mt19937 random(1);
  for (int step = 0; step < 20; ++step) {
    const std::size_t i = random() % 4;
    const double a = static_cast<double>(random() % 9) - 4;
    rows.axpy(i, a, w);
    for (std::size_t z = 0; z < 6; ++z) expected[z] += a * dense[i][z];
  }
  auto coarse = rows.zero<float>();
  rows.round(w, coarse);
  for (std::size_t i = 0; i < 4; ++i) {
    double dot = 0, sq_norm = 0;
    for (std::size_t z = 0; z < 6; ++z) {
      dot += dense[i][z] * expected[z];
      sq_norm += dense[i][z] * dense[i][z];
    }
    rows.prefetch(i);
    CHECK(std::abs(rows.dot(i, w) - dot) < 1e-9 && std::abs(rows.dot(i, coarse) - dot) < 1e-2);
    CHECK(std::abs(rows.sq_norm(i) - sq_norm) < 1e-12);
  }
  std::vector<double> written(12, 0.0);
  rows.write_weights(w, written.data() + 1, 2);
  for (std::size_t z = 0; z < 6; ++z) CHECK(std::abs(written[2 * z + 1] - expected[z]) < 1e-9 && written[2 * z] == 0);
}

void regression_on_coded_and_on_dense_rows_is_one(bool squared, double bias) {
  std::mt19937 random(11);
  const Corpus corpus = random_corpus(random, 100, 30, 3);
  const Sequences data = corpus.view();
  const std::size_t n = data.size();
  const std::vector<double> weights{1.0}, scale(n, 0.3), C(n, 0.7);
  NGramRows rows;
  const auto features = NGramFeatures::fit(data, 3, 3, weights, 3, 2, rows);
  const auto& entries = std::get<Buffer<std::uint32_t>>(rows.entries.entries);
  const std::span<const std::int64_t> indptr{rows.entries.indptr.data(), n + 1};
  const std::span<const std::uint32_t> words{entries.data(), entries.size()};
  const std::span<const double> palette{rows.entries.palette.data(), rows.entries.palette.size()};
  const CodedRows<std::uint32_t> coded({indptr, words, rows.entries.code_bits, palette, scale, features.size(), features.n_shared()});
  // Sums of rows, one unit vector at a time, are the dense matrix.
  const std::size_t m = features.size();
  std::vector<double> matrix(n * m), unit(n, 0.0), y(n);
  for (std::size_t i = 0; i < n; ++i) {
    unit[i] = 1.0;
    combine<std::uint32_t>(indptr, words, rows.entries.code_bits, palette, scale, unit, 1, 3, std::span<double>(matrix).subspan(i * m, m));
    unit[i] = 0.0;
    y[i] = static_cast<double>(random() % 100) / 10;
  }
  const DenseRows dense(matrix, n, m);
  const double epsilon = 0.2;
  double objectives[2];
  auto solve = [&](const auto& space, double& objective) {
    const DualCDOptions options{bias, 1e-8, 100000, true, false, 1};
    solve_problems(
        space, 1, [&](std::size_t) { return EpsilonInsensitive(y, C, epsilon, squared); }, {}, options, 2,
        [](std::int64_t, std::int64_t, double) { return true; },
        [&](std::size_t, auto&& solution) {
          CHECK(solution.status == Status::converged && solution.gap() >= 0 && solution.gap() <= 1e-8 * solution.primal);
          std::vector<double> w(m, 0.0);
          space.write_weights(solution.w, w.data(), 1);
          double primal = 0.5 * solution.b * solution.b;
          for (const double weight : w) primal += 0.5 * weight * weight;
          for (std::size_t i = 0; i < n; ++i) {
            CHECK(std::abs(space.sq_norm(i) - dense.dot(i, std::vector<double>(&matrix[i * m], &matrix[i * m] + m))) < 1e-9);
            const double excess = std::max(0.0, std::abs(y[i] - dense.dot(i, w) - bias * solution.b) - epsilon);
            primal += C[i] * (squared ? excess * excess : excess);
          }
          CHECK(std::abs(primal - solution.primal) <= 1e-9 * primal);
          objective = primal;
        });
  };
  solve(coded, objectives[0]);
  solve(dense, objectives[1]);
  CHECK(std::abs(objectives[0] - objectives[1]) <= 2e-8 * objectives[0]);
}

void texts_of_all_widths_become_symbols() {
  const std::uint8_t narrow[] = {'b', 'a'};
  const std::uint16_t middle[] = {0x3B1, 'a'};
  const std::uint32_t wide[] = {0x1F600, 'b', 0x3B1};
  const std::vector<Text> texts{{narrow, 2, 1}, {middle, 2, 2}, {nullptr, 0, 1}, {wide, 3, 4}};
  const Encoded encoded = encode(texts, 3);
  CHECK((encoded.alphabet == std::vector<std::int32_t>{'a', 'b', 0x3B1, 0x1F600}));
  const std::vector<std::int32_t> expected{1, 0, 2, 0, 3, 1, 2};
  CHECK(std::equal(expected.begin(), expected.end(), encoded.symbols.data()) && encoded.symbols.size() == 7);
}

Corpus nasty_corpus(std::mt19937& random, int which) {
  if (which == 0) return {};
  if (which == 1) return {{}, {0, 0, 0}};
  if (which == 2) return {std::vector<std::int32_t>(300, 0), {0, 150, 150, 299, 300}};
  return random_corpus(random, 12, 40, which);
}

template <class Index>
void suffixes_are_sorted_and_intervals_are_nodes(int which, int threads) {
  std::mt19937 random(static_cast<unsigned>(which));
  const Corpus corpus = nasty_corpus(random, which);
  const Sequences data = corpus.view();
  const auto sorted = suffix_array<Index>(data, std::max(1, which), threads);
  const auto n = static_cast<Index>(sorted.lcp.size());
  CHECK(sorted.lcp.size() == corpus.symbols.size());
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
    CHECK(before <= x);
    const auto differ = std::mismatch(x.begin(), x.end(), before.begin(), before.end()).first;
    CHECK(differ - x.begin() == sorted.lcp[static_cast<std::size_t>(r)]);
  }
  std::map<Gram, int> visits;
  lcp_intervals(
      n, [&](Index r) { return sorted.lcp[static_cast<std::size_t>(r)]; },
      [&](const LcpInterval<Index>& u) {
        const Gram x = suffix(u.first);
        const Gram z(x.begin(), x.begin() + u.depth);
        CHECK(holders[z] == u.last - u.first + 1 && u.parent_depth <= u.depth);
        for (Index l = u.parent_depth + 1; l < u.depth; ++l) CHECK(holders[Gram(z.begin(), z.begin() + l)] == holders[z]);
        ++visits[z];
      });
  for (const auto& [z, times] : visits) CHECK(times == 1);
  for (const auto& [z, count] : holders) {  // what goes on in two ways, or goes on and ends, is a node
    if (z.empty()) continue;
    const Gram shorter(z.begin(), z.end() - 1);
    if (count < holders[shorter]) CHECK(visits.count(shorter) == 1);
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
  for (std::size_t i = 0; i < data.size(); ++i) CHECK(std::abs(self[i] - K[i][i]) <= 1e-12 * K[i][i]);
  for (const std::size_t n_left : {data.size(), data.size() / 2}) {
    const auto tree = SubstringTree::build(data, std::max(1, which), {2, cumulative}, n_left, threads);
    const std::size_t first = data.size() - tree.n_columns(), n_functions = 11;
    std::vector<double> beta(tree.n_columns() * n_functions), out(tree.n_rows() * n_functions), gram(tree.n_rows() * tree.n_columns());
    for (double& b : beta) b = static_cast<double>(random() % 7);
    tree.product(beta, n_functions, threads, out.data());
    tree.gram(threads, gram.data());
    for (std::size_t i = 0; i < tree.n_rows(); ++i) {
      for (std::size_t j = 0; j < tree.n_columns(); ++j)
        CHECK(std::abs(gram[i * tree.n_columns() + j] - K[i][first + j]) <= 1e-12 * K[i][first + j]);
      for (std::size_t k = 0; k < n_functions; ++k) {
        double expected = 0;
        for (std::size_t j = 0; j < tree.n_columns(); ++j) expected += K[i][first + j] * beta[j * n_functions + k];
        CHECK(std::abs(out[i * n_functions + k] - expected) <= 1e-12 * expected);
      }
    }
  }
}

// With `kinds` distinct values at most: few make words of 32 bits, many of 64.
void numbers_are_coded_as_they_are(unsigned kinds, int threads) {
  std::mt19937 random(kinds);
  const std::size_t n = 300, width = 400;
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  std::vector<std::uint32_t> ids(width);
  for (std::size_t j = 0; j < width; ++j) ids[j] = j % 5 == 0 ? kNoId : static_cast<std::uint32_t>(width - j);
  std::vector<std::map<std::uint32_t, double>> slow(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < width; ++j)
      if (i % 7 != 0 && random() % 2 == 0) {
        columns.push_back(static_cast<std::int32_t>(j));
        values.push_back(0.1 + 1e-3 * static_cast<double>(random() % kinds));
        if (ids[j] != kNoId) slow[i][ids[j]] = values.back();
      }
    indptr.push_back(static_cast<std::int64_t>(columns.size()));
  }
  const CodedEntries rows = RowCoder(indptr, columns, values, ids, width, threads).code();
  const std::vector<double> scale(n, 1.0);
  std::visit(
      [&]<class Word>(const Buffer<Word>& entries) {
        std::vector<std::uint32_t> found(entries.size());
        std::vector<double> numbers(entries.size());
        expand<Word>({rows.indptr.data(), rows.indptr.size()}, {entries.data(), entries.size()}, rows.code_bits,
                     {rows.palette.data(), rows.palette.size()}, scale, 2, found.data(), numbers.data());
        std::size_t e = 0;
        for (const auto& row : slow)
          for (const auto& [id, number] : row) {
            CHECK(e < found.size() && found[e] == id && numbers[e] == number);
            ++e;
          }
        CHECK(e == found.size());
      },
      rows.entries);
}

void the_road_by_kernel_values(int n, int threads) {
  std::mt19937 random(static_cast<unsigned>(n));
  auto check = [](bool good) { CHECK(good); };
  const Corpus corpus = random_corpus(random, 43, 14, 3);
  const Sequences data = corpus.view();
  std::vector<double> K = tests::subsequences_equal_their_definition(data, n, threads, check);
  for (std::size_t i = 0; i < data.size(); ++i) K[i * data.size() + i] += 0.1;
  for (const bool squared : {false, true}) tests::smo_reaches_its_gap(K, data.size(), squared, check);

  NGramRows rows;
  const std::vector<double> weights{1.0}, scale(data.size(), 0.5);
  const auto features = NGramFeatures::fit(data, n, n, weights, 3, 1, rows);
  const auto& entries = std::get<Buffer<std::uint32_t>>(rows.entries.entries);
  tests::products_equal_their_definition<std::uint32_t>({{rows.entries.indptr.data(), data.size() + 1},
                                                         {entries.data(), entries.size()},
                                                         rows.entries.code_bits,
                                                         {rows.entries.palette.data(), rows.entries.palette.size()},
                                                         scale,
                                                         features.size(),
                                                         features.n_shared()},
                                                        check);
}

}  // namespace

int main() {
  int passed = 0;
  CHECK(automata_algorithms_tests::operations_keep_every_weight());
  CHECK(automata_algorithms_tests::edges_hold());
  passed += 2;
  for (const std::int32_t alphabet : {1, 3, 300, 70000})
    for (const int threads : {1, 3}) {
      rows_hold_exactly_the_counted_grams(alphabet, 3, 3, threads);
      rows_hold_exactly_the_counted_grams(alphabet, 1, 4, threads);
      rows_hold_exactly_the_counted_grams(alphabet, 40, 40, threads);
      passed += 3;
    }
  unknown_symbols_match_nothing_but_count_in_the_norm();
  texts_of_all_widths_become_symbols();
  parts_side_by_side_are_dense_rows();
  passed += 3;
  for (const unsigned kinds : {1u, 100u, 100'000'000u})
    for (const int threads : {1, 3}) {
      numbers_are_coded_as_they_are(kinds, threads);
      ++passed;
    }
  for (const bool squared : {false, true})
    for (const double bias : {0.0, 1.0}) {
      the_gap_is_reached_and_private_features_change_nothing(squared, bias);
      regression_on_coded_and_on_dense_rows_is_one(squared, bias);
      passed += 2;
    }
  for (const int which : {0, 1, 2, 3, 300})
    for (const int threads : {1, 3}) {
      suffixes_are_sorted_and_intervals_are_nodes<std::int32_t>(which, threads);
      suffixes_are_sorted_and_intervals_are_nodes<std::int64_t>(which, threads);
      products_are_sums_over_common_substrings(which, threads);
      passed += 3;
    }
  for (const int n : {1, 2, 3, 4, 6}) {
    the_road_by_kernel_values(n, 1 + n % 2);
    ++passed;
  }
  for (const int longest : {3, 25})
    for (const int threads : {1, 3}) {
      std::mt19937 random(5);
      const Corpus corpus = random_corpus(random, 12, longest, 5);
      tests::patterns_are_their_definition(corpus.view(), threads, [](bool holds) { CHECK(holds); });
      ++passed;
    }
  for (unsigned seed = 0; seed < 100; ++seed)
    for (const bool acyclic : {true, false}) {
      tests::operations_obey_their_laws<Real>(seed, acyclic, [](bool holds) { CHECK(holds); });
      tests::operations_obey_their_laws<Log>(seed, acyclic, [](bool holds) { CHECK(holds); });
      tests::operations_obey_their_laws<Tropical>(seed, acyclic, [](bool holds) { CHECK(holds); });
      passed += 3;
    }
  tests::machines_at_the_edges([](bool holds) { CHECK(holds); });
  ++passed;
  for (const unsigned largest : {1u, 25u})
    for (const int threads : {1, 3}) {
      tests::trees_are_their_definition(largest, threads, [](bool holds) { CHECK(holds); });
      ++passed;
    }
  for (const std::size_t n : {1, 2, 7, 60})
    for (const std::size_t rank : {1, 3, 80}) {
      tests::mixtures_of_planes_are_proven(n, rank, [](bool holds) { CHECK(holds); });
      ++passed;
    }
  for (const bool squared : {false, true}) {
    tests::no_step_is_better_than_the_best(squared, [](bool holds) { CHECK(holds); });
    ++passed;
  }
  for (const int threads : {1, 3}) {
    tests::lattices_are_their_paths(threads, [](bool holds) { CHECK(holds); });
    ++passed;
  }
  for (const std::size_t n : {0, 1, 64, 511, 512, 513, 65536, 200000})
    for (const unsigned one_in : {0u, 1u, 2u, 1000u}) {
      tests::bits_are_counted_and_found(n, one_in, [](bool holds) { CHECK(holds); });
      ++passed;
    }
  for (const std::uint64_t largest : {0ull, 1ull, 5ull, 255ull, (1ull << 33) + 7}) {
    tests::packed_numbers_come_back(largest, [](bool holds) { CHECK(holds); });
    ++passed;
  }
  for (const std::int32_t n_symbols : {1, 2, 3, 20, 900}) {
    tests::symbols_are_counted_and_found(1000, n_symbols, [](bool holds) { CHECK(holds); });
    ++passed;
  }
  for (const int threads : {1, 3}) {
    tests::subpaths_are_their_definition(threads, [](bool holds) { CHECK(holds); });
    ++passed;
  }
  for (const int which : {1, 2, 3, 300})
    for (const int threads : {1, 3}) {
      std::mt19937 random(static_cast<unsigned>(which));
      const Corpus corpus = nasty_corpus(random, which);
      auto check = [](bool holds) { CHECK(holds); };
      tests::forms_of_weights_agree(corpus.view(), std::max(1, which), 3, 3, threads, check);
      tests::forms_of_weights_agree(corpus.view(), std::max(1, which), 1, 20, threads, check);
      passed += 2;
    }
  std::printf("%d passed, 0 failed\n", passed);
}
