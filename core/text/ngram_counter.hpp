#pragma once
// Counts the distinct n-grams of one sequence, exactly. Expected O(1) a window; each gram met again is confirmed, n symbols, eight bytes
// at a time.

#include <cstdint>
#include <span>
#include <vector>

#include "features/ngram_dictionary.hpp"
#include "interrupt.hpp"
#include "tag_index.hpp"

namespace treille {

struct CountedNGram {
  std::uint32_t tag;    // 32 bits of hash: a place to search, never an identity
  std::uint32_t first;  // where the gram first occurs
  std::uint32_t count;
};

// h(s_0 .. s_{n-1}) = sum_k (s_k + 1) B^{n-1-k} mod 2^64, rolled along the sequence: O(1) a window.
struct RollingHash {
  static constexpr std::uint64_t kBase = 0x9E6C63D0876A9A47u;
  explicit RollingHash(int order) : seed(0xD1342543DE82EF95u * static_cast<std::uint64_t>(order)) {
    top = 1;
    for (int k = 1; k < order; ++k) top *= kBase;
  }
  std::uint64_t push(std::uint64_t h, std::uint64_t in) const { return h * kBase + in + 1; }
  std::uint64_t pop(std::uint64_t h, std::uint64_t out) const { return h - (out + 1) * top; }
  std::uint32_t tag(std::uint64_t h) const { return tag(h, seed); }
  static std::uint32_t tag(std::uint64_t h, std::uint64_t seed) {
    h += seed;
    h ^= h >> 32;
    h *= 0xBEA225F9EB34556Du;
    h ^= h >> 29;
    h *= 0x9E3779B97F4A7C15u;
    return static_cast<std::uint32_t>(h >> 32);
  }
  std::uint64_t top, seed;
};

// One for each order.
inline std::vector<RollingHash> rolling_hashes(int min_order, int max_order) {
  std::vector<RollingHash> hashes;
  for (int order = min_order; order <= max_order; ++order) hashes.emplace_back(order);
  return hashes;
}

template <class Symbol>
class NGramCounter {
 public:
  // The grams of the given order, by first occurrence, but none with the symbol `border` inside. The result lives until the next call.
  std::span<const CountedNGram> count(std::span<const Symbol> sequence, const RollingHash& hash, int order, std::int64_t border = -1) {
    grams_.clear();
    const std::size_t n = static_cast<std::size_t>(order);
    if (sequence.size() < n) return grams_;
    const std::size_t windows = sequence.size() - n + 1;
    index_.clear(windows);
    const Symbol* s = sequence.data();
    std::uint64_t h = 0;
    for (std::size_t k = 0; k + 1 < n; ++k) h = hash.push(h, s[k]);
    // If the window before occurred earlier at `twin`, and this one's candidate starts at twin + 1, all symbols but the last are known to
    // agree: copied passages stay linear for long grams, too.
    std::size_t twin = kNone;
    std::size_t last_border = 0;  // before the last symbol of the window
    auto is_border = [&](std::size_t k) { return border >= 0 && static_cast<std::int64_t>(s[k]) == border; };
    for (std::size_t k = 0; k + 2 < n; ++k)
      if (is_border(k)) last_border = k;
    for (std::size_t i = 0; i < windows; ++i) {
      poll();
      h = hash.push(h, s[i + n - 1]);
      const std::uint32_t tag = hash.tag(h);
      h = hash.pop(h, s[i]);
      if (n > 1 && is_border(i + n - 2)) last_border = i + n - 2;
      if (last_border > i) {
        twin = kNone;
        continue;
      }
      const auto is_known = [&](std::uint32_t id) {
        const std::size_t first = grams_[id].first;
        if (twin != kNone && first == twin + 1 ? s[first + n - 1] != s[i + n - 1] : !same_symbols(s + first, s + i, n)) return false;
        ++grams_[id].count;
        twin = first;
        return true;
      };
      index_.find_or_add(tag, is_known, [&] {
        grams_.push_back({tag, static_cast<std::uint32_t>(i), 1});
        twin = kNone;
      });
    }
    return grams_;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  TagIndex index_{"n-grams"};
  std::vector<CountedNGram> grams_;
};

}  // namespace treille
