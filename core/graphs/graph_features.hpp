#pragma once
// Features of graphs that count patterns: labels of nodes and edges, shortest paths, refined labels.
//
//   phi_z(x) = s_z t(how often pattern z occurs in x),   t as in features/count_transform.hpp; the factor s_z depends on z alone.
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
#include <bit>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "features/coded_rows.hpp"
#include "features/count_transform.hpp"
#include "features/row_builder.hpp"
#include "graphs/graphs.hpp"
#include "interner.hpp"
#include "parallel.hpp"

namespace treille {

using PatternKey = std::vector<std::int32_t>;
using KnownPatterns = Interner<std::int32_t>;

// An occurrence of a pattern, counted `times` times; what `first` and `second` mean depends on the kind.
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
// the graph, not of all patterns: that of a small graph stays in the cache.
class OccurrenceCounter {
 public:
  void clear() {
    slots_.assign(std::max<std::size_t>(64, std::bit_ceil(4 * sums_.size())), kFree);  // enough for a graph like the one before
    sums_.clear();
  }
  void add(const PatternFound& found) {
    if (2 * sums_.size() >= slots_.size()) grow();
    std::uint32_t& slot = slots_[slot_of(found.pattern)];
    if (slot != kFree) {
      sums_[slot].times += found.times;
    } else {
      slot = static_cast<std::uint32_t>(sums_.size());
      sums_.push_back(found);
    }
  }
  std::span<const PatternFound> sums() const { return sums_; }

 private:
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};

  std::size_t slot_of(std::uint32_t pattern) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = (pattern * 0x9E3779B97F4A7C15u >> 32) & mask;
    while (slots_[slot] != kFree && sums_[slots_[slot]].pattern != pattern) slot = (slot + 1) & mask;
    return slot;
  }
  void grow() {
    slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), kFree);
    for (std::size_t i = 0; i < sums_.size(); ++i) slots_[slot_of(sums_[i].pattern)] = static_cast<std::uint32_t>(i);
  }

  std::vector<std::uint32_t> slots_;
  std::vector<PatternFound> sums_;
};

// The patterns that some graph contains, those of the most graphs first; ties by number.
inline std::vector<std::int32_t> by_frequency(std::span<const std::uint32_t> holders) {
  std::vector<std::size_t> heads(holders.empty() ? 1 : *std::ranges::max_element(holders) + std::size_t{1}, 0);
  for (const std::uint32_t count : holders) ++heads[count];
  const std::size_t total = holders.size() - (holders.empty() ? 0 : heads[0]);
  std::size_t sum = 0;
  for (std::size_t count = heads.size(); count-- > 1;) sum += std::exchange(heads[count], sum);
  std::vector<std::int32_t> order(total);
  for (std::size_t k = 0; k < holders.size(); ++k)
    if (holders[k] > 0) order[heads[holders[k]]++] = static_cast<std::int32_t>(k);
  return order;
}

template <class P>
class GraphFeatures {
 public:
  static GraphFeatures fit(const Graphs& graphs, const P& kind, Counts counts, int threads, RowsWithNorms& rows) {
    struct Part {
      KnownPatterns known;
      Array<std::uint32_t> holders;
      OccurrenceCounter counter;
    };
    const auto cuts = cut(graphs, kind, threads);
    std::vector<Part> parts(cuts.size() - 1);
    std::vector<RowPart> entries(parts.size());
    rows.sq_norms.assign(graphs.size(), 0.0);
    expect(graphs.size());
    run_parts(static_cast<int>(parts.size()), [&](int part) {
      const auto p = static_cast<std::size_t>(part);
      Part& own = parts[p];
      typename P::Finder finder(graphs, kind);
      for (std::size_t g = cuts[p]; g < cuts[p + 1]; ++g) {
        own.counter.clear();
        finder.find(g, Adding{own.known}, [&](const PatternFound& found) { own.counter.add(found); });
        own.holders.resize(own.known.size(), 0);
        for (const PatternFound& sum : own.counter.sums()) request(&own.holders[sum.pattern]);
        for (const PatternFound& sum : own.counter.sums()) {
          const double value = sum.value(counts);
          rows.sq_norms[g] += value * value;
          entries[p].add(sum.pattern, value);
          ++own.holders[sum.pattern];
        }
        entries[p].end_row();
      }
      own.counter = {};
    });

    GraphFeatures self(kind, counts);
    std::vector<std::vector<std::uint32_t>> numbers(parts.size());
    Array<std::uint32_t> holders = std::move(parts[0].holders);
    self.known_ = std::move(parts[0].known);
    for (std::size_t p = 1; p < parts.size(); ++p) {
      numbers[p] = self.absorb(parts[p].known, {});
      holders.resize(self.known_.size(), 0);
      for (std::size_t k = 0; k < numbers[p].size(); ++k) holders[numbers[p][k]] += parts[p].holders[k];
      parts[p] = {};
    }
    self.features_ = by_frequency(holders);
    self.index();
    std::vector<Renaming> renamed{self.feature_of_};
    for (std::size_t p = 1; p < parts.size(); ++p) {
      for (auto& number : numbers[p]) number = self.feature_of_[number];
      renamed.push_back(numbers[p]);
    }
    rows.entries = join_parts(std::move(entries), renamed, self.size());
    return self;
  }

