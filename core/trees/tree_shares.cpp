#include "trees/tree_shares.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "parallel.hpp"

namespace treille {
namespace {

constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

// A node of x: its family, and the place of its members' values.
struct Node {
  std::uint32_t start, size;
  std::size_t begin;
  std::uint32_t first_child, arity;

  // The index of the member at a place; kNowhere for places in other families.
  std::uint32_t member(std::uint32_t place) const { return place - start < size ? place - start : kNowhere; }
};

using Places = std::span<const std::uint32_t>;
using ChildNodes = std::span<const std::uint32_t>;  // nodes of x

// Input and output of both kinds of trees.
struct ShareState {
  std::vector<Node> nodes;
  Array<double> values;   // Delta
  Array<double> adjoint;  // df/dDelta, n_functions numbers each
  Array<std::uint32_t> sizes;
  std::vector<double> grad;  // df/dt, n_functions numbers for each node
  std::size_t n_functions = 1;

  double value(std::uint32_t v, std::uint32_t place) const {
    const std::uint32_t r = nodes[v].member(place);
    return r == kNowhere ? 0.0 : values[nodes[v].begin + r];
  }
  std::uint32_t largest(std::uint32_t v, std::uint32_t place) const {
    const std::uint32_t r = nodes[v].member(place);
    return r == kNowhere ? 0 : sizes[nodes[v].begin + r];
  }
  void pass_down(std::uint32_t v, std::uint32_t place, double factor, const double* from) {
    const std::uint32_t r = nodes[v].member(place);
    if (r == kNowhere || factor == 0) return;
    double* const to = adjoint.data() + (nodes[v].begin + r) * n_functions;
    for (std::size_t k = 0; k < n_functions; ++k) to[k] += factor * from[k];
  }
};

class SubsetShares {
 public:
  explicit SubsetShares(const SubsetTrees& rule) : rule_(rule) {}

  bool counts(std::size_t arity) const { return arity > 0 || rule_.leaves; }

  std::uint32_t largest(const ShareState& state, ChildNodes children, Places places) const {
    std::uint32_t sum = 1;
    for (std::size_t k = 0; k < children.size(); ++k) sum += std::max<std::uint32_t>(1, state.largest(children[k], places[k]));
    return sum;
  }

  double up(const ShareState& state, ChildNodes children, Places places, double s) const {
    if (children.empty()) return s * (rule_.leaves ? rule_.decay : 1 - rule_.sigma);
    double product = s * rule_.decay;
    for (std::size_t k = 0; k < children.size(); ++k) product *= s * rule_.sigma + state.value(children[k], places[k]);
    return product;
  }

  void down(ShareState& state, ChildNodes children, Places places, double s, const double* own) {
    const std::size_t n = children.size();
    after_.resize(n + 1);
    after_[n] = s * rule_.decay;
    for (std::size_t k = n; k-- > 0;) after_[k] = after_[k + 1] * (s * rule_.sigma + state.value(children[k], places[k]));
    double before = 1;
    for (std::size_t k = 0; k < n; ++k) {
      const double others = before * after_[k + 1];
      before *= s * rule_.sigma + state.value(children[k], places[k]);
      double* const grad = state.grad.data() + children[k] * state.n_functions;
      for (std::size_t f = 0; f < state.n_functions; ++f) grad[f] += rule_.sigma * others * own[f];
      state.pass_down(children[k], places[k], others, own);
    }
  }

 private:
  SubsetTrees rule_;
  std::vector<double> after_;
};

class PartialShares {
 public:
  explicit PartialShares(const PartialTrees& rule) : rule_(rule), step_(rule.gaps ? 1.0 : rule.decay * rule.decay) {}

  bool counts(std::size_t) const { return true; }

