#include "features/row_builder.hpp"

#include <utility>

#include "parallel.hpp"

namespace treille {

class ShareJoiner {
 public:
  ShareJoiner(std::vector<RowShare> shares, const std::vector<Renaming>& renamed, std::size_t n_ids)
      : shares_(std::move(shares)), renamed_(renamed), n_ids_(n_ids) {}

  CodedEntries join() {
    Codebook codebook;
    std::size_t rows = 0, total = 0;
    for (RowShare& share : shares_) {
      codes_.push_back(codebook.add(share.codebook_));
      share.codebook_ = Codebook();
      first_row_.push_back(rows);
      first_entry_.push_back(total);
      rows += share.ends_.size();
      total += share.size();
    }
    out_.indptr = Buffer<std::int64_t>(rows + 1);
    out_.indptr[rows] = static_cast<std::int64_t>(total);
    out_.codebook = codebook.values();
    out_.code_bits = codebook.bits();
    with_word_type(n_ids_, out_.code_bits, [&]<class Word>(Word) {
      Buffer<Word> entries(total);
      run_shares(static_cast<int>(shares_.size()), [&](int p) { write_share(static_cast<std::size_t>(p), entries.data()); });
      out_.entries = std::move(entries);
    });
    return std::move(out_);
  }

 private:
  template <class Word>
  void write_share(std::size_t p, Word* out) {
    RowShare share = std::move(shares_[p]);
    RowSorter<Word> sorter(n_ids_, out_.code_bits);
    std::size_t row = first_row_[p], at = 0, aside = 0;
    Word* to = out + first_entry_[p];
    const std::uint32_t *const ids = renamed_.empty() ? nullptr : renamed_[p].data(), *const codes = codes_[p].data();
    const int code_bits = out_.code_bits;
    for (const std::int64_t end : share.ends_) {
      poll();
      Word* const start = to;
      bool rising = true;
      out_.indptr[row++] = start - out;
      while (at < static_cast<std::size_t>(end)) {
        const std::size_t number = at / RowShare::kBlock, place = at % RowShare::kBlock;
        if (place == 0 && number > 0) share.blocks_[number - 1] = {};
        const std::size_t n = std::min(static_cast<std::size_t>(end) - at, RowShare::kBlock - place);
        const std::uint32_t* const entries = share.blocks_[number].data() + place;
        for (std::size_t e = 0; e < n; ++e, ++to) {
          std::uint32_t id = entries[e] >> RowShare::kCodeBits, code = entries[e] & RowShare::kAsideCode;
          if (id == RowShare::kAsideId) id = share.aside_[aside++];
          if (code == RowShare::kAsideCode) code = share.aside_[aside++];
          if (ids != nullptr) id = ids[id];
          *to = static_cast<Word>(Word{id} << code_bits | codes[code]);
          rising &= to == start || to[-1] < *to;
        }
        at += n;
      }
      if (!rising) sorter.sort({start, to});
    }
  }

  std::vector<RowShare> shares_;
  const std::vector<Renaming>& renamed_;
  std::size_t n_ids_;
  std::vector<Array<std::uint32_t>> codes_;  // codes of each share's values in the common codebook
  std::vector<std::size_t> first_row_, first_entry_;
  CodedEntries out_;
};

CodedEntries join_shares(std::vector<RowShare> shares, const std::vector<Renaming>& renamed, std::size_t n_ids) {
  return ShareJoiner(std::move(shares), renamed, n_ids).join();
}

}  // namespace treille