  // Labels are coded as in fit; those never seen have codes never used there.
  RowsWithNorms transform(const Graphs& graphs, int threads) const {
    const auto cuts = cut(graphs, kind_, threads);
    std::vector<RowPart> parts(cuts.size() - 1);
    RowsWithNorms rows;
    rows.sq_norms.assign(graphs.size(), 0.0);
    expect(graphs.size());
    run_parts(static_cast<int>(parts.size()), [&](int part) {
      const auto p = static_cast<std::size_t>(part);
      typename P::Finder finder(graphs, kind_);
      KnownPatterns unseen;
      OccurrenceCounter counter;
      for (std::size_t g = cuts[p]; g < cuts[p + 1]; ++g) {
        counter.clear();
        finder.find(g, Looking{*this, unseen}, [&](const PatternFound& found) { counter.add(found); });
        for (const PatternFound& sum : counter.sums()) {
          const double value = sum.value(counts_);
          rows.sq_norms[g] += value * value;
          if (const std::uint32_t id = feature(sum.pattern); id != KnownPatterns::kAbsent) parts[p].add(id, value);
        }
        parts[p].end_row();
      }
    });
    rows.entries = join_parts(std::move(parts), {}, size());
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

  // Frozen features from what `parts` gave.
  struct Parts {
    std::vector<std::int32_t> cells;     // of each pattern: its key; it mentions patterns before it only
    std::vector<std::int64_t> starts;    // where the key of each pattern begins, and the end of the last
    std::vector<std::int32_t> features;  // the pattern of each feature
  };
  static GraphFeatures from_parts(std::span<const std::int32_t> cells, std::span<const std::int64_t> starts,
                                  std::span<const std::int32_t> features, std::int32_t n_labels, std::int32_t n_edge_labels, const P& kind,
                                  Counts counts) {
    GraphFeatures self(kind, counts);
    const auto require = [](bool right) {
      if (!right) throw std::invalid_argument("the patterns in the file do not fit together");
    };
    require(!starts.empty() && starts.front() == 0 && starts.back() == static_cast<std::int64_t>(cells.size()));
    for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
      require(starts[k] < starts[k + 1] && starts[k + 1] <= static_cast<std::int64_t>(cells.size()));
      const auto key = cells.subspan(static_cast<std::size_t>(starts[k]), static_cast<std::size_t>(starts[k + 1] - starts[k]));
      require(kind.is_sound(key, static_cast<std::int32_t>(k), n_labels, n_edge_labels));
      require(self.known_.add(key) == k);
    }
    std::vector<bool> taken(self.known_.size(), false);
    for (const std::int32_t k : features) {
      require(k >= 0 && static_cast<std::size_t>(k) < taken.size() && !taken[static_cast<std::size_t>(k)]);
      taken[static_cast<std::size_t>(k)] = true;
    }
    self.features_.assign(features.begin(), features.end());
    self.index();
    return self;
  }

  // What the features `ids` are made of.
  Parts parts(std::span<const std::int64_t> ids) const {
    std::vector<bool> kept(known_.size(), false);
    for (const std::int64_t id : ids) kept[static_cast<std::size_t>(pattern_of(id))] = true;
    for (std::size_t k = known_.size(); k-- > 0;)
      if (kept[k]) kind_.references(known_[k], [&](std::int32_t other) { kept[static_cast<std::size_t>(other)] = true; });
    Parts parts;
    std::vector<std::uint32_t> renamed(known_.size(), 0);
    parts.starts.push_back(0);
    PatternKey key;
    for (std::size_t k = 0; k < known_.size(); ++k) {
      if (!kept[k]) continue;
      renamed[k] = static_cast<std::uint32_t>(parts.starts.size() - 1);
      key.assign(known_[k].begin(), known_[k].end());
      kind_.recode(key, {{}, {}, renamed});
      parts.cells.insert(parts.cells.end(), key.begin(), key.end());
      parts.starts.push_back(static_cast<std::int64_t>(parts.cells.size()));
    }
    for (const std::int64_t id : ids)
      parts.features.push_back(static_cast<std::int32_t>(renamed[static_cast<std::size_t>(pattern_of(id))]));
    return parts;
  }

