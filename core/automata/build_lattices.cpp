#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>

#include "automata/in_range.hpp"
#include "automata/lattices.hpp"
#include "automata/scaled.hpp"
#include "automata/semiring.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

// Converts one machine after another to a lattice. Letters: beta(s) = sum of the weights of paths from s to the end.
class LatticeBuilder {
 public:
  LatticeBuilder(const RawLattices& raw, bool normalize) : raw_(raw), normalize_(normalize) {}

  // False where the machine has a cycle.
  bool build(std::size_t i, LatticeArrays& out, double& log_total) {
    x_ = raw_.data[i];
    costs_ = raw_.costs[i] != 0;
    find_useful(raw_.starts[i]);
    if (!sort_states()) return false;
    log_total = -std::numeric_limits<double>::infinity();
    if (!order_.empty()) {
      sort_arcs();
      log_total = weigh();
    }
    for (const std::size_t a : kept_) {
      out.sources.push_back(place_[at(x_.sources[a])]);
      out.symbols.push_back(x_.symbols[a]);
      out.targets.push_back(place_[at(x_.targets[a])]);
    }
    out.weights.insert(out.weights.end(), weights_.begin(), weights_.end());
    out.finals.insert(out.finals.end(), finals_.begin(), finals_.end());
    out.states.push_back(static_cast<std::int64_t>(out.finals.size()));
    out.arcs.push_back(static_cast<std::int64_t>(out.weights.size()));
    return true;
  }

  // The arcs of one cycle of a machine that has cycles, in order.
  std::vector<std::int64_t> cycle() const {
    // Every state that could not be sorted has an arc from another such state: going back along these, a state is met again.
    std::vector<std::int64_t> into(x_.size(), -1);
    for (std::size_t a = 0; a < x_.sources.size(); ++a)
      if (live(a) && waiting_[at(x_.sources[a])] > 0 && waiting_[at(x_.targets[a])] > 0)
        into[at(x_.targets[a])] = static_cast<std::int64_t>(a);
    std::size_t s = 0;
    while (waiting_[s] == 0) ++s;
    for (std::size_t step = 0; step < x_.size(); ++step) s = at(x_.sources[at(into[s])]);
    std::vector<std::int64_t> arcs;
    std::size_t t = s;
    do {
      arcs.push_back(into[t]);
      t = at(x_.sources[at(into[t])]);
    } while (t != s);
    std::reverse(arcs.begin(), arcs.end());
    const auto from_lowest = [&](std::int64_t a, std::int64_t b) { return x_.sources[at(a)] < x_.sources[at(b)]; };
    std::rotate(arcs.begin(), std::min_element(arcs.begin(), arcs.end(), from_lowest), arcs.end());
    return arcs;
  }

 private:
  template <class T>
  static std::size_t at(T state) {
    return static_cast<std::size_t>(state);
  }
  bool is_zero(double weight) const { return weight == (costs_ ? Log::zero() : Real::zero()); }
  bool live(std::size_t a) const { return !is_zero(x_.weights[a]) && useful_[at(x_.sources[a])] == 3 && useful_[at(x_.targets[a])] == 3; }

  // Marks with `bit` all that can be reached from the states on the stack, which are marked; `next` groups the arcs by state.
  template <class Ends>
  void reach(std::uint8_t bit, std::span<const std::int32_t> from, Ends&& end) {
    heads_.assign(x_.size() + 1, 0);
    for (std::size_t a = 0; a < from.size(); ++a) ++heads_[at(from[a]) + 1];
    std::partial_sum(heads_.begin(), heads_.end(), heads_.begin());
    grouped_.resize(from.size());
    auto next = heads_;
    for (std::size_t a = 0; a < from.size(); ++a) grouped_[next[at(from[a])]++] = a;
    while (!stack_.empty()) {
      const std::size_t s = stack_.back();
      stack_.pop_back();
      for (std::size_t k = heads_[s]; k < heads_[s + 1]; ++k) {
        const std::size_t a = grouped_[k], t = at(end(a));
        if (is_zero(x_.weights[a]) || (useful_[t] & bit)) continue;
        useful_[t] |= bit;
        stack_.push_back(t);
      }
    }
  }

