#include "text/ngram_features.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>

#include "automata/prefix_counter.hpp"
#include "features/dictionary_fit.hpp"
#include "parallel.hpp"
#include "symbol_type.hpp"
#include "text/ngram_counter.hpp"

namespace treille {
namespace {

struct Orders {
  int min, max;
  std::span<const double> weights;
  Counts counts = Counts::raw;
  std::size_t count() const { return static_cast<std::size_t>(max - min + 1); }
  bool mixed() const { return min != max; }
};

std::vector<RollingHash> hashes_of(const Orders& orders) { return rolling_hashes(orders.min, orders.max); }

// Reads sequences first..last-1 and writes their rows. `resolve(gram, symbols, order)` gives a gram's id, or kAbsent to leave it out.
template <class Symbol, class Dictionary, class Resolve>
void scan(const Sequences& data, std::span<const std::int32_t> recode, std::size_t first, std::size_t last, const Orders& orders,
          const Dictionary& dictionary, Resolve&& resolve, RowShare& share, double* sq_norms) {
  NGramCounter<Symbol> counter;
  const auto hashes = hashes_of(orders);
  std::vector<Symbol> symbols;
  const std::int64_t border = data.border < 0 || recode.empty() ? data.border : recode[static_cast<std::size_t>(data.border)];
  for (std::size_t i = first; i < last; ++i) {
    const auto sequence = data[i];
    symbols.resize(sequence.size());
    std::transform(sequence.begin(), sequence.end(), symbols.begin(),
                   [&](std::int32_t s) { return static_cast<Symbol>(recode.empty() ? s : recode[static_cast<std::size_t>(s)]); });
    sq_norms[i] = 0;
    for (std::size_t o = 0; o < orders.count(); ++o) {
      const int order = orders.min + static_cast<int>(o);
      const double weight = orders.weights[o];
      const auto grams = counter.count(std::span<const Symbol>(symbols), hashes[o], order, border);
      for (std::size_t k = 0; k < std::min(kAhead, grams.size()); ++k) dictionary.prefetch_slot(grams[k].tag);
      for (std::size_t k = 0; k < grams.size(); ++k) {
        if (k + kAhead < grams.size()) dictionary.prefetch_slot(grams[k + kAhead].tag);
        if (k + kAheadGram < grams.size()) dictionary.prefetch_gram(grams[k + kAheadGram].tag);
        const double value = weight * transformed(orders.counts, grams[k].count);
        sq_norms[i] += value * value;
        const std::uint32_t id = resolve(grams[k], symbols.data() + grams[k].first, order);
        if (id != Dictionary::kAbsent) share.add(id, value);
      }
    }
    share.end_row();
  }
}

// The same for lattices. `resolve(tag, symbols, order)` gives a gram's id.
template <class Resolve>
void scan(const Lattices& data, std::span<const std::int32_t> recode, std::size_t first, std::size_t last, const Orders& orders,
          Resolve&& resolve, RowShare& share, double* sq_norms) {
  PrefixCounter counter;
  const auto hashes = hashes_of(orders);
  for (std::size_t i = first; i < last; ++i) {
    sq_norms[i] = 0;
    counter.count(data[i], recode, {orders.min, orders.max}, [&](const std::int32_t* symbols, int order, double expected) {
      const auto o = static_cast<std::size_t>(order - orders.min);
      std::uint64_t h = 0;
      for (int k = 0; k < order; ++k) h = hashes[o].push(h, static_cast<std::uint64_t>(symbols[k]));
      const double value = orders.weights[o] * transformed_expected(orders.counts, expected);
      if (value == 0) return;  // too small for a double
      sq_norms[i] += value * value;
      const std::uint32_t id = resolve(hashes[o].tag(h), symbols, order);
      if (id != NGramDictionary<std::int32_t>::kAbsent) share.add(id, value);
    });
    share.end_row();
  }
}

template <class Symbol>
NGramDictionary<Symbol> fit_dictionary(const Lattices& data, const Orders& orders, int threads, RowsWithNorms& rows) {
  auto scan_share = [&](std::size_t first, std::size_t last, NGramDictionary<Symbol>& mine, RowShare& share) {
    std::vector<Symbol> narrow(static_cast<std::size_t>(orders.max));
    auto keep = [&](std::uint32_t tag, const std::int32_t* symbols, int order) {
      std::copy(symbols, symbols + order, narrow.begin());
      const std::uint32_t id = mine.insert(tag, narrow.data(), order);
      mine.count(id, 1);
      return id;
    };
    scan(data, {}, first, last, orders, keep, share, rows.sq_norms.data());
  };
  return fit_shares<Symbol>(data, threads, orders.max, orders.mixed(), rows.sq_norms, rows.entries, scan_share);
}

template <class Symbol>
NGramDictionary<Symbol> fit_dictionary(const Sequences& data, const Orders& orders, int threads, RowsWithNorms& rows) {
  auto scan_share = [&](std::size_t first, std::size_t last, NGramDictionary<Symbol>& mine, RowShare& share) {
    auto keep = [&](const CountedNGram& gram, const Symbol* symbols, int order) {
      const std::uint32_t id = mine.insert(gram.tag, symbols, order);
      mine.count(id, 1);
      return id;
    };
    scan<Symbol>(data, {}, first, last, orders, mine, keep, share, rows.sq_norms.data());
  };
  return fit_shares<Symbol>(data, threads, orders.max, orders.mixed(), rows.sq_norms, rows.entries, scan_share);
}

// Inserts n grams: read(id, symbols) writes the symbols of one and returns its order; use(id, its id in the dictionary). Some grams at a
// time, whose slots and equal grams in the dictionary are prefetched together.
template <class Symbol, class Read, class Use>
void insert_all(NGramDictionary<Symbol>& dictionary, std::size_t n, const Orders& orders, Read&& read, Use&& use) {
  constexpr std::size_t kTogether = 32;
  const auto hashes = hashes_of(orders);
  const auto stride = static_cast<std::size_t>(orders.max);
  std::vector<Symbol> grams(kTogether * stride);
  int order[kTogether];
  std::uint32_t tag[kTogether];
  for (std::size_t first = 0; first < n; first += kTogether) {
    poll();
    const std::size_t m = std::min(kTogether, n - first);
    for (std::size_t i = 0; i < m; ++i) {
      Symbol* const gram = grams.data() + i * stride;
      order[i] = read(first + i, gram);
      const RollingHash& hash = hashes[static_cast<std::size_t>(order[i] - orders.min)];
      std::uint64_t h = 0;
      for (int k = 0; k < order[i]; ++k) h = hash.push(h, static_cast<std::uint64_t>(gram[k]));
      tag[i] = hash.tag(h);
      dictionary.prefetch_slot(tag[i]);
    }
    for (std::size_t i = 0; i < m; ++i) dictionary.prefetch_gram(tag[i]);
    for (std::size_t i = 0; i < m; ++i) use(first + i, dictionary.insert(tag[i], grams.data() + i * stride, order[i]));
  }
}

template <class Symbol>
NGramDictionary<Symbol> rebuild(std::span<const std::int32_t> grams, std::span<const std::int32_t> lengths, const Orders& orders) {
  NGramDictionary<Symbol> dictionary(orders.max, orders.mixed());
  const auto stride = static_cast<std::size_t>(orders.max);
  const std::size_t n = grams.size() / stride;
  dictionary.reserve(n);
  auto read = [&](std::size_t id, Symbol* gram) {
    const int order = lengths.empty() ? orders.max : lengths[id];
    for (int k = 0; k < order; ++k) gram[k] = static_cast<Symbol>(grams[id * stride + static_cast<std::size_t>(k)]);
    return order;
  };
  insert_all(dictionary, n, orders, read, [](std::size_t id, std::uint32_t inserted) {
    if (inserted != id) throw std::invalid_argument("the same n-gram occurs twice among the features");
  });
  return dictionary;
}

}  // namespace

NGramFeatures NGramFeatures::fit(const Sequences& data, int min_order, int max_order, std::span<const double> weights,
                                 std::int32_t alphabet_size, int threads, RowsWithNorms& rows, Counts counts) {
  const Orders orders{min_order, max_order, weights, counts};
  return with_symbol_type(alphabet_size, [&](auto symbol) {
    return NGramFeatures(fit_dictionary<decltype(symbol)>(data, orders, threads, rows), min_order, max_order, weights, counts);
  });
}

NGramFeatures NGramFeatures::fit(const Lattices& data, int min_order, int max_order, std::span<const double> weights,
                                 std::int32_t alphabet_size, int threads, RowsWithNorms& rows, Counts counts) {
  const Orders orders{min_order, max_order, weights, counts};
  return with_symbol_type(alphabet_size, [&](auto symbol) {
    return NGramFeatures(fit_dictionary<decltype(symbol)>(data, orders, threads, rows), min_order, max_order, weights, counts);
  });
}

NGramFeatures NGramFeatures::from_grams(std::span<const std::int32_t> grams, std::span<const std::int32_t> lengths, int min_order,
                                        int max_order, std::span<const double> weights, std::int32_t alphabet_size, Counts counts) {
  const Orders orders{min_order, max_order, weights, counts};
  return with_symbol_type(alphabet_size, [&](auto symbol) {
    return NGramFeatures(rebuild<decltype(symbol)>(grams, lengths, orders), min_order, max_order, weights, counts);
  });
}

RowsWithNorms NGramFeatures::transform(const Sequences& data, std::span<const std::int32_t> recode, int threads) const {
  const Orders orders{min_order_, max_order_, weights_, counts_};
  RowsWithNorms rows;
  const std::int64_t symbols_in_use = recode.empty() ? 0 : 1 + std::int64_t{*std::max_element(recode.begin(), recode.end())};
  std::visit(
      [&]<class Known>(const NGramDictionary<Known>& dictionary) {
        auto scan_all = [&]<class Symbol>(Symbol) {
          auto find = [&](const CountedNGram& gram, const Symbol* symbols, int order) { return dictionary.find(gram.tag, symbols, order); };
          return scan_shares(data, threads, rows.sq_norms, [&](std::size_t, std::size_t first, std::size_t last, RowShare& share) {
            scan<Symbol>(data, recode, first, last, orders, dictionary, find, share, rows.sq_norms.data());
          });
        };
        // Unknown symbols may need a wider type than the known ones: then int32 serves, symbol by symbol.
        const bool fits = symbols_in_use - 1 <= std::int64_t{std::numeric_limits<Known>::max()};
        rows.entries = join_shares(fits ? scan_all(Known{}) : scan_all(std::int32_t{}), {}, dictionary.size());
      },
      dictionary_);
  return rows;
}

RowsWithNorms NGramFeatures::transform(const Lattices& data, std::span<const std::int32_t> recode, int threads) const {
  const Orders orders{min_order_, max_order_, weights_, counts_};
  RowsWithNorms rows;
  std::visit(
      [&](const auto& dictionary) {
        auto find = [&](std::uint32_t tag, const std::int32_t* symbols, int order) { return dictionary.find(tag, symbols, order); };
        auto scan_share = [&](std::size_t, std::size_t first, std::size_t last, RowShare& share) {
          scan(data, recode, first, last, orders, find, share, rows.sq_norms.data());
        };
        rows.entries = join_shares(scan_shares(data, threads, rows.sq_norms, scan_share), {}, dictionary.size());
      },
      dictionary_);
  return rows;
}

Occurrences NGramFeatures::occurrences(const Sequences& data, std::span<const std::int32_t> recode, int threads) const {
  const Orders orders{min_order_, max_order_, weights_, counts_};
  const auto hashes = hashes_of(orders);
  const auto cuts = shares(data, threads);
  struct Found {
    Array<std::int64_t> ids, starts;
  };
  std::vector<Found> found(cuts.size() - 1);
  Occurrences all;
  all.offsets = Buffer<std::int64_t>(data.size() + 1);
  all.offsets[0] = 0;
  // The windows of all orders that start at i, then those that start at i + 1.
  auto scan_share = [&](const auto& dictionary, std::size_t first, std::size_t last, Found& mine) {
    std::vector<std::int32_t> x;
    std::vector<std::uint64_t> h(orders.count());
    for (std::size_t i = first; i < last; ++i) {
      x.resize(data[i].size());
      std::transform(data[i].begin(), data[i].end(), x.begin(), [&](std::int32_t s) { return recode[static_cast<std::size_t>(s)]; });
      const auto before = mine.ids.size();
      auto symbol = [&](std::size_t k) { return static_cast<std::uint64_t>(x[k]); };
      for (std::size_t o = 0; o < h.size(); ++o) {
        h[o] = 0;
        for (std::size_t k = 0; k + 1 < static_cast<std::size_t>(min_order_) + o && k < x.size(); ++k)
          h[o] = hashes[o].push(h[o], symbol(k));
      }
      for (std::size_t start = 0; start < x.size(); ++start)
        for (std::size_t o = 0; o < h.size(); ++o) {
          const std::size_t order = static_cast<std::size_t>(min_order_) + o;
          if (start + order > x.size()) break;
          h[o] = hashes[o].push(h[o], symbol(start + order - 1));
          const std::uint32_t id = dictionary.find(hashes[o].tag(h[o]), x.data() + start, static_cast<int>(order));
          h[o] = hashes[o].pop(h[o], symbol(start));
          if (id == dictionary.kAbsent) continue;
          mine.ids.push_back(id);
          mine.starts.push_back(static_cast<std::int64_t>(start));
        }
      all.offsets[i + 1] = static_cast<std::int64_t>(mine.ids.size() - before);
    }
  };
  std::visit(
      [&](const auto& dictionary) {
        run_shares(static_cast<int>(found.size()), [&](int p) {
          const auto share = static_cast<std::size_t>(p);
          scan_share(dictionary, cuts[share], cuts[share + 1], found[share]);
        });
      },
      dictionary_);
  for (std::size_t i = 0; i < data.size(); ++i) all.offsets[i + 1] += all.offsets[i];
  all.ids = Buffer<std::int64_t>(static_cast<std::size_t>(all.offsets[data.size()]));
  all.starts = Buffer<std::int64_t>(all.ids.size());
  for (std::size_t p = 0; p < found.size(); ++p) {
    std::copy(found[p].ids.begin(), found[p].ids.end(), all.ids.data() + all.offsets[cuts[p]]);
    std::copy(found[p].starts.begin(), found[p].starts.end(), all.starts.data() + all.offsets[cuts[p]]);
  }
  return all;
}

std::pair<NGramFeatures, std::vector<std::int64_t>> NGramFeatures::merge(const NGramFeatures& other,
                                                                         std::span<const std::int32_t> recode) const {
  NGramFeatures merged = *this;
  std::vector<std::int64_t> ids = merged.absorb(other, recode);
  return {std::move(merged), std::move(ids)};
}

std::vector<std::int64_t> NGramFeatures::absorb(const NGramFeatures& other, std::span<const std::int32_t> recode) {
  if (other.min_order_ != min_order_ || other.max_order_ != max_order_ || other.weights_ != weights_ || other.counts_ != counts_)
    throw std::invalid_argument("n-grams of other orders, weights or counts cannot be merged");
  const std::int64_t symbols = recode.empty() ? 0 : 1 + std::int64_t{*std::max_element(recode.begin(), recode.end())};
  widen(symbols);
  std::vector<std::int64_t> ids(other.size());
  std::visit(
      [&]<class Symbol>(NGramDictionary<Symbol>& all, const auto& from) {
        auto read = [&](std::size_t id, Symbol* gram) {
          const int order = from.order(static_cast<std::uint32_t>(id));
          const auto* own = from.gram(static_cast<std::uint32_t>(id));
          for (int k = 0; k < order; ++k) gram[k] = static_cast<Symbol>(recode[static_cast<std::size_t>(own[k])]);
          return order;
        };
        insert_all(all, from.size(), {min_order_, max_order_, weights_}, read, [&](std::size_t id, std::uint32_t merged) {
          all.count(merged, from.examples()[id]);
          ids[id] = merged;
        });
      },
      dictionary_, other.dictionary_);
  return ids;
}

// Stores the same n-grams in words that fit this number of symbols.
void NGramFeatures::widen(std::int64_t symbols) {
  auto wide = std::visit(
      [&]<class Own>(const NGramDictionary<Own>& own) -> std::optional<Dictionary> {
        if (symbols <= std::int64_t{std::numeric_limits<Own>::max()} + 1) return std::nullopt;
        return with_symbol_type(symbols, [&]<class Wide>(Wide) -> Dictionary {
          NGramDictionary<Wide> all(max_order_, min_order_ != max_order_);
          std::vector<Wide> gram(static_cast<std::size_t>(max_order_));
          for (std::uint32_t id = 0; id < own.size(); ++id) {
            std::copy(own.gram(id), own.gram(id) + own.order(id), gram.begin());
            all.count(all.insert(own.tag(id), gram.data(), own.order(id)), own.examples()[id]);
          }
          return all;
        });
      },
      dictionary_);
  if (wide) dictionary_ = std::move(*wide);
}

std::size_t NGramFeatures::size() const {
  return std::visit([](const auto& dictionary) { return dictionary.size(); }, dictionary_);
}

std::vector<std::int32_t> NGramFeatures::gram(std::uint32_t id) const {
  return std::visit(
      [&](const auto& dictionary) { return std::vector<std::int32_t>(dictionary.gram(id), dictionary.gram(id) + dictionary.order(id)); },
      dictionary_);
}

std::vector<std::int32_t> NGramFeatures::grams() const {
  return std::visit(
      [&](const auto& dictionary) {
        return std::vector<std::int32_t>(dictionary.gram(0), dictionary.gram(0) + dictionary.size() * static_cast<std::size_t>(max_order_));
      },
      dictionary_);
}

std::vector<std::int32_t> NGramFeatures::orders() const {
  std::vector<std::int32_t> lengths(size());
  std::visit(
      [&](const auto& dictionary) {
        for (std::uint32_t id = 0; id < lengths.size(); ++id) lengths[id] = dictionary.order(id);
      },
      dictionary_);
  return lengths;
}

}  // namespace treille