  // These features, then the new ones of `other`, whose codes of labels become those given; and the ids of the features of `other`.
  std::pair<GraphFeatures, std::vector<std::int64_t>> merge(const GraphFeatures& other, std::span<const std::int32_t> labels,
                                                            std::span<const std::int32_t> edge_labels) const {
    GraphFeatures both = *this;
    const auto numbers = both.absorb(other.known_, {labels, edge_labels, {}});
    both.feature_of_.resize(both.known_.size(), KnownPatterns::kAbsent);
    std::vector<std::int64_t> theirs;
    for (const std::int32_t k : other.features_) {
      const std::uint32_t number = numbers[static_cast<std::size_t>(k)];
      if (both.feature_of_[number] == KnownPatterns::kAbsent) {
        both.feature_of_[number] = static_cast<std::uint32_t>(both.size());
        both.features_.push_back(static_cast<std::int32_t>(number));
      }
      theirs.push_back(both.feature_of_[number]);
    }
    return {std::move(both), std::move(theirs)};
  }

  std::size_t size() const { return features_.size(); }
  std::size_t n_patterns() const { return known_.size(); }
  std::int32_t pattern_of(std::int64_t id) const { return features_[static_cast<std::size_t>(id)]; }
  std::span<const std::int32_t> key(std::size_t pattern) const { return known_[pattern]; }
  std::uint32_t feature(std::uint32_t pattern) const {
    return pattern < feature_of_.size() ? feature_of_[pattern] : KnownPatterns::kAbsent;
  }

 private:
  GraphFeatures(const P& kind, Counts counts) : kind_(kind), counts_(counts) {}

  // Numbers of patterns while fitting.
  struct Adding {
    KnownPatterns& known;
    std::uint32_t operator()(std::span<const std::int32_t> key) const { return known.add(key); }
    void prefetch(std::span<const std::int32_t> key, int step) const { known.prefetch(key, step); }
  };

  // Numbers of known patterns; others are numbered after them.
  struct Looking {
    const GraphFeatures& fitted;
    KnownPatterns& unseen;
    std::uint32_t operator()(std::span<const std::int32_t> key) const {
      const auto n_known = static_cast<std::uint32_t>(fitted.known_.size());
      bool may_be_known = true;
      fitted.kind_.references(key, [&](std::int32_t other) { may_be_known &= static_cast<std::uint32_t>(other) < n_known; });
      const std::uint32_t id = may_be_known ? fitted.known_.find(key) : KnownPatterns::kAbsent;
      return id != KnownPatterns::kAbsent ? id : n_known + unseen.add(key);
    }
    void prefetch(std::span<const std::int32_t> key, int step) const { fitted.known_.prefetch(key, step); }
  };

  static std::vector<std::size_t> cut(const Graphs& graphs, const P& kind, int threads) {
    constexpr std::int64_t kWorthAThread = 1 << 14;
    std::vector<std::int64_t> work(graphs.size() + 1, 0);
    for (std::size_t g = 0; g < graphs.size(); ++g) work[g + 1] = work[g] + kind.work(graphs, g);
    return balanced_cuts(work, static_cast<int>(std::clamp<std::int64_t>(work.back() / kWorthAThread, 1, threads)));
  }

  // Adds the patterns of others and returns their numbers here.
  std::vector<std::uint32_t> absorb(const KnownPatterns& others, PatternCodes codes) {
    std::vector<std::uint32_t> numbers(others.size());
    codes.patterns = numbers;
    PatternKey key;
    for (std::size_t k = 0; k < others.size(); ++k) {
      poll();
      key.assign(others[k].begin(), others[k].end());
      kind_.recode(key, codes);
      numbers[k] = known_.add(key);
    }
    return numbers;
  }

  void index() {
    feature_of_.assign(known_.size(), KnownPatterns::kAbsent);
    for (std::size_t f = 0; f < size(); ++f) feature_of_[static_cast<std::size_t>(features_[f])] = static_cast<std::uint32_t>(f);
  }

  P kind_;
  Counts counts_;
  KnownPatterns known_;
  Array<std::uint32_t> feature_of_;     // by pattern; kAbsent if it is none
  std::vector<std::int32_t> features_;  // patterns by feature
};

}  // namespace treille
