#pragma once
// Sums of many sets of columns, for matrices of gapped k-mers.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "simd.hpp"

namespace treille {

// Some words at a time: every 64-bit processor has two. Compilers other than GCC and Clang would need another spelling.
template <std::size_t N>
struct WordsOf;
template <>
struct WordsOf<2> {
  using type = std::uint64_t __attribute__((vector_size(16)));
};
template <>
struct WordsOf<4> {
  using type = std::uint64_t __attribute__((vector_size(32)));
};
template <>
struct WordsOf<8> {
  using type = std::uint64_t __attribute__((vector_size(64)));
};

// Counters of 512 columns, kept as planes of bits: plane p has the weight 2^p. Sets of columns are added sixteen at a time by carry-save
// adders, about seven operations a vector of words and set (Harley and Seal's way of counting bits), or four where three-way logic is
// one operation.
class BitCounters {
 public:
  static constexpr std::size_t kWords = 8, kPlanes = 16;

  // Planes for counts up to `most`, all 0.
  void clear(std::size_t most) {
    used_ = std::clamp<std::size_t>(static_cast<std::size_t>(std::bit_width(most)), 5, kPlanes);
    for (auto& plane : planes_) plane.fill(0);
  }

  // Sixteen sets after another, each 512 columns at its place from `sets` on; N words at a time.
  template <std::size_t N>
  TREILLE_INLINE void add_sixteens(const std::uint64_t* sets, const std::uint32_t* places, const std::uint32_t* stop) {
    using Words = typename WordsOf<N>::type;
    for (; places < stop; places += 16)
      for (std::size_t v = 0; v < kWords; v += N) {
        Words ones, twos, fours, eights, eight_a, eight_b, sixteen;
        load(planes_[0].data() + v, ones);
        load(planes_[1].data() + v, twos);
        load(planes_[2].data() + v, fours);
        load(planes_[3].data() + v, eights);
        add_eight<Words>(sets + v, places, ones, twos, fours, eight_a);
        add_eight<Words>(sets + v, places + 8, ones, twos, fours, eight_b);
        add(eights, eight_a, eight_b, sixteen);
        store(ones, planes_[0].data() + v);
        store(twos, planes_[1].data() + v);
        store(fours, planes_[2].data() + v);
        store(eights, planes_[3].data() + v);
        carry(sixteen, v, 4);
      }
  }

  void add_one(const std::uint64_t* set, std::uint32_t times) {
    using Words = WordsOf<2>::type;
    for (; times != 0; times &= times - 1)
      for (std::size_t v = 0; v < kWords; v += 2) {
        Words words;
        load(set + v, words);
        carry(words, v, static_cast<std::size_t>(std::countr_zero(times)));
      }
  }

  // Adds the counters of columns first..last-1 to sums[first .. last).
  template <class Sum>
  void write(Sum* sums, std::size_t first, std::size_t last) const {
    std::array<std::array<std::uint8_t, 8 * kWords>, kPlanes> bytes;
    std::memcpy(&bytes, &planes_, sizeof bytes);
    for (std::size_t column = first / 8 * 8; column < last; column += 8) {
      std::uint64_t low = 0, high = 0;  // eight counters, a byte each
      for (std::size_t p = 0; p < std::min<std::size_t>(used_, 8); ++p) low |= spread_[bytes[p][column / 8]] << p;
      for (std::size_t p = 8; p < used_; ++p) high |= spread_[bytes[p][column / 8]] << (p - 8);
      std::array<std::uint8_t, 8> lows, highs;
      std::memcpy(&lows, &low, 8);
      std::memcpy(&highs, &high, 8);
      if (first <= column && column + 8 <= last)
        for (std::size_t j = 0; j < 8; ++j) sums[column + j] += static_cast<Sum>(lows[j] | highs[j] << 8);
      else
        for (std::size_t j = std::max(first, column) - column; j < std::min<std::size_t>(8, last - column); ++j)
          sums[column + j] += static_cast<Sum>(lows[j] | highs[j] << 8);
    }
  }

 private:
  // Vectors are passed by reference, since passing by value depends on the processor.
  template <class Words>
  static TREILLE_INLINE void load(const std::uint64_t* from, Words& to) {
    std::memcpy(&to, from, sizeof to);
  }
  template <class Words>
  static TREILLE_INLINE void store(const Words& from, std::uint64_t* to) {
    std::memcpy(to, &from, sizeof from);
  }

  // sum + a + b = new sum + 2 carry, bit by bit.
  template <class Words>
  static TREILLE_INLINE void add(Words& sum, const Words& a, const Words& b, Words& carry) {
    carry = (sum & a) | ((sum ^ a) & b);
    sum = sum ^ a ^ b;
  }

  template <class Words>
  static TREILLE_INLINE void add_two(const std::uint64_t* sets, const std::uint32_t* places, Words& ones, Words& two) {
    Words a, b;
    load(sets + std::size_t{places[0]} * kWords, a);
    load(sets + std::size_t{places[1]} * kWords, b);
    add(ones, a, b, two);
  }

  template <class Words>
  static TREILLE_INLINE void add_four(const std::uint64_t* sets, const std::uint32_t* places, Words& ones, Words& twos, Words& four) {
    Words two_a, two_b;
    add_two(sets, places, ones, two_a);
    add_two(sets, places + 2, ones, two_b);
    add(twos, two_a, two_b, four);
  }

  template <class Words>
  static TREILLE_INLINE void add_eight(const std::uint64_t* sets, const std::uint32_t* places, Words& ones, Words& twos, Words& fours,
                                       Words& eight) {
    Words four_a, four_b;
    add_four(sets, places, ones, twos, four_a);
    add_four(sets, places + 4, ones, twos, four_b);
    add(fours, four_a, four_b, eight);
  }

  template <class Words>
  TREILLE_INLINE void carry(Words& words, std::size_t v, std::size_t plane) {
    for (; plane < used_; ++plane) {
      Words own;
      load(planes_[plane].data() + v, own);
      const Words next = own & words;
      own ^= words;
      store(own, planes_[plane].data() + v);
      words = next;
    }
  }

  std::size_t used_ = kPlanes;
  alignas(64) std::array<std::array<std::uint64_t, kWords>, kPlanes> planes_{};
  // Bit j of a byte to byte j of a word, as a little-endian machine counts them.
  static_assert(std::endian::native == std::endian::little);
  static constexpr std::array<std::uint64_t, 256> spread_ = [] {
    std::array<std::uint64_t, 256> table{};
    for (std::size_t byte = 0; byte < 256; ++byte)
      for (std::size_t j = 0; j < 8; ++j) table[byte] |= static_cast<std::uint64_t>(byte >> j & 1u) << 8 * j;
    return table;
  }();
};

TREILLE_AVX512 inline void add_avx512(BitCounters& counters, const std::uint64_t* sets, const std::uint32_t* places,
                                      const std::uint32_t* stop) {
  counters.add_sixteens<8>(sets, places, stop);
}
TREILLE_AVX2 inline void add_avx2(BitCounters& counters, const std::uint64_t* sets, const std::uint32_t* places,
                                  const std::uint32_t* stop) {
  counters.add_sixteens<4>(sets, places, stop);
}

inline void add_sixteens(BitCounters& counters, const std::uint64_t* sets, const std::uint32_t* places, const std::uint32_t* stop) {
  static const Processor kind = processor();
  if (kind == Processor::avx512) return add_avx512(counters, sets, places, stop);
  if (kind == Processor::avx2) return add_avx2(counters, sets, places, stop);
  counters.add_sixteens<2>(sets, places, stop);
}

}  // namespace treille
