#pragma once
// A sequence of symbols in the space of its Huffman code, whose symbols can be counted and found without decoding it.
//
// Level d holds bit d of the code of every symbol whose code is longer than d, sorted by the bits before, in order of place among equals.
// Codes are canonical, longest codes smallest: symbols whose code has ended stand behind all others, so that the others keep their places,
// and no pointer is needed: a node of the tree is a range of a level.
// access, rank and select take O(1) ranks (selects) of bits for each bit of the code. Space: n times the mean code length (at most one bit
// above the entropy H0, mostly some hundredths), 3.2 % more for counting, and 8 + log2(symbols) bits for each distinct symbol.
// Grossi, Gupta, Vitter: High-order entropy-compressed text indexes, SODA 2003; without pointers: Claude, Navarro, Ordonez: The wavelet
// matrix, Information Systems 2015.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <queue>
#include <span>
#include <stdexcept>
#include <vector>

#include "succinct/bit_vector.hpp"
#include "succinct/packed.hpp"

namespace treille {

class WaveletTree {
 public:
  WaveletTree() = default;
  // The symbols, which are 0..counts.size()-1; symbol s occurs counts[s] > 0 times. 8 bytes a place while it works.
  WaveletTree(std::vector<std::int32_t> now, std::span<const std::int64_t> counts) : WaveletTree(code_lengths(counts)) {
    if (counts.size() < 2) return;
    std::vector<std::uint64_t> code(counts.size());
    for (std::size_t place = 0; place < code.size(); ++place) {
      const std::size_t s = by_code_[place], length = length_[s];
      code[s] = first_code_[length] + place - first_of_length_[length];
    }
    const auto up_to = [&](std::int32_t symbol, std::size_t d) {  // the first d bits of a code
      const auto s = static_cast<std::size_t>(symbol);
      return code[s] >> (length_[s] - d);
    };
    std::vector<std::int32_t> next;
    next.reserve(now.size());
    for (std::size_t d = 0; !now.empty(); ++d) {
      // Within each run of equal bits so far, zeros go first.
      const std::size_t n = now.size();
      BitWriter bits(n);
      next.clear();
      for (std::size_t first = 0, last; first < n; first = last) {
        const std::uint64_t prefix = up_to(now[first], d);
        for (last = first; last < n && up_to(now[last], d) == prefix; ++last)
          if (up_to(now[last], d + 1) & 1)
            bits.set(last);
          else
            next.push_back(now[last]);
        for (std::size_t i = first; i < last; ++i)
          if (up_to(now[i], d + 1) & 1) next.push_back(now[i]);
      }
      levels_.push_back(std::move(bits).done());
      while (!next.empty() && length_[static_cast<std::size_t>(next.back())] == d + 1) next.pop_back();
      std::swap(now, next);
    }
  }
  // Builds the tree from the lengths of the codes and the bits of the levels; `counts` checks that they are consistent.
  WaveletTree(std::vector<std::uint8_t> lengths, std::vector<BitVector> levels) : WaveletTree(std::move(lengths)) {
    levels_ = std::move(levels);
  }

  // The symbol at place i, and its number of occurrences before; one walk finds both.
  std::pair<std::int32_t, std::size_t> at(std::size_t i) const {
    if (length_.size() == 1) return {0, i};
    std::size_t first = 0, last = levels_[0].size();
    std::uint64_t code = 0;
    for (std::size_t d = 0;; ++d) {
      const bool one = levels_[d][first + i];
      i = step(d, one, i, first, last);
      code = code << 1 | one;
      if (code < first_code_[d + 1]) continue;
      return {static_cast<std::int32_t>(by_code_[first_of_length_[d + 1] + (code - first_code_[d + 1])]), i};
    }
  }
  std::int32_t operator[](std::size_t i) const { return at(i).first; }

  // The number of occurrences of the symbol among the first i places.
  std::size_t rank(std::int32_t symbol, std::size_t i) const {
    if (length_.size() == 1) return i;
    std::size_t first = 0, last = levels_[0].size();
    const Code code = code_of(symbol);
    for (std::size_t d = 0; d < code.length && i > 0; ++d) i = step(d, code.bit(d), i, first, last);
    return i;
  }

  // The position of the k-th occurrence of the symbol, k counted from 0.
  std::size_t select(std::int32_t symbol, std::size_t k) const {
    if (length_.size() == 1) return k;
    const Code code = code_of(symbol);
    std::size_t first = 0, last = levels_[0].size();
    std::size_t begins[64];
    for (std::size_t d = 0; d < code.length; ++d) {
      begins[d] = first;
      step(d, code.bit(d), 0, first, last);
    }
    for (std::size_t d = code.length; d-- > 0;) {
      const BitVector& level = levels_[d];
      const std::size_t ones = level.rank1(begins[d]);
      k = code.bit(d) ? level.select1(ones + k) - begins[d] : level.select0(begins[d] - ones + k) - begins[d];
    }
    return k;
  }

