#include "text/pattern_features.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "automata/prefix_counter.hpp"
#include "features/dictionary_fit.hpp"
#include "parallel.hpp"
#include "symbol_type.hpp"
#include "text/pattern_counter.hpp"
#include "text/pattern_occurrences.hpp"
#include "text/pattern_table.hpp"

namespace treille {
namespace {

template <class Store>
constexpr bool kIsTable = std::is_same_v<std::remove_cvref_t<Store>, PatternTable>;

// The distinct patterns of one example after another.
class PatternReader {
 public:
  PatternReader(const PatternFamily& family, std::span<const std::int32_t> recode) : family_(family), recode_(recode) {}

  const PatternCounter& read(std::span<const std::int32_t> sequence) {
    symbols_.resize(sequence.size());
    std::transform(sequence.begin(), sequence.end(), symbols_.begin(),
                   [&](std::int32_t s) { return recode_[static_cast<std::size_t>(s)]; });
    counter_.clear();
    add_patterns(family_, Symbols(symbols_), 1.0, counter_);
    return counter_;
  }

  const PatternCounter& read(const Lattice& x) {
    counter_.clear();
    const bool gappy = std::holds_alternative<GappyPatterns>(family_);
    grams_.count(x, recode_, lattice_span(family_), [&](const std::int32_t* symbols, int n, double expected) {
      if (!gappy) return add_patterns(family_, Symbols(symbols, static_cast<std::size_t>(n)), expected, counter_);
      cells_.resize(static_cast<std::size_t>(n));
      std::transform(symbols, symbols + n, cells_.begin(), [](std::int32_t s) { return s + 1; });
      counter_.add(cells_.data(), n, expected);
    });
    return counter_;
  }

 private:
  const PatternFamily& family_;
  std::span<const std::int32_t> recode_;
  std::vector<std::int32_t> symbols_, cells_;
  PrefixCounter grams_;
  PatternCounter counter_;
};

template <class Data>
constexpr bool kExpected = std::is_same_v<Data, Lattices>;

// Reads examples first..last-1 and writes their rows. `resolve(entry, cells)` gives a pattern's id, or kNoPattern to leave it out.
template <class Data, class Stored, class Resolve>
void scan(const PatternValues& values, const Data& data, std::span<const std::int32_t> recode, std::size_t first, std::size_t last,
          const Stored& stored, Resolve&& resolve, RowShare& share, double* sq_norms) {
  PatternReader reader(values.summed(), recode);
  for (std::size_t i = first; i < last; ++i) {
    const PatternCounter& counter = reader.read(data[i]);
    const auto& entries = counter.entries();
    sq_norms[i] = 0;
    if constexpr (!kIsTable<Stored>)
      for (std::size_t k = 0; k < std::min(kAhead, entries.size()); ++k) stored.prefetch_slot(entries[k].tag);
    for (std::size_t k = 0; k < entries.size(); ++k) {
      if constexpr (!kIsTable<Stored>) {
        if (k + kAhead < entries.size()) stored.prefetch_slot(entries[k + kAhead].tag);
        if (k + kAheadGram < entries.size()) stored.prefetch_gram(entries[k + kAheadGram].tag);
      }
      if (kExpected<Data> && entries[k].value == 0) continue;  // values that cancel
      const std::int32_t* const cells = counter.cells(entries[k]);
      const double value = kExpected<Data> ? values.of_expected(entries[k].value, cells) : values.of(entries[k].value, cells);
      sq_norms[i] += value * value;
      const std::uint32_t id = resolve(entries[k], cells);
      if (id != kNoPattern) share.add(id, value);
    }
    share.end_row();
  }
}

// Gives every pattern an id, and counts the examples that hold it.
template <class Symbol, class Data>
NGramDictionary<Symbol> fit_dictionary(const PatternFamily& family, int width, bool mixed, const Data& data,
                                       std::span<const std::int32_t> recode, int threads, RowsWithNorms& rows, Counts counts) {
  const PatternValues values(family, counts);
  auto scan_share = [&](std::size_t first, std::size_t last, NGramDictionary<Symbol>& mine, RowShare& share) {
    std::vector<Symbol> narrow(static_cast<std::size_t>(width));
    const auto keep = [&](const PatternCounter::Entry& entry, const std::int32_t* cells) {
      std::copy(cells, cells + entry.n, narrow.begin());
      const std::uint32_t id = mine.insert(entry.tag, narrow.data(), entry.n);
      mine.count(id, 1);
      return id;
    };
    scan(values, data, recode, first, last, mine, keep, share, rows.sq_norms.data());
  };
  return fit_shares<Symbol>(data, threads, width, mixed, rows.sq_norms, rows.entries, scan_share);
}

// A dictionary of the patterns in symbols wide enough for the largest cell.
template <class Data>
auto fit_narrow(const PatternFamily& family, std::int64_t longest, const Data& data, std::span<const std::int32_t> recode,
                std::int32_t alphabet_size, int threads, RowsWithNorms& rows, Counts counts) {
  struct Shape {
    int width;
    bool mixed;
    std::int64_t largest;
  };
  const Shape shape =
      std::visit([&](const auto& f) { return Shape{f.width(), f.mixed(), f.largest_cell(alphabet_size, longest)}; }, family);
  return with_symbol_type(shape.largest + 1, [&](auto symbol) -> PatternStore {
    return fit_dictionary<decltype(symbol)>(family, shape.width, shape.mixed, data, recode, threads, rows, counts);
  });
}

std::int64_t longest(const Sequences& data) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < data.size(); ++i) most = std::max<std::int64_t>(most, static_cast<std::int64_t>(data[i].size()));
  return most;
}

}  // namespace

