#include "automata/rational.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "automata/components.hpp"
#include "features/dictionary_fit.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

bool reads_nothing(const Arc& arc) { return arc.input == kEpsilon && arc.weight != 0; }
bool does_nothing(const Arc& arc) { return reads_nothing(arc) && arc.output == kEpsilon; }

std::span<const Arc> reading(const Machine& T, State s, Label label) {
  const auto arcs = T.arcs(s);
  const auto [first, last] =
      std::equal_range(arcs.begin(), arcs.end(), Arc{label, 0, 0, 0}, [](const Arc& a, const Arc& b) { return a.input < b.input; });
  return {first, last};
}

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

// phi(X) of one lattice after another.
class Propagator {
 public:
  Propagator(const Machine& T, std::span<const State> order) : T_(T), order_(order) {}

  // Calls sink(node of trie(), value) for every string of which the value is not 0, by where it is first found.
  template <class Sink>
  void features(const Lattice& x, std::span<const std::int32_t> recode, Sink&& sink) {
    trie_.clear();
    values_.assign(1, 0);
    is_found_.assign(1, 0);
    found_.clear();
    if (x.size() == 0 || T_.start() == kNoState) return;
    x_ = x;
    recode_ = recode;
    heads_ = arc_heads(x);
    find_pairs();
    if (!live(pair(0, T_.start()))) return;
    waiting_.resize(x.size() * width());
    waiting_[pair(0, T_.start())].push_back({0, 1.0});
    for (std::size_t q = 0; q < x.size(); ++q)
      for (const State p : order_)
        if (live(pair(q, p))) leave(q, p);
    for (const std::uint32_t node : found_)
      if (values_[node] != 0) sink(node, values_[node]);
  }

  const InternedStrings& trie() const { return trie_; }

 private:
  struct Waiting {
    std::uint32_t string;
    double value;
  };
  static constexpr std::uint8_t kReached = 1, kAccepts = 2, kWrites = 4;  // kWrites: some way to the end has output

  std::size_t width() const { return at(T_.size()); }
  std::size_t pair(std::size_t q, State p) const { return q * width() + at(p); }
  bool live(std::size_t pair) const { return (marks_[pair] & (kReached | kAccepts)) == (kReached | kAccepts); }

  // Calls use(pair it leads to, output, weight) for every transition of a pair.
  template <class Use>
  void transitions(std::size_t q, State p, Use&& use) const {
    for (const Arc& arc : reading(T_, p, kEpsilon))
      if (arc.weight != 0) use(pair(q, arc.target), arc.output, arc.weight);
    for (std::size_t a = heads_[q]; a < heads_[q + 1]; ++a) {
      const Label label = recode_[at(x_.symbols[a])];
      if (label == kEpsilon) continue;
      for (const Arc& arc : reading(T_, p, label))
        if (arc.weight != 0) use(pair(at(x_.targets[a]), arc.target), arc.output, x_.weights[a] * arc.weight);
    }
  }

  // Which pairs are reached, which accept, which may still write; and the weight of all ways to the end.
  void find_pairs() {
    marks_.assign(x_.size() * width(), 0);
    rest_.assign(x_.size() * width(), 0);
    marks_[pair(0, T_.start())] = kReached;
    for (std::size_t q = 0; q < x_.size(); ++q)
      for (const State p : order_)
        if (marks_[pair(q, p)]) transitions(q, p, [&](std::size_t next, Label, double) { marks_[next] |= kReached; });
    for (std::size_t q = x_.size(); q-- > 0;)
      for (std::size_t k = order_.size(); k-- > 0;) {
        const State p = order_[k];
        const std::size_t here = pair(q, p);
        if (!marks_[here]) continue;
        rest_[here] = x_.finals[q] * T_.final_weight(p);
        if (rest_[here] != 0) marks_[here] |= kAccepts;
        transitions(q, p, [&](std::size_t next, Label output, double weight) {
          if (!live(next)) return;
          rest_[here] += weight * rest_[next];
          marks_[here] |= kAccepts | (marks_[next] & kWrites) | (output != kEpsilon ? kWrites : 0);
        });
      }
  }

