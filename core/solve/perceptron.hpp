#pragma once
// The perceptron of the lecture (Gales, "Support vector machines and kernels for language processing", 2011), in its kernel form and with
// W' = sum_i alpha_i y_i x_i; Rosenblatt, 1958.
//
//   g(x) = sum_i alpha_i y_i k(x, x_i) + b;  x is of class +1 where g(x) > 0, otherwise of class -1.
//   Until all points are correctly classified: if x_k is misclassified, alpha_k += C_k and b += y_k C_k.
//
// The lecture's weights C_k are 1; examples with C_k = 0 take no part. A visit costs one g(x): one dot of a row, or nothing on kernel
// values, where g of all examples is kept. A mistake costs one axpy, or one row of the kernel matrix.
//
// Novikoff, 1962: if some |(u, c)| = 1 has y_i (u.x_i + c) >= gamma > 0 and all |x_i|^2 + 1 <= R^2, then with C_k = 1 there are at most
// (R / gamma)^2 mistakes, in any order of visits. For (w, b).(u, c) grows by gamma at least with each mistake, and |(w, b)|^2 by R^2 at
// most.
//
// The averaged perceptron (Freund and Schapire, 1999) is the mean of (w, b) over all T visits. A mistake before which there were t visits
// is part of T - t of these, so that the mean has the coefficients alpha_i - late_i / T, where each mistake adds C_i t to late_i: no sum of
// vectors is kept.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "features/any_rows.hpp"
#include "solve/gram_rows.hpp"
#include "solve/monitor.hpp"
#include "solve/random.hpp"

namespace treille {

struct PerceptronOptions {
  double bias;  // value of the constant feature, whose weight is b; 0: none
  std::int64_t max_epochs;
  bool shuffle;  // before each epoch; otherwise examples are visited in their order
  std::uint64_t seed;
};

struct PerceptronSolution {
  std::vector<double> alpha, late;
  std::vector<double> outputs;         // g(x_i) when example i was last visited, before it was learned
  std::vector<std::int64_t> mistakes;  // of each epoch
  std::int64_t visits = 0;
  double largest = 0;                  // |g(x_i)| of all visits
  Status status = Status::max_epochs;  // converged: the last epoch had no mistake
};

// g without b, from rows: w is kept up to date.
class RowOutputs {
 public:
  explicit RowOutputs(const AnyRows& rows) : rows_(rows), w_(rows.zero()) {}
  double at(std::size_t i) const { return rows_.dot(i, w_); }
  void add(std::size_t i, double a) { rows_.axpy(i, a, w_); }
  void prefetch(std::size_t i) const { rows_.prefetch(i); }

 private:
  const AnyRows& rows_;
  AnyRows::Weights w_;
};

// The same from kernel values: g of all examples is kept up to date.
class GramOutputs {
 public:
  explicit GramOutputs(GramRows& rows) : rows_(rows), g_(rows.size(), 0.0) {}
  double at(std::size_t i) const { return g_[i]; }
  void add(std::size_t i, double a) {
    const auto held = rows_.row(i);
    const double* K = held.get();
    for (std::size_t j = 0; j < g_.size(); ++j) g_[j] += a * K[j];
  }
  void prefetch(std::size_t) const {}

 private:
  GramRows& rows_;
  std::vector<double> g_;
};

// Outputs this small beside the largest are 0 but for rounding, which must not decide between mistake and none: ties are common where
// values are counts, and rows, kernel values and streams, however these are divided, give the same answer then.
constexpr double kTie = 1e-12;

// `y` has a target of +1 or -1 for each example. `before` is the contribution of a stream's earlier examples to g(x_i), or empty; `largest`
// is their largest output.
template <class Outputs>
PerceptronSolution perceptron(Outputs g, std::span<const double> y, std::span<const double> C, std::span<const double> before,
                              double largest, const PerceptronOptions& options, Monitor& monitor) {
  constexpr std::size_t kAhead = 4;
  constexpr std::int64_t kUnasked = 16;  // visits: a look at the clock takes as long as a short row
  PerceptronSolution s;
  s.largest = largest;
  s.alpha.assign(y.size(), 0.0);
  s.late.assign(y.size(), 0.0);
  s.outputs.assign(y.size(), 0.0);
  std::vector<std::size_t> order(y.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return C[i] == 0; });
  SplitMix random(options.seed);
  double b = 0;
  while (static_cast<std::int64_t>(s.mistakes.size()) < options.max_epochs) {
    if (options.shuffle)
      for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
    std::int64_t& mistakes = s.mistakes.emplace_back(0);
    for (std::size_t k = 0; k < order.size(); ++k, ++s.visits) {
      if (s.visits % kUnasked == 0 && monitor.stopped()) {
        s.status = Status::stopped;
        return s;
      }
      if (k + kAhead < order.size()) g.prefetch(order[k + kAhead]);
      const std::size_t i = order[k];
      const double output = s.outputs[i] = g.at(i) + options.bias * b + (before.empty() ? 0.0 : before[i]);
      s.largest = std::max(s.largest, std::abs(output));
      if ((output > kTie * s.largest) == (y[i] > 0)) continue;
      ++mistakes;
      s.alpha[i] += C[i];
      s.late[i] += C[i] * static_cast<double>(s.visits);
      b += y[i] * C[i] * options.bias;
      g.add(i, y[i] * C[i]);
    }
    monitor.epochs = static_cast<std::int64_t>(s.mistakes.size());
    monitor.relative_gap = order.empty() ? 0.0 : static_cast<double>(mistakes) / static_cast<double>(order.size());
    if (mistakes == 0) {
      s.status = Status::converged;
      break;
    }
  }
  return s;
}

}  // namespace treille
