#pragma once
// Bits, packed numbers and wavelet trees under sanitizers, against plain vectors.

#include <algorithm>
#include <random>
#include <vector>

#include "check.hpp"
#include "succinct/bit_vector.hpp"
#include "succinct/packed.hpp"
#include "succinct/wavelet_tree.hpp"

namespace treille::tests {

inline void bits_are_counted_and_found(std::size_t n, unsigned one_in) {
  std::mt19937 random(static_cast<unsigned>(n) + one_in);
  BitWriter writer(n);
  std::vector<std::size_t> places[2];
  for (std::size_t i = 0; i < n; ++i) {
    const bool one = one_in > 0 && random() % one_in == 0;
    if (one) writer.set(i);
    places[one].push_back(i);
  }
  const BitVector bits = std::move(writer).done();
  check(bits.size() == n && bits.n_ones() == places[1].size());
  for (std::size_t i = 0; i <= n; i += 1 + random() % 5) {
    const auto ones = static_cast<std::size_t>(std::lower_bound(places[1].begin(), places[1].end(), i) - places[1].begin());
    check(bits.rank1(i) == ones && bits.rank0(i) == i - ones);
  }
  for (std::size_t k = 0; k < places[1].size(); k += 1 + random() % 5) check(bits.select1(k) == places[1][k] && bits[places[1][k]]);
  for (std::size_t k = 0; k < places[0].size(); k += 1 + random() % 5) check(bits.select0(k) == places[0][k] && !bits[places[0][k]]);
  check(8 * bits.n_bytes() <= 1.033 * static_cast<double>(n) + 192);
}

inline void packed_numbers_round_trip(std::uint64_t largest) {
  std::mt19937_64 random(largest);
  Packed packed(1000, largest);
  std::vector<std::uint64_t> plain(1000);
  for (std::size_t i = 0; i < plain.size(); ++i) packed.write(i, plain[i] = largest == 0 ? 0 : random() % (largest + 1));
  for (std::size_t i = 0; i < plain.size(); ++i) check(packed[i] == plain[i]);
}

// Symbol s comes about half as often as s - 1: codes of many lengths.
inline void symbols_are_counted_and_found(std::size_t n, std::int32_t n_symbols) {
  std::mt19937 random(static_cast<unsigned>(n_symbols));
  std::vector<std::int32_t> symbols(n);
  std::vector<std::vector<std::size_t>> places(static_cast<std::size_t>(n_symbols));
  for (std::size_t i = 0; i < n; ++i) {
    std::int32_t s = static_cast<std::int32_t>(i) < n_symbols ? static_cast<std::int32_t>(i) : 0;
    while (i >= static_cast<std::size_t>(n_symbols) && s + 1 < n_symbols && random() % 2) ++s;
    symbols[i] = s;
    places[static_cast<std::size_t>(s)].push_back(i);
  }
  std::vector<std::int64_t> counts;
  for (const auto& p : places) counts.push_back(static_cast<std::int64_t>(p.size()));
  const WaveletTree built(symbols, counts);
  const WaveletTree tree({built.lengths().begin(), built.lengths().end()}, {built.levels().begin(), built.levels().end()});
  check(tree.counts(n) == counts);
  for (std::size_t i = 0; i < n; ++i) check(tree[i] == symbols[i] && places[static_cast<std::size_t>(tree[i])][tree.at(i).second] == i);
  for (std::int32_t s = 0; s < n_symbols; ++s) {
    const auto& own = places[static_cast<std::size_t>(s)];
    for (std::size_t k = 0; k < own.size(); ++k)
      check(tree.select(s, k) == own[k] && tree.rank(s, own[k]) == k && tree.rank(s, own[k] + 1) == k + 1);
    check(tree.rank(s, n) == own.size());
  }
}

}  // namespace treille::tests
