#include "automata/rational.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "automata/components.hpp"
#include "automata/in_range.hpp"
#include "automata/rational_propagator.hpp"
#include "features/dictionary_fit.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

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

// Features of one share of the data: strings by first occurrence, and the number of lattices with each.
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
          Resolve&& resolve, RowShare& share, double* sq_norms) {
  for (std::size_t i = first; i < last; ++i) {
    poll();
    sq_norms[i] = 0;
    features.of(data[i], recode, [&](const std::vector<std::int32_t>& labels, double value) {
      sq_norms[i] += value * value;
      const std::uint32_t id = resolve(labels);
      if (id != InternedStrings::kAbsent) share.add(id, value);
    });
    share.end_row();
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
  std::vector<Found> found(cuts.size() - 1);
  rows.sq_norms.resize(data.size());
  auto shares = fill_shares(cuts, [&](std::size_t p, std::size_t first, std::size_t last, RowShare& share) {
    Features features(T, components.order());
    Found& mine = found[p];
    scan(
        features, data, recode, first, last,
        [&](const std::vector<std::int32_t>& labels) {
          const std::uint32_t id = mine.insert(labels);
          ++mine.examples[id];
          return id;
        },
        share, rows.sq_norms.data());
  });
  // Shares are merged from the first to the last, so that ids follow first occurrence for any number of shares.
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
  rows.entries = join_shares(std::move(shares), {renamed.begin(), renamed.end()}, features.size());
  return features;
}

RationalFeatures RationalFeatures::from_strings(std::span<const std::int32_t> labels, std::span<const std::int64_t> offsets) {
  Found all;
  for (std::size_t id = 0; id + 1 < offsets.size(); ++id)
    if (all.insert(labels.subspan(at(offsets[id]), at(offsets[id + 1] - offsets[id]))) != id)
      throw std::invalid_argument("the same string occurs twice among the features");
  RationalFeatures features;
  features.trie_ = std::move(all.trie);
  features.nodes_ = std::move(all.nodes);
  features.ids_ = std::move(all.ids);
  features.ids_.resize(features.trie_.size(), InternedStrings::kAbsent);
  return features;
}

RowsWithNorms RationalFeatures::transform(const Machine& T, const Lattices& data, std::span<const std::int32_t> recode, int threads) const {
  const Components components(T, reads_nothing);
  RowsWithNorms rows;
  rows.sq_norms.resize(data.size());
  auto written = fill_shares(shares(data, threads), [&](std::size_t, std::size_t first, std::size_t last, RowShare& share) {
    Features features(T, components.order());
    scan(
        features, data, recode, first, last,
        [&](const std::vector<std::int32_t>& labels) {
          std::uint32_t node = 0;
          for (const std::int32_t label : labels)
            if (node != InternedStrings::kAbsent) node = trie_.find_child(node, label);
          return node == InternedStrings::kAbsent ? node : ids_[node];
        },
        share, rows.sq_norms.data());
  });
  rows.entries = join_shares(std::move(written), {}, size());
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
