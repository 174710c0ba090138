#include "graphs/random_walk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "features/pairwise.hpp"
#include "graphs/walk_product.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace treille {
namespace {

using V = Simd<WalkGraphs::kLanes>;
using Lanes = V::Lanes;
constexpr std::size_t kLanes = WalkGraphs::kLanes;
constexpr double kTail = 1e-12, kResidual = 1e-11;
constexpr double kRoot = 0x1p+256, kMany = kRoot * kRoot;  // numbers of walks beyond this are scaled

TREILLE_INLINE double total(const Lanes& lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

TREILLE_INLINE double dot(const double* a, const double* b, std::size_t n) {
  Lanes even{}, odd{}, left, right;
  std::size_t k = 0;
  for (; k + 2 * kLanes <= n; k += 2 * kLanes) {
    V::load(a + k, left);
    V::load(b + k, right);
    even += left * right;
    V::load(a + k + kLanes, left);
    V::load(b + k + kLanes, right);
    odd += left * right;
  }
  if (k < n) {
    V::load(a + k, left);
    V::load(b + k, right);
    even += left * right;
  }
  even += odd;
  return total(even);
}

// r -= alpha (p - decay Ap), kLanes numbers; adds their squares to `sum`.
TREILLE_INLINE void descend(double* r, const double* p, const double* Ap, double alpha, double decay, Lanes& sum) {
  Lanes own, ahead, product;
  V::load(r, own);
  V::load(p, ahead);
  V::load(Ap, product);
  own -= alpha * (ahead - decay * product);
  V::store(own, r);
  sum += own * own;
}

// p = r + beta p, kLanes numbers; adds their squares to `sum`.
TREILLE_INLINE void turn(const double* r, double* p, double beta, Lanes& sum) {
  Lanes own, ahead;
  V::load(r, own);
  V::load(p, ahead);
  ahead = own + beta * ahead;
  V::store(ahead, p);
  sum += ahead * ahead;
}

// The sum of a series, term after term, and whether the remaining terms matter.
class Sum {
 public:
  Sum(const WalkSeries& series, double growth, bool is_signed) : series_(series), growth_(growth), signed_(is_signed) {}

  // Adds term n, which has to follow n - 1; true: the sum is complete.
  bool add(double W) {
    if (n_ >= series_.first) value_ += coefficient_ * W;
    if (!std::isfinite(value_)) value_ = std::numeric_limits<double>::infinity();
    if (n_ == series_.last || !std::isfinite(value_) || (W == 0 && !signed_)) return true;
    ++n_;
    if (series_.kind == WalkSeries::Kind::counts) return false;
    const double ratio = series_.kind == WalkSeries::Kind::exponential ? series_.decay / static_cast<double>(n_) : series_.decay;
    const double z = ratio * growth_, term = signed_ ? bound_ : coefficient_ * W;
    coefficient_ *= ratio;
    bound_ *= z;
    return z < 1 && term * z / (1 - z) <= (signed_ ? 1e-4 * kTail : kTail * value_);
  }

  // From now on, W is given divided by this.
  void scale(double factor) { coefficient_ *= factor; }
  void limit_growth(double growth) { growth_ = std::min(growth_, growth); }
  double value() const { return value_; }

 private:
  const WalkSeries& series_;
  double growth_;  // W_n+1 <= growth W_n
  bool signed_;
  std::int64_t n_ = 0;
  double value_ = 0, coefficient_ = 1, bound_ = 1;
};

// The largest quotient of two vectors.
double largest_growth(const double* after, const double* before, std::size_t n) {
  double most = 0;
  for (std::size_t k = 0; k < n; ++k)
    if (before[k] > 0) most = std::max(most, after[k] / before[k]);
  return most;
}

// Computes values in one thread.
class Solver {
 public:
  explicit Solver(const WalkSeries& series) : series_(series), avx2_(processor() != Processor::any) {}

  // radius: a bound on the spectral radius of the product.
  double value(const WalkGraphs& x, std::size_t i, const WalkGraphs& y, std::size_t j, double radius) {
    product_.set(x, i, y, j);
    const double others = series_.all_starts ? x.nodes(i) * y.nodes(j) - product_.pairs() : 0.0;
    if (product_.cells() == 0) return others;
    for (auto& vector : vectors_)
      if (vector.size() < product_.cells()) vector = Buffer<double>(product_.cells());
    product_.start(vectors_[0].data());
    const double growth = x.degree(i) * y.degree(j);
    return others +
           (avx2_ ? solve_avx2(growth, radius, x.is_signed() || y.is_signed()) : solve(growth, radius, x.is_signed() || y.is_signed()));
  }

 private:
  TREILLE_AVX2 double solve_avx2(double growth, double radius, bool is_signed) { return solve(growth, radius, is_signed); }

  TREILLE_INLINE double solve(double growth, double radius, bool is_signed) {
    if (series_.is_infinite_geometric() && !series_.directed) return inverse(1 - series_.decay * radius);
    Sum sum(series_, growth, is_signed);
    return series_.directed ? forward(sum) : halved(sum);
  }

  TREILLE_INLINE double halved(Sum& sum) {
    const std::size_t n = product_.cells();
    double *v = vectors_[0].data(), *next = vectors_[1].data();
    for (double square; !sum.add(square = dot(v, v, n));) {
      if (square > kMany) {
        for (std::size_t k = 0; k < n; ++k) v[k] /= kRoot;
        sum.scale(kMany);
      }
      product_.apply(v, next);
      if (sum.add(dot(v, next, n))) break;
      std::swap(v, next);
    }
    return sum.value();
  }

  TREILLE_INLINE double forward(Sum& sum) {
    const std::size_t n = product_.cells();
    double *v = vectors_[0].data(), *next = vectors_[1].data(), *const start = vectors_[2].data();
    std::copy_n(v, n, start);
    double W;
    for (std::int64_t step = 1; !sum.add(W = dot(start, v, n)); ++step) {
      if (W > kMany) {
        for (std::size_t k = 0; k < n; ++k) v[k] /= kMany;
        sum.scale(kMany);
      }
      product_.apply(v, next);
      if (series_.is_infinite_geometric() && step % 8 == 0) sum.limit_growth(largest_growth(next, v, n));
      std::swap(v, next);
    }
    return sum.value();
  }

  // Conjugate gradients; least: a lower bound on the eigenvalues of I - decay A.
  TREILLE_INLINE double inverse(double least) {
    const std::size_t n = product_.cells();
    double *const r = vectors_[0].data(), *const p = vectors_[1].data(), *const Ap = vectors_[2].data();
    const double decay = series_.decay;
    double value = 0, rr = dot(r, r, n), pp = rr;
    if (!product_.has_arcs()) return rr;
    std::copy_n(r, n, p);
    for (std::size_t step = 0; step < 100 + 10 * n; ++step) {
      product_.apply(p, Ap);
      const double alpha = rr / (pp - decay * dot(p, Ap, n));
      value += alpha * rr;
      const double before = rr;
      Lanes even{}, odd{};
      for (std::size_t k = 0; k < n; k += 2 * kLanes) {
        descend(r + k, p + k, Ap + k, alpha, decay, even);
        if (k + kLanes < n) descend(r + k + kLanes, p + k + kLanes, Ap + k + kLanes, alpha, decay, odd);
      }
      even += odd;
      rr = total(even);
      if (rr <= kResidual * least * value) break;
      const double beta = rr / before;
      even = odd = Lanes{};
      for (std::size_t k = 0; k < n; k += 2 * kLanes) {
        turn(r + k, p + k, beta, even);
        if (k + kLanes < n) turn(r + k + kLanes, p + k + kLanes, beta, odd);
      }
      even += odd;
      pp = total(even);
    }
    return value;
  }

  const WalkSeries& series_;
  bool avx2_;
  WalkProduct product_;
  Buffer<double> vectors_[3];
};

void apply_any(WalkProduct& product, const double* in, double* out) { product.apply(in, out); }
TREILLE_AVX2 void apply_avx2(WalkProduct& product, const double* in, double* out) { product.apply(in, out); }

// Power iteration on A + shift I, from the vector u, until the upper bound of Collatz and Wielandt on the radius of A is sharp enough.
// The value is raised to `power`: the radius of the product of a graph with itself is the square of the graph's.
template <class Apply>
double radius_bound(Apply&& apply, std::span<double> u, std::span<double> Au, double decay, int power, bool directed) {
  constexpr int kMost = 4000;
  double upper = std::numeric_limits<double>::infinity(), estimate = 0;
  const auto raised = [&](double radius) { return power == 2 ? radius * radius : radius; };
  for (int step = 0; step < kMost; ++step) {
    apply(u.data(), Au.data());
    upper = std::min(upper, largest_growth(Au.data(), u.data(), u.size()));
    if (upper == 0) break;
    double uu = 0, uAu = 0, sum = 0, sum_after = 0;
    for (std::size_t k = 0; k < u.size(); ++k) {
      uu += u[k] * u[k];
      uAu += u[k] * Au[k];
      sum += u[k];
      sum_after += Au[k];
    }
    estimate = directed ? sum_after / sum : std::max(estimate, uAu / uu);
    const double bound = decay * raised(upper), gap = 1 - estimate / upper;
    if (bound < 0.5 || (bound < 0.9 && (step >= 8 || gap < 1e-2))) break;
    if (gap < (bound < 0.99 || step > 300 ? 1e-3 : decay * raised(estimate) > 1.01 ? 1e-7 : 1e-10)) break;
    const double shift = 0.3 * upper, scale = 1 / (sum_after + shift * sum);
    for (std::size_t k = 0; k < u.size(); ++k) u[k] = scale * (Au[k] + shift * u[k]);
  }
  return raised(upper);
}

}  // namespace

WalkCost walk_cost(const WalkGraphs& left, const WalkGraphs& right) {
  std::map<std::int32_t, std::pair<double, double>> sizes;
  std::map<std::uint32_t, std::pair<double, double>> arcs;
  const auto measure = [&](const WalkGraphs& graphs, auto side, bool grouped) {
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      for (const auto& block : graphs.blocks(g)) {
        double& most = sizes[block.label].*side;
        most = std::max(most, static_cast<double>(grouped ? block.groups() * kLanes : block.size));
      }
      for (const auto& type : graphs.types(g)) arcs[type.id].*side += static_cast<double>(type.arcs_end - type.arcs);
    }
  };
  measure(left, &std::pair<double, double>::first, true);
  measure(right, &std::pair<double, double>::second, false);
  WalkCost cost{0, 0};
  for (const auto& [label, size] : sizes) cost.cells += size.first * size.second;
  for (const auto& [type, count] : arcs) cost.arcs += count.first * count.second;
  return cost;
}