  void leave(std::size_t q, State p) {
    const std::size_t here = pair(q, p);
    auto& waiting = waiting_[here];
    add_up(waiting);
    if (!(marks_[here] & kWrites)) {
      for (const Waiting& w : waiting) accept(w.string, w.value * rest_[here]);
    } else {
      const double last = x_.finals[q] * T_.final_weight(p);
      if (last != 0)
        for (const Waiting& w : waiting) accept(w.string, w.value * last);
      transitions(q, p, [&](std::size_t next, Label output, double weight) {
        if (!live(next)) return;
        for (const Waiting& w : waiting)
          waiting_[next].push_back({output == kEpsilon ? w.string : trie_.child(w.string, output), w.value * weight});
      });
    }
    waiting.clear();
  }

  void accept(std::uint32_t string, double value) {
    if (string >= values_.size()) {
      values_.resize(trie_.size(), 0);
      is_found_.resize(trie_.size(), 0);
    }
    if (!std::exchange(is_found_[string], 1)) found_.push_back(string);
    values_[string] += value;
  }

  static void add_up(std::vector<Waiting>& here) {
    if (here.size() < 2) return;
    std::stable_sort(here.begin(), here.end(), [](const Waiting& a, const Waiting& b) { return a.string < b.string; });
    std::size_t n = 0;
    for (const Waiting& w : here)
      if (n > 0 && here[n - 1].string == w.string)
        here[n - 1].value += w.value;
      else
        here[n++] = w;
    here.resize(n);
  }

  const Machine& T_;
  std::span<const State> order_;
  Lattice x_;
  std::span<const std::int32_t> recode_;
  std::vector<std::size_t> heads_;
  std::vector<std::uint8_t> marks_;
  std::vector<double> rest_, values_;
  std::vector<char> is_found_;
  std::vector<std::uint32_t> found_;
  std::vector<std::vector<Waiting>> waiting_;  // by pair
  InternedStrings trie_;
};

// Features of one part of the data: strings by first occurrence, and in how many lattices each stands.
struct Found {
  InternedStrings trie;
  std::vector<std::uint32_t> nodes, ids;
  Array<std::uint32_t> examples;

  std::uint32_t insert(std::span<const std::int32_t> labels) {
    std::uint32_t node = 0;
    for (const std::int32_t label : labels) node = trie.child(node, label);
    ids.resize(trie.size(), InternedStrings::kAbsent);
    if (ids[node] == InternedStrings::kAbsent) {
      ids[node] = static_cast<std::uint32_t>(nodes.size());
      nodes.push_back(node);
      examples.push_back(0);
    }
    return ids[node];
  }
};

template <class Resolve>
void scan(Propagator& propagator, const Lattices& data, std::span<const std::int32_t> recode, std::size_t first, std::size_t last,
          Resolve&& resolve, RowPart& part, double* sq_norms) {
  std::vector<std::int32_t> labels;
  for (std::size_t i = first; i < last; ++i) {
    sq_norms[i] = 0;
    propagator.features(data[i], recode, [&](std::uint32_t node, double value) {
      propagator.trie().spell(node, labels);
      sq_norms[i] += value * value;
      const std::uint32_t id = resolve(labels);
      if (id != InternedStrings::kAbsent) part.add(id, value);
    });
    part.end_row();
  }
}