  void find_useful(std::int32_t start) {
    useful_.assign(x_.size(), 0);
    stack_.clear();
    if (start >= 0 && x_.size() > 0) {
      useful_[at(start)] = 1;
      stack_.push_back(at(start));
    }
    reach(1, x_.sources, [&](std::size_t a) { return x_.targets[a]; });
    for (std::size_t s = 0; s < x_.size(); ++s)
      if (!is_zero(x_.finals[s])) {
        useful_[s] |= 2;
        stack_.push_back(s);
      }
    reach(2, x_.targets, [&](std::size_t a) { return x_.sources[a]; });
  }

  // Topological order, the state with the lowest number first among those that may come: machines sorted already keep their order.
  bool sort_states() {
    waiting_.assign(x_.size(), 0);
    kept_.clear();
    for (std::size_t a = 0; a < x_.sources.size(); ++a)
      if (live(a)) {
        kept_.push_back(a);
        ++waiting_[at(x_.targets[a])];
      }
    heads_.assign(x_.size() + 1, 0);
    for (const std::size_t a : kept_) ++heads_[at(x_.sources[a]) + 1];
    std::partial_sum(heads_.begin(), heads_.end(), heads_.begin());
    grouped_.resize(kept_.size());
    auto next = heads_;
    for (const std::size_t a : kept_) grouped_[next[at(x_.sources[a])]++] = a;
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    std::size_t n_useful = 0;
    for (std::size_t s = 0; s < x_.size(); ++s) {
      n_useful += useful_[s] == 3;
      if (useful_[s] == 3 && waiting_[s] == 0) ready.push(s);
    }
    order_.clear();
    place_.assign(x_.size(), -1);
    while (!ready.empty()) {
      const std::size_t s = ready.top();
      ready.pop();
      place_[s] = static_cast<std::int32_t>(order_.size());
      order_.push_back(s);
      for (std::size_t k = heads_[s]; k < heads_[s + 1]; ++k)
        if (--waiting_[at(x_.targets[grouped_[k]])] == 0) ready.push(at(x_.targets[grouped_[k]]));
    }
    weights_.clear();
    finals_.clear();
    return order_.size() == n_useful;
  }