  // The number of occurrences of each symbol among n places, by the levels. Throws std::invalid_argument if these belong to no sequence.
  std::vector<std::int64_t> counts(std::size_t n) const {
    std::vector<std::int64_t> found(length_.size(), static_cast<std::int64_t>(n));
    const auto sound = [](bool so) {
      if (!so) throw std::invalid_argument("codes and levels do not fit together");
    };
    sound(length_.size() > 1 || (levels_.empty() && (n > 0) == (length_.size() == 1)));
    std::vector<std::size_t> ends{n};  // of the nodes of a level
    std::uint64_t n_nodes = 1;         // their number according to the codes
    std::size_t n_symbols = length_.size() > 1 ? 0 : length_.size();
    for (std::size_t d = 0; n_nodes > 0 && length_.size() > 1; ++d) {
      sound(d < levels_.size() && levels_[d].size() == (ends.empty() ? 0 : ends.back()) && d + 1 < first_code_.size());
      std::vector<std::size_t> below;
      std::size_t first = 0;
      const std::uint64_t inner = first_code_[d + 1];
      for (const std::size_t last : ends) {
        const std::size_t ones = levels_[d].rank1(last) - levels_[d].rank1(first);
        for (const std::size_t end : {last - ones, last}) {
          const std::size_t count = end - first, code = below.size();
          sound(count > 0);
          below.push_back(end);
          if (code < inner) {
            first = end;
            continue;
          }
          const std::size_t place = first_of_length_[d + 1] + (code - inner);
          sound(place < length_.size() && length_[by_code_[place]] == d + 1);
          found[by_code_[place]] = static_cast<std::int64_t>(count);
          ++n_symbols;
          first = end;
        }
      }
      sound(inner <= below.size());
      below.resize(inner);
      n_nodes = inner;
      ends = std::move(below);
    }
    sound(n_symbols == length_.size());
    return found;
  }

  std::size_t n_bytes() const {
    std::size_t bytes = length_.size() + by_code_.n_bytes();
    for (const BitVector& level : levels_) bytes += level.n_bytes();
    return bytes;
  }
  std::span<const std::uint8_t> lengths() const { return length_; }
  std::span<const BitVector> levels() const { return levels_; }

 private:
  // Codes from their lengths. Those of one length are consecutive, in order of symbols, and shorter ones come after.
  explicit WaveletTree(std::vector<std::uint8_t> lengths)
      : length_(std::move(lengths)), by_code_(length_.size(), std::max<std::size_t>(length_.size(), 1) - 1) {
    std::vector<std::size_t> order(length_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return length_[a] > length_[b]; });
    const std::size_t longest = order.empty() ? 0 : length_[order[0]];
    if (longest > 63) throw std::invalid_argument("a code is longer than 63 bits");
    first_code_.assign(longest + 2, 0);
    first_of_length_.assign(longest + 2, 0);
    std::uint64_t code = 0;
    std::size_t place = 0;
    for (std::size_t length = longest; length > 0; --length, code >>= 1) {
      first_code_[length] = code;
      first_of_length_[length] = place;
      for (; place < order.size() && length_[order[place]] == length; ++place, ++code) by_code_.write(place, order[place]);
    }
  }

  static std::vector<std::uint8_t> code_lengths(std::span<const std::int64_t> counts) {
    const std::size_t n = counts.size();
    std::vector<std::size_t> parent(2 * n, 0);
    using Tree = std::pair<std::int64_t, std::size_t>;
    std::priority_queue<Tree, std::vector<Tree>, std::greater<>> heap;
    for (std::size_t s = 0; s < n; ++s) heap.push({counts[s], s});
    std::size_t next = n;
    for (; heap.size() > 1; ++next) {
      const Tree a = heap.top();
      heap.pop();
      const Tree b = heap.top();
      heap.pop();
      parent[a.second] = parent[b.second] = next;
      heap.push({a.first + b.first, next});
    }
    std::vector<std::uint8_t> depth(next, 0);
    for (std::size_t u = next; u-- > 0;)
      if (u + 1 < next) depth[u] = static_cast<std::uint8_t>(depth[parent[u]] + 1);
    depth.resize(n);
    return depth;
  }

  struct Code {
    std::uint64_t bits;
    std::size_t length;
    bool bit(std::size_t d) const { return bits >> (length - 1 - d) & 1; }
  };
  Code code_of(std::int32_t symbol) const {
    const auto s = static_cast<std::size_t>(symbol);
    const std::size_t length = length_[s], first = first_of_length_[length],
                      last = length > 1 ? first_of_length_[length - 1] : length_.size();
    return {first_code_[length] + by_code_.upper_bound(first, last, s) - 1 - first, length};
  }

  // Maps place i of the range first..last of level d to its place among the places with the same bit, a range of the level below.
  std::size_t step(std::size_t d, bool one, std::size_t i, std::size_t& first, std::size_t& last) const {
    const BitVector& level = levels_[d];
    const std::size_t before = level.rank1(first), ones = level.rank1(first + i) - before;
    const std::size_t zeros = last - first - (level.rank1(last) - before);
    if (one) {
      first += zeros;
      return ones;
    }
    last = first + zeros;
    return i - ones;
  }

  std::vector<std::uint8_t> length_;
  Packed by_code_;                         // symbols; those of one length rise
  std::vector<std::uint64_t> first_code_;  // by length
  std::vector<std::size_t> first_of_length_;
  std::vector<BitVector> levels_;
};

}  // namespace treille