// D(X o U o Y): what waits at a state of X, a state of U and a state of Y, pushed forward. In (q, r, u) arcs of U lead to a later q, to a
// later r, or, reading and writing nothing, to a later u in `order`.
double value_of(const Machine& U, std::span<const State> order, const Lattice& x, std::span<const std::int32_t> recode_x, const Lattice& y,
                std::span<const std::int32_t> recode_y, std::vector<double>& cells) {
  if (x.size() == 0 || y.size() == 0 || U.start() == kNoState) return 0;
  const auto heads_x = arc_heads(x), heads_y = arc_heads(y);
  const auto width = at(U.size());
  const auto cell = [&](std::size_t q, std::size_t r, State u) { return (q * y.size() + r) * width + at(u); };
  cells.assign(x.size() * y.size() * width, 0);
  cells[cell(0, 0, U.start())] = 1;
  double sum = 0;
  for (std::size_t q = 0; q < x.size(); ++q)
    for (std::size_t r = 0; r < y.size(); ++r)
      for (const State u : order) {
        const double value = cells[cell(q, r, u)];
        if (value == 0) continue;
        sum += value * x.finals[q] * y.finals[r] * U.final_weight(u);
        const auto step = [&](const Arc& arc, std::size_t q_next, double weight) {
          if (arc.output == kEpsilon) {
            cells[cell(q_next, r, arc.target)] += value * weight * arc.weight;
            return;
          }
          for (std::size_t b = heads_y[r]; b < heads_y[r + 1]; ++b)
            if (recode_y[at(y.symbols[b])] == arc.output)
              cells[cell(q_next, at(y.targets[b]), arc.target)] += value * weight * arc.weight * y.weights[b];
        };
        for (const Arc& arc : reading(U, u, kEpsilon)) step(arc, q, 1.0);
        for (std::size_t a = heads_x[q]; a < heads_x[q + 1]; ++a) {
          const Label label = recode_x[at(x.symbols[a])];
          if (label == kEpsilon) continue;
          for (const Arc& arc : reading(U, u, label)) step(arc, at(x.targets[a]), x.weights[a]);
        }
      }
  return sum;
}

}  // namespace

std::vector<LabelledArc> epsilon_cycle(const Machine& T, bool writing) {
  const auto follows = writing ? reads_nothing : does_nothing;
  const auto states = find_cycle(T, follows);
  std::vector<LabelledArc> cycle;
  for (std::size_t k = 0; k < states.size(); ++k) {
    const State next = states[(k + 1) % states.size()];
    const auto leads_on = [&](const Arc& arc) { return follows(arc) && arc.target == next; };
    cycle.push_back({states[k], *std::ranges::find_if(T.arcs(states[k]), leads_on)});
  }
  return cycle;
}

RationalFeatures RationalFeatures::fit(const Machine& T, const Lattices& data, std::span<const std::int32_t> recode, int threads,
                                       RowsWithNorms& rows) {
  const Components components(T, reads_nothing);
  const auto cuts = shares(data, threads);
  std::vector<RowPart> parts(cuts.size() - 1);
  std::vector<Found> found(parts.size());
  rows.sq_norms.resize(data.size());
  run_parts(static_cast<int>(parts.size()), [&](int p) {
    Propagator propagator(T, components.order());
    Found& mine = found[at(p)];
    scan(
        propagator, data, recode, cuts[at(p)], cuts[at(p) + 1],
        [&](const std::vector<std::int32_t>& labels) {
          const std::uint32_t id = mine.insert(labels);
          ++mine.examples[id];
          return id;
        },
        parts[at(p)], rows.sq_norms.data());
  });
  // Parts are merged from the first to the last, so that ids go by first occurrence whatever the number of parts.
  std::vector<Array<std::uint32_t>> renamed(found.size());
  Found& all = found[0];
  std::vector<std::int32_t> labels;
  for (std::size_t p = 1; p < found.size(); ++p)
    for (std::size_t id = 0; id < found[p].nodes.size(); ++id) {
      found[p].trie.spell(found[p].nodes[id], labels);
      renamed[p].push_back(all.insert(labels));
      all.examples[renamed[p].back()] += found[p].examples[id];
    }
  const auto rank = by_falling_frequency(all.examples);
  for (std::size_t p = 1; p < found.size(); ++p)
    for (std::uint32_t& id : renamed[p]) id = rank[id];
  renamed[0] = rank;
  RationalFeatures features;
  features.nodes_.resize(all.nodes.size());
  for (std::size_t id = 0; id < all.nodes.size(); ++id) features.nodes_[rank[id]] = all.nodes[id];
  features.trie_ = std::move(all.trie);
  features.ids_.assign(features.trie_.size(), InternedStrings::kAbsent);
  for (std::uint32_t id = 0; id < features.nodes_.size(); ++id) features.ids_[features.nodes_[id]] = id;
  rows.entries = join_parts(std::move(parts), {renamed.begin(), renamed.end()}, features.size());
  return features;
}

