#include "text/pattern_features.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "automata/prefix_counter.hpp"
#include "features/dictionary_fit.hpp"
#include "parallel.hpp"
#include "symbol_type.hpp"
#include "text/pattern_counter.hpp"
#include "text/pattern_table.hpp"
#include "text/pattern_values.hpp"

namespace treille {
namespace {

// Reads sequences first..last-1 and writes their rows. `resolve(entry, cells)` gives a pattern's id, or kAbsent to leave it out.
template <class Family, class Dictionary, class Resolve>
void scan(const PatternValues<Family>& values, const Sequences& data, std::span<const std::int32_t> recode, std::size_t first,
          std::size_t last, const Dictionary& dictionary, Resolve&& resolve, RowPart& part, double* sq_norms) {
  PatternCounter counter;
  std::vector<std::int32_t> symbols;
  for (std::size_t i = first; i < last; ++i) {
    const auto sequence = data[i];
    symbols.resize(sequence.size());
    std::transform(sequence.begin(), sequence.end(), symbols.begin(), [&](std::int32_t s) { return recode[static_cast<std::size_t>(s)]; });
    counter.clear();
    values.summed().emit(Symbols(symbols), [&](const std::int32_t* cells, int n, double value) { counter.add(cells, n, value); });
    const auto& entries = counter.entries();
    sq_norms[i] = 0;
    for (std::size_t k = 0; k < std::min(kAhead, entries.size()); ++k) dictionary.prefetch_slot(entries[k].tag);
    for (std::size_t k = 0; k < entries.size(); ++k) {
      if (k + kAhead < entries.size()) dictionary.prefetch_slot(entries[k + kAhead].tag);
      if (k + kAheadGram < entries.size()) dictionary.prefetch_gram(entries[k + kAheadGram].tag);
      const std::int32_t* const cells = counter.cells(entries[k]);
      const double value = values.of(entries[k].value, cells);
      sq_norms[i] += value * value;
      const std::uint32_t id = resolve(entries[k], cells);
      if (id != Dictionary::kAbsent) part.add(id, value);
    }
    part.end_row();
  }
}

// Gives every pattern an id, and counts the examples that hold it.
template <class Symbol>
class Keeper {
 public:
  Keeper(NGramDictionary<Symbol>& dictionary, int width) : dictionary_(dictionary), narrow_(static_cast<std::size_t>(width)) {}
  std::uint32_t operator()(const PatternCounter::Entry& entry, const std::int32_t* cells) {
    std::copy(cells, cells + entry.n, narrow_.begin());
    const std::uint32_t id = dictionary_.insert(entry.tag, narrow_.data(), entry.n);
    dictionary_.count(id, 1);
    return id;
  }

 private:
  NGramDictionary<Symbol>& dictionary_;
  std::vector<Symbol> narrow_;
};

template <class Symbol, class Family>
NGramDictionary<Symbol> fit_dictionary(const Family& family, const Sequences& data, std::span<const std::int32_t> recode, int threads,
                                       RowsWithNorms& rows, Counts counts) {
  const PatternValues<Family> values(family, counts);
  auto scan_share = [&](std::size_t first, std::size_t last, NGramDictionary<Symbol>& mine, RowPart& part) {
    scan(values, data, recode, first, last, mine, Keeper<Symbol>(mine, family.width()), part, rows.sq_norms.data());
  };
  return fit_shares<Symbol>(data, threads, family.width(), family.mixed(), rows.sq_norms, rows.entries, scan_share);
}

// Patterns of one lattice, in place of family.emit.
template <class Family>
void emit(const Family& family, const Lattice& x, std::span<const std::int32_t> recode, PrefixCounter& grams, PatternCounter& counter) {
  if constexpr (std::is_same_v<Family, GappyPatterns>) {
    const GramSpan span{family.n, family.n, family.max_gap, family.max_total_gap, family.decay, family.contiguous};
    std::vector<std::int32_t> cells(static_cast<std::size_t>(family.n));
    grams.count(x, recode, span, [&](const std::int32_t* symbols, int n, double value) {
      std::transform(symbols, symbols + n, cells.begin(), [](std::int32_t s) { return s + 1; });
      counter.add(cells.data(), n, value);
    });
  } else if constexpr (std::is_same_v<Family, PlacedPatterns>) {
    throw std::invalid_argument("patterns at fixed places are not counted in lattices");
  } else {
    grams.count(x, recode, {family.width(), family.width()}, [&](const std::int32_t* window, int n, double expected) {
      family.emit(Symbols(window, static_cast<std::size_t>(n)),
                  [&](const std::int32_t* cells, int width, double value) { counter.add(cells, width, expected * value); });
    });
  }
}

// The same for lattices. Values that cancel have no entry.
template <class Family, class Resolve>
void scan(const PatternValues<Family>& values, const Lattices& data, std::span<const std::int32_t> recode, std::size_t first,
          std::size_t last, Resolve&& resolve, RowPart& part, double* sq_norms) {
  PrefixCounter grams;
  PatternCounter counter;
  for (std::size_t i = first; i < last; ++i) {
    counter.clear();
    emit(values.summed(), data[i], recode, grams, counter);
    sq_norms[i] = 0;
    for (const PatternCounter::Entry& entry : counter.entries()) {
      if (entry.value == 0) continue;
      const double value = values.of_expected(entry.value, counter.cells(entry));
      sq_norms[i] += value * value;
      const std::uint32_t id = resolve(entry, counter.cells(entry));
      if (id != NGramDictionary<std::int32_t>::kAbsent) part.add(id, value);
    }
    part.end_row();
  }
}

template <class Symbol, class Family>
NGramDictionary<Symbol> fit_dictionary(const Family& family, const Lattices& data, std::span<const std::int32_t> recode, int threads,
                                       RowsWithNorms& rows, Counts counts) {
  const PatternValues<Family> values(family, counts);
  auto scan_share = [&](std::size_t first, std::size_t last, NGramDictionary<Symbol>& mine, RowPart& part) {
    scan(values, data, recode, first, last, Keeper<Symbol>(mine, family.width()), part, rows.sq_norms.data());
  };
  return fit_shares<Symbol>(data, threads, family.width(), family.mixed(), rows.sq_norms, rows.entries, scan_share);
}

std::int64_t longest(const Sequences& data) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < data.size(); ++i) most = std::max<std::int64_t>(most, static_cast<std::int64_t>(data[i].size()));
  return most;
}

}  // namespace

