#pragma once
// Rows of gapped k-mers in a turned basis (spaces/turn.hpp): choices of positions that are shifts of each other, A.C... and .A.C.., are
// counted together, and the patterns that share symbols there are one family. Written straight from the sequences, in one pass.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "parallel.hpp"
#include "spaces/row_builder.hpp"
#include "spaces/turn.hpp"
#include "text/pattern_features.hpp"
#include "text/patterns.hpp"
#include "text/sequences.hpp"

namespace treille {

class ShiftedTable {
 public:
  ShiftedTable(const GappedKmerPatterns& family, std::int32_t base, const PatternTable& table)
      : family_(family), base_(base), size_(static_cast<std::size_t>(family.group_size(base))), shifts_(family.shifts()) {
    std::vector<std::pair<std::size_t, std::uint32_t>> place(family.groups());  // of a choice: its form, and which shift it is
    for (std::size_t form = 0; form < shifts_.size(); ++form)
      for (std::size_t shift = 0; shift < shifts_[form].size(); ++shift)
        place[shifts_[form][shift]] = {form, static_cast<std::uint32_t>(shift)};
    number_.assign(shifts_.size() * size_, 0);
    auto key = [&](std::uint32_t address) { return place[address / size_].first * size_ + address % size_; };
    for (const std::uint32_t address : table.addresses) number_[key(address)] = 1;
    std::vector<std::uint32_t> sizes, families, members;
    for (std::size_t k = 0; k < number_.size(); ++k)
      if (std::exchange(number_[k], static_cast<std::uint32_t>(sizes.size())) == 1)
        sizes.push_back(static_cast<std::uint32_t>(shifts_[k / size_].size()));
    for (const std::uint32_t address : table.addresses) {
      families.push_back(number_[key(address)]);
      members.push_back(place[address / size_].second);
    }
    turn_ = Turn(sizes, std::move(families), std::move(members));
  }

  Turn take_turn() { return std::move(turn_); }

  // The entries by turned cells, in place of those that `out.indptr` counts; false where these would take more room, or too many
  // distinct numbers.
  bool write(const Sequences& data, std::span<const std::int32_t> recode, std::span<const std::size_t> cuts, CodedEntries& out) const {
    out.code_bits = 32 - static_cast<int>(std::bit_width(turn_.n_cells()));
    if (turn_.n_cells() == 0 || out.code_bits < 2) return false;
    SharedPalette palette(std::size_t{1} << out.code_bits);
    Buffer<std::uint32_t> entries(static_cast<std::size_t>(out.indptr[data.size()]));
    Buffer<std::int64_t> ends(data.size());
    std::atomic<bool> fits{true};
    // Each share is written where its rows would stand, then moved to the end of the one before.
    run_parts(static_cast<int>(cuts.size()) - 1, [&](int p) {
      TurnedRow row(turn_, palette, out.code_bits);
      Reader reader(*this);
      std::uint32_t *const start = entries.data() + out.indptr[cuts[p]], *const stop = entries.data() + out.indptr[cuts[p + 1]];
      std::uint32_t* to = start;
      for (std::size_t i = cuts[p]; i < cuts[p + 1] && fits; ++i) {
        reader.read(data[i], recode, row);
        if (row.size() > static_cast<std::size_t>(stop - to)) fits = false;
        if (fits) to = row.take(to);
        ends[i] = to - start;
      }
    });
    if (!fits || palette.too_many()) return false;
    std::int64_t end = 0;
    for (std::size_t p = 0; p + 1 < cuts.size(); ++p) {
      if (cuts[p + 1] == cuts[p]) continue;
      const std::uint32_t* const from = entries.data() + out.indptr[cuts[p]];
      const std::int64_t size = ends[cuts[p + 1] - 1];
      std::copy(from, from + size, entries.data() + end);
      for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) ends[i] += end;
      end += size;
    }
    for (std::size_t i = 0; i < data.size(); ++i) out.indptr[i + 1] = ends[i];
    out.entries = std::move(entries);
    out.palette = palette.values();
    return true;
  }

 private:
  // Counts all shifts of a form at a time, in a table that stays in the nearest cache.
  class Reader {
   public:
    explicit Reader(const ShiftedTable& table) : table_(table), addresses_(table.family_, table.base_), met_(table.size_ / 64 + 1, 0) {
      std::size_t most = 0;
      for (const auto& shifts : table.shifts_) most = std::max(most, shifts.size());
      counts_.assign(table.size_ * most, 0);
    }

    void read(std::span<const std::int32_t> x, std::span<const std::int32_t> recode, TurnedRow& row) {
      sequence_.resize(x.size());
      std::transform(x.begin(), x.end(), sequence_.begin(), [&](std::int32_t s) { return recode[static_cast<std::size_t>(s)]; });
      addresses_.read(sequence_);
      for (std::size_t form = 0; form < table_.shifts_.size(); ++form) {
        const auto& shifts = table_.shifts_[form];
        const std::size_t m = shifts.size();
        for (std::size_t shift = 0; shift < m; ++shift) {
          addresses_.list(shifts[shift], list_);
          for (const std::uint32_t code : list_) {
            ++counts_[code * m + shift];
            met_[code >> 6] |= std::uint64_t{1} << (code & 63);
          }
        }
        const std::uint32_t* const number = table_.number_.data() + form * table_.size_;
        for (std::size_t word = 0; word < met_.size(); ++word)
          for (std::uint64_t bits = std::exchange(met_[word], 0); bits != 0; bits &= bits - 1) {
            const std::size_t code = word << 6 | static_cast<std::size_t>(std::countr_zero(bits));
            row.add(number[code], counts_.data() + code * m, m);
            std::fill_n(counts_.data() + code * m, m, 0u);
          }
      }
    }

   private:
    const ShiftedTable& table_;
    GappedKmerPatterns::Addresses addresses_;
    std::vector<std::uint32_t> counts_;  // of a form's patterns, shift by shift
    std::vector<std::uint64_t> met_;
    std::vector<std::int32_t> sequence_;
    std::vector<std::uint32_t> list_;
  };

  const GappedKmerPatterns& family_;
  std::int32_t base_;
  std::size_t size_;                              // patterns of a choice of positions
  std::vector<std::vector<std::size_t>> shifts_;  // by form
  std::vector<std::uint32_t> number_;             // by form and symbols: the family
  Turn turn_;
};

}  // namespace treille
