#pragma once
// Shared by all features of sequences: fitting in contiguous ranges, dictionaries merged in order, ids by frequency.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "features/coded_rows.hpp"
#include "features/ngram_dictionary.hpp"
#include "features/row_builder.hpp"
#include "parallel.hpp"
#include "sequences.hpp"

namespace treille {

// Contiguous ranges of sequences, of about equal length; at least 20,000 symbols for each thread.
inline std::vector<std::size_t> shares(const Sequences& data, int threads) {
  const std::int64_t useful = 1 + (data.offsets.back() - data.offsets.front()) / 20000;
  return balanced_cuts(data.offsets, static_cast<int>(std::min<std::int64_t>(threads, useful)));
}

// The rows of all examples, in shares: scan(p, first, last, share) fills share p.
template <class Data, class Scan>
std::vector<RowShare> scan_shares(const Data& data, int threads, std::vector<double>& sq_norms, Scan&& scan) {
  sq_norms.resize(data.size());
  expect(data.size());
  return fill_shares(shares(data, threads), scan);
}

// Distances of prefetching: slots first, then the grams that the slots name.
constexpr std::size_t kAhead = 24, kAheadGram = 12;

// Adds the grams of `from` to `to`, in order; returns their ids there. Shares are contiguous and merged from the first to the last, so ids
// follow first occurrence in the data for any number of shares.
template <class Symbol>
Array<std::uint32_t> merge(const NGramDictionary<Symbol>& from, NGramDictionary<Symbol>& to) {
  Array<std::uint32_t> ids(from.size());
  for (std::uint32_t id = 0; id < from.size(); ++id) {
    poll();
    if (id + kAhead < from.size()) to.prefetch_slot(from.tag(id + kAhead));
    if (id + kAheadGram < from.size()) to.prefetch_gram(from.tag(id + kAheadGram));
    ids[id] = to.insert(from.tag(id), from.gram(id), from.order(id));
    to.count(ids[id], from.examples()[id]);
  }
  return ids;
}

// Merges the dictionaries of contiguous shares, ids by falling number of examples, ties by first occurrence; and joins the shares' rows.
template <class Symbol>
NGramDictionary<Symbol> join_dictionaries(std::vector<NGramDictionary<Symbol>> found, std::vector<RowShare> shares, CodedEntries& entries) {
  std::vector<Array<std::uint32_t>> renamed(found.size());
  NGramDictionary<Symbol>& dictionary = found[0];
  for (std::size_t p = 1; p < found.size(); ++p) {
    renamed[p] = merge(found[p], dictionary);
    found[p] = NGramDictionary<Symbol>(dictionary.stride(), dictionary.mixed_orders());
  }
  const auto rank = by_falling_frequency(dictionary.examples());
  for (std::size_t p = 1; p < found.size(); ++p)
    for (std::uint32_t& id : renamed[p]) id = rank[id];
  renamed[0] = rank;
  dictionary.rename(rank, static_cast<int>(found.size()));
  entries = join_shares(std::move(shares), {renamed.begin(), renamed.end()}, dictionary.size());
  return std::move(dictionary);
}

// A dictionary of the data, and its rows: each share fills its own dictionary by scan(first, last, dictionary, rows), then they are merged.
template <class Symbol, class Data, class Scan>
NGramDictionary<Symbol> fit_shares(const Data& data, int threads, int width, bool mixed, std::vector<double>& sq_norms,
                                   CodedEntries& entries, Scan&& scan) {
  std::vector<NGramDictionary<Symbol>> found(shares(data, threads).size() - 1, NGramDictionary<Symbol>(width, mixed));
  auto shares = scan_shares(data, threads, sq_norms,
                            [&](std::size_t p, std::size_t first, std::size_t last, RowShare& own) { scan(first, last, found[p], own); });
  return join_dictionaries(std::move(found), std::move(shares), entries);
}

}  // namespace treille
