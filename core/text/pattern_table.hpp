#pragma once
// Rows by direct addressing, for families whose patterns have an address each (patterns.hpp: groups, group_size, Addresses).
//
// Two passes over the sequences: the first counts examples by pattern, entries by row and squared norms; the second writes the rows.
// Nothing else is held but the table, 4 bytes an address and thread. The letters of one group of patterns are counted at a time, in a
// counter per address of the group that stays in the nearest cache; ids of a row come out sorted from a set of bits.

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "features/codebook.hpp"
#include "features/coded_rows.hpp"
#include "features/dictionary_fit.hpp"
#include "memory.hpp"
#include "parallel.hpp"
#include "text/pattern_counter.hpp"
#include "text/pattern_features.hpp"

namespace treille {

// How many addresses a table may have: 4 bytes each, twice, and a thread's share of work should outweigh them.
constexpr double kTableAlways = 1 << 22, kTableMost = 1 << 26;

template <class Family>
constexpr bool kHasTable = requires(const Family& family) { family.groups(); };

// 0 where the family has no table, or too large a one for so many occurrences.
template <class Family>
std::size_t table_size(const Family& family, std::int64_t alphabet_size, double occurrences) {
  if constexpr (kHasTable<Family>) {
    const double size = static_cast<double>(family.groups()) * family.group_size(alphabet_size);
    if (size <= kTableAlways || (size <= kTableMost && size <= occurrences)) return static_cast<std::size_t>(size);
  }
  return 0;
}

// Numbers below n and how often each was added, taken out in rising order. Adding costs two bits, taking out a few operations a number;
// only those added more than once have a counter.
class CountedSet {
 public:
  explicit CountedSet(std::size_t n) : once_(n / 64 + 1, 0), again_(n / 64 + 1, 0), words_(n / 4096 + 1, 0), counts_(n) {}
  void add(std::uint32_t x) {
    const std::uint64_t bit = std::uint64_t{1} << (x & 63);
    if (once_[x >> 6] & bit) return add_again(x, bit);
    once_[x >> 6] |= bit;
    words_[x >> 12] |= std::uint64_t{1} << (x >> 6 & 63);
  }
  template <class Use>
  void take(Use&& use) {
    for (std::size_t top = 0; top < words_.size(); ++top)
      for (std::uint64_t words = std::exchange(words_[top], 0); words != 0; words &= words - 1) {
        const std::size_t word = top << 6 | static_cast<std::size_t>(std::countr_zero(words));
        const std::uint64_t again = std::exchange(again_[word], 0);
        for (std::uint64_t bits = std::exchange(once_[word], 0); bits != 0; bits &= bits - 1) {
          const auto x = static_cast<std::uint32_t>(word << 6 | static_cast<std::size_t>(std::countr_zero(bits)));
          use(x, again & bits & (0 - bits) ? counts_[x] : 1u);
        }
      }
  }

 private:
  void add_again(std::uint32_t x, std::uint64_t bit) {
    counts_[x] = again_[x >> 6] & bit ? counts_[x] + 1 : 2;
    again_[x >> 6] |= bit;
  }

  std::vector<std::uint64_t> once_, again_, words_;
  Array<std::uint32_t> counts_;
};

template <class Family>
class TableReader {
 public:
  static constexpr std::uint32_t kNowhere = 0xFFFFFFFFu;

  TableReader(const Family& family, std::int32_t base)
      : family_(family), base_(base), addresses_(family, base), counts_(static_cast<std::size_t>(family.group_size(base)), 0) {}

  // Calls use(address) for each occurrence of a pattern in x, or where x has a symbol never seen use(address, count) for each distinct
  // pattern, kNowhere for those with such a symbol. What `use` will read of the table at an address, ahead(address), is asked for while
  // the group before is read.
  template <class Use, class Ahead>
  void read(std::span<const std::int32_t> x, std::span<const std::int32_t> recode, Use&& use, Ahead&& ahead) {
    read_groups(x, recode, use, ahead, [&](std::uint32_t start) {
      for (const std::uint32_t code : list_) use(start + code);
    });
  }

  // The same, but use(address, count) for each distinct pattern always.
  template <class Use, class Ahead>
  void count(std::span<const std::int32_t> x, std::span<const std::int32_t> recode, Use&& use, Ahead&& ahead) {
    read_groups(x, recode, use, ahead, [&](std::uint32_t start) {
      for (const std::uint32_t code : list_) ++counts_[code];
      for (const std::uint32_t code : list_)
        if (const std::uint32_t count = std::exchange(counts_[code], 0); count > 0) use(start + code, count);
    });
  }

