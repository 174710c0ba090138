#pragma once
// Inner products of coded rows, many at a time, by an inverted index: for each feature the examples that hold it.
//
//   K[i, j] = sum over the features z of row i of phi_z(i) phi_z(j): for each entry of row i walk the list of its feature, and add.
//
// A row of K costs the summed lengths of the lists of its features, which is the number of products that are not zero; the index
// costs 8 bytes an entry. Sums are of unscaled values (counts mostly, so exact), in the order of the row's features whoever
// asks, so that results depend neither on threads nor on which half is computed. A row of K stays in the second-level cache while it
// is summed for as many examples as have room for their matrix.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "features/coded_rows.hpp"
#include "memory.hpp"
#include "parallel.hpp"

namespace treille {

class GramIndex {
 public:
  // Without singletons, which no other of these rows has, the index serves for products of the rows among themselves only.
  template <class Word>
  GramIndex(const CodedRowsView<Word>& data, bool singletons)
      : codebook_(data.codebook.begin(), data.codebook.end()),
        scale_(data.scale.begin(), data.scale.end()),
        starts_(data.n_features + 1, 0) {
    for (const Word entry : data.entries) ++starts_[data.id(entry) + 1];
    for (std::size_t z = 0; z < data.n_features; ++z)
      starts_[z + 1] = starts_[z] + (starts_[z + 1] == 1 && !singletons ? 0 : starts_[z + 1]);
    items_ = Buffer<Item>(static_cast<std::size_t>(starts_.back()));
    std::vector<std::int64_t> next(starts_.begin(), starts_.end() - 1);
    for (std::size_t i = 0; i < scale_.size(); ++i)
      for (const Word entry : data.row(i))
        if (const std::size_t z = data.id(entry); starts_[z] < starts_[z + 1])
          items_[static_cast<std::size_t>(next[z]++)] = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(data.code(entry))};
  }

  std::size_t size() const { return scale_.size(); }

  // out[j] = row i of `data` times row j of the index, for all j >= first; the others are not changed.
  template <class Word>
  void row(const CodedRowsView<Word>& data, std::size_t i, std::size_t first, double* out) const {
    std::fill(out + first, out + size(), 0.0);
    for (const Word entry : data.row(i)) {
      const std::size_t z = data.id(entry);
      const double value = data.value(entry);
      const Item* item = items_.data() + starts_[z];
      const Item* last = items_.data() + starts_[z + 1];
      if (first > 0) item = std::lower_bound(item, last, first, [](const Item& a, std::size_t j) { return a.row < j; });
      for (; item < last; ++item) out[item->row] += value * codebook_[item->code];
    }
    for (std::size_t j = first; j < size(); ++j) out[j] *= data.scale[i] * scale_[j];
  }

  // The same for row i of the indexed data.
  template <class Word>
  void own_row(const CodedRowsView<Word>& data, std::size_t i, std::size_t first, double* out) const {
    row(data, i, first, out);
    if (i < first) return;
    double sum = 0;
    for (const Word entry : data.row(i)) sum += data.value(entry) * data.value(entry);
    out[i] = data.scale[i] * data.scale[i] * sum;
  }

  // K of the indexed rows, whole: one half is summed, the other copied. out has size() * size() numbers.
  template <class Word>
  void gram(const CodedRowsView<Word>& data, int threads, double* out) const {
    const std::size_t n = size();
    run_in_turns(n, threads, [&](std::size_t i) { own_row(data, i, i, out + i * n); });
    constexpr std::size_t tile = 32;  // both sides of a tile stay in the first-level cache
    run_in_turns((n + tile - 1) / tile, threads, [&](std::size_t block) {
      const std::size_t low = block * tile, high = std::min(n, low + tile);
      for (std::size_t left = 0; left < high; left += tile)
        for (std::size_t i = low; i < high; ++i)
          for (std::size_t j = left; j < std::min(i, left + tile); ++j) out[i * n + j] = out[j * n + i];
    });
  }

  // The same for all rows of `data`, other than the indexed ones. out has as many rows, of size() numbers.
  template <class Word>
  void block(const CodedRowsView<Word>& data, int threads, double* out) const {
    run_in_turns(data.scale.size(), threads, [&](std::size_t i) { row(data, i, 0, out + i * size()); });
  }

 private:
  struct Item {
    std::uint32_t row, code;
  };

  std::vector<double> codebook_, scale_;
  std::vector<std::int64_t> starts_;
  Buffer<Item> items_;
};

}  // namespace treille
