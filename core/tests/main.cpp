// The core under sanitizers, without Python: each routine against a slow twin written from its definition, on random data.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "gram_road.hpp"
#include "solve/one_vs_rest.hpp"
#include "spaces/csr.hpp"
#include "spaces/outputs.hpp"
#include "spaces/rows.hpp"
#include "text/encode.hpp"
#include "text/ngram_rows.hpp"

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
  for (const std::int32_t alphabet : {1, 3, 300, 70000})
    for (const int threads : {1, 3}) {
      rows_hold_exactly_the_counted_grams(alphabet, 3, 3, threads);
      rows_hold_exactly_the_counted_grams(alphabet, 1, 4, threads);
      rows_hold_exactly_the_counted_grams(alphabet, 40, 40, threads);
      passed += 3;
    }
  unknown_symbols_match_nothing_but_count_in_the_norm();
  texts_of_all_widths_become_symbols();
  passed += 2;
  for (const bool squared : {false, true})
    for (const double bias : {0.0, 1.0}) {
      the_gap_is_reached_and_private_features_change_nothing(squared, bias);
      regression_on_coded_and_on_dense_rows_is_one(squared, bias);
      passed += 2;
    }
  for (const int n : {1, 2, 3, 4, 6}) {
    the_road_by_kernel_values(n, 1 + n % 2);
    ++passed;
  }
  std::printf("%d passed, 0 failed\n", passed);
}