Buffer<double> walk_gram(const WalkGraphs& left, const WalkGraphs& right, const WalkSeries& series, std::span<const double> left_radii,
                         std::span<const double> right_radii, bool own, int threads) {
  const bool bounded = series.is_infinite_geometric();
  return pairwise(left.size(), right.size(), own, threads, [&] {
    return [&, solver = Solver(series)](std::size_t i, std::size_t j) mutable {
      return solver.value(left, i, right, j, bounded ? std::sqrt(left_radii[i] * right_radii[j]) : 0.0);
    };
  });
}

std::vector<double> walk_diagonal(const WalkGraphs& graphs, const WalkSeries& series, std::span<const double> radii, int threads) {
  const bool bounded = series.is_infinite_geometric();
  return on_diagonal(graphs.size(), threads, [&] {
    return [&, solver = Solver(series)](std::size_t i) mutable { return solver.value(graphs, i, graphs, i, bounded ? radii[i] : 0.0); };
  });
}

std::vector<double> walk_radii(const WalkGraphs& graphs, double decay, bool directed, int threads) {
  auto* const multiply = processor() == Processor::any ? apply_any : apply_avx2;
  return on_diagonal(graphs.size(), threads, [&] {
    return [&, product = WalkProduct(), u = Array<double>(), Au = Array<double>()](std::size_t i) mutable {
      product.set(graphs, i, graphs, i);
      u.resize(product.cells());
      Au.resize(product.cells());
      product.start(u.data());
      const auto apply = [&](const double* in, double* out) { multiply(product, in, out); };
      return radius_bound(apply, u, Au, decay, 1, directed);
    };
  });
}