  // 1 + the heaviest common subsequence of the children.
  std::uint32_t largest(const ShareState& state, ChildNodes children, Places places) {
    best_.assign(places.size() + 1, 0);
    for (const std::uint32_t child : children) {
      poll();
      std::uint32_t corner = 0;
      for (std::size_t j = 0; j < places.size(); ++j) {
        const std::uint32_t here = best_[j + 1];
        best_[j + 1] = std::max({here, best_[j], corner + state.largest(child, places[j])});
        corner = here;
      }
    }
    return 1 + best_.back();
  }

  double up(const ShareState& state, ChildNodes children, Places places, double s) {
    double sum = 0;
    if (children.size() == 1 || places.size() == 1) {
      for (const std::uint32_t child : children)
        for (const std::uint32_t place : places) sum += state.value(child, place);
    } else if (!children.empty() && !places.empty()) {
      sum = before(state, children, places);
    }
    return s * rule_.mu * (rule_.decay * rule_.decay + sum);
  }

  // For each pair of child i and place j: the sum over what may precede the pair, times the sum over what may follow it.
  void down(ShareState& state, ChildNodes children, Places places, double s, const double* own) {
    const std::size_t n = children.size(), m = places.size();
    if (n == 0 || m == 0) return;
    if (n == 1 || m == 1) {
      for (const std::uint32_t child : children)
        for (const std::uint32_t place : places) state.pass_down(child, place, s * rule_.mu, own);
      return;
    }
    if (before(state, children, places) == 0) return;  // no pair of children has anything in common
    sums_.assign(m + 1, 0.0);                          // over later rows, at least as far to the right
    for (std::size_t i = n; i-- > 0;) {
      poll();
      double along = 0, corner = 0;
      for (std::size_t j = m; j-- > 0;) {
        const double after = 1 + step_ * corner, value = pairs_[i * m + j] * after;
        state.pass_down(children[i], places[j], s * rule_.mu * before_[i * m + j] * after, own);
        along = value + rule_.decay * along;
        corner = sums_[j];
        sums_[j] = rule_.decay * corner + along;
      }
    }
  }

 private:
  // The sum over all common subsequences; keeps Delta of all pairs, and the sum over what may precede each.
  double before(const ShareState& state, ChildNodes children, Places places) {
    const std::size_t n = children.size(), m = places.size();
    pairs_.resize(n * m);
    before_.resize(n * m);
    sums_.assign(m, 0.0);
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      poll();
      double along = 0, corner = 0;
      for (std::size_t j = 0; j < m; ++j) {
        const double pair = pairs_[i * m + j] = state.value(children[i], places[j]);
        const double value = pair * (before_[i * m + j] = 1 + step_ * corner);
        total += value;
        along = value + rule_.decay * along;
        corner = sums_[j];
        sums_[j] = rule_.decay * corner + along;
      }
    }
    return total;
  }

  PartialTrees rule_;
  double step_;
  std::vector<double> pairs_, before_, sums_;
  std::vector<std::uint32_t> best_;
};

// This many points integrate polynomials of this degree to 1e-12 of the sum of their coefficients: m points are exact for degrees below 2m,
// and s^d is within e of a polynomial of degree sqrt(2 d log(2 / e)).
std::size_t points_for(std::size_t degree) {
  const auto enough = static_cast<std::size_t>(std::ceil(std::sqrt(0.5 * static_cast<double>(degree) * 30))) + 4;
  return std::min(degree / 2 + 1, enough);
}

SubsetShares shares_of(const SubsetTrees& rule) { return SubsetShares(rule); }
PartialShares shares_of(const PartialTrees& rule) { return PartialShares(rule); }

template <class Rule>
class TreeWorker {
  using Kin = typename Rule::Kin;

 public:
  // weights: of the subtree at each place in each function.
  TreeWorker(const TreeIndex<Kin>& index, const Rule& rule, const Array<double>& weights, std::size_t n_functions)
      : index_(index), rule_(shares_of(rule)), weights_(weights) {
    state_.n_functions = n_functions;
  }

