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

// The slope at b is `line` at b, plus slope(i, piece(i, b)) at b for each i of `undecided`. It rises with b. The root is bracketed from
// `start` and bisected; examples on one piece throughout the bracket are added to `line`, so that the cost is usually O(n). `undecided`
// is consumed.
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
  const double slope_there = at(start);
  if (slope_there == 0) return start;
  constexpr int kWidenings = 60;  // without a rising line, the slope may never change its sign
  const double direction = slope_there > 0 ? -1 : 1;
  double near = start, far = start, step = 1e-3 + 1e-3 * std::abs(start);
  for (int k = 0; k < kWidenings; ++k, step *= 4) {
    far = start + direction * step;
    if (direction * at(far) >= 0) break;
    near = far;
  }
  double low = std::min(near, far), high = std::max(near, far);
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