  // The arcs that are kept, by source, symbol and target.
  void sort_arcs() {
    const auto key = [&](std::size_t a) { return std::tuple(place_[at(x_.sources[a])], x_.symbols[a], place_[at(x_.targets[a])]); };
    std::stable_sort(kept_.begin(), kept_.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  }

  std::size_t source(std::size_t k) const { return at(place_[at(x_.sources[kept_[k]])]); }
  std::size_t target(std::size_t k) const { return at(place_[at(x_.targets[kept_[k]])]); }

  // The weights of the arcs and states that are kept, and the log of their total.
  double weigh() {
    for (const std::size_t a : kept_) weights_.push_back(x_.weights[a]);
    for (const std::size_t s : order_) finals_.push_back(x_.finals[s]);
    const double least = costs_ && normalize_ ? reduce_costs() : 0;
    if (in_range([&] { weigh(plain_); })) return store(plain_) - least;
    weigh(exact_);
    return store(exact_) - least;
  }

  // Costs c of an arc from s to t become c + V(t) - V(s), costs of a final state c - V(s), V the least cost of a path to the end: then no
  // cost is negative, and costs on the best path are 0 but for rounding, so that they lose no digit however large V becomes. Returns V of
  // the start.
  double reduce_costs() {
    std::vector<double>& least = plain_.beta;
    least.assign(finals_.begin(), finals_.end());
    for (std::size_t k = kept_.size(); k-- > 0;) least[source(k)] = std::min(least[source(k)], weights_[k] + least[target(k)]);
    for (std::size_t k = 0; k < kept_.size(); ++k) weights_[k] = sum_of_three(least[target(k)], -least[source(k)], weights_[k]);
    for (std::size_t s = 0; s < finals_.size(); ++s) finals_[s] -= least[s];
    return least[0];
  }

  // a + b + c, rounded about once. Knuth's exact sums.
  static double sum_of_three(double a, double b, double c) {
    const auto error = [](double x, double y, double sum) {
      const double of_y = sum - x;
      return (x - (sum - of_y)) + (y - of_y);
    };
    const double two = a + b, three = two + c;
    return three + (error(a, b, two) + error(two, c, three));
  }

  template <class W>
  struct Numbers {
    std::vector<W> weights, finals, beta;
  };
  static double exponential(double cost, double) { return std::exp(-cost); }
  static Scaled exponential(double cost, Scaled) {
    return cost > 0x1p50 ? Scaled() : Scaled::exponential(-cost);  // e^(-2^50) is lost beside any number of paths
  }
  static double value(double weight) { return weight; }
  static double value(const Scaled& weight) { return weight.value(); }

  // weights_ and finals_ as probabilities.
  template <class W>
  void weigh(Numbers<W>& numbers) {
    auto& [weights, finals, beta] = numbers;
    const auto probability = [&](double weight) { return costs_ ? exponential(weight, W()) : W(weight); };
    weights.resize(weights_.size());
    finals.resize(finals_.size());
    std::ranges::transform(weights_, weights.begin(), probability);
    std::ranges::transform(finals_, finals.begin(), probability);
    beta = finals;
    for (std::size_t k = kept_.size(); k-- > 0;) beta[source(k)] += weights[k] * beta[target(k)];  // by falling source: beta(t) is whole
    if (normalize_) {
      for (std::size_t k = 0; k < kept_.size(); ++k) weights[k] = weights[k] * beta[target(k)] / beta[source(k)];
      for (std::size_t s = 0; s < finals.size(); ++s) finals[s] /= beta[s];
    }
  }

  // The log of the total.
  template <class W>
  double store(const Numbers<W>& numbers) {
    using std::log;
    if (costs_ || normalize_) {
      std::ranges::transform(numbers.weights, weights_.begin(), [](const W& weight) { return value(weight); });
      std::ranges::transform(numbers.finals, finals_.begin(), [](const W& weight) { return value(weight); });
    }
    return log(numbers.beta[0]);
  }

  const RawLattices& raw_;
  bool normalize_, costs_ = false;
  Lattice x_;
  std::vector<std::uint8_t> useful_;  // bit 1: reached from the start, bit 2: reaches an end
  std::vector<std::size_t> stack_, heads_, grouped_, waiting_, order_, kept_;
  std::vector<std::int32_t> place_;  // of each state in the order
  std::vector<double> weights_, finals_;
  Numbers<double> plain_;
  Numbers<Scaled> exact_;
};

}  // namespace

BuiltLattices build_lattices(const RawLattices& raw, bool normalize, int threads) {
  const auto cuts = shares(raw.data, threads);
  std::vector<LatticeArrays> shares(cuts.size() - 1);
  std::vector<std::int64_t> cyclic(shares.size(), -1);
  std::vector<std::vector<std::int64_t>> cycles(shares.size());
  BuiltLattices built;
  built.log_totals.resize(raw.data.size());
  run_shares(static_cast<int>(shares.size()), [&](int p) {
    const auto share = static_cast<std::size_t>(p);
    LatticeBuilder builder(raw, normalize);
    for (std::size_t i = cuts[share]; i < cuts[share + 1]; ++i) {
      poll();
      if (!builder.build(i, shares[share], built.log_totals[i])) {
        cyclic[share] = static_cast<std::int64_t>(i);
        cycles[share] = builder.cycle();
        return;
      }
    }
  });
  for (std::size_t p = 0; p < shares.size(); ++p)
    if (cyclic[p] >= 0) {
      built.cyclic = cyclic[p];
      built.cycle = cycles[p];
      return built;
    }
  built.lattices = LatticeArrays::joined(shares);
  return built;
}

}  // namespace treille
