#include "automata/rational.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "automata/components.hpp"
#include "automata/in_range.hpp"
#include "automata/reading.hpp"
#include "features/dictionary_fit.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

// phi(X) of one lattice after another, in numbers W.
template <class W>
class Propagator {
 public:
  Propagator(const Machine& T, std::span<const State> order) : T_(T), order_(order) {}

  void propagate(const Lattice& x, std::span<const std::int32_t> recode) {
    trie_.clear();
    values_.assign(1, W{});
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
    for (std::size_t q = 0; q < x.size(); ++q) {
      poll();
      for (const State p : order_)
        if (live(pair(q, p))) leave(q, p);
    }
  }

  // Calls sink(labels, value) for every string of which the value is not 0, by where it is first found.
  template <class Sink>
  void give(Sink&& sink) {
    for (const std::uint32_t node : found_)
      if (values_[node] != W{}) {
        trie_.spell(node, labels_);
        sink(labels_, values_[node]);
      }
  }

  // Whether an underflow has cost nothing that counts: no number is multiplied by more than 2^20 after it.
  bool only_loses_the_lightest() const {
    const auto small = [](double weight) { return 0 <= weight && weight <= 0x1p20; };
    const auto few = [&](const Arc& arc) { return small(arc.weight); };
    return std::ranges::all_of(rest_, small) && std::ranges::all_of(x_.weights, small) && std::ranges::all_of(x_.finals, small) &&
           std::ranges::all_of(T_.all_arcs(), few) && std::ranges::all_of(T_.finals(), small) &&
           std::ranges::all_of(values_, [](double value) { return std::isfinite(value); });
  }

 private:
  struct Waiting {
    std::uint32_t string;
    W value;
  };
  static constexpr std::uint8_t kReached = 1, kAccepts = 2, kWrites = 4;  // kWrites: some way to the end has output

  std::size_t width() const { return at(T_.size()); }
  std::size_t pair(std::size_t q, State p) const { return q * width() + at(p); }
  bool live(std::size_t pair) const { return (marks_[pair] & (kReached | kAccepts)) == (kReached | kAccepts); }

  // Calls use(pair it leads to, output, weight) for every transition of a pair.
  template <class Use>
  void transitions(std::size_t q, State p, Use&& use) const {
    for (const Arc& arc : reading(T_, p, kEpsilon))
      if (arc.weight != 0) use(pair(q, arc.target), arc.output, W(arc.weight));
    for (std::size_t a = heads_[q]; a < heads_[q + 1]; ++a) {
      const Label label = recode_[at(x_.symbols[a])];
      if (label == kEpsilon) continue;
      for (const Arc& arc : reading(T_, p, label))
        if (arc.weight != 0) use(pair(at(x_.targets[a]), arc.target), arc.output, W(x_.weights[a]) * arc.weight);
    }
  }

  // Which pairs are reached, which accept, which may still write; and the weight of all ways to the end.
  void find_pairs() {
    marks_.assign(x_.size() * width(), 0);
    rest_.assign(x_.size() * width(), W{});
    marks_[pair(0, T_.start())] = kReached;
    for (std::size_t q = 0; q < x_.size(); ++q)
      for (const State p : order_)
        if (marks_[pair(q, p)]) transitions(q, p, [&](std::size_t next, Label, const W&) { marks_[next] |= kReached; });
    for (std::size_t q = x_.size(); q-- > 0;)
      for (std::size_t k = order_.size(); k-- > 0;) {
        const State p = order_[k];
        const std::size_t here = pair(q, p);
        if (!marks_[here]) continue;
        rest_[here] = W(x_.finals[q]) * T_.final_weight(p);
        if (rest_[here] != W{}) marks_[here] |= kAccepts;
        transitions(q, p, [&](std::size_t next, Label output, const W& weight) {
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
      const W last = W(x_.finals[q]) * T_.final_weight(p);
      if (last != W{})
        for (const Waiting& w : waiting) accept(w.string, w.value * last);
      transitions(q, p, [&](std::size_t next, Label output, const W& weight) {
        if (!live(next)) return;
        for (const Waiting& w : waiting)
          waiting_[next].push_back({output == kEpsilon ? w.string : trie_.child(w.string, output), w.value * weight});
      });
    }
    waiting.clear();
  }

  void accept(std::uint32_t string, const W& value) {
    if (string >= values_.size()) {
      values_.resize(trie_.size(), W{});
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
  std::vector<W> rest_, values_;
  std::vector<char> is_found_;
  std::vector<std::uint32_t> found_;
  std::vector<std::vector<Waiting>> waiting_;  // by pair
  InternedStrings trie_;
  std::vector<std::int32_t> labels_;
};

// phi(X) in doubles, computed with scaled numbers where doubles are too small or too large on the way.
class Features {
 public:
  Features(const Machine& T, std::span<const State> order) : plain_(T, order), exact_(T, order) {}

  template <class Sink>
  void of(const Lattice& x, std::span<const std::int32_t> recode, Sink&& sink) {
    if (in_range([&] { plain_.propagate(x, recode); }) || plain_.only_loses_the_lightest()) return plain_.give(sink);
    exact_.propagate(x, recode);
    exact_.give([&](const std::vector<std::int32_t>& labels, const Scaled& exact) {
      const double value = representable(exact, "the value of a feature");
      if (value != 0) sink(labels, value);
    });
  }

 private:
  Propagator<double> plain_;
  Propagator<Scaled> exact_;
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
void scan(Features& features, const Lattices& data, std::span<const std::int32_t> recode, std::size_t first, std::size_t last,
          Resolve&& resolve, RowPart& part, double* sq_norms) {
  for (std::size_t i = first; i < last; ++i) {
    poll();
    sq_norms[i] = 0;
    features.of(data[i], recode, [&](const std::vector<std::int32_t>& labels, double value) {
      sq_norms[i] += value * value;
      const std::uint32_t id = resolve(labels);
      if (id != InternedStrings::kAbsent) part.add(id, value);
    });
    part.end_row();
  }
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
    Features features(T, components.order());
    Found& mine = found[at(p)];
    scan(
        features, data, recode, cuts[at(p)], cuts[at(p) + 1],
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
    Features features(T, components.order());
    scan(
        features, data, recode, cuts[at(p)], cuts[at(p) + 1],
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

}  // namespace treille