PatternFeatures PatternFeatures::fit(const PatternFamily& family, const Sequences& data, std::span<const std::int32_t> recode,
                                     std::int32_t alphabet_size, int threads, RowsWithNorms& rows, Counts counts) {
  return std::visit(
      [&]<class Family>(const Family& f) {
        if constexpr (kHasTable<Family>) {
          if (const std::size_t size = table_size(f, alphabet_size, static_cast<double>(data.symbols.size())); size > 0)
            return PatternFeatures(family, fit_table(f, size, alphabet_size, data, recode, threads, rows, counts), alphabet_size, counts);
        }
        return with_symbol_type(f.largest_cell(alphabet_size, longest(data)) + 1, [&](auto symbol) {
          return PatternFeatures(family, fit_dictionary<decltype(symbol)>(f, data, recode, threads, rows, counts), alphabet_size, counts);
        });
      },
      family);
}

PatternFeatures PatternFeatures::fit(const PatternFamily& family, const Lattices& data, std::span<const std::int32_t> recode,
                                     std::int32_t alphabet_size, int threads, RowsWithNorms& rows, Counts counts) {
  return std::visit(
      [&]<class Family>(const Family& f) {
        return with_symbol_type(f.largest_cell(alphabet_size, 0) + 1, [&](auto symbol) {
          return PatternFeatures(family, fit_dictionary<decltype(symbol)>(f, data, recode, threads, rows, counts), alphabet_size, counts);
        });
      },
      family);
}

std::optional<PatternFamilies> PatternFeatures::families() const {
  const auto* const kmers = std::get_if<GappedKmerPatterns>(&family_);
  const auto* const table = std::get_if<PatternTable>(&store_);
  if (kmers == nullptr || table == nullptr) return std::nullopt;
  PatternFamilies out;
  constexpr std::uint32_t kNew = 0xFFFFFFFFu;
  Array<std::uint32_t> number(table->rank.size(), kNew);  // of a family, at the address of its first shift
  for (const std::uint32_t address : table->addresses) {
    const auto [first, shifts] = kmers->table_group(address, alphabet_size_);
    const auto shift = static_cast<std::uint32_t>((address - first) % shifts);
    std::uint32_t& own = number[address - shift];
    if (own == kNew) {
      own = static_cast<std::uint32_t>(out.sizes.size());
      out.sizes.push_back(static_cast<std::uint32_t>(shifts));
    }
    out.family.push_back(own);
    out.member.push_back(shift);
  }
  return out;
}

