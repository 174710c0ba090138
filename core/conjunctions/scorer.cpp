#include "conjunctions/scorer.hpp"

#include "interrupt.hpp"

namespace treille {

WeightLists::WeightLists(const CodedRowsView<std::uint32_t>& rows, std::span<const double> coefficients, std::size_t n_functions)
    : words(1, 0), at(rows.n_features, 0) {
  const std::size_t n = rows.size(), n_cells = rows.n_features;
  // The coefficients that are not 0, row by row: most rows have one or two of them.
  struct Coefficient {
    std::uint32_t k;
    double value;
  };
  std::vector<Coefficient> used_coefficients;
  std::vector<std::size_t> first(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n_functions; ++k)
      if (const double value = coefficients[i * n_functions + k]; value != 0)
        used_coefficients.push_back({static_cast<std::uint32_t>(k), value});
    first[i + 1] = used_coefficients.size();
  }
  // The rows of each cell, of those with coefficients.
  Array<std::int64_t> begin(n_cells + 1, 0);
  for (std::size_t i = 0; i < n; ++i)
    if (first[i] < first[i + 1])
      for (const std::uint32_t entry : rows.row(i)) ++begin[rows.id(entry) + 1];
  for (std::size_t c = 0; c < n_cells; ++c) begin[c + 1] += begin[c];
  Buffer<std::uint32_t> holders(static_cast<std::size_t>(begin[n_cells]));
  for (std::size_t i = 0; i < n; ++i) {
    poll();
    if (first[i] < first[i + 1])
      for (const std::uint32_t entry : rows.row(i))
        holders[static_cast<std::size_t>(begin[rows.id(entry)]++)] = static_cast<std::uint32_t>(i);
  }
  // Cells of many rows first: their lists, which are read most often, lie together.
  Array<std::uint32_t> frequency(n_cells), order(n_cells);
  for (std::size_t c = 0; c < n_cells; ++c) frequency[c] = static_cast<std::uint32_t>(begin[c] - (c == 0 ? 0 : begin[c - 1]));
  const auto rank = by_falling_frequency(frequency);
  for (std::size_t c = 0; c < n_cells; ++c) order[rank[c]] = static_cast<std::uint32_t>(c);
  std::vector<double> sum(n_functions);
  for (const std::uint32_t c : order) {
    const std::int64_t from = c == 0 ? 0 : begin[c - 1], to = begin[c];
    if (from == to) break;
    std::fill(sum.begin(), sum.end(), 0.0);
    for (std::int64_t h = from; h < to; ++h) {
      const std::uint32_t i = holders[static_cast<std::size_t>(h)];
      for (std::size_t e = first[i]; e < first[i + 1]; ++e) sum[used_coefficients[e].k] += used_coefficients[e].value;
    }
    const auto used = static_cast<std::size_t>(n_functions - static_cast<std::size_t>(std::count(sum.begin(), sum.end(), 0.0)));
    if (used == 0) continue;
    if (words.size() + n_functions + 1 >= ~std::uint32_t{0}) throw std::length_error("more than 2^32 weights of conjunctions");
    at[c] = static_cast<std::uint32_t>(words.size());
    const bool all = 2 * used >= n_functions;
    words.push_back(static_cast<std::uint32_t>(all ? n_functions : used));
    for (std::size_t k = 0; k < n_functions; ++k) {
      if (!all && sum[k] == 0) continue;
      if (!all) words.push_back(static_cast<std::uint32_t>(k));
      words.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(sum[k])));
    }
  }
}

namespace {

bool are_lists(std::span<const std::uint32_t> lists, std::span<const std::uint32_t> words, std::size_t n_functions) {
  return std::all_of(lists.begin(), lists.end(), [&](std::size_t at) {
    if (at == 0) return true;
    if (at >= words.size()) return false;
    const std::size_t n = words[at];
    if (n == n_functions) return at + n < words.size();
    if (n > n_functions || at + 2 * n >= words.size()) return false;
    for (std::size_t p = 0; p < n; ++p)
      if (words[at + 1 + 2 * p] >= n_functions) return false;
    return true;
  });
}

}  // namespace

ConjunctionScorer::ConjunctionScorer(std::span<const std::uint8_t> levels, std::span<const Item> items,
                                     std::span<const std::uint32_t> lists, std::span<const std::uint32_t> words, std::size_t n_items,
                                     std::size_t n_functions, std::span<const double> c)
    : n_functions_(n_functions), words_(words), c_(c.begin(), c.end()), roots_(n_items) {
  if (!are_trees(levels, items, n_items, c.size()) || lists.size() != items.size() || !are_lists(lists, words, n_functions))
    throw std::invalid_argument("the conjunctions do not agree with each other");
  const std::size_t n = items.size();
  // Children of each node: nodes in depth-first order, so that a stack of parents suffices.
  Array<std::uint32_t> children(n, 0);
  std::vector<std::size_t> path(c_.size() + 1);
  for (std::size_t k = 0; k < n; ++k) {
    path[levels[k]] = k;
    if (levels[k] > 1) ++children[path[levels[k] - 1u]];
  }
  tables_.assign(1, {0, 0});
  std::size_t n_slots = 0;
  const bool deep = std::any_of(levels.begin(), levels.end(), [](std::uint8_t level) { return level > 2; });
  for (std::size_t k = 0; k < n; ++k)
    if (children[k] > 0) n_slots += children[k] + children[k] / 2 + 1;
  slots_.resize(n_slots);
  if (deep) below_.assign(n_slots, 0);
  n_slots = 0;
  std::vector<std::uint32_t> table(c_.size() + 1);  // of the path
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t level = levels[k];
    table[level] = 0;
    if (children[k] > 0) {
      table[level] = static_cast<std::uint32_t>(tables_.size());
      tables_.push_back({n_slots, children[k] + children[k] / 2 + 1});
      n_slots += tables_.back().size;
    }
    if (level == 1) {
      roots_[items[k]] = {lists[k], table[1]};
      continue;
    }
    const Table& own = tables_[table[level - 1]];
    std::size_t slot = place(own, items[k]);
    while (slots_[slot].item != kNoItem)
      if (++slot == own.begin + own.size) slot = own.begin;
    slots_[slot] = {items[k], lists[k]};
    if (table[level] != 0) below_[slot] = table[level];
  }
}

}  // namespace treille
