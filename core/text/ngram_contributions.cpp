#include <algorithm>
#include <vector>

#include "automata/prefix_counter.hpp"
#include "features/dictionary_fit.hpp"
#include "parallel.hpp"
#include "tag_index.hpp"
#include "text/ngram_counter.hpp"
#include "text/ngram_features.hpp"

namespace treille {
namespace {

// work(dictionary, first, last) for contiguous shares of the examples.
template <class Dictionary, class Data, class Work>
void in_shares(const Dictionary& any, const Data& data, int threads, Work&& work) {
  const auto cuts = shares(data, threads);
  expect(data.size());
  std::visit(
      [&](const auto& dictionary) {
        run_shares(static_cast<int>(cuts.size()) - 1, [&](int p) {
          const auto share = static_cast<std::size_t>(p);
          work(dictionary, cuts[share], cuts[share + 1]);
        });
      },
      any);
}

// The features that begin at each position of a sequence, n-grams of one order.
class WindowIds {
 public:
  template <class Dictionary>
  std::span<const std::uint32_t> find(const Dictionary& dictionary, std::span<const std::int32_t> x, const RollingHash& hash, int order) {
    const auto n = static_cast<std::size_t>(order);
    const std::size_t windows = x.size() < n ? 0 : x.size() - n + 1;
    tags_.resize(windows);
    ids_.resize(windows);
    std::uint64_t h = 0;
    for (std::size_t k = 0; windows > 0 && k + 1 < n; ++k) h = hash.push(h, static_cast<std::uint64_t>(x[k]));
    for (std::size_t i = 0; i < windows; ++i) {
      h = hash.push(h, static_cast<std::uint64_t>(x[i + n - 1]));
      tags_[i] = hash.tag(h);
      h = hash.pop(h, static_cast<std::uint64_t>(x[i]));
    }
    for (std::size_t i = 0; i < std::min(kAhead, windows); ++i) dictionary.prefetch_slot(tags_[i]);
    for (std::size_t i = 0; i < windows; ++i) {
      if (i + kAhead < windows) dictionary.prefetch_slot(tags_[i + kAhead]);
      if (i + kAheadGram < windows) dictionary.prefetch_gram(tags_[i + kAheadGram]);
      ids_[i] = dictionary.find(tags_[i], x.data() + i, order);
    }
    return ids_;
  }

 private:
  std::vector<std::uint32_t> tags_, ids_;
};

// The number of occurrences of each number.
class Multiplicities {
 public:
  void of(std::span<const std::uint32_t> numbers) {
    index_.clear(numbers.size());
    counts_.clear();
    for (const std::uint32_t number : numbers)
      if (number != kAbsent) ++counts_[index_.find_or_add(tag(number), equal, [&] { counts_.push_back(0); })];
  }
  std::uint32_t operator[](std::uint32_t number) const { return counts_[index_.find(tag(number), equal)]; }

 private:
  static std::uint32_t tag(std::uint32_t number) { return number * 0x9E3779B9u; }
  static bool equal(std::uint32_t) { return true; }  // equal tags mean equal numbers: the factor is odd

  TagIndex index_{"n-grams"};
  std::vector<std::uint32_t> counts_;
};

}  // namespace

void NGramFeatures::contributions(const Sequences& data, std::span<const std::int32_t> recode, std::span<const double> weights,
                                  std::size_t n_functions, int threads, double* out) const {
  const auto hashes = rolling_hashes(min_order_, max_order_);
  const auto share = [&](const auto& dictionary, std::size_t first, std::size_t last) {
    WindowIds windows;
    std::vector<std::int32_t> x;
    Multiplicities counts;
    for (std::size_t i = first; i < last; ++i) {
      x.resize(data[i].size());
      std::transform(data[i].begin(), data[i].end(), x.begin(), [&](std::int32_t s) { return recode[static_cast<std::size_t>(s)]; });
      double* const to = out + static_cast<std::size_t>(data.offsets[i]) * n_functions;
      for (std::size_t o = 0; o < hashes.size(); ++o) {
        poll();
        const int order = min_order_ + static_cast<int>(o);
        const auto ids = windows.find(dictionary, x, hashes[o], order);
        const std::size_t step = static_cast<std::size_t>(order) * n_functions;
        const double each = weights_[o] / order;
        if (counts_ != Counts::raw) counts.of(ids);
        for (std::size_t w = 0; w < ids.size(); ++w) {
          if (ids[w] == kAbsent) continue;
          double value = each;
          if (counts_ != Counts::raw) {  // the occurrences share the value of their n-gram
            const std::uint32_t count = counts[ids[w]];
            value *= transformed(counts_, count) / count;
          }
          const double* const own = weights.data() + std::size_t{ids[w]} * n_functions;
          double* const at = to + w * n_functions;
          for (std::size_t k = 0; k < step; k += n_functions)
            for (std::size_t f = 0; f < n_functions; ++f) at[k + f] += value * own[f];
        }
      }
      tick();
    }
  };
  in_shares(dictionary_, data, threads, share);
}

void NGramFeatures::contributions(const Lattices& data, std::span<const std::int32_t> recode, std::span<const double> weights,
                                  std::size_t n_functions, int threads, double* out) const {
  const auto hashes = rolling_hashes(min_order_, max_order_);
  const auto share = [&](const auto& dictionary, std::size_t first, std::size_t last) {
    PrefixCounter counter;
    std::vector<std::int32_t> symbols;
    const auto price = [&]<class W>(const InternedStrings& trie, const std::vector<W>& expected, std::vector<W>& prices) {
      for (std::uint32_t node = 1; node < trie.size(); ++node) {
        const int order = trie.length(node);
        if (order < min_order_ || expected[node] == W{}) continue;
        trie.spell(node, symbols);
        const auto o = static_cast<std::size_t>(order - min_order_);
        std::uint64_t h = 0;
        for (const std::int32_t s : symbols) h = hashes[o].push(h, static_cast<std::uint64_t>(s));
        const std::uint32_t id = dictionary.find(hashes[o].tag(h), symbols.data(), order);
        if (id == kAbsent) continue;
        const W each = per_count(counts_, expected[node]) * (weights_[o] / order);
        for (std::size_t f = 0; f < n_functions; ++f) prices[node * n_functions + f] = each * weights[id * n_functions + f];
      }
    };
    for (std::size_t i = first; i < last; ++i) {
      counter.share(data[i], recode, {min_order_, max_order_}, n_functions, 1, price,
                    out + static_cast<std::size_t>(data.arcs[i]) * n_functions);
      tick();
    }
  };
  in_shares(dictionary_, data, threads, share);
}

}  // namespace treille