RationalFeatures RationalFeatures::from_strings(std::span<const std::int32_t> labels, std::span<const std::int64_t> offsets) {
  Found all;
  for (std::size_t id = 0; id + 1 < offsets.size(); ++id)
    if (all.insert(labels.subspan(at(offsets[id]), at(offsets[id + 1] - offsets[id]))) != id)
      throw std::invalid_argument("the same string stands twice among the features");
  RationalFeatures features;
  features.trie_ = std::move(all.trie);
  features.nodes_ = std::move(all.nodes);
  features.ids_ = std::move(all.ids);
  features.ids_.resize(features.trie_.size(), InternedStrings::kAbsent);
  return features;
}

RowsWithNorms RationalFeatures::transform(const Machine& T, const Lattices& data, std::span<const std::int32_t> recode, int threads) const {
  const Components components(T, reads_nothing);
  const auto cuts = shares(data, threads);
  std::vector<RowPart> parts(cuts.size() - 1);
  RowsWithNorms rows;
  rows.sq_norms.resize(data.size());
  run_parts(static_cast<int>(parts.size()), [&](int p) {
    Propagator propagator(T, components.order());
    scan(
        propagator, data, recode, cuts[at(p)], cuts[at(p) + 1],
        [&](const std::vector<std::int32_t>& labels) {
          std::uint32_t node = 0;
          for (const std::int32_t label : labels)
            if (node != InternedStrings::kAbsent) node = trie_.find_child(node, label);
          return node == InternedStrings::kAbsent ? node : ids_[node];
        },
        parts[at(p)], rows.sq_norms.data());
  });
  rows.entries = join_parts(std::move(parts), {}, size());
  return rows;
}

std::vector<std::int32_t> RationalFeatures::string(std::uint32_t id) const {
  std::vector<std::int32_t> labels;
  trie_.spell(nodes_[id], labels);
  return labels;
}

std::pair<std::vector<std::int32_t>, std::vector<std::int64_t>> RationalFeatures::strings() const {
  std::pair<std::vector<std::int32_t>, std::vector<std::int64_t>> all{{}, {0}};
  std::vector<std::int32_t> labels;
  for (const std::uint32_t node : nodes_) {
    trie_.spell(node, labels);
    all.first.insert(all.first.end(), labels.begin(), labels.end());
    all.second.push_back(static_cast<std::int64_t>(all.first.size()));
  }
  return all;
}

std::vector<double> rational_gram(const Machine& U, const LabelledLattices& left, const LabelledLattices& right, int threads) {
  const Components components(U, does_nothing);
  const std::size_t n = left.data.size(), m = right.data.size();
  std::vector<double> K(n * m);
  run_in_turns(n, threads, [&](std::size_t i) {
    std::vector<double> cells;
    for (std::size_t j = 0; j < m; ++j)
      K[i * m + j] = value_of(U, components.order(), left.data[i], left.recode, right.data[j], right.recode, cells);
  });
  return K;
}

std::vector<double> rational_diagonal(const Machine& U, const LabelledLattices& left, const LabelledLattices& right, int threads) {
  const Components components(U, does_nothing);
  std::vector<double> values(left.data.size());
  run_in_turns(values.size(), threads, [&](std::size_t i) {
    std::vector<double> cells;
    values[i] = value_of(U, components.order(), left.data[i], left.recode, right.data[i], right.recode, cells);
  });
  return values;
}

}  // namespace treille