 private:
  template <class Use, class Ahead, class UseGroup>
  void read_groups(std::span<const std::int32_t> x, std::span<const std::int32_t> recode, Use&& use, Ahead&& ahead, UseGroup&& use_group) {
    sequence_.resize(x.size());
    bool known = true;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sequence_[i] = recode[static_cast<std::size_t>(x[i])];
      known &= sequence_[i] < base_;
    }
    if (!known) return read_unknown(use);
    addresses_.read(sequence_);
    addresses_.list(0, list_);
    for (std::size_t group = 0; group < family_.groups(); ++group) {
      const auto start = static_cast<std::uint32_t>(group * counts_.size());
      if (group + 1 < family_.groups()) {
        addresses_.list(group + 1, next_);
        for (const std::uint32_t code : next_) __builtin_prefetch(ahead(start + static_cast<std::uint32_t>(counts_.size()) + code));
      }
      use_group(start);
      std::swap(list_, next_);
    }
  }

  // Symbols never seen have no place in the table. They are told apart all the same, since they count in the norm.
  template <class Use>
  void read_unknown(Use&& use) {
    counter_.clear();
    family_.emit(Symbols(sequence_), [&](const std::int32_t* cells, int n, double value) { counter_.add(cells, n, value); });
    for (const auto& entry : counter_.entries()) {
      const std::int32_t* cells = counter_.cells(entry);
      const bool seen = std::all_of(cells, cells + entry.n, [&](std::int32_t cell) { return cell <= base_; });
      use(seen ? family_.address(cells, base_) : kNowhere, static_cast<std::uint32_t>(entry.value));
    }
  }

  const Family& family_;
  std::int32_t base_;
  typename Family::Addresses addresses_;
  std::vector<std::uint32_t> counts_, list_, next_;
  std::vector<std::int32_t> sequence_;
  PatternCounter counter_;
};

// What the first pass learns of a share of the sequences.
struct TableTally {
  Array<std::uint32_t> examples;  // by address; only in fit
  std::vector<char> counts;       // counts[c]: whether some pattern stands c times in an example
  void note(std::uint32_t count) {
    if (count >= counts.size()) counts.resize(std::size_t{count} + 1, 0);
    counts[count] = 1;
  }
};

// First pass: found(address, tally) for each distinct pattern of each sequence says whether it has an entry in the row, by what it reads
// at ahead(address, tally). Fills sq_norms, and indptr up to the running sum.
template <class Family, class Found, class Ahead>
void tally_rows(const Family& family, std::int32_t base, const Sequences& data, std::span<const std::int32_t> recode,
                std::span<const std::size_t> cuts, std::vector<TableTally>& tallies, RowsWithNorms& rows, Found&& found, Ahead&& ahead) {
  rows.sq_norms.resize(data.size());
  rows.entries.indptr = Buffer<std::int64_t>(data.size() + 1);
  run_parts(static_cast<int>(tallies.size()), [&](int p) {
    TableTally& tally = tallies[static_cast<std::size_t>(p)];
    TableReader<Family> reader(family, base);
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) {
      std::int64_t entries = 0;
      double sq_norm = 0;
      auto note = [&](std::uint32_t address, std::uint32_t count) {
        sq_norm += static_cast<double>(count) * count;
        if (!found(address, tally)) return;
        ++entries;
        tally.note(count);
      };
      reader.count(data[i], recode, note, [&](std::uint32_t address) { return ahead(address, tally); });
      rows.sq_norms[i] = sq_norm;
      rows.entries.indptr[i + 1] = entries;
    }
  });
  rows.entries.indptr[0] = 0;
  for (std::size_t i = 0; i < data.size(); ++i) rows.entries.indptr[i + 1] += rows.entries.indptr[i];
}