PatternFeatures PatternFeatures::fit(const PatternFamily& family, const Sequences& data, std::span<const std::int32_t> recode,
                                     std::int32_t alphabet_size, int threads, RowsWithNorms& rows, Counts counts) {
  auto table = std::visit(
      [&]<class Family>(const Family& f) -> std::optional<PatternTable> {
        if constexpr (kHasTable<Family>)
          if (const std::size_t size = table_size(f, alphabet_size, static_cast<double>(data.symbols.size())); size > 0)
            return fit_table(f, size, alphabet_size, data, recode, threads, rows, counts);
        return std::nullopt;
      },
      family);
  if (table) return {family, std::move(*table), alphabet_size, counts};
  return {family, fit_narrow(family, longest(data), data, recode, alphabet_size, threads, rows, counts), alphabet_size, counts};
}

PatternFeatures PatternFeatures::fit(const PatternFamily& family, const Lattices& data, std::span<const std::int32_t> recode,
                                     std::int32_t alphabet_size, int threads, RowsWithNorms& rows, Counts counts) {
  return {family, fit_narrow(family, 0, data, recode, alphabet_size, threads, rows, counts), alphabet_size, counts};
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
        const char* twice = "the same pattern occurs twice among the features";
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
  RowsWithNorms rows;
  const PatternValues values(family_, counts_);
  std::visit(
      [&]<class Stored>(const Stored& stored) {
        if constexpr (!kIsTable<Stored>) {
          auto find = [&](const PatternCounter::Entry& entry, const std::int32_t* cells) { return stored.find(entry.tag, cells, entry.n); };
          auto scan_share = [&](std::size_t, std::size_t first, std::size_t last, RowShare& share) {
            scan(values, data, recode, first, last, stored, find, share, rows.sq_norms.data());
          };
          rows.entries = join_shares(scan_shares(data, threads, rows.sq_norms, scan_share), {}, stored.size());
        } else {
          std::visit(
              [&]<class Family>(const Family& family) {
                if constexpr (kHasTable<Family>) rows = transform_table(family, stored, alphabet_size_, data, recode, threads, counts_);
              },
              family_);
        }
      },
      store_);
  return rows;
}

RowsWithNorms PatternFeatures::transform(const Lattices& data, std::span<const std::int32_t> recode, int threads) const {
  RowsWithNorms rows;
  const PatternValues values(family_, counts_);
  const auto resolve = [&](const PatternCounter::Entry& entry, const std::int32_t* cells) { return find(cells, entry.n); };
  std::visit(
      [&](const auto& stored) {
        auto scan_share = [&](std::size_t, std::size_t first, std::size_t last, RowShare& share) {
          scan(values, data, recode, first, last, stored, resolve, share, rows.sq_norms.data());
        };
        rows.entries = join_shares(scan_shares(data, threads, rows.sq_norms, scan_share), {}, size());
      },
      store_);
  return rows;
}

std::uint32_t PatternFeatures::find(const std::int32_t* cells, int n) const {
  const auto in_table = [&](const PatternTable& table) {
    return std::visit(
        [&]<class Family>([[maybe_unused]] const Family& family) {
          if constexpr (kHasTable<Family>)
            if (std::all_of(cells, cells + n, [&](std::int32_t cell) { return cell <= alphabet_size_; }))
              if (const std::uint32_t rank = table.rank[family.address(cells, alphabet_size_)]; rank < table.addresses.size()) return rank;
          return kNoPattern;
        },
        family_);
  };
  return std::visit(
      [&](const auto& stored) {
        if constexpr (kIsTable<decltype(stored)>)
          return in_table(stored);
        else
          return stored.find(pattern_tag(cells, n), cells, n);
      },
      store_);
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

bool PatternFeatures::paired() const {
  const auto* const kmers = std::get_if<GappedKmerPatterns>(&family_);
  return kmers != nullptr && kmers->paired;
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
