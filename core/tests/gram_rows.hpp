#pragma once
// Kernel values, under sanitizers: products by the index, the subsequence kernel, and SMO on both kinds of rows.

#include <cmath>
#include <random>
#include <vector>

#include "check.hpp"
#include "features/gram_index.hpp"
#include "solve/gram_rows.hpp"
#include "solve/smo.hpp"
#include "text/subsequence.hpp"

namespace treille::tests {

// k(x, y) by the recursion of the definition: the sum of decay^(span) over all choices of n places, both strings at once.
inline double slow_subsequence(std::span<const std::int32_t> x, std::span<const std::int32_t> y, int n, double decay) {
  std::vector<std::vector<double>> ends(x.size(), std::vector<double>(y.size(), 0.0));
  double sum = 0;
  for (int level = 1; level <= n; ++level) {
    auto next = ends;
    sum = 0;
    for (std::size_t a = 0; a < x.size(); ++a)
      for (std::size_t b = 0; b < y.size(); ++b) {
        next[a][b] = 0;
        if (x[a] != y[b]) continue;
        if (level == 1) next[a][b] = decay * decay;
        for (std::size_t i = 0; i < a && level > 1; ++i)
          for (std::size_t j = 0; j < b; ++j) next[a][b] += ends[i][j] * std::pow(decay, static_cast<double>(a - i + b - j));
        sum += next[a][b];
      }
    ends = next;
  }
  return sum;
}

inline std::vector<double> subsequences_equal_their_definition(const Sequences& data, int n, int threads) {
  const std::size_t size = data.size();
  std::vector<double> K(size * size), again(size * size), diagonal(size);
  subsequence_gram(data, n, 0.6, threads, K.data());
  subsequence_gram(data, data, n, 0.6, threads, again.data());
  subsequence_diagonal(data, n, 0.6, threads, diagonal.data());
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) {
      const double expected = slow_subsequence(data[i], data[j], n, 0.6);
      check(std::abs(K[i * size + j] - expected) <= 1e-12 * expected && K[i * size + j] == K[j * size + i]);
      check(std::abs(again[i * size + j] - expected) <= 1e-12 * expected);
      if (i == j) check(std::abs(diagonal[i] - expected) <= 1e-12 * expected);
    }
  return K;
}

template <class Word>
void products_equal_their_definition(const CodedRowsView<Word>& data) {
  const std::size_t n = data.size();
  const GramIndex index(data, false);
  std::vector<double> K(n * n), row(n);
  index.gram(data, 3, K.data());
  for (std::size_t i = 0; i < n; ++i) {
    index.own_row(data, i, 0, row.data());
    for (std::size_t j = 0; j < n; ++j) {
      double expected = 0;
      for (const Word left : data.row(i))
        for (const Word right : data.row(j))
          if (data.id(left) == data.id(right)) expected += data.value(left) * data.value(right);
      check(std::abs(K[i * n + j] - expected * data.scale[i] * data.scale[j]) <= 1e-12 * (1 + expected));
      check(row[j] == K[i * n + j]);
    }
  }
}

inline void smo_reaches_its_gap(const std::vector<double>& K, std::size_t n, bool squared) {
  std::mt19937 random(3);
  std::vector<std::int64_t> examples(n);
  std::vector<double> y(n), p(n, -1.0), C(n), d(n), start(n, 0.0), diagonal(n);
  for (std::size_t i = 0; i < n; ++i) {
    examples[i] = static_cast<std::int64_t>(i);
    y[i] = random() % 2 == 0 ? 1.0 : -1.0;
    C[i] = squared ? HUGE_VAL : static_cast<double>(random() % 5);
    d[i] = squared ? 0.25 : 0.0;
    diagonal[i] = K[i * n + i];
  }
  const SMOProblem problem{examples, y, p, C, d, start, std::numeric_limits<double>::infinity()};
  std::vector<double> alpha;
  for (const bool shrinking : {true, false})
    for (const std::size_t rows : {std::size_t{0}, std::size_t{3}}) {
      Monitor monitor;
      const SMOOptions options{1e-7, false, 100000, shrinking};
      SMOSolution s;
      if (rows == 0) {
        StoredGram stored(K, n);
        s = SMO(stored, diagonal, problem, options, monitor).solve();
      } else {
        CachedGram cached(n, rows * n * sizeof(double), [&](std::size_t i, double* out) { std::copy_n(K.data() + i * n, n, out); });
        s = SMO(cached, diagonal, problem, options, monitor).solve();
      }
      check(s.status == Status::converged && s.primal - s.dual <= 1e-7 * s.primal);
      double primal = 0, sum = 0;
      for (std::size_t i = 0; i < n; ++i) {
        double f = s.b;
        for (std::size_t j = 0; j < n; ++j) f += K[i * n + j] * y[j] * s.alpha[j];
        primal += 0.5 * s.alpha[i] * y[i] * (f - s.b);
        const double slack = std::max(0.0, 1 - y[i] * f);
        primal += squared ? slack * slack / (2 * d[i]) : C[i] * slack;
        sum += s.alpha[i] * y[i];
        check(s.alpha[i] >= 0 && s.alpha[i] <= C[i]);
      }
      check(std::abs(primal - s.primal) <= 1e-9 * primal && std::abs(sum) <= 1e-9);
      if (shrinking) {
        if (rows == 0) alpha = s.alpha;
        check(alpha == s.alpha);  // however rows are kept
      }
    }
}

}  // namespace treille::tests
