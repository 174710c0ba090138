#pragma once
// Rows by direct addressing, for families whose patterns have an address each (patterns.hpp: table_groups, group_size, Addresses).
//
// One pass over the sequences. The patterns of one group are counted at a time, in a set that stays in the nearest cache and gives
// them out sorted. Ids rise with the address: patterns that are shifts of each other are neighbours.

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "features/dictionary_fit.hpp"
#include "memory.hpp"
#include "text/pattern_counter.hpp"
#include "text/pattern_features.hpp"
#include "text/pattern_occurrences.hpp"

namespace treille {

// The most addresses of a table: each takes 5 bytes per thread, and there should be more occurrences than addresses.
constexpr double kTableAlways = 1 << 22, kTableMost = 1 << 26;

template <class Family>
constexpr bool kHasTable = requires(const Family& family) { family.table_groups(); };

// The size of the table; 0 if the family has none, or it is too large for data of `symbols` symbols.
template <class Family>
std::size_t table_size(const Family& family, std::int64_t alphabet_size, double symbols) {
  if constexpr (kHasTable<Family>) {
    const double choices = static_cast<double>(family.table_groups().back()), size = choices * family.group_size(alphabet_size);
    if (size <= kTableAlways || (size <= kTableMost && size <= choices * symbols)) return static_cast<std::size_t>(size);
  }
  return 0;
}

// Numbers below n and how often each was added, taken out in rising order. Adding costs two bits, taking out a few operations per number;
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

// (scale value)^2, exact for whole values: a scale is 1, or sqrt(2) of a pair of patterns.
inline double squared(double value, double scale) { return (scale == 1.0 ? 1.0 : 2.0) * value * value; }

template <class Family>
class TableReader {
 public:
  static constexpr std::uint32_t kNowhere = 0xFFFFFFFFu;

  TableReader(const Family& family, std::int32_t base)
      : family_(family),
        base_(base),
        size_(static_cast<std::uint32_t>(family.group_size(base))),
        groups_(family.table_groups()),
        addresses_(family, base),
        found_(most_choices() * size_) {
    if constexpr (kPairs)
      if (family.paired) reversed_ = family.reversed_codes(base);
  }

  // Calls use(address, count, scale) for each distinct pattern of x, whose value is scale t(count); kNowhere for those with a symbol never
  // seen.
  template <class Use>
  void read(std::span<const std::int32_t> x, std::span<const std::int32_t> recode, Use&& use) {
    sequence_.resize(x.size());
    bool known = true;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sequence_[i] = recode[static_cast<std::size_t>(x[i])];
      known &= sequence_[i] < base_;
    }
    if (!known) return read_unknown(use);
    addresses_.read(sequence_);
    for (std::size_t group = 0; group + 1 < groups_.size(); ++group) {
      const auto first = static_cast<std::uint32_t>(groups_[group]), n = static_cast<std::uint32_t>(groups_[group + 1]) - first;
      if constexpr (kPairs) {
        const int order = family_.paired ? family_.form_order(family_.place(first)) : 0;
        if (order > 0) continue;  // the features of its mirror image are those of both
        if (family_.paired) {
          read_pairs(first, n, order == 0, use);
          continue;
        }
      }
      for (std::uint32_t choice = 0; choice < n; ++choice) {
        addresses_.list(first + choice, list_);
        for (const std::uint32_t code : list_) found_.add(code * n + choice);
      }
      found_.take([&](std::uint32_t x, std::uint32_t count) { use(first * size_ + x, count, 1.0); });
    }
  }

 private:
  static constexpr bool kPairs = requires(const Family& family) { family.paired; };

  // A group of shifts, of which the reverse complements are in the same group if it is symmetric.
  template <class Use>
  void read_pairs(std::uint32_t first, std::uint32_t n, bool symmetric, Use&& use) {
    // Below 0 if a pattern comes before its reverse complement, 0 if they are the same.
    const auto order = [&](std::uint32_t code, std::uint32_t choice) {
      if (!symmetric) return -1;
      const std::uint32_t other = reversed_[code], mirrored = n - 1 - choice;
      return code != other ? (code < other ? -1 : 1) : choice == mirrored ? 0 : choice < mirrored ? -1 : 1;
    };
    for (std::uint32_t choice = 0; choice < n; ++choice) {
      addresses_.list(first + choice, list_);
      for (const std::uint32_t code : list_)
        if (order(code, choice) <= 0) found_.add(code * n + choice);
    }
    found_.take([&](std::uint32_t x, std::uint32_t count) {
      use(first * size_ + x, count, symmetric && order(x / n, x % n) == 0 ? 1.0 : family_.both);
    });
  }

