#include "trees/tree_gram.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <utility>

#include "features/pairwise.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

// Delta(u, .) of a node u over its family.
struct Values {
  const double* of;
  std::uint32_t start, size;

  double at(std::uint32_t place) const { return place - start < size ? of[place - start] : 0.0; }
};

// Children of u are given from the last to the first, as they wait on the stack.
using Children = std::span<const Values>;

class SubsetDelta {
 public:
  SubsetDelta(const SubsetTrees& rule, const TreeIndex<ByProduction>& index) : rule_(rule), index_(index) {}

  bool counts(std::size_t arity) const { return arity > 0 || rule_.leaves; }

  void fill(Children children, std::uint32_t start, std::uint32_t size, double* out) const {
    const std::size_t arity = children.size();
    // A leaf that is no node is a factor 1 = sigma + (1 - sigma) where it meets its equal.
    std::fill_n(out, size, arity > 0 || rule_.leaves ? rule_.decay : 1 - rule_.sigma);
    for (std::size_t k = 0; k < arity; ++k) {
      const Values& child = children[arity - 1 - k];
      const std::uint32_t* place = size > 0 ? index_.children(start).data() + k : nullptr;  // children of a family are contiguous
      for (std::uint32_t r = 0; r < size; ++r, place += arity) out[r] *= rule_.sigma + child.at(*place);
    }
  }

 private:
  SubsetTrees rule_;
  const TreeIndex<ByProduction>& index_;
};

class PartialDelta {
 public:
  PartialDelta(const PartialTrees& rule, const TreeIndex<ByLabel>& index)
      : rule_(rule), index_(index), step_(rule.gaps ? 1.0 : rule.decay * rule.decay) {}

  bool counts(std::size_t) const { return true; }

  void fill(Children children, std::uint32_t start, std::uint32_t size, double* out) {
    for (std::uint32_t r = 0; r < size; ++r)
      out[r] = rule_.mu * (rule_.decay * rule_.decay + subsequences(children, index_.children(start + r)));
  }

 private:
  double subsequences(Children left, std::span<const std::uint32_t> right) {
    poll();
    if (left.size() == 1 || right.size() == 1) {
      double sum = 0;
      for (const Values& child : left)
        for (const std::uint32_t place : right) sum += child.at(place);
      return sum;
    }
    // V_ij, all common subsequences that end at children i and j; S_ij = sum over i' <= i, j' <= j of decay^(i - i' + j - j') V_i'j'.
    sums_.assign(right.size(), 0.0);
    double total = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      poll();
      const Values& child = left[left.size() - 1 - i];
      double along = 0, before = 0, ended = 0;  // the sum over j' in this row; S of row i - 1, column j - 1; V of this row
      for (std::size_t j = 0; j < right.size(); ++j) {
        const double value = child.at(right[j]) * (1 + step_ * before);
        ended += value;
        along = value + rule_.decay * along;
        before = sums_[j];
        sums_[j] = rule_.decay * before + along;
      }
      total += ended;
    }
    return total;
  }

  PartialTrees rule_;
  const TreeIndex<ByLabel>& index_;
  double step_;
  std::vector<double> sums_;
};

SubsetDelta delta_of(const SubsetTrees& rule, const TreeIndex<ByProduction>& index) { return {rule, index}; }
PartialDelta delta_of(const PartialTrees& rule, const TreeIndex<ByLabel>& index) { return {rule, index}; }

// Computes rows, one thread's.
template <class Rule>
class RowWorker {
  using Kin = typename Rule::Kin;

 public:
  RowWorker(const TreeIndex<Kin>& index, const Rule& rule) : index_(index), delta_(delta_of(rule, index)) {}

  // out[j] = k(tree t of left, tree j), j <= last.
  void row(const Forest& left, std::size_t t, std::uint32_t last, double* out) {
    const auto first = static_cast<std::size_t>(left.offsets[t]), n = static_cast<std::size_t>(left.offsets[t + 1]) - first;
    count_children(left.parents.subspan(first, n), arity_);
    const std::size_t columns = std::size_t{last} + 1;
    std::fill_n(out, columns, 0.0);
    sums_.clear();
    terms_ = 0;
    waiting_.clear();
    used_ = 0;
    for (std::size_t v = n; v-- > 0;) {
      poll();
      const std::size_t arity = arity_[v], below = waiting_.size() - arity, mark = arity > 0 ? waiting_[below].mark : used_;
      const std::int32_t label = left.labels[first + v];
      key_.assign(1, label);
      for (std::size_t k = waiting_.size(); k-- > below;) key_.push_back(static_cast<std::int32_t>(waiting_[k].id));
      const std::uint32_t id = subtrees_.add(key_);
      if (id == place_.size()) place_.push_back(0);
      Waiting own{};
      if (place_[id] < below && waiting_[place_[id]].id == id) {
        own = waiting_[place_[id]];  // its values are on the stack already, and will stay longer
        own.mark = used_ = mark;
      } else {
        own = computed(arity, below, label, last, id, mark);
        place_[id] = static_cast<std::uint32_t>(below);
      }
      if (delta_.counts(arity)) add(own, last, out);
      if (terms_ >= std::max(kTerms, 4 * columns)) settle({out, columns});
      waiting_.resize(below);
      waiting_.push_back(own);
    }
    if (sums_.empty()) return;
    settle({out, columns});
    std::transform(sums_.begin(), sums_.end(), out, [](const Sum& sum) { return sum.high + sum.low; });
  }

