// Solvers: on rows, on kernel values, on planes.

#include <cmath>

#include "check.hpp"
#include "corpus.hpp"
#include "features/products.hpp"
#include "features/rows.hpp"
#include "fitted_rows.hpp"
#include "gram_rows.hpp"
#include "kernel_learning.hpp"
#include "logistic.hpp"
#include "parts.hpp"
#include "perceptron.hpp"
#include "planes.hpp"
#include "solve/finite_newton.hpp"
#include "solve/problems.hpp"
#include "text/ngram_features.hpp"

namespace treille::tests {
namespace {

void the_gap_is_reached_and_folded_singletons_change_nothing(bool squared_hinge, double bias) {
  std::mt19937 random(7);
  const Corpus corpus = random_corpus(random, 200, 60, 4);
  const Sequences data = corpus.view();
  const std::vector<double> weights{1.0}, scale(data.size(), 0.5), C(data.size(), 2.0);
  std::vector<std::int32_t> labels(data.size());
  for (auto& label : labels) label = static_cast<std::int32_t>(random() % 3);
  RowsWithNorms rows;
  const auto features = NGramFeatures::fit(data, 5, 5, weights, 4, 2, rows);
  const NarrowRows views[2] = {folded_view(rows.entries, scale, features.size()),
                               narrow_view(rows.entries, scale, features.size(), features.size())};
  std::vector<double> objectives[2];
  check(views[0].n_shared < views[1].n_shared);
  for (int plain = 0; plain < 2; ++plain) {
    const CodedRows<std::uint32_t> space(views[plain]);
    const DualCDOptions options{bias, 1e-6, 20000, true, false, 1};
    const std::vector<std::int32_t> classes{0, 1, 2};
    objectives[plain].resize(3);
    solve_problems(
        space, 3, [&](std::size_t k) { return hinge_loss(labels, classes[k], C, squared_hinge); }, {}, options, 2,
        Poll{[](std::int64_t, std::int64_t, double) { return true; }},
        [&](std::size_t k, auto&& solution) {
          check(solution.status == Status::converged && solution.gap() <= 1e-6 * solution.primal);
          check(solution.dual <= solution.primal);
          // The weights in the result reproduce the primal value, by the definition.
          std::vector<double> w(features.size(), 0.0), out(data.size());
          space.write_weights(solution.w, w.data(), 1);
          matvec(views[1], w, 1, 2, out.data());
          double primal = 0.5 * solution.b * solution.b;
          for (const double weight : w) primal += 0.5 * weight * weight;
          for (std::size_t i = 0; i < data.size(); ++i) {
            const double slack = std::max(0.0, 1 - (labels[i] == classes[k] ? 1 : -1) * (out[i] + bias * solution.b));
            primal += C[i] * (squared_hinge ? slack * slack : slack);
          }
          check(std::abs(primal - solution.primal) <= 1e-9 * primal);
          objectives[plain][k] = solution.primal;
        });
  }
  for (std::size_t k = 0; k < 3; ++k) check(std::abs(objectives[0][k] - objectives[1][k]) <= 2e-6 * objectives[0][k]);
}

void regression_on_coded_and_on_dense_rows_agrees(bool squared, double bias) {
  std::mt19937 random(11);
  const Corpus corpus = random_corpus(random, 100, 30, 3);
  const Sequences data = corpus.view();
  const std::size_t n = data.size();
  const std::vector<double> weights{1.0}, scale(n, 0.3), C(n, 0.7);
  RowsWithNorms rows;
  const auto features = NGramFeatures::fit(data, 3, 3, weights, 3, 2, rows);
  const CodedRows<std::uint32_t> coded(folded_view(rows.entries, scale, features.size()));
  // Sums of rows, one unit vector at a time, are the dense matrix.
  const std::size_t m = features.size();
  std::vector<double> matrix(n * m), unit(n, 0.0), y(n);
  for (std::size_t i = 0; i < n; ++i) {
    unit[i] = 1.0;
    rmatvec(narrow_view(rows.entries, scale, m, m), unit, 1, 3, std::span<double>(matrix).subspan(i * m, m));
    unit[i] = 0.0;
    y[i] = static_cast<double>(random() % 100) / 10;
  }
  const DenseRows dense(matrix, n, m);
  const double epsilon = 0.2, bound = squared ? std::numeric_limits<double>::infinity() : 1.0;
  const QuadraticShape shape{bound, bound, epsilon, squared ? 0.5 : 0.0};
  double objectives[2];
  auto solve = [&](const auto& space, double& objective) {
    const DualCDOptions options{bias, 1e-8, 100000, true, false, 1};
    solve_problems(
        space, 1, [&](std::size_t) { return QuadraticLoss(shape, NumberTargets{y, C}); }, {}, options, 2,
        Poll{[](std::int64_t, std::int64_t, double) { return true; }},
        [&](std::size_t, auto&& solution) {
          check(solution.status == Status::converged && solution.gap() >= 0 && solution.gap() <= 1e-8 * solution.primal);
          std::vector<double> w(m, 0.0);
          space.write_weights(solution.w, w.data(), 1);
          double primal = 0.5 * solution.b * solution.b;
          for (const double weight : w) primal += 0.5 * weight * weight;
          for (std::size_t i = 0; i < n; ++i) {
            check(std::abs(space.sq_norm(i) - dense.dot(i, std::vector<double>(&matrix[i * m], &matrix[i * m] + m))) < 1e-9);
            const double excess = std::max(0.0, std::abs(y[i] - dense.dot(i, w) - bias * solution.b) - epsilon);
            primal += C[i] * (squared ? excess * excess : excess);
          }
          check(std::abs(primal - solution.primal) <= 1e-9 * primal);
          objective = primal;
        });
  };
  solve(coded, objectives[0]);
  solve(dense, objectives[1]);
  check(std::abs(objectives[0] - objectives[1]) <= 2e-8 * objectives[0]);
}

// Newton's method has the optimum of dual coordinate descent, on folded rows with weights of columns, and the same
// bits with one thread and with three.
void newton_reaches_the_optimum_of_dual_cd(double bias) {
  std::mt19937 random(5);
  const Corpus corpus = random_corpus(random, 3000, 90, 3);
  const Sequences data = corpus.view();
  const std::size_t n = data.size();
  const std::vector<double> orders{1.0}, scale(n, 0.2), C(n, 0.3);
  const std::vector<std::int32_t> classes{1};
  std::vector<std::int32_t> labels(n);
  for (auto& label : labels) label = static_cast<std::int32_t>(random() % 2);
  RowsWithNorms rows;
  const auto features = NGramFeatures::fit(data, 4, 4, orders, 3, 2, rows);
  std::vector<double> column_weights(features.size());
  for (double& weight : column_weights) weight = static_cast<double>(random() % 3) / 2;
  const CodedRows<std::uint32_t> space(folded_view(rows.entries, scale, features.size()), column_weights);
  const VectorRowsAs<CodedRows<std::uint32_t>> vectors(space);
  const Poll always{[](std::int64_t, std::int64_t, double) { return true; }};
  double best = 0;
  auto squared = [&](std::size_t k) { return hinge_loss(labels, classes[k], C, true); };
  solve_problems(space, 1, squared, {}, DualCDOptions{bias, 1e-8, 100000, true, false, 1}, 1, always,
                 [&](std::size_t, auto&& solution) { best = solution.primal; });
  std::vector<double> alpha, start;
  std::int64_t cold = 0;  // epochs without a start
  for (const int threads : {1, 3, 1})
    newton_problems(vectors, 1, squared, start, {bias, 1e-8, 100000, threads}, always, [&](std::size_t, auto&& solution) {
      check(solution.status == Status::converged && solution.gap() >= 0);
      check(std::abs(solution.primal - best) <= 2e-8 * best);
      check(start.empty() ? alpha.empty() || solution.alpha == alpha : 2 * solution.epochs <= cold);
      cold = solution.epochs;
      alpha = solution.alpha;
      if (threads == 3) start = alpha;
    });
  auto logistic = [&](std::size_t k) { return LogisticLoss({}, {labels, classes[k], C}); };
  newton_problems(vectors, 1, logistic, {}, {bias, 1e-9, 100000, 2}, always, [&](std::size_t, auto&& solution) {
    check(solution.status == Status::converged);
    for (const double a : solution.alpha) check(0 < a && a < 0.3);
  });
  // A run whose time is over still reports the values of its w.
  newton_problems(vectors, 1, squared, {}, {bias, 0.0, 1 << 30, 2}, Poll{always.call, 0.05}, [&](std::size_t, auto&& solution) {
    check(solution.status != Status::converged && solution.primal >= best * (1 - 2e-8));
  });
}

void kernel_values_equal_their_definition(int n, int threads) {
  std::mt19937 random(static_cast<unsigned>(n));
  const Corpus corpus = random_corpus(random, 43, 14, 3);
  const Sequences data = corpus.view();
  std::vector<double> K = subsequences_equal_their_definition(data, n, threads);
  for (std::size_t i = 0; i < data.size(); ++i) K[i * data.size() + i] += 0.1;
  for (const bool squared : {false, true}) smo_reaches_its_gap(K, data.size(), squared);

  RowsWithNorms rows;
  const std::vector<double> weights{1.0}, scale(data.size(), 0.5);
  const auto features = NGramFeatures::fit(data, n, n, weights, 3, 1, rows);
  products_equal_their_definition(folded_view(rows.entries, scale, features.size()));
}

}  // namespace

void solve() {
  for (const bool squared : {false, true}) {
    for (const double bias : {0.0, 1.0}) {
      the_gap_is_reached_and_folded_singletons_change_nothing(squared, bias);
      regression_on_coded_and_on_dense_rows_agrees(squared, bias);
    }
    no_step_is_better_than_the_best(squared);
  }
  for (const double bias : {0.0, 1.0}) newton_reaches_the_optimum_of_dual_cd(bias);
  steps_of_the_logistic_loss_are_exact();
  for (const bool weighted : {false, true})
    for (const double bias : {0.0, 1.0}) visits_to_parts_reach_the_optimum(weighted, bias);
  for (const int threads : {1, 3}) renumbered_rows_hold_the_same_values(threads);
  perceptrons_of_both_forms_agree_and_keep_the_bound();
  for (const int n : {1, 2, 3, 4, 6}) kernel_values_equal_their_definition(n, 1 + n % 2);
  for (const std::size_t n : {1, 2, 7, 60})
    for (const std::size_t rank : {1, 3, 80}) mixtures_of_planes_are_proven(n, rank);
  for (const L1Loss loss : {L1Loss::hinge, L1Loss::squared_hinge, L1Loss::squared_error})
    for (const bool blocks : {false, true}) {
      kernel_learning_is_proven(loss, false, 0.0, blocks);
      kernel_learning_is_proven(loss, true, 1.0, blocks);
      kernel_learning_is_proven(loss, true, 0.0, blocks);
    }
}

}  // namespace treille::tests
