#include "automata/lattices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>

#include "automata/algorithms.hpp"
#include "automata/assembly.hpp"
#include "automata/in_range.hpp"
#include "automata/semiring.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

template <class T>
void extend(Array<T>& to, const Array<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

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

LatticeArrays LatticeArrays::joined(std::vector<LatticeArrays>& shares) {
  LatticeArrays all = std::move(shares[0]);
  for (std::size_t p = 1; p < shares.size(); ++p) all.append(shares[p]);
  return all;
}

std::vector<std::size_t> shares(const Lattices& data, int threads) {
  const std::int64_t useful = 1 + (data.arcs.back() - data.arcs.front()) / 5000;
  return balanced_cuts(data.arcs, static_cast<int>(std::min<std::int64_t>(threads, useful)));
}

std::vector<std::size_t> arc_heads(const Lattice& x) {
  std::vector<std::size_t> heads(x.size() + 1, 0);
  for (const std::int32_t s : x.sources) ++heads[static_cast<std::size_t>(s) + 1];
  std::partial_sum(heads.begin(), heads.end(), heads.begin());
  return heads;
}

std::pair<Array<std::int64_t>, std::vector<std::int64_t>> best_paths(const Lattices& data, int threads) {
  const auto cuts = shares(data, threads);
  std::vector<Array<std::int64_t>> shares(cuts.size() - 1);
  std::vector<std::int64_t> offsets(data.size() + 1, 0);
  run_shares(static_cast<int>(shares.size()), [&](int p) {
    const auto share = static_cast<std::size_t>(p);
    std::vector<double> heaviest;
    std::vector<std::int64_t> choice;
    for (std::size_t i = cuts[share]; i < cuts[share + 1]; ++i) {
      poll();
      const std::size_t before = shares[share].size();
      along_best(data[i], heaviest, choice, [&](std::size_t a) { shares[share].push_back(data.arcs[i] + static_cast<std::int64_t>(a)); });
      offsets[i + 1] = static_cast<std::int64_t>(shares[share].size() - before);
    }
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  for (std::size_t p = 1; p < shares.size(); ++p) extend(shares[0], shares[p]);
  return {std::move(shares[0]), std::move(offsets)};
}

PathList n_best_paths(const Lattice& x, std::size_t n) {
  PathList list;
  if (x.size() == 0) return list;
  std::vector<double> heaviest;
  std::vector<std::int64_t> choice;
  viterbi(x, heaviest, choice);
  const auto heads = arc_heads(x);
  struct Step {  // a path from the start: its last arc, and the step before
    std::int64_t arc, before;
    double log_weight;
    std::size_t state;
    bool done;
  };
  std::vector<Step> steps{{-1, -1, 0.0, 0, false}};
  using Waiting = std::pair<double, std::int64_t>;  // the weight of the best complete path through it; the first among equals
  const auto later = [](const Waiting& a, const Waiting& b) { return a.first != b.first ? a.first < b.first : a.second > b.second; };
  std::priority_queue<Waiting, std::vector<Waiting>, decltype(later)> queue(later);
  const auto add = [&](Step step, double whole) {
    if (whole == -std::numeric_limits<double>::infinity()) return;
    queue.emplace(whole, static_cast<std::int64_t>(steps.size()));
    steps.push_back(step);
  };
  queue.emplace(heaviest[0], 0);
  while (!queue.empty() && list.weights.size() < n) {
    poll();
    const std::int64_t now = queue.top().second;
    queue.pop();
    const Step step = steps[static_cast<std::size_t>(now)];
    if (step.done) {
      std::vector<std::int64_t> path;
      for (std::int64_t k = step.before; k > 0; k = steps[static_cast<std::size_t>(k)].before)
        path.push_back(steps[static_cast<std::size_t>(k)].arc);
      list.arcs.insert(list.arcs.end(), path.rbegin(), path.rend());
      list.offsets.push_back(static_cast<std::int64_t>(list.arcs.size()));
      Scaled weight = x.finals[step.state];
      for (const std::int64_t a : path) weight = weight * x.weights[static_cast<std::size_t>(a)];
      list.weights.push_back(representable(weight, "the weight of a path"));
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

namespace {

// Sets stays[a] for the arcs a that carry at least the share `least` of the total.
template <class W>
void mark_heavy(const Lattice& x, double least, std::vector<char>& stays) {
  std::vector<W> forward, backward;
  forward_weights(x, forward);
  backward_weights(x, backward);
  const W bound = least * backward[0];
  for (std::size_t a = 0; a < stays.size(); ++a) {
    const W through = forward[static_cast<std::size_t>(x.sources[a])] * x.weights[a] * backward[static_cast<std::size_t>(x.targets[a])];
    stays[a] = !(through < bound);
  }
}

}  // namespace

Array<double> pruned_weights(const Lattices& data, double least, int threads) {
  Array<double> weights(data.weights.begin(), data.weights.end());
  const auto cuts = shares(data, threads);
  run_shares(static_cast<int>(cuts.size()) - 1, [&](int p) {
    std::vector<double> heaviest;
    std::vector<std::int64_t> choice;
    std::vector<char> stays;
    for (std::size_t i = cuts[static_cast<std::size_t>(p)]; i < cuts[static_cast<std::size_t>(p) + 1]; ++i) {
      poll();
      const Lattice x = data[i];
      if (x.size() == 0) continue;
      stays.assign(x.sources.size(), 0);
      if (!in_range([&] { mark_heavy<double>(x, least, stays); })) mark_heavy<Scaled>(x, least, stays);
      along_best(x, heaviest, choice, [&](std::size_t a) { stays[a] = 1; });
      for (std::size_t a = 0; a < stays.size(); ++a)
        if (!stays[a]) weights[static_cast<std::size_t>(data.arcs[i]) + a] = 0;
    }
  });
  return weights;
}

LatticeArrays without_epsilon(const Lattices& data, int threads) {
  const auto cuts = shares(data, threads);
  std::vector<LatticeArrays> shares(cuts.size() - 1);
  run_shares(static_cast<int>(shares.size()), [&](int p) {
    LatticeArrays& out = shares[static_cast<std::size_t>(p)];
    for (std::size_t i = cuts[static_cast<std::size_t>(p)]; i < cuts[static_cast<std::size_t>(p) + 1]; ++i) {
      poll();
      const Lattice x = data[i];
      const auto arc = [&](std::size_t a) {  // the label of kNoSymbol is kEpsilon
        return LabelledArc{x.sources[a], {x.symbols[a] + 1, x.symbols[a] + 1, x.targets[a], x.weights[a]}};
      };
      const Machine plain = remove_epsilon<Real>(build_machine(x.size() == 0 ? kNoState : 0, x.sources.size(), arc, x.finals));
      for (State s = 0; s < plain.size(); ++s)
        for (const Arc& arc : plain.arcs(s)) {
          out.sources.push_back(s);
          out.symbols.push_back(arc.input - 1);
          out.targets.push_back(arc.target);
          out.weights.push_back(arc.weight);
        }
      out.finals.insert(out.finals.end(), plain.finals().begin(), plain.finals().end());
      out.states.push_back(static_cast<std::int64_t>(out.finals.size()));
      out.arcs.push_back(static_cast<std::int64_t>(out.weights.size()));
    }
  });
  return LatticeArrays::joined(shares);
}

}  // namespace treille
