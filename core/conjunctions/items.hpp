#pragma once
// Examples as sets of items, binary features. The items of a row rise; the rarer an item, the smaller its number.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "memory.hpp"
#include "parallel.hpp"

namespace treille {

using Item = std::uint32_t;
constexpr Item kNoItem = ~Item{0};

// Does not own its arrays.
struct ItemRows {
  std::span<const std::int64_t> indptr;
  std::span<const Item> items;
  std::size_t n_items;

  std::size_t size() const { return indptr.size() - 1; }
  std::span<const Item> row(std::size_t i) const {
    return items.subspan(static_cast<std::size_t>(indptr[i]), static_cast<std::size_t>(indptr[i + 1] - indptr[i]));
  }
};

// Rows of columns with column c read as item recode[c], or left out where that is kNoItem.
struct RecodedItems {
  Buffer<std::int64_t> indptr;
  Buffer<Item> items;

  template <class Column>
  RecodedItems(std::span<const std::int64_t> from, std::span<const Column> columns, std::span<const Item> recode)
      : indptr(from.size()), items(columns.size()) {
    std::int64_t to = 0;
    for (std::size_t i = 0; i + 1 < from.size(); ++i) {
      indptr[i] = to;
      for (std::int64_t e = from[i]; e < from[i + 1]; ++e)
        if (const Item item = recode[static_cast<std::size_t>(columns[static_cast<std::size_t>(e)])]; item != kNoItem)
          items[static_cast<std::size_t>(to++)] = item;
      std::sort(items.data() + indptr[i], items.data() + to);
    }
    indptr[from.size() - 1] = to;
  }

  ItemRows view(std::size_t n_items) const {
    const auto used = static_cast<std::size_t>(indptr[indptr.size() - 1]);
    return {{indptr.data(), indptr.size()}, {items.data(), used}, n_items};
  }
};

// A set of items as bits, to test whether a row holds an item.
class ItemSet {
 public:
  explicit ItemSet(std::size_t n_items) : words_(n_items / 64 + 1, 0) {}
  void insert(std::span<const Item> items) {
    for (const Item item : items) words_[item / 64] |= std::uint64_t{1} << item % 64;
  }
  void erase(std::span<const Item> items) {
    for (const Item item : items) words_[item / 64] = 0;
  }
  bool holds(Item item) const { return (words_[item / 64] >> item % 64 & 1) != 0; }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace treille