  // The last of the functions bounds the others: quadrature never overestimates powers of s, so the difference between its value, which is
  // known, and the sum of its shares bounds the error of any share.
  void shares(const Forest& left, std::size_t t, double* out) {
    read(left, t);
    const std::size_t n_functions = state_.n_functions, n_wanted = n_functions - 1;
    const std::size_t most = points_for(degree());
    const double whole = up(1.0);
    for (std::size_t m = std::min<std::size_t>(4, most);; m = std::min(2 * m, most)) {
      const Quadrature rule = quadrature(m);
      std::fill_n(out, state_.nodes.size() * n_wanted, 0.0);
      double found = 0;
      for (std::size_t q = 0; q < m; ++q) {
        up(rule.points[q]);
        down(rule.points[q]);
        for (std::size_t v = 0; v < state_.nodes.size(); ++v) {
          const double* const grad = state_.grad.data() + v * n_functions;
          for (std::size_t k = 0; k < n_wanted; ++k) out[v * n_wanted + k] += rule.weights[q] * grad[k];
          found += rule.weights[q] * grad[n_wanted];
        }
      }
      if (m == most || std::abs(whole - found) <= 1e-11 * whole) return;
    }
  }

 private:
  void read(const Forest& left, std::size_t t) {
    const auto first = static_cast<std::size_t>(left.offsets[t]), n = static_cast<std::size_t>(left.offsets[t + 1]) - first;
    const auto parents = left.parents.subspan(first, n);
    count_children(parents, arity_);
    auto& nodes = state_.nodes;
    nodes.assign(n, {});
    std::uint32_t children = 0;
    for (std::size_t v = 0; v < n; ++v) {
      nodes[v].first_child = children;
      children += arity_[v];
    }
    children_.resize(children);
    for (std::size_t v = 1; v < n; ++v) {
      Node& parent = nodes[static_cast<std::size_t>(parents[v])];
      children_[parent.first_child + parent.arity++] = static_cast<std::uint32_t>(v);
    }
    std::size_t used = 0;
    for (std::size_t v = 0; v < n; ++v) {
      key_.assign(1, left.labels[first + v]);
      if (Kin::kChildren)
        for (const std::uint32_t child : below(nodes[v])) key_.push_back(left.labels[first + child]);
      const auto family = index_.family(key_, static_cast<std::uint32_t>(index_.size()) - 1);
      nodes[v].start = family.start;
      nodes[v].size = family.size;
      nodes[v].begin = used;
      used += family.size;
    }
    state_.values.resize(used);
    state_.adjoint.resize(used * state_.n_functions);
    state_.sizes.resize(used);
  }

  ChildNodes below(const Node& node) const { return ChildNodes(children_).subspan(node.first_child, node.arity); }

  // Below the size of the largest common fragment.
  std::size_t degree() {
    std::uint32_t most = 1;
    for (std::size_t v = state_.nodes.size(); v-- > 0;) {
      const Node& node = state_.nodes[v];
      for (std::uint32_t r = 0; r < node.size; ++r) {
        poll();
        const std::uint32_t size = rule_.largest(state_, below(node), index_.children(node.start + r));
        state_.sizes[node.begin + r] = size;
        most = std::max(most, size);
      }
    }
    return most - 1;
  }

  // Delta of all pairs where every node has the weight s; the value of the last function.
  double up(double s) {
    const std::size_t n_functions = state_.n_functions;
    double sum = 0;
    for (std::size_t v = state_.nodes.size(); v-- > 0;) {
      const Node& node = state_.nodes[v];
      const bool counts = rule_.counts(node.arity);
      for (std::uint32_t r = 0; r < node.size; ++r) {
        poll();
        const double value = state_.values[node.begin + r] = rule_.up(state_, below(node), index_.children(node.start + r), s);
        if (counts) sum += value * weights_[(std::size_t{node.start} + r + 1) * n_functions - 1];
      }
    }
    return sum;
  }