namespace {

// out = A in, for one graph.
void multiply(const Graphs& graphs, std::size_t g, const double* in, double* out) {
  const auto first = static_cast<std::size_t>(graphs.offsets[g]), n = graphs.n_nodes(g);
  for (std::size_t v = 0; v < n; ++v) {
    poll();
    double sum = 0;
    for (auto a = static_cast<std::size_t>(graphs.arcs[first + v]); a < static_cast<std::size_t>(graphs.arcs[first + v + 1]); ++a)
      sum += (graphs.weights.empty() ? 1.0 : graphs.weights[a]) * in[graphs.targets[a]];
    out[v] = sum;
  }
}

}  // namespace

std::vector<double> plain_radii(const Graphs& graphs, double decay, bool directed, int threads) {
  return on_diagonal(graphs.size(), threads, [&] {
    return [&, u = Array<double>(), Au = Array<double>()](std::size_t g) mutable {
      u.assign(graphs.n_nodes(g), 1.0);
      Au.resize(u.size());
      return radius_bound([&](const double* in, double* out) { multiply(graphs, g, in, out); }, u, Au, decay, 2, directed);
    };
  });
}

Buffer<double> walk_moments(const Graphs& graphs, std::size_t n_terms, double scale, int threads) {
  Buffer<double> moments(graphs.size() * n_terms);
  run_in_turns(graphs.size(), threads, [&](std::size_t g) {
    Array<double> v(graphs.n_nodes(g), 1.0), next(v.size());
    for (std::size_t n = 0; n < n_terms; ++n) {
      double sum = 0;
      for (const double each : v) sum += each;
      moments[g * n_terms + n] = sum;
      if (n + 1 == n_terms) break;
      multiply(graphs, g, v.data(), next.data());
      for (double& each : next) each /= scale;
      v.swap(next);
    }
  });
  return moments;
}

Buffer<double> moment_gram(std::span<const double> left, std::span<const double> right, std::span<const double> coefficients, bool own,
                           int threads) {
  const std::size_t n = coefficients.size();
  return pairwise(left.size() / n, right.size() / n, own, threads, [&] {
    return [&, row = std::vector<double>(n), of = ~std::size_t{0}](std::size_t i, std::size_t j) mutable {
      if (of != i)
        for (std::size_t k = 0; k < n; ++k) row[k] = coefficients[k] * left[i * n + k];
      of = i;
      double sums[4] = {};
      const double* const other = right.data() + j * n;
      for (std::size_t k = 0; k < n; ++k) sums[k % 4] += row[k] * other[k];
      return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    };
  });
}

}  // namespace treille
