#pragma once
// Builds coded rows (coded_rows.hpp) from (id, value) entries. Several shares, each a contiguous run of rows, are written at the
// same time, one thread each; the result does not depend on how the rows are cut into shares.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "features/codebook.hpp"
#include "features/coded_rows.hpp"
#include "interrupt.hpp"
#include "memory.hpp"
#include "parallel.hpp"

namespace treille {

class RowShare {
 public:
  // Ids must differ within a row.
  void add(std::uint32_t id, double value) { add_coded(id, codebook_.code_of(value)); }
  void add_coded(std::uint32_t id, std::uint32_t code) {
    if (to_ == end_) {
      poll();
      to_ = blocks_.emplace_back(kBlock).data();
      end_ = to_ + kBlock;
    }
    *to_++ = std::min(id, kAsideId) << kCodeBits | std::min(code, kAsideCode);
    if (id >= kAsideId) aside_.push_back(id);
    if (code >= kAsideCode) aside_.push_back(code);
  }
  void end_row() {
    tick();
    ends_.push_back(static_cast<std::int64_t>(size()));
  }

  Codebook& codebook() { return codebook_; }
  std::size_t size() const { return blocks_.size() * kBlock - static_cast<std::size_t>(end_ - to_); }

 private:
  friend class ShareJoiner;
  // Ids and codes from these on stand in aside_, in the order of their entries.
  static constexpr int kCodeBits = 6;
  static constexpr std::uint32_t kAsideCode = (1u << kCodeBits) - 1, kAsideId = 0xFFFFFFFFu >> kCodeBits;

  // Entries are stored in blocks, each freed as soon as it is read, so that shares and result together never need twice the memory.
  static constexpr std::size_t kBlock = std::size_t{1} << 19;

  std::vector<Buffer<std::uint32_t>> blocks_;
  std::uint32_t *to_ = nullptr, *end_ = nullptr;  // the free part of the last block
  Array<std::uint32_t> aside_;
  std::vector<std::int64_t> ends_;
  Codebook codebook_;
};

// A share for the rows between each two cuts, one thread each: fill(p, first row, end, share).
template <class Fill>
std::vector<RowShare> fill_shares(const std::vector<std::size_t>& cuts, Fill&& fill) {
  std::vector<RowShare> shares(cuts.size() - 1);
  run_shares(static_cast<int>(shares.size()), [&](int share) {
    const auto p = static_cast<std::size_t>(share);
    fill(p, cuts[p], cuts[p + 1], shares[p]);
  });
  return shares;
}

// The shares' rows one after another. Where `renamed` is given, id k of share p becomes renamed[p][k]. All ids are then < n_ids.
using Renaming = std::span<const std::uint32_t>;
CodedEntries join_shares(std::vector<RowShare> shares, const std::vector<Renaming>& renamed, std::size_t n_ids);

// Sorts the words of a row by id. Rows hold hundreds of entries: two or three counting passes beat comparisons.
template <class Word>
class RowSorter {
 public:
  RowSorter(std::size_t n_ids, int code_bits) : bits_(std::max(1, static_cast<int>(std::bit_width(n_ids)))), code_bits_(code_bits) {}

  void sort(std::span<Word> row) {
    if (row.size() < 128) return std::sort(row.begin(), row.end());
    const int passes = (bits_ + 10) / 11, width = (bits_ + passes - 1) / passes;
    const Word mask = (Word{1} << width) - 1;
    other_.resize(row.size());
    std::span<Word> from = row, to = other_;
    for (int pass = 0; pass < passes; ++pass) {
      const int shift = code_bits_ + pass * width;
      heads_.assign(static_cast<std::size_t>(mask) + 1, 0);
      for (const Word entry : from) ++heads_[(entry >> shift) & mask];
      std::size_t sum = 0;
      for (auto& head : heads_) sum += std::exchange(head, sum);
      for (const Word entry : from) to[heads_[(entry >> shift) & mask]++] = entry;
      std::swap(from, to);
    }
    if (from.data() != row.data()) std::copy(from.begin(), from.end(), row.begin());
  }

 private:
  int bits_, code_bits_;
  std::vector<Word> other_;
  std::vector<std::size_t> heads_;
};

}  // namespace treille