PatternFeatures PatternFeatures::from_patterns(const PatternFamily& family, std::span<const std::int32_t> cells,
                                               std::span<const std::int32_t> lengths, std::int32_t alphabet_size, Counts counts) {
  return std::visit(
      [&]<class Family>(const Family& f) {
        const auto width = static_cast<std::size_t>(f.width());
        const std::size_t n = cells.size() / width;
        const char* twice = "the same pattern stands twice among the features";
        if constexpr (kHasTable<Family>) {
          if (const std::size_t size =
                  table_size(f, alphabet_size, 64.0 * static_cast<double>(n) / static_cast<double>(f.table_groups().back()));
              size > 0) {
            PatternTable table;
            table.rank.assign(size, TableReader<Family>::kNowhere);
            for (std::size_t id = 0; id < n; ++id) {
              table.addresses.push_back(f.address(cells.data() + id * width, alphabet_size));
              if (std::exchange(table.rank[table.addresses.back()], static_cast<std::uint32_t>(id)) != TableReader<Family>::kNowhere)
                throw std::invalid_argument(twice);
            }
            return PatternFeatures(family, std::move(table), alphabet_size, counts);
          }
        }
        const std::int64_t largest = cells.empty() ? 0 : *std::max_element(cells.begin(), cells.end());
        return with_symbol_type(largest + 1, [&](auto symbol) {
          using Symbol = decltype(symbol);
          NGramDictionary<Symbol> dictionary(f.width(), f.mixed());
          std::vector<Symbol> narrow(width);
          for (std::size_t id = 0; id < n; ++id) {
            const std::int32_t* own = cells.data() + id * width;
            const int length = lengths.empty() ? f.width() : lengths[id];
            std::copy(own, own + length, narrow.begin());
            if (dictionary.insert(pattern_tag(own, length), narrow.data(), length) != id) throw std::invalid_argument(twice);
          }
          return PatternFeatures(family, std::move(dictionary), alphabet_size, counts);
        });
      },
      family);
}

RowsWithNorms PatternFeatures::transform(const Sequences& data, std::span<const std::int32_t> recode, int threads) const {
  return std::visit(
      [&]<class Family, class Stored>(const Family& family, const Stored& stored) {
        RowsWithNorms rows;
        if constexpr (!kIsTable<Stored>) {
          const PatternValues<Family> values(family, counts_);
          auto find = [&](const PatternCounter::Entry& entry, const std::int32_t* cells) { return stored.find(entry.tag, cells, entry.n); };
          auto scan_share = [&](std::size_t, std::size_t first, std::size_t last, RowPart& part) {
            scan(values, data, recode, first, last, stored, find, part, rows.sq_norms.data());
          };
          rows.entries = join_parts(scan_shares(data, threads, rows.sq_norms, scan_share), {}, stored.size());
        } else if constexpr (kHasTable<Family>) {
          rows = transform_table(family, stored, alphabet_size_, data, recode, threads, counts_);
        }
        return rows;
      },
      family_, store_);
}

RowsWithNorms PatternFeatures::transform(const Lattices& data, std::span<const std::int32_t> recode, int threads) const {
  return std::visit(
      [&]<class Family, class Stored>(const Family& family, const Stored& stored) {
        RowsWithNorms rows;
        const PatternValues<Family> values(family, counts_);
        const auto resolve = [&](const PatternCounter::Entry& entry, const std::int32_t* cells) {
          return find_pattern(family, stored, alphabet_size_, cells, entry.n);
        };
        auto scan_share = [&](std::size_t, std::size_t first, std::size_t last, RowPart& part) {
          scan(values, data, recode, first, last, resolve, part, rows.sq_norms.data());
        };
        rows.entries = join_parts(scan_shares(data, threads, rows.sq_norms, scan_share), {}, size());
        return rows;
      },
      family_, store_);
}

std::size_t PatternFeatures::size() const {
  return std::visit(
      [](const auto& stored) {
        if constexpr (kIsTable<decltype(stored)>)
          return stored.addresses.size();
        else
          return stored.size();
      },
      store_);
}

int PatternFeatures::width() const {
  return std::visit([](const auto& family) { return family.width(); }, family_);
}

std::vector<std::int32_t> PatternFeatures::pattern(std::uint32_t id) const {
  return std::visit(
      [&]<class Family, class Stored>(const Family& family, const Stored& stored) {
        std::vector<std::int32_t> cells;
        if constexpr (!kIsTable<Stored>) {
          cells.assign(stored.gram(id), stored.gram(id) + stored.order(id));
        } else if constexpr (kHasTable<Family>) {
          cells.resize(static_cast<std::size_t>(family.width()));
          family.cells(stored.addresses[id], alphabet_size_, cells.data());
        }
        return cells;
      },
      family_, store_);
}

std::vector<std::int32_t> PatternFeatures::patterns() const {
  const auto stride = static_cast<std::size_t>(width());
  return std::visit(
      [&]<class Family, class Stored>(const Family& family, const Stored& stored) {
        std::vector<std::int32_t> cells(size() * stride);
        if constexpr (!kIsTable<Stored>)
          std::copy(stored.gram(0), stored.gram(0) + cells.size(), cells.begin());
        else if constexpr (kHasTable<Family>)
          for (std::size_t id = 0; id < stored.addresses.size(); ++id)
            family.cells(stored.addresses[id], alphabet_size_, cells.data() + id * stride);
        return cells;
      },
      family_, store_);
}

std::vector<std::int32_t> PatternFeatures::lengths() const {
  std::vector<std::int32_t> lengths;
  std::visit(
      [&](const auto& stored) {
        if constexpr (!kIsTable<decltype(stored)>)
          if (stored.mixed_orders())
            for (std::uint32_t id = 0; id < stored.size(); ++id) lengths.push_back(stored.order(id));
      },
      store_);
  return lengths;
}

}  // namespace treille