// Second pass: the entries themselves, as row_builder.hpp describes them.
template <class Word, class Family>
void write_table_rows(const Family& family, std::int32_t base, const Sequences& data, std::span<const std::int32_t> recode,
                      std::span<const std::size_t> cuts, const PatternTable& table, const std::vector<std::uint32_t>& code_of,
                      CodedEntries& out) {
  const std::size_t n = table.addresses.size();
  Buffer<Word> entries(static_cast<std::size_t>(out.indptr[data.size()]));
  run_parts(static_cast<int>(cuts.size()) - 1, [&](int p) {
    TableReader<Family> reader(family, base);
    CountedSet ids(n);
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) {
      auto keep = [&](std::uint32_t address, std::uint32_t count = 1) {
        const std::uint32_t id = address == TableReader<Family>::kNowhere ? address : table.rank[address];
        if (id < n)
          for (; count > 0; --count) ids.add(id);
      };
      reader.read(data[i], recode, keep, [&](std::uint32_t address) { return &table.rank[address]; });
      Word* to = entries.data() + out.indptr[i];
      ids.take([&](std::uint32_t id, std::uint32_t count) { *to++ = static_cast<Word>(Word{id} << out.code_bits | code_of[count]); });
    }
  });
  out.entries = std::move(entries);
}

template <class Family>
void table_rows(const Family& family, std::int32_t base, const Sequences& data, std::span<const std::int32_t> recode,
                std::span<const std::size_t> cuts, const PatternTable& table, const std::vector<TableTally>& tallies, CodedEntries& out) {
  std::size_t most = 0;
  for (const TableTally& tally : tallies) most = std::max(most, tally.counts.size());
  Codebook codebook;
  std::vector<std::uint32_t> code_of(most + 2, 0);
  for (std::size_t count = 0; count < most; ++count)
    if (std::any_of(tallies.begin(), tallies.end(), [&](const auto& t) { return count < t.counts.size() && t.counts[count]; })) {
      code_of[count] = codebook.code_of(static_cast<double>(count));
    }
  out.codebook = codebook.values();
  out.code_bits = codebook.bits();
  with_word_type(table.addresses.size(), out.code_bits,
                 [&]<class Word>(Word) { write_table_rows<Word>(family, base, data, recode, cuts, table, code_of, out); });
}

// The table of the patterns found, what the shares learnt, and all of the rows but their entries.
template <class Family>
PatternTable tally_table(const Family& family, std::size_t size, std::int32_t base, const Sequences& data,
                         std::span<const std::int32_t> recode, std::span<const std::size_t> cuts, std::vector<TableTally>& tallies,
                         RowsWithNorms& rows) {
  for (TableTally& tally : tallies) tally.examples.assign(size, 0);
  auto count = [](std::uint32_t address, TableTally& tally) { return ++tally.examples[address] > 0; };
  tally_rows(family, base, data, recode, cuts, tallies, rows, count,
             [](std::uint32_t address, TableTally& tally) { return &tally.examples[address]; });
  PatternTable table;
  Array<std::uint32_t>& examples = tallies[0].examples;
  std::size_t n = 0;
  for (std::size_t address = 0; address < size; ++address) {
    for (std::size_t p = 1; p < tallies.size(); ++p) examples[address] += tallies[p].examples[address];
    n += examples[address] > 0;
    table.n_shared += examples[address] > 1;
  }
  for (std::size_t p = 1; p < tallies.size(); ++p) tallies[p].examples = {};
  table.rank = by_falling_frequency(examples);
  examples = {};
  table.addresses.resize(n);
  for (std::size_t address = 0; address < size; ++address)
    if (table.rank[address] < n) table.addresses[table.rank[address]] = static_cast<std::uint32_t>(address);
  return table;
}

template <class Family>
PatternTable fit_table(const Family& family, std::size_t size, std::int32_t base, const Sequences& data,
                       std::span<const std::int32_t> recode, int threads, RowsWithNorms& rows) {
  const auto cuts = shares(data, threads);
  std::vector<TableTally> tallies(cuts.size() - 1);
  PatternTable table = tally_table(family, size, base, data, recode, cuts, tallies, rows);
  table_rows(family, base, data, recode, cuts, table, tallies, rows.entries);
  return table;
}

template <class Family>
RowsWithNorms transform_table(const Family& family, const PatternTable& table, std::int32_t base, const Sequences& data,
                              std::span<const std::int32_t> recode, int threads) {
  RowsWithNorms rows;
  const auto cuts = shares(data, threads);
  std::vector<TableTally> tallies(cuts.size() - 1);
  const std::size_t n = table.addresses.size();
  auto known = [&](std::uint32_t address, TableTally&) { return address != TableReader<Family>::kNowhere && table.rank[address] < n; };
  tally_rows(family, base, data, recode, cuts, tallies, rows, known,
             [&](std::uint32_t address, TableTally&) { return &table.rank[address]; });
  table_rows(family, base, data, recode, cuts, table, tallies, rows.entries);
  return rows;
}

}  // namespace treille
