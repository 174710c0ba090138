#pragma once
// argmin_b of a convex function of the bias whose slope is a sum of lines, each example on one of few pieces at any b.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace treille {

struct Line {
  double constant, factor;
};

// The slope at b is `line` at b, plus slope(i, piece(i, b)) at b for each i of `undecided`. It rises with b, and is bisected from `start`;
// examples that are on one piece all over the bracket join `line`: O(n) in all, mostly. `undecided` is used up.
template <class Piece, class Slope>
double best_bias(double start, Line line, std::vector<std::size_t>& undecided, Piece&& piece, Slope&& slope) {
  auto add = [&](Line& to, std::size_t i, int on) {
    const Line own = slope(i, on);
    to.constant += own.constant;
    to.factor += own.factor;
  };
  auto at = [&](double b) {
    Line sum = line;
    for (const std::size_t i : undecided) add(sum, i, piece(i, b));
    return sum.constant + sum.factor * b;
  };
  const double first = 1e-6 + 1e-3 * std::abs(start);
  constexpr int kDoublings = 60;  // without a line that rises, the slope may never change its sign
  double low = start, high = start, step = first;
  for (int k = 0; k < kDoublings && at(low) > 0; ++k, step *= 4) low -= step;
  step = first;
  for (int k = 0; k < kDoublings && at(high) < 0; ++k, step *= 4) high += step;
  for (int k = 0; k < 60; ++k) {
    std::erase_if(undecided, [&](std::size_t i) {
      const int at_low = piece(i, low), at_high = piece(i, high);
      if (at_low == at_high) add(line, i, at_low);
      return at_low == at_high;
    });
    if (undecided.empty() && line.factor > 0) return std::clamp(-line.constant / line.factor, low, high);
    if (undecided.empty()) break;
    const double middle = 0.5 * (low + high);
    (at(middle) > 0 ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace treille