  // The derivatives, from Delta.
  void down(double s) {
    const std::size_t n_functions = state_.n_functions;
    for (const Node& node : state_.nodes) {
      double* const adjoint = state_.adjoint.data() + node.begin * n_functions;
      if (rule_.counts(node.arity))
        std::copy_n(weights_.data() + node.start * n_functions, node.size * n_functions, adjoint);
      else
        std::fill_n(adjoint, node.size * n_functions, 0.0);
    }
    state_.grad.assign(state_.nodes.size() * n_functions, 0.0);
    for (std::size_t v = 0; v < state_.nodes.size(); ++v) {
      const Node& node = state_.nodes[v];
      double* const grad = state_.grad.data() + v * n_functions;
      for (std::uint32_t r = 0; r < node.size; ++r) {
        poll();
        const double* const own = state_.adjoint.data() + (node.begin + r) * n_functions;
        if (own[n_functions - 1] == 0) continue;
        const double value = state_.values[node.begin + r] / s;
        for (std::size_t k = 0; k < n_functions; ++k) grad[k] += own[k] * value;
        rule_.down(state_, below(node), index_.children(node.start + r), s, own);
      }
    }
  }

  const TreeIndex<Kin>& index_;
  decltype(shares_of(std::declval<Rule>())) rule_;
  const Array<double>& weights_;
  ShareState state_;
  std::vector<std::uint32_t> arity_, children_;
  std::vector<std::int32_t> key_;
};

}  // namespace

Quadrature quadrature(std::size_t m) {
  Quadrature found{std::vector<double>(m), std::vector<double>(m)};
  for (std::size_t i = 0; i < m; ++i) {  // the zeros of the Legendre polynomial, by Newton's method
    double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (static_cast<double>(m) + 0.5)), slope = 1;
    for (int round = 0; round < 100; ++round) {
      double p = 1, before = 0;
      for (std::size_t k = 0; k < m; ++k) {
        const auto j = static_cast<double>(k);
        before = std::exchange(p, ((2 * j + 1) * x * p - j * before) / (j + 1));
      }
      slope = static_cast<double>(m) * (x * p - before) / (x * x - 1);
      const double step = p / slope;
      x -= step;
      if (std::abs(step) < 1e-15) break;
    }
    found.points[i] = (1 - x) / 2;
    found.weights[i] = 1 / ((1 - x * x) * slope * slope);
  }
  return found;
}

template <class Rule>
Buffer<double> tree_shares(const TreeIndex<typename Rule::Kin>& index, const Forest& left, const Rule& rule, std::span<const double> beta,
                           std::size_t n_functions, int threads) {
  Buffer<double> shares(left.n_nodes() * n_functions);
  std::fill_n(shares.data(), shares.size(), 0.0);
  if (index.size() == 0) return shares;
  const std::size_t width = n_functions + 1;  // and one with the largest absolute coefficient of each tree
  Array<double> weights(index.n_subtrees() * width, 0.0);
  for (std::size_t place = 0; place < index.n_subtrees(); ++place) {
    double* const own = weights.data() + place * width;
    for (const Holder& holder : index.holders(place)) {
      double most = 0;
      for (std::size_t k = 0; k < n_functions; ++k) {
        const double coefficient = beta[holder.tree * n_functions + k];
        own[k] += holder.count * coefficient;
        most = std::max(most, std::abs(coefficient));
      }
      own[n_functions] += holder.count * most;
    }
  }
  std::atomic<std::size_t> next{0};
  expect(left.size());
  run_shares(threads, [&](int) {
    TreeWorker<Rule> worker(index, rule, weights, width);
    for (std::size_t t = next++; t < left.size(); t = next++) {
      worker.shares(left, t, shares.data() + static_cast<std::size_t>(left.offsets[t] - left.offsets[0]) * n_functions);
      tick();
    }
  });
  return shares;
}

template Buffer<double> tree_shares(const TreeIndex<ByProduction>&, const Forest&, const SubsetTrees&, std::span<const double>, std::size_t,
                                    int);
template Buffer<double> tree_shares(const TreeIndex<ByLabel>&, const Forest&, const PartialTrees&, std::span<const double>, std::size_t,
                                    int);

}  // namespace treille
