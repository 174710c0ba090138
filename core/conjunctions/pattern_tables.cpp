#include "conjunctions/pattern_tables.hpp"

#include <stdexcept>

namespace treille {

PatternTables::PatternTables(std::span<const std::uint8_t> levels, std::span<const Item> items, std::span<const std::uint32_t> numbers,
                             std::size_t n_items, std::size_t degree, Item first_late)
    : first_late_(first_late), roots_(n_items) {
  if (!are_trees(levels, items, n_items, degree) || numbers.size() != items.size())
    throw std::invalid_argument("the conjunctions do not agree with each other");
  const std::size_t n = items.size();
  // Nodes that have no number and lead to none are left out.
  auto is_used = [&](std::size_t k) { return numbers[k] != 0 || (k + 1 < n && levels[k + 1] > levels[k]); };
  bool deep = false;
  for (std::size_t k = 0; k < n; ++k) deep = deep || (levels[k] > 2 && is_used(k));
  if (deep) first_late_ = kNoItem;
  // Children of each node: nodes in depth-first order, so that a stack of parents suffices.
  Array<std::uint32_t> children(n, 0), late(deep ? 0 : n, 0);
  std::vector<std::size_t> path(degree + 1);
  for (std::size_t k = 0; k < n; ++k) {
    path[levels[k]] = k;
    if (levels[k] > 1 && is_used(k)) ++(items[k] < first_late_ ? children : late)[path[levels[k] - 1u]];
  }
  auto buckets_for = [](std::uint32_t count) {
    return (count + static_cast<std::uint32_t>(kFilled) - 1) / static_cast<std::uint32_t>(kFilled);
  };
  std::size_t n_buckets = 0;
  for (std::size_t k = 0; k < n; ++k) n_buckets += buckets_for(children[k]) + (deep ? 0 : buckets_for(late[k]));
  if (n_buckets >= ~std::uint32_t{0}) throw std::length_error("more than 2^32 conjunctions");
  Bucket none;
  none.items.fill(kNoItem);
  none.numbers.fill(0);
  buckets_.assign(n_buckets, none);
  if (deep) below_.assign(n_buckets * kSlots, Table{});
  n_buckets = 0;
  auto make = [&](std::uint32_t count) {
    const Table table{static_cast<std::uint32_t>(n_buckets), buckets_for(count)};
    n_buckets += table.size;
    return table;
  };
  std::vector<Table> table(degree + 1);  // of the path
  Table late_table;
  for (std::size_t k = 0; k < n; ++k) {
    if (!is_used(k)) continue;
    const std::size_t level = levels[k];
    table[level] = make(children[k]);
    if (level == 1) {
      if (!deep) late_table = make(late[k]);
      roots_[items[k]] = {numbers[k], table[1], late_table};
      continue;
    }
    const Table own = items[k] < first_late_ ? table[level - 1] : late_table;
    std::size_t b = place(own, hash(items[k])), s;
    while ((s = slot(buckets_[b], kNoItem)) == kSlots) b = after(own, b);
    buckets_[b].items[s] = items[k];
    buckets_[b].numbers[s] = numbers[k];
    if (table[level].size != 0) below_[b * kSlots + s] = table[level];
  }
}

}  // namespace treille
