#pragma once
// Features of graphs that count patterns: labels of nodes and edges, shortest paths, refined labels.
//
//   phi_z(x) = s_z t(number of occurrences of pattern z in x),   t as in features/count_transform.hpp; the factor s_z depends on z alone.
//
// A pattern is a key of whole numbers: codes of labels, lengths, or numbers of other patterns. Keys are compared exactly, see
// interner.hpp. Fitted on some graphs, then frozen. Ids fall with the number of graphs that contain the pattern; ties go by first
// occurrence. Results do not depend on the number of threads.
//
// A kind of patterns P is a struct of options with
//   Finder(graphs, p).find(g, number, visit): number(key) gives the number of a key, number.prefetch(key, step) announces that,
//                                             visit(PatternFound) reports an occurrence, in an order that does not depend on numbers;
//   work(graphs, g):                          the approximate cost of a graph;
//   recode(key, codes):                       the key with other codes of labels and other numbers of patterns;
//   references(key, use):                     use(number) for every pattern that the key mentions;
//   is_sound(key, before, n_labels, n_edge_labels): whether a key read from a file may be pattern number `before`.

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "features/coded_rows.hpp"
#include "features/count_transform.hpp"
#include "features/interned_features.hpp"
#include "features/row_builder.hpp"
#include "graphs/graphs.hpp"
#include "parallel.hpp"

namespace treille {

using PatternKey = InternedFeatures::Key;
using KnownPatterns = Interner<std::int32_t>;

// An occurrence of a pattern, counted `times` times; the meaning of `first` and `second` depends on the kind.
struct PatternFound {
  std::uint32_t pattern;
  std::int32_t first, second;
  std::uint64_t times = 1;
  double factor = 1.0;

  double value(Counts counts) const {
    const auto few = static_cast<std::uint32_t>(times);
    return factor * (few == times ? transformed(counts, few) : transformed(counts, static_cast<double>(times)));
  }
};

// New codes by old ones; an empty span changes nothing.
struct PatternCodes {
  std::span<const std::int32_t> labels, edge_labels;
  std::span<const std::uint32_t> patterns;

  static std::int32_t of(std::int32_t code, std::span<const std::int32_t> codes) {
    return codes.empty() ? code : codes[static_cast<std::size_t>(code)];
  }
  std::int32_t pattern(std::int32_t number) const {
    return patterns.empty() ? number : static_cast<std::int32_t>(patterns[static_cast<std::size_t>(number)]);
  }
};

// Adds up the occurrences of the patterns of one graph after another, in the order of their first occurrences. Its table has the size of
// the graph, not of all patterns: the table of a small graph stays in the cache.
class OccurrenceCounter {
 public:
  void clear() {
    index_.clear();
    sums_.clear();
  }
  void add(const PatternFound& found) {
    auto add_to = [&](std::uint32_t at) {
      const bool same = sums_[at].pattern == found.pattern;
      if (same) sums_[at].times += found.times;
      return same;
    };
    index_.find_or_add(tag_of(mix(0, found.pattern)), add_to, [&] { sums_.push_back(found); });
  }
  std::span<const PatternFound> sums() const { return sums_; }

 private:
  TagIndex index_{"patterns", 25};
  std::vector<PatternFound> sums_;
};

template <class P>
class GraphFeatures {
 public:
  static GraphFeatures fit(const Graphs& graphs, const P& kind, Counts counts, int threads, RowsWithNorms& rows) {
    struct Share {
      KnownPatterns known;
      Array<std::uint32_t> holders;
      OccurrenceCounter counter;
    };
    const auto cuts = cut(graphs, kind, threads);
    std::vector<Share> shares(cuts.size() - 1);
    rows.sq_norms.assign(graphs.size(), 0.0);
    expect(graphs.size());
    auto entries = fill_shares(cuts, [&](std::size_t p, std::size_t first, std::size_t last, RowShare& row_share) {
      Share& own = shares[p];
      typename P::Finder finder(graphs, kind);
      for (std::size_t g = first; g < last; ++g) {
        own.counter.clear();
        finder.find(g, Adding{own.known}, [&](const PatternFound& found) { own.counter.add(found); });
        own.holders.resize(own.known.size(), 0);
        for (const PatternFound& sum : own.counter.sums()) request(&own.holders[sum.pattern]);
        for (const PatternFound& sum : own.counter.sums()) {
          const double value = sum.value(counts);
          rows.sq_norms[g] += value * value;
          row_share.add(sum.pattern, value);
          ++own.holders[sum.pattern];
        }
        row_share.end_row();
      }
      own.counter = {};
    });

    GraphFeatures self(kind, counts);
    std::vector<std::vector<std::uint32_t>> numbers(shares.size());
    Array<std::uint32_t> holders = std::move(shares[0].holders);
    self.patterns_.known = std::move(shares[0].known);
    for (std::size_t p = 1; p < shares.size(); ++p) {
      numbers[p] = self.absorb(shares[p].known, {});
      holders.resize(self.n_patterns(), 0);
      for (std::size_t k = 0; k < numbers[p].size(); ++k) holders[numbers[p][k]] += shares[p].holders[k];
      shares[p] = {};
    }
    std::vector<Renaming> renamed{self.patterns_.rank(holders)};
    for (std::size_t p = 1; p < shares.size(); ++p) {
      for (auto& number : numbers[p]) number = self.feature(number);
      renamed.push_back(numbers[p]);
    }
    rows.entries = join_shares(std::move(entries), renamed, self.size());
    return self;
  }

