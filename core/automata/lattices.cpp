#include "automata/lattices.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>

#include "automata/semiring.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

template <class T>
void extend(Array<T>& to, const Array<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// Offsets of groups: after counting the members of each group k in heads[k + 1], where each group begins.
void sum_up(std::vector<std::size_t>& heads) { std::partial_sum(heads.begin(), heads.end(), heads.begin()); }

LatticeArrays joined(std::vector<LatticeArrays>& parts) {
  LatticeArrays all = std::move(parts[0]);
  for (std::size_t p = 1; p < parts.size(); ++p) all.append(parts[p]);
  return all;
}

// Brings one machine after another into form. Letters: beta(s) = sum of the weights of paths from s to the end.
class Builder {
 public:
  Builder(const RawLattices& raw, bool normalize) : raw_(raw), normalize_(normalize) {}

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

  // One cycle of the machine that was found to have one: arcs of that machine, in order.
  std::vector<std::int64_t> cycle() const {
    // Every state that could not be sorted has an arc from another such state: going back, one state is met again.
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
    sum_up(heads_);
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
    sum_up(heads_);
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

  // The arcs that stay, by source, symbol and target.
  void sort_arcs() {
    const auto key = [&](std::size_t a) { return std::tuple(place_[at(x_.sources[a])], x_.symbols[a], place_[at(x_.targets[a])]); };
    std::stable_sort(kept_.begin(), kept_.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  }

  // Weights of what stays; the log of their total.
  double weigh() {
    for (const std::size_t a : kept_) weights_.push_back(x_.weights[a]);
    for (const std::size_t s : order_) finals_.push_back(x_.finals[s]);
    if (costs_ && !normalize_) {
      for (double& w : weights_) w = std::exp(-w);
      for (double& w : finals_) w = std::exp(-w);
    }
    if (costs_ && normalize_) return push<Log>([](double w) { return std::exp(-w); });
    beta<Real>();
    if (!normalize_) return std::log(beta_[0]);
    if (std::all_of(beta_.begin(), beta_.end(), [](double b) { return std::isnormal(b); })) return push<Real>([](double w) { return w; });
    for (double& w : weights_) w = -std::log(w);
    for (double& w : finals_) w = -std::log(w);
    return push<Log>([](double w) { return std::exp(-w); });
  }

  template <class Semiring>
  void beta() {
    beta_.assign(finals_.begin(), finals_.end());
    for (std::size_t k = kept_.size(); k-- > 0;) {  // by falling source: the target's sum is whole
      const std::size_t s = at(place_[at(x_.sources[kept_[k]])]), t = at(place_[at(x_.targets[kept_[k]])]);
      beta_[s] = Semiring::plus(beta_[s], Semiring::times(weights_[k], beta_[t]));
    }
  }

  template <class Semiring, class Probability>
  double push(Probability&& probability) {
    beta<Semiring>();
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      const std::size_t s = at(place_[at(x_.sources[kept_[k]])]), t = at(place_[at(x_.targets[kept_[k]])]);
      weights_[k] = probability(Semiring::divide(Semiring::times(weights_[k], beta_[t]), beta_[s]));
    }
    for (std::size_t s = 0; s < finals_.size(); ++s) finals_[s] = probability(Semiring::divide(finals_[s], beta_[s]));
    return std::is_same_v<Semiring, Log> ? -beta_[0] : std::log(beta_[0]);
  }

  const RawLattices& raw_;
  bool normalize_, costs_ = false;
  Lattice x_;
  std::vector<std::uint8_t> useful_;  // bit 1: reached from the start, bit 2: reaches an end
  std::vector<std::size_t> stack_, heads_, grouped_, waiting_, order_, kept_;
  std::vector<std::int32_t> place_;  // of each state in the order
  std::vector<double> weights_, finals_, beta_;
};

double log_of(double weight) { return weight > 0 ? std::log(weight) : -std::numeric_limits<double>::infinity(); }

// heaviest[s]: the log weight of the heaviest path from s to the end; choice[s]: its first arc, -1 where it ends at s.
void viterbi(const Lattice& x, std::vector<double>& heaviest, std::vector<std::int64_t>& choice) {
  heaviest.resize(x.size());
  choice.assign(x.size(), -1);
  for (std::size_t s = 0; s < x.size(); ++s) heaviest[s] = log_of(x.finals[s]);
  for (std::size_t a = x.sources.size(); a-- > 0;) {
    const auto s = static_cast<std::size_t>(x.sources[a]);
    const double weight = log_of(x.weights[a]) + heaviest[static_cast<std::size_t>(x.targets[a])];
    if (weight > heaviest[s] || (weight == heaviest[s] && choice[s] >= 0)) {
      heaviest[s] = weight;
      choice[s] = static_cast<std::int64_t>(a);
    }
  }
}

template <class Use>
void along_best(const Lattice& x, std::vector<double>& heaviest, std::vector<std::int64_t>& choice, Use&& use) {
  if (x.size() == 0) return;
  viterbi(x, heaviest, choice);
  for (std::size_t s = 0; choice[s] >= 0;) {
    const auto a = static_cast<std::size_t>(choice[s]);
    use(a);
    s = static_cast<std::size_t>(x.targets[a]);
  }
}

}  // namespace

void LatticeArrays::append(const LatticeArrays& other) {
  const std::int64_t first_state = states.back(), first_arc = arcs.back();
  for (std::size_t i = 1; i < other.states.size(); ++i) states.push_back(first_state + other.states[i]);
  for (std::size_t i = 1; i < other.arcs.size(); ++i) arcs.push_back(first_arc + other.arcs[i]);
  extend(sources, other.sources);
  extend(symbols, other.symbols);
  extend(targets, other.targets);
  extend(weights, other.weights);
  extend(finals, other.finals);
}

std::vector<std::size_t> shares(const Lattices& data, int threads) {
  const std::int64_t useful = 1 + (data.arcs.back() - data.arcs.front()) / 5000;
  return balanced_cuts(data.arcs, static_cast<int>(std::min<std::int64_t>(threads, useful)));
}

BuiltLattices build_lattices(const RawLattices& raw, bool normalize, int threads) {
  const auto cuts = shares(raw.data, threads);
  std::vector<LatticeArrays> parts(cuts.size() - 1);
  std::vector<std::int64_t> cyclic(parts.size(), -1);
  std::vector<std::vector<std::int64_t>> cycles(parts.size());
  BuiltLattices built;
  built.log_totals.resize(raw.data.size());
  run_parts(static_cast<int>(parts.size()), [&](int p) {
    const auto part = static_cast<std::size_t>(p);
    Builder builder(raw, normalize);
    for (std::size_t i = cuts[part]; i < cuts[part + 1]; ++i)
      if (!builder.build(i, parts[part], built.log_totals[i])) {
        cyclic[part] = static_cast<std::int64_t>(i);
        cycles[part] = builder.cycle();
        return;
      }
  });
  for (std::size_t p = 0; p < parts.size(); ++p)
    if (cyclic[p] >= 0) {
      built.cyclic = cyclic[p];
      built.cycle = cycles[p];
      return built;
    }
  built.lattices = joined(parts);
  return built;
}

void forward_weights(const Lattice& x, std::vector<double>& forward) {
  forward.assign(x.size(), 0);
  if (x.size() > 0) forward[0] = 1;
  for (std::size_t a = 0; a < x.sources.size(); ++a)
    forward[static_cast<std::size_t>(x.targets[a])] += forward[static_cast<std::size_t>(x.sources[a])] * x.weights[a];
}

void backward_weights(const Lattice& x, std::vector<double>& backward) {
  backward.assign(x.finals.begin(), x.finals.end());
  for (std::size_t a = x.sources.size(); a-- > 0;)
    backward[static_cast<std::size_t>(x.sources[a])] += x.weights[a] * backward[static_cast<std::size_t>(x.targets[a])];
}

std::pair<Array<std::int64_t>, std::vector<std::int64_t>> best_paths(const Lattices& data, int threads) {
  const auto cuts = shares(data, threads);
  std::vector<Array<std::int64_t>> parts(cuts.size() - 1);
  std::vector<std::int64_t> offsets(data.size() + 1, 0);
  run_parts(static_cast<int>(parts.size()), [&](int p) {
    const auto part = static_cast<std::size_t>(p);
    std::vector<double> heaviest;
    std::vector<std::int64_t> choice;
    for (std::size_t i = cuts[part]; i < cuts[part + 1]; ++i) {
      const std::size_t before = parts[part].size();
      along_best(data[i], heaviest, choice, [&](std::size_t a) { parts[part].push_back(data.arcs[i] + static_cast<std::int64_t>(a)); });
      offsets[i + 1] = static_cast<std::int64_t>(parts[part].size() - before);
    }
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  for (std::size_t p = 1; p < parts.size(); ++p) extend(parts[0], parts[p]);
  return {std::move(parts[0]), std::move(offsets)};
}

PathList n_best_paths(const Lattice& x, std::size_t n) {
  PathList list;
  if (x.size() == 0) return list;
  std::vector<double> heaviest;
  std::vector<std::int64_t> choice;
  viterbi(x, heaviest, choice);
  std::vector<std::size_t> heads(x.size() + 1, 0);
  for (const std::int32_t s : x.sources) ++heads[static_cast<std::size_t>(s) + 1];
  sum_up(heads);
  struct Step {  // a path from the start: its last arc, and the step before
    std::int64_t arc, before;
    double log_weight;
    std::size_t state;
    bool done;
  };
  std::vector<Step> steps{{-1, -1, 0.0, 0, false}};
  using Waiting = std::pair<double, std::int64_t>;  // the weight of the best whole path through it; first come, first served among equals
  const auto later = [](const Waiting& a, const Waiting& b) { return a.first != b.first ? a.first < b.first : a.second > b.second; };
  std::priority_queue<Waiting, std::vector<Waiting>, decltype(later)> queue(later);
  const auto add = [&](Step step, double whole) {
    if (whole == -std::numeric_limits<double>::infinity()) return;
    queue.emplace(whole, static_cast<std::int64_t>(steps.size()));
    steps.push_back(step);
  };
  queue.emplace(heaviest[0], 0);
  while (!queue.empty() && list.weights.size() < n) {
    const std::int64_t now = queue.top().second;
    queue.pop();
    const Step step = steps[static_cast<std::size_t>(now)];
    if (step.done) {
      std::vector<std::int64_t> path;
      for (std::int64_t k = step.before; k > 0; k = steps[static_cast<std::size_t>(k)].before)
        path.push_back(steps[static_cast<std::size_t>(k)].arc);
      list.arcs.insert(list.arcs.end(), path.rbegin(), path.rend());
      list.offsets.push_back(static_cast<std::int64_t>(list.arcs.size()));
      list.weights.push_back(std::exp(step.log_weight));
      continue;
    }
    const double ended = step.log_weight + log_of(x.finals[step.state]);
    add({-1, now, ended, step.state, true}, ended);
    for (std::size_t a = heads[step.state]; a < heads[step.state + 1]; ++a) {
      const auto target = static_cast<std::size_t>(x.targets[a]);
      const double weight = step.log_weight + log_of(x.weights[a]);
      add({static_cast<std::int64_t>(a), now, weight, target, false}, weight + heaviest[target]);
    }
  }
  return list;
}

Array<double> pruned_weights(const Lattices& data, double least, int threads) {
  Array<double> weights(data.weights.begin(), data.weights.end());
  const auto cuts = shares(data, threads);
  run_parts(static_cast<int>(cuts.size()) - 1, [&](int p) {
    std::vector<double> forward, backward, heaviest;
    std::vector<std::int64_t> choice;
    std::vector<char> stays;
    for (std::size_t i = cuts[static_cast<std::size_t>(p)]; i < cuts[static_cast<std::size_t>(p) + 1]; ++i) {
      const Lattice x = data[i];
      if (x.size() == 0) continue;
      forward_weights(x, forward);
      backward_weights(x, backward);
      stays.assign(x.sources.size(), 0);
      along_best(x, heaviest, choice, [&](std::size_t a) { stays[a] = 1; });
      for (std::size_t a = 0; a < stays.size(); ++a) {
        const double through =
            forward[static_cast<std::size_t>(x.sources[a])] * x.weights[a] * backward[static_cast<std::size_t>(x.targets[a])];
        if (!stays[a] && through < least * backward[0]) weights[static_cast<std::size_t>(data.arcs[i]) + a] = 0;
      }
    }
  });
  return weights;
}

namespace {

// An arc of one lattice, or (symbol unused) a state reached by the empty string.
struct Step {
  std::int32_t symbol, target;
  double weight;
};

void add_up(std::vector<Step>& steps) {
  const auto key = [](const Step& s) { return std::pair(s.symbol, s.target); };
  std::stable_sort(steps.begin(), steps.end(), [&](const Step& a, const Step& b) { return key(a) < key(b); });
  std::size_t n = 0;
  for (const Step& step : steps)
    if (n > 0 && key(steps[n - 1]) == key(step))
      steps[n - 1].weight += step.weight;
    else
      steps[n++] = step;
  steps.resize(n);
}

// Arcs and final weights of every state, those of the states it reaches by the empty string added to its own.
void close_states(const Lattice& x, LatticeArrays& out) {
  const std::size_t n = x.size();
  std::vector<std::size_t> heads(n + 1, 0);
  for (const std::int32_t s : x.sources) ++heads[static_cast<std::size_t>(s) + 1];
  sum_up(heads);
  std::vector<std::vector<Step>> reached(n), arcs(n);
  std::vector<double> finals(n);
  for (std::size_t s = n; s-- > 0;) {
    reached[s].push_back({kNoSymbol, static_cast<std::int32_t>(s), 1.0});
    for (std::size_t a = heads[s]; a < heads[s + 1]; ++a)
      if (x.symbols[a] == kNoSymbol)
        for (const Step& step : reached[static_cast<std::size_t>(x.targets[a])])
          reached[s].push_back({kNoSymbol, step.target, x.weights[a] * step.weight});
    add_up(reached[s]);
    for (const Step& step : reached[s]) {
      const auto t = static_cast<std::size_t>(step.target);
      finals[s] += step.weight * x.finals[t];
      for (std::size_t a = heads[t]; a < heads[t + 1]; ++a)
        if (x.symbols[a] != kNoSymbol) arcs[s].push_back({x.symbols[a], x.targets[a], step.weight * x.weights[a]});
    }
    add_up(arcs[s]);
  }
  for (std::size_t s = 0; s < n; ++s)
    for (const Step& arc : arcs[s]) {
      out.sources.push_back(static_cast<std::int32_t>(s));
      out.symbols.push_back(arc.symbol);
      out.targets.push_back(arc.target);
      out.weights.push_back(arc.weight);
    }
  out.finals.insert(out.finals.end(), finals.begin(), finals.end());
  out.states.push_back(static_cast<std::int64_t>(out.finals.size()));
  out.arcs.push_back(static_cast<std::int64_t>(out.weights.size()));
}

}  // namespace

LatticeArrays without_epsilon(const Lattices& data, int threads) {
  const auto cuts = shares(data, threads);
  std::vector<LatticeArrays> parts(cuts.size() - 1);
  run_parts(static_cast<int>(parts.size()), [&](int p) {
    for (std::size_t i = cuts[static_cast<std::size_t>(p)]; i < cuts[static_cast<std::size_t>(p) + 1]; ++i)
      close_states(data[i], parts[static_cast<std::size_t>(p)]);
  });
  const LatticeArrays closed = joined(parts);
  const std::vector<std::int32_t> starts(data.size(), 0);
  const std::vector<std::uint8_t> costs(data.size(), 0);
  return build_lattices({closed.view(), starts, costs}, false, threads).lattices;  // states reached by the empty string alone go
}

}  // namespace treille
