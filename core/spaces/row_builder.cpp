#include "spaces/row_builder.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "parallel.hpp"

namespace treille {
namespace {

// Sorts (id << 32 | code) by id. Rows hold hundreds of entries: two or three passes of counting beat comparisons.
class RowSorter {
 public:
  explicit RowSorter(std::size_t n_ids) : bits_(std::max(1, static_cast<int>(std::bit_width(n_ids)))) {}

  void sort(std::vector<std::uint64_t>& row) {
    if (row.size() < 128) {
      std::sort(row.begin(), row.end());
      return;
    }
    const int passes = (bits_ + 10) / 11, width = (bits_ + passes - 1) / passes;
    const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
    other_.resize(row.size());
    for (int pass = 0; pass < passes; ++pass) {
      const int shift = 32 + pass * width;
      heads_.assign(mask + 1, 0);
      for (const std::uint64_t entry : row) ++heads_[(entry >> shift) & mask];
      std::size_t sum = 0;
      for (auto& head : heads_) sum += std::exchange(head, sum);
      for (const std::uint64_t entry : row) other_[heads_[(entry >> shift) & mask]++] = entry;
      row.swap(other_);
    }
  }

 private:
  int bits_;
  std::vector<std::uint64_t> other_;
  std::vector<std::size_t> heads_;
};

}  // namespace

std::uint32_t RowPart::code_of(double value) {
  const auto [found, fresh] = codes_of_.try_emplace(value, static_cast<std::uint32_t>(values_.size()));
  if (fresh) values_.push_back(value);
  return found->second;
}

class PartJoiner {
 public:
  PartJoiner(std::vector<RowPart> parts, std::span<const Array<std::uint32_t>> renamed, std::size_t n_ids)
      : parts_(std::move(parts)), renamed_(renamed), n_ids_(n_ids) {}

  CodedEntries join() {
    std::size_t rows = 0, total = 0;
    for (const RowPart& part : parts_) {
      for (const double value : part.values_) palette_.push_back(value);
      rows += part.ends_.size();
      total += part.written_;
    }
    std::sort(palette_.begin(), palette_.end());
    palette_.erase(std::unique(palette_.begin(), palette_.end()), palette_.end());
    out_.indptr = Buffer<std::int64_t>(rows + 1);
    out_.palette = Buffer<double>(palette_.size());
    std::copy(palette_.begin(), palette_.end(), out_.palette.data());
    out_.code_bits = static_cast<int>(std::bit_width(std::max<std::size_t>(palette_.size(), 2) - 1));
    if (out_.code_bits + std::bit_width(n_ids_) <= 32)
      write<std::uint32_t>(total);
    else
      write<std::uint64_t>(total);
    return std::move(out_);
  }

 private:
  template <class Word>
  void write(std::size_t total) {
    Buffer<Word> entries(total);
    std::vector<std::size_t> first_row, first_entry;
    std::size_t row = 0, entry = 0;
    for (const RowPart& part : parts_) {
      first_row.push_back(row);
      first_entry.push_back(entry);
      row += part.ends_.size();
      entry += part.written_;
    }
    out_.indptr[row] = static_cast<std::int64_t>(entry);
    run_parts(static_cast<int>(parts_.size()), [&](int p) {
      const auto part = static_cast<std::size_t>(p);
      write_part(part, entries.data(), first_row[part], first_entry[part]);
      parts_[part] = RowPart();
    });
    out_.entries = std::move(entries);
  }

  template <class Word>
  void write_part(std::size_t p, Word* out, std::size_t row, std::size_t to) {
    RowPart& part = parts_[p];
    std::vector<std::uint32_t> final_code;
    for (const double value : part.values_)
      final_code.push_back(static_cast<std::uint32_t>(std::lower_bound(palette_.begin(), palette_.end(), value) - palette_.begin()));
    RowSorter sorter(n_ids_);
    std::vector<std::uint64_t> entries;
    std::size_t at = 0, aside = 0;
    for (const std::int64_t end : part.ends_) {
      entries.clear();
      for (; at < static_cast<std::size_t>(end); ++at) {
        const std::size_t place = at % RowPart::kBlock;
        if (place == 0 && at > 0) part.blocks_[at / RowPart::kBlock - 1].free();
        const RowPart::Block& block = part.blocks_[at / RowPart::kBlock];
        const std::uint32_t id = renamed_.empty() ? block.ids[place] : renamed_[p][block.ids[place]];
        const std::uint32_t code = block.codes[place] < RowPart::kAside ? block.codes[place] : part.aside_[aside++];
        entries.push_back(std::uint64_t{id} << 32 | final_code[code]);
      }
      sorter.sort(entries);
      out_.indptr[row++] = static_cast<std::int64_t>(to);
      for (const std::uint64_t entry : entries) out[to++] = static_cast<Word>(entry >> 32 << out_.code_bits | (entry & 0xFFFFFFFFu));
    }
  }

  std::vector<RowPart> parts_;
  std::span<const Array<std::uint32_t>> renamed_;
  std::size_t n_ids_;
  std::vector<double> palette_;
  CodedEntries out_;
};

CodedEntries join_parts(std::vector<RowPart> parts, std::span<const Array<std::uint32_t>> renamed, std::size_t n_ids) {
  return PartJoiner(std::move(parts), renamed, n_ids).join();
}

}  // namespace treille