  // Labels are coded as in fit; labels never seen have codes never used there.
  RowsWithNorms transform(const Graphs& graphs, int threads) const {
    RowsWithNorms rows;
    rows.sq_norms.assign(graphs.size(), 0.0);
    expect(graphs.size());
    auto written = fill_shares(cut(graphs, kind_, threads), [&](std::size_t, std::size_t first, std::size_t last, RowShare& row_share) {
      typename P::Finder finder(graphs, kind_);
      KnownPatterns unseen;
      OccurrenceCounter counter;
      for (std::size_t g = first; g < last; ++g) {
        counter.clear();
        finder.find(g, Looking{*this, unseen}, [&](const PatternFound& found) { counter.add(found); });
        for (const PatternFound& sum : counter.sums()) {
          const double value = sum.value(counts_);
          rows.sq_norms[g] += value * value;
          if (const std::uint32_t id = feature(sum.pattern); id != KnownPatterns::kAbsent) row_share.add(id, value);
        }
        row_share.end_row();
      }
    });
    rows.entries = join_shares(std::move(written), {}, size());
    return rows;
  }

  // visit(g, found) for every occurrence in graph after graph; patterns never seen are numbered after the known ones.
  template <class Visit>
  void each(const Graphs& graphs, Visit&& visit) const {
    typename P::Finder finder(graphs, kind_);
    KnownPatterns unseen;
    expect(graphs.size());
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      finder.find(g, Looking{*this, unseen}, [&](const PatternFound& found) { visit(g, found); });
      tick();
    }
  }

  // Frozen features from the result of `parts`.
  static GraphFeatures from_parts(std::span<const std::int32_t> cells, std::span<const std::int64_t> starts,
                                  std::span<const std::int32_t> features, std::int32_t n_labels, std::int32_t n_edge_labels, const P& kind,
                                  Counts counts) {
    GraphFeatures self(kind, counts);
    const auto is_sound = [&](std::span<const std::int32_t> key, std::int32_t number) {
      return kind.is_sound(key, number, n_labels, n_edge_labels);
    };
    self.patterns_ = InternedFeatures::from_parts(cells, starts, features, "patterns", is_sound);
    return self;
  }

  // The arrays that rebuild the features `ids`.
  InternedFeatures::Arrays parts(std::span<const std::int64_t> ids) const {
    return patterns_.parts(
        ids, [&](std::span<const std::int32_t> key, auto&& use) { kind_.references(key, use); },
        [&](PatternKey& key, std::span<const std::uint32_t> numbers) { kind_.recode(key, {{}, {}, numbers}); });
  }

  // These features, then the new ones of `other`, whose codes of labels become those given; and the ids of the features of `other`.
  std::pair<GraphFeatures, std::vector<std::int64_t>> merge(const GraphFeatures& other, std::span<const std::int32_t> labels,
                                                            std::span<const std::int32_t> edge_labels) const {
    GraphFeatures both = *this;
    const auto numbers = both.absorb(other.patterns_.known, {labels, edge_labels, {}});
    std::vector<std::int64_t> theirs;
    for (const std::int32_t k : other.patterns_.items()) theirs.push_back(both.patterns_.add(numbers[static_cast<std::size_t>(k)]));
    return {std::move(both), std::move(theirs)};
  }

  std::size_t size() const { return patterns_.size(); }
  std::size_t n_patterns() const { return patterns_.known.size(); }
  std::int32_t pattern_of(std::int64_t id) const { return patterns_.item_of(id); }
  std::span<const std::int32_t> key(std::size_t pattern) const { return patterns_.known[pattern]; }
  std::uint32_t feature(std::uint32_t pattern) const { return patterns_.id_of(pattern); }

 private:
  GraphFeatures(const P& kind, Counts counts) : kind_(kind), counts_(counts) {}

  // Numbers of patterns while fitting.
  struct Adding {
    KnownPatterns& known;
    std::uint32_t operator()(std::span<const std::int32_t> key) const { return known.add(key); }
    void prefetch(std::span<const std::int32_t> key, int step) const { known.prefetch(key, step); }
  };

  // Numbers of known patterns; new ones are numbered after them.
  struct Looking {
    const GraphFeatures& fitted;
    KnownPatterns& unseen;
    std::uint32_t operator()(std::span<const std::int32_t> key) const {
      const auto n_known = static_cast<std::uint32_t>(fitted.n_patterns());
      bool may_be_known = true;
      fitted.kind_.references(key, [&](std::int32_t other) { may_be_known &= static_cast<std::uint32_t>(other) < n_known; });
      const std::uint32_t id = may_be_known ? fitted.patterns_.known.find(key) : KnownPatterns::kAbsent;
      return id != KnownPatterns::kAbsent ? id : n_known + unseen.add(key);
    }
    void prefetch(std::span<const std::int32_t> key, int step) const { fitted.patterns_.known.prefetch(key, step); }
  };

  static std::vector<std::size_t> cut(const Graphs& graphs, const P& kind, int threads) {
    constexpr std::int64_t kWorthAThread = 1 << 14;
    std::vector<std::int64_t> work(graphs.size() + 1, 0);
    for (std::size_t g = 0; g < graphs.size(); ++g) work[g + 1] = work[g] + kind.work(graphs, g);
    return balanced_cuts(work, static_cast<int>(std::clamp<std::int64_t>(work.back() / kWorthAThread, 1, threads)));
  }

  // Adds the patterns of another dictionary and returns their numbers in this one.
  std::vector<std::uint32_t> absorb(const KnownPatterns& others, PatternCodes codes) {
    std::vector<std::uint32_t> numbers(others.size());
    codes.patterns = numbers;
    PatternKey key;
    for (std::size_t k = 0; k < others.size(); ++k) {
      poll();
      key.assign(others[k].begin(), others[k].end());
      kind_.recode(key, codes);
      numbers[k] = patterns_.known.add(key);
    }
    return numbers;
  }

  P kind_;
  Counts counts_;
  InternedFeatures patterns_;
};

}  // namespace treille