 private:
  // A node whose values wait for its parent.
  struct Waiting {
    std::size_t begin, mark;  // the place of its values, and the memory in use before it
    std::uint32_t start, size, id;
    std::int32_t label;
  };

  Waiting computed(std::size_t arity, std::size_t below, std::int32_t label, std::uint32_t last, std::uint32_t id, std::size_t mark) {
    key_.assign(1, label);
    if (Kin::kChildren)
      for (std::size_t k = waiting_.size(); k-- > below;) key_.push_back(waiting_[k].label);
    const auto family = index_.family(key_, last);
    if (values_.size() < used_ + family.size) values_.resize(2 * (used_ + family.size));
    children_.clear();
    for (std::size_t k = below; k < below + arity; ++k)
      children_.push_back({values_.data() + waiting_[k].begin, waiting_[k].start, waiting_[k].size});
    double* own = values_.data() + used_;
    delta_.fill(children_, family.start, family.size, own);
    std::copy_n(own, family.size, values_.data() + mark);  // the children are finished: the result takes their place
    used_ = mark + family.size;
    return {mark, mark, family.start, family.size, id, label};
  }

  // Deep trees have as many terms as pairs of nodes: adding each to one growing sum would lose digits. So some thousand terms are summed
  // first, and these sums are added in twice the precision.
  static constexpr std::size_t kTerms = 4096;
  struct Sum {
    double high = 0, low = 0;
  };

  void settle(std::span<double> out) {
    sums_.resize(out.size());
    terms_ = 0;
    for (std::size_t j = 0; j < out.size(); ++j) {
      const double x = std::exchange(out[j], 0.0), before = sums_[j].high;
      const double high = sums_[j].high += x, part = high - before;
      if (std::isfinite(high)) sums_[j].low += (before - (high - part)) + (x - part);  // the rounding error (Knuth)
    }
  }

  void add(const Waiting& node, std::uint32_t last, double* out) {
    const double* values = values_.data() + node.begin;
    terms_ += node.size;
    for (std::uint32_t r = 0; r < node.size; ++r)
      for (const Holder& holder : index_.holders(node.start + r)) {
        if (holder.tree > last) break;
        out[holder.tree] += values[r] * holder.count;
      }
  }

  const TreeIndex<Kin>& index_;
  decltype(delta_of(std::declval<Rule>(), std::declval<TreeIndex<Kin>>())) delta_;
  std::vector<std::uint32_t> arity_;
  std::vector<std::int32_t> key_;
  Interner<std::int32_t> subtrees_;   // of the trees met so far
  std::vector<std::uint32_t> place_;  // place on the stack of the last node with this subtree
  std::vector<Waiting> waiting_;
  std::vector<Values> children_;
  std::vector<Sum> sums_;
  std::size_t terms_ = 0;  // since the last time they were settled
  Array<double> values_;
  std::size_t used_ = 0;
};

}  // namespace

template <class Rule>
Buffer<double> tree_gram(const TreeIndex<typename Rule::Kin>& index, const Forest& left, const Rule& rule, bool own, int threads) {
  const std::size_t n = left.size(), columns = index.size();
  Buffer<double> K(n * columns);
  if (columns == 0) return K;
  std::atomic<std::size_t> next{0};
  expect(n);
  run_shares(threads, [&](int) {
    RowWorker<Rule> worker(index, rule);
    for (std::size_t done = next++; done < n; done = next++) {
      const std::size_t i = n - 1 - done;  // the longest row first
      worker.row(left, i, static_cast<std::uint32_t>(own ? i : columns - 1), K.data() + i * columns);
      tick();
    }
  });
  if (own) mirror(K.data(), n, threads);
  return K;
}

template <class Rule>
std::vector<double> tree_diagonal(const Forest& all, const Rule& rule, int threads) {
  return on_diagonal(all.size(), threads, [&] {
    return [&](std::size_t i) {
      const auto first = static_cast<std::size_t>(all.offsets[i]), n = static_cast<std::size_t>(all.offsets[i + 1]) - first;
      const std::array<std::int64_t, 2> ends{0, static_cast<std::int64_t>(n)};
      const Forest one{all.labels.subspan(first, n), all.parents.subspan(first, n), ends};
      const TreeIndex<typename Rule::Kin> index(one);
      double value = 0;
      RowWorker<Rule>(index, rule).row(one, 0, 0, &value);
      return value;
    };
  });
}

template Buffer<double> tree_gram(const TreeIndex<ByProduction>&, const Forest&, const SubsetTrees&, bool, int);
template Buffer<double> tree_gram(const TreeIndex<ByLabel>&, const Forest&, const PartialTrees&, bool, int);
template std::vector<double> tree_diagonal(const Forest&, const SubsetTrees&, int);
template std::vector<double> tree_diagonal(const Forest&, const PartialTrees&, int);

}  // namespace treille
