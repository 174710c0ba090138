#include "features/row_builder.hpp"

#include <utility>

#include "parallel.hpp"

namespace treille {

class PartJoiner {
 public:
  PartJoiner(std::vector<RowPart> parts, std::span<const Array<std::uint32_t>> renamed, std::size_t n_ids)
      : parts_(std::move(parts)), renamed_(renamed), n_ids_(n_ids) {}

  CodedEntries join() {
    Codebook codebook;
    std::size_t rows = 0, total = 0;
    for (RowPart& part : parts_) {
      codes_.push_back(codebook.add(part.codebook_));
      part.codebook_ = Codebook();
      first_row_.push_back(rows);
      first_entry_.push_back(total);
      rows += part.ends_.size();
      total += part.written_;
    }
    out_.indptr = Buffer<std::int64_t>(rows + 1);
    out_.indptr[rows] = static_cast<std::int64_t>(total);
    out_.codebook = codebook.values();
    out_.code_bits = codebook.bits();
    with_word_type(n_ids_, out_.code_bits, [&]<class Word>(Word) {
      Buffer<Word> entries(total);
      run_parts(static_cast<int>(parts_.size()), [&](int p) { write_part(static_cast<std::size_t>(p), entries.data()); });
      out_.entries = std::move(entries);
    });
    return std::move(out_);
  }

 private:
  template <class Word>
  void write_part(std::size_t p, Word* out) {
    RowPart part = std::move(parts_[p]);
    RowSorter<std::uint64_t> sorter(n_ids_, 32);
    std::vector<std::uint64_t> entries;
    std::size_t row = first_row_[p], to = first_entry_[p], at = 0, aside = 0;
    for (const std::int64_t end : part.ends_) {
      entries.clear();
      for (; at < static_cast<std::size_t>(end); ++at) {
        const std::size_t place = at % RowPart::kBlock;
        if (place == 0 && at > 0) part.blocks_[at / RowPart::kBlock - 1].free();
        const RowPart::Block& block = part.blocks_[at / RowPart::kBlock];
        const std::uint32_t id = renamed_.empty() ? block.ids[place] : renamed_[p][block.ids[place]];
        const std::uint32_t code = block.codes[place] < RowPart::kAside ? block.codes[place] : part.aside_[aside++];
        entries.push_back(std::uint64_t{id} << 32 | codes_[p][code]);
      }
      sorter.sort(entries);
      out_.indptr[row++] = static_cast<std::int64_t>(to);
      for (const std::uint64_t entry : entries) out[to++] = static_cast<Word>(entry >> 32 << out_.code_bits | (entry & 0xFFFFFFFFu));
    }
  }

  std::vector<RowPart> parts_;
  std::span<const Array<std::uint32_t>> renamed_;
  std::size_t n_ids_;
  std::vector<Array<std::uint32_t>> codes_;  // of each part's values, in the codebook of all
  std::vector<std::size_t> first_row_, first_entry_;
  CodedEntries out_;
};

CodedEntries join_parts(std::vector<RowPart> parts, std::span<const Array<std::uint32_t>> renamed, std::size_t n_ids) {
  return PartJoiner(std::move(parts), renamed, n_ids).join();
}

}  // namespace treille
