#pragma once
// A bit vector with rank in O(1) and select in O(log n).
//
// Beside its n bits a vector holds a 16-bit count for each 512 of them and a 64-bit count for each 65,536: 3.2 % more, and no more than
// 16 bytes for a short one. rank adds both counts and at most eight words; select searches the counts.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "memory.hpp"

namespace treille {

class BitVector {
 public:
  BitVector() : BitVector(Array<std::uint64_t>{}, 0) {}
  // Bit i is words[i / 64] >> i % 64 & 1.
  BitVector(Array<std::uint64_t> words, std::size_t n_bits) : words_(std::move(words)), n_bits_(n_bits) {
    if (n_bits % 64 != 0) words_.back() &= (std::uint64_t{1} << (n_bits % 64)) - 1;
    const std::size_t n_blocks = n_bits / kBlock + 1;
    within_.resize(n_blocks);
    before_.resize((n_blocks + kBlocks - 1) / kBlocks);
    std::size_t count = 0;
    for (std::size_t block = 0; block < n_blocks; ++block) {
      if (block % kBlocks == 0) before_[block / kBlocks] = count;
      within_[block] = static_cast<std::uint16_t>(count - before_[block / kBlocks]);
      const std::size_t stop = std::min(words_.size(), (block + 1) * kWords);
      for (std::size_t w = block * kWords; w < stop; ++w) count += static_cast<std::size_t>(std::popcount(words_[w]));
    }
    n_ones_ = count;
  }

  std::size_t size() const { return n_bits_; }
  std::size_t n_ones() const { return n_ones_; }
  bool operator[](std::size_t i) const { return words_[i / 64] >> (i % 64) & 1; }

  // Ones, or zeros, among the first i bits, i <= size().
  std::size_t rank1(std::size_t i) const {
    std::size_t count = ones_before_block(i / kBlock);
    for (std::size_t w = i / kBlock * kWords; w < i / 64; ++w) count += static_cast<std::size_t>(std::popcount(words_[w]));
    return i % 64 == 0 ? count : count + static_cast<std::size_t>(std::popcount(words_[i / 64] << (64 - i % 64)));
  }
  std::size_t rank0(std::size_t i) const { return i - rank1(i); }

  // The position of the k-th one, or zero; k counts from 0 and is less than their number.
  std::size_t select1(std::size_t k) const { return select<true>(k); }
  std::size_t select0(std::size_t k) const { return select<false>(k); }

  std::size_t n_bytes() const { return 8 * words_.size() + 2 * within_.size() + 8 * before_.size(); }
  std::span<const std::uint64_t> words() const { return words_; }

 private:
  static constexpr std::size_t kBlock = 512, kWords = kBlock / 64, kBlocks = 65536 / kBlock;

  std::size_t ones_before_block(std::size_t block) const { return before_[block / kBlocks] + within_[block]; }

  template <bool One>
  std::size_t select(std::size_t k) const {
    // The last block before which there are at most k: first by the large counts, then by the small ones.
    const auto search = [k](std::size_t low, std::size_t high, std::size_t bits, auto&& ones) {
      while (high - low > 1) {
        const std::size_t middle = (low + high) / 2;
        ((One ? ones(middle) : middle * bits - ones(middle)) <= k ? low : high) = middle;
      }
      return low;
    };
    const std::size_t far = search(0, before_.size(), kBlock * kBlocks, [&](std::size_t i) { return before_[i]; });
    const std::size_t low =
        search(far * kBlocks, std::min(within_.size(), (far + 1) * kBlocks), kBlock, [&](std::size_t i) { return ones_before_block(i); });
    k -= One ? ones_before_block(low) : low * kBlock - ones_before_block(low);
    for (std::size_t w = low * kWords;; ++w) {
      std::uint64_t word = One ? words_[w] : ~words_[w];
      const auto count = static_cast<std::size_t>(std::popcount(word));
      if (k >= count) {
        k -= count;
        continue;
      }
      for (; k > 0; --k) word &= word - 1;
      return 64 * w + static_cast<std::size_t>(std::countr_zero(word));
    }
  }

  Array<std::uint64_t> words_, before_;
  Array<std::uint16_t> within_;
  std::size_t n_bits_, n_ones_ = 0;
};

// Bits in the making.
class BitWriter {
 public:
  explicit BitWriter(std::size_t n_bits) : words_((n_bits + 63) / 64, 0), n_bits_(n_bits) {}
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  bool operator[](std::size_t i) const { return words_[i / 64] >> (i % 64) & 1; }
  BitVector done() && { return BitVector(std::move(words_), n_bits_); }

 private:
  Array<std::uint64_t> words_;
  std::size_t n_bits_;
};

}  // namespace treille
