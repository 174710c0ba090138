#pragma once
// Coded rows (see rows.hpp) of a CSR matrix of any numbers, most of which may differ.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "spaces/row_builder.hpp"

namespace treille {

// Numbers with their codes, by order of first appearance: where most numbers differ, a row's lie side by side in the palette, and
// reading the row reads one run of memory. Open addressing, half full at most.
class Palette {
 public:
  std::uint32_t code_of(double value) {
    std::size_t slot = first_slot(value);
    for (; codes_[slot] != kFree; slot = (slot + 1) & (codes_.size() - 1))
      if (values_[codes_[slot]] == value) return codes_[slot];
    if (values_.size() + 1 >= kFree) throw std::length_error("more than 2^32 distinct values");
    const auto code = static_cast<std::uint32_t>(values_.size());
    codes_[slot] = code;
    values_.push_back(value);
    if (2 * values_.size() > codes_.size()) grow();
    return code;
  }
  const Array<double>& values() const { return values_; }

 private:
  static constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();

  std::size_t first_slot(double value) const {
    return std::bit_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15u >> (64 - std::bit_width(codes_.size() - 1));
  }
  void grow() {
    codes_.assign(2 * codes_.size(), kFree);
    for (std::uint32_t code = 0; code < values_.size(); ++code) {
      std::size_t slot = first_slot(values_[code]);
      while (codes_[slot] != kFree) slot = (slot + 1) & (codes_.size() - 1);
      codes_[slot] = code;
    }
  }

  Array<std::uint32_t> codes_ = Array<std::uint32_t>(256, kFree);
  Array<double> values_;
};

// Column j becomes the feature ids[j] < n_ids, or is left out where that is kNoId; ids differ within a row. Time is linear in the
// entries, but for the sorting of each row by id; memory while it works, 16 bytes an entry beside the result.
constexpr std::uint32_t kNoId = std::numeric_limits<std::uint32_t>::max();

class RowCoder {
 public:
  RowCoder(std::span<const std::int64_t> indptr, std::span<const std::int32_t> columns, std::span<const double> values,
           std::span<const std::uint32_t> ids, std::size_t n_ids, int threads)
      : indptr_(indptr), columns_(columns), values_(values), ids_(ids), n_ids_(n_ids) {
    const std::int64_t useful = 1 + (indptr.back() - indptr.front()) / 20000;
    n_parts_ = static_cast<int>(std::min<std::int64_t>(threads, useful));
    cuts_ = balanced_cuts(indptr, n_parts_);
  }

  CodedEntries code() {
    const std::size_t rows = indptr_.size() - 1;
    out_.indptr = Buffer<std::int64_t>(rows + 1);
    out_.indptr[0] = 0;
    for (std::size_t i = 0; i < rows; ++i) out_.indptr[i + 1] = out_.indptr[i] + kept(i);
    const auto total = static_cast<std::size_t>(out_.indptr[rows]);
    sorted_ = Buffer<Entry>(total);
    run_parts(n_parts_, [&](int p) { sort_rows(cuts_[p], cuts_[p + 1]); });
    Palette palette;
    for (std::size_t e = 0; e < total; ++e) sorted_[e].code = palette.code_of(sorted_[e].value);
    out_.palette = Buffer<double>(palette.values().size());
    std::copy(palette.values().begin(), palette.values().end(), out_.palette.data());
    out_.code_bits = static_cast<int>(std::bit_width(std::max<std::size_t>(out_.palette.size(), 2) - 1));
    if (out_.code_bits + std::bit_width(n_ids_) <= 32)
      out_.entries = pack<std::uint32_t>();
    else
      out_.entries = pack<std::uint64_t>();
    return std::move(out_);
  }

 private:
  struct Entry {
    double value;
    std::uint32_t id, code;
  };

  std::int64_t kept(std::size_t row) const {
    return std::count_if(columns_.begin() + indptr_[row], columns_.begin() + indptr_[row + 1],
                         [&](std::int32_t column) { return ids_[static_cast<std::size_t>(column)] != kNoId; });
  }

  void sort_rows(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      Entry* to = sorted_.data() + out_.indptr[i];
      for (auto e = static_cast<std::size_t>(indptr_[i]); e < static_cast<std::size_t>(indptr_[i + 1]); ++e) {
        const std::uint32_t id = ids_[static_cast<std::size_t>(columns_[e])];
        if (id != kNoId) *to++ = {values_[e], id, 0};
      }
      std::sort(sorted_.data() + out_.indptr[i], to, [](const Entry& a, const Entry& b) { return a.id < b.id; });
    }
  }

  template <class Word>
  Buffer<Word> pack() const {
    Buffer<Word> words(sorted_.size());
    for (std::size_t e = 0; e < sorted_.size(); ++e)
      words[e] = static_cast<Word>(std::uint64_t{sorted_[e].id} << out_.code_bits | sorted_[e].code);
    return words;
  }

  std::span<const std::int64_t> indptr_;
  std::span<const std::int32_t> columns_;
  std::span<const double> values_;
  std::span<const std::uint32_t> ids_;
  std::size_t n_ids_;
  int n_parts_;
  std::vector<std::size_t> cuts_;
  Buffer<Entry> sorted_;
  CodedEntries out_;
};

}  // namespace treille
