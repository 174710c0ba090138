#pragma once
// Rows as the strings of their features: row i is Phi_i, a small trie, stored as its strings in order, each as the difference from the one
// before. A machine reads a row by steps along symbols, and a prefix that several strings share is walked once.
//
// In memory, one stream of small numbers (7 bits a byte), for each entry that is not zero: how much of the string before is kept, how many
// symbols follow, the symbols, and the code of the value.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "automata/string_trie.hpp"
#include "features/coded_rows.hpp"
#include "memory.hpp"

namespace treille {

class RowStrings {
 public:
  template <class Word>
  RowStrings(const CodedRowsView<Word>& data, const Sequences& strings, std::span<const std::uint32_t> order)
      : codebook_(data.codebook.begin(), data.codebook.end()), scale_(data.scale.begin(), data.scale.end()) {
    Array<std::uint32_t> rank(order.size());
    for (std::uint32_t r = 0; r < order.size(); ++r) rank[order[r]] = r;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> row;  // rank, code
    begin_.push_back(0);
    for (std::size_t i = 0; i < data.size(); ++i) {
      row.clear();
      for (const Word entry : data.row(i))
        if (data.value(entry) != 0) row.emplace_back(rank[data.id(entry)], static_cast<std::uint32_t>(data.code(entry)));
      std::sort(row.begin(), row.end());
      std::span<const std::int32_t> before;
      for (const auto& [r, value] : row) {
        const auto string = strings[order[r]];
        const std::size_t kept = common_prefix(before, string);
        longest_ = std::max(longest_, string.size());
        write(kept);
        write(string.size() - kept);
        for (const std::int32_t symbol : string.subspan(kept)) write(static_cast<std::size_t>(symbol));
        write(value);
        before = string;
      }
      begin_.push_back(stream_.size());
    }
    stream_.shrink_to_fit();
  }

  std::size_t size() const { return scale_.size(); }
  std::size_t longest() const { return longest_; }
  double scale(std::size_t i) const { return scale_[i]; }
  std::size_t nbytes() const { return stream_.size() + 8 * begin_.size(); }

  // reader.back_to(depth), reader.step(symbol), reader.arrive(value), the value without the row's scale.
  template <class Reader>
  void read(std::size_t i, Reader&& reader) const {
    const std::uint8_t* at = stream_.data() + begin_[i];
    const std::uint8_t* end = stream_.data() + begin_[i + 1];
    while (at < end) {
      reader.back_to(number(at));
      for (std::size_t left = number(at); left > 0; --left) reader.step(static_cast<std::int32_t>(number(at)));
      reader.arrive(codebook_[number(at)]);
    }
  }

  double sq_norm(std::size_t i) const {
    struct {
      double sum = 0;
      void back_to(std::size_t) {}
      void step(std::int32_t) {}
      void arrive(double value) { sum += value * value; }
    } squares;
    read(i, squares);
    return scale_[i] * scale_[i] * squares.sum;
  }

  void prefetch(std::size_t i) const {
    const std::size_t stop = std::min(begin_[i + 1], begin_[i] + 1024);
    for (std::size_t at = begin_[i]; at < stop; at += 64) request(stream_.data() + at);
  }

 private:
  void write(std::size_t number) {
    for (; number >= 128; number >>= 7) stream_.push_back(static_cast<std::uint8_t>(number | 128));
    stream_.push_back(static_cast<std::uint8_t>(number));
  }
  static std::size_t number(const std::uint8_t*& at) {
    std::size_t number = *at & 127;
    for (int shift = 7; *at++ & 128; shift += 7) number |= std::size_t{*at & 127u} << shift;
    return number;
  }

  std::vector<double> codebook_, scale_;
  std::vector<std::size_t> begin_;
  Array<std::uint8_t> stream_;
  std::size_t longest_ = 0;
};

}  // namespace treille