  std::size_t most_choices() const {
    std::size_t most = 0;
    for (std::size_t group = 0; group + 1 < groups_.size(); ++group) most = std::max(most, groups_[group + 1] - groups_[group]);
    return most;
  }

  // Symbols never seen have no place in the table. They are still distinguished, since they count in the norm.
  template <class Use>
  void read_unknown(Use&& use) {
    counter_.clear();
    if constexpr (kPairs)
      add_patterns(family_.unscaled(), Symbols(sequence_), 1.0, counter_);
    else
      add_patterns(family_, Symbols(sequence_), 1.0, counter_);
    for (const auto& entry : counter_.entries()) {
      const std::int32_t* cells = counter_.cells(entry);
      const bool seen = std::all_of(cells, cells + entry.n, [&](std::int32_t cell) { return cell <= base_; });
      double scale = 1.0;
      if constexpr (kPairs) scale = family_.scale(cells);
      use(seen ? family_.address(cells, base_) : kNowhere, static_cast<std::uint32_t>(entry.value), scale);
    }
  }

  const Family& family_;
  std::int32_t base_;
  std::uint32_t size_;               // patterns of a choice
  std::vector<std::size_t> groups_;  // the first choice of each group, and the number of choices
  typename Family::Addresses addresses_;
  CountedSet found_;
  std::vector<std::uint32_t> list_;
  std::vector<std::uint32_t> reversed_;  // the code of the reverse complement of each code, if patterns are paired
  std::vector<std::int32_t> sequence_;
  PatternCounter counter_;
};

// Rows of all sequences, in shares: id_of(p, address) is the id of a pattern in share p, or kNowhere to leave it out.
template <class Family, class IdOf>
std::vector<RowShare> scan_table(const Family& family, std::int32_t base, const Sequences& data, std::span<const std::int32_t> recode,
                                 int threads, Counts counts, std::vector<double>& sq_norms, IdOf&& id_of) {
  return scan_shares(data, threads, sq_norms, [&](std::size_t p, std::size_t first, std::size_t last, RowShare& share) {
    TableReader<Family> reader(family, base);
    for (std::size_t i = first; i < last; ++i) {
      double sq_norm = 0;
      reader.read(data[i], recode, [&](std::uint32_t address, std::uint32_t count, double scale) {
        const double value = transformed(counts, count);
        sq_norm += squared(value, scale);
        if (const std::uint32_t id = id_of(p, address); id != TableReader<Family>::kNowhere) share.add(id, value * scale);
      });
      sq_norms[i] = sq_norm;
      share.end_row();
    }
  });
}

template <class Family>
PatternTable fit_table(const Family& family, std::size_t size, std::int32_t base, const Sequences& data,
                       std::span<const std::int32_t> recode, int threads, RowsWithNorms& rows, Counts counts) {
  const std::size_t n_shares = shares(data, threads).size() - 1;
  std::vector<Array<std::uint8_t>> seen(n_shares, Array<std::uint8_t>(size, 0));
  auto shares = scan_table(family, base, data, recode, threads, counts, rows.sq_norms, [&](std::size_t p, std::uint32_t address) {
    seen[p][address] = 1;
    return address;
  });
  PatternTable table;
  table.rank.assign(size, TableReader<Family>::kNowhere);
  for (std::size_t address = 0; address < size; ++address)
    if (std::any_of(seen.begin(), seen.end(), [&](const auto& share) { return share[address] != 0; })) {
      table.rank[address] = static_cast<std::uint32_t>(table.addresses.size());
      table.addresses.push_back(static_cast<std::uint32_t>(address));
    }
  rows.entries = join_shares(std::move(shares), std::vector<Renaming>(n_shares, table.rank), table.addresses.size());
  return table;
}

template <class Family>
RowsWithNorms transform_table(const Family& family, const PatternTable& table, std::int32_t base, const Sequences& data,
                              std::span<const std::int32_t> recode, int threads, Counts counts) {
  RowsWithNorms rows;
  auto shares = scan_table(family, base, data, recode, threads, counts, rows.sq_norms, [&](std::size_t, std::uint32_t address) {
    return address == TableReader<Family>::kNowhere ? address : table.rank[address];
  });
  rows.entries = join_shares(std::move(shares), {}, table.addresses.size());
  return rows;
}

}  // namespace treille
