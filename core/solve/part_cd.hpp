#pragma once
// Dual coordinate descent on one part of the examples, with the variables of all other parts fixed.
//
//   w = sum over the examples of all parts of a_i sign_i x_i;   max over the a_i of this part of the dual (solve/losses.hpp)
//
// w belongs to all parts and is changed in place, so visiting part after part is block coordinate descent: no step lowers the dual value.
// A visit is one sweep over the part in random order, which adds up the part's share of the gap as dual_cd.hpp does, and then sweeps
// over the examples that are not held at a bound, while the part is in memory anyway. Each sweep costs one dot per example, and one axpy
// where a_i moves.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "features/part_rows.hpp"
#include "interrupt.hpp"
#include "solve/dual_cd.hpp"
#include "solve/losses.hpp"
#include "solve/random.hpp"

namespace treille {

struct PartOptions {
  double bias;    // value of the constant feature; 0: none
  int sweeps;     // at most
  double enough;  // sweeps end when the terms of the gap that they meet are this share of the first sweep's
  std::uint64_t seed;
};

// The weights that parts share: u (features/part_rows.hpp), and the weight of the constant feature.
struct SharedWeights {
  double* u;
  double* b;
};

// Improves alpha, of the examples that are `free`. Returns the terms of the gap that the first sweep met of the first `n_counted`
// examples, and sets free[i] to whether a_i was not held at a bound when last visited.
template <DualLoss Loss>
double improve_part(const PartRows& rows, const Loss& loss, const PartOptions& options, SharedWeights w, std::span<double> alpha,
                    std::size_t n_counted, std::span<std::uint8_t> free) {
  constexpr std::size_t kAhead = 4;
  SplitMix random(options.seed);
  std::vector<double> sq_norms(rows.size(), -1.0);
  std::vector<std::uint32_t> active, kept;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    free[i] = free[i] && loss.target(i).C() > 0;
    if (free[i]) active.push_back(static_cast<std::uint32_t>(i));
  }
  double met = 0, first = 0, skipped = 0;
  for (int sweep = 0; sweep < options.sweeps && !active.empty(); ++sweep) {
    for (std::size_t k = 0; k + 1 < active.size(); ++k) std::swap(active[k], active[k + random.below(active.size() - k)]);
    kept.clear();
    Visits<Loss> visits{loss, options.bias, skipped};
    for (std::size_t k = 0; k < active.size(); ++k) {
      poll();
      if (k + kAhead < active.size()) rows.prefetch(active[k + kAhead]);
      const std::uint32_t i = active[k];
      const auto target = loss.target(i);
      const double a = alpha[i], f = rows.dot(i, w.u) + options.bias * *w.b;
      auto note = [&](double projected, double) {
        if ((free[i] = projected != 0)) kept.push_back(i);
      };
      const double term = visits.visit(rows, i, target, a, f, sq_norms[i], note, [&](double best) {
        const double step = (best - a) * loss.sign(target);
        alpha[i] = best;
        rows.axpy(i, step, w.u);
        *w.b += options.bias * step;
      });
      if (sweep == 0 && i < n_counted) met += term;
    }
    if (sweep == 0) first = visits.gap;
    if (visits.gap <= options.enough * first && sweep > 0) break;
    skipped = DualCDRules().small_gradient_skip * visits.mean_gradient();
    std::swap(active, kept);
  }
  return met;
}

// The terms of a part, besides |w|^2: of the primal value, the sum of its losses, and of the dual value.
struct PartValues {
  double losses = 0, dual = 0;
};

// At w and alpha, which need not belong to each other: w proves an upper bound, alpha a lower bound. Adds the part's share of
// w(alpha) to `sum`. One dot and, where a_i is not 0, one axpy per example.
template <DualLoss Loss>
PartValues measure_part(const PartRows& rows, const Loss& loss, double bias, SharedWeights w, std::span<const double> alpha,
                        SharedWeights sum) {
  PartValues values;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    poll();
    if (i + 4 < rows.size()) rows.prefetch(i + 4);
    const auto target = loss.target(i);
    if (!(target.C() > 0)) continue;
    values.losses += loss.value(target, rows.dot(i, w.u) + bias * *w.b);
    // The term of the gap at f = 0 is the loss there plus the conjugate.
    values.dual += loss.value(target, 0.0) - loss.term(target, alpha[i], 0.0);
    if (alpha[i] == 0) continue;
    const double step = alpha[i] * loss.sign(target);
    rows.axpy(i, step, sum.u);
    *sum.b += bias * step;
  }
  return values;
}

}  // namespace treille
