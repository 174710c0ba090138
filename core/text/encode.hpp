#pragma once
// Texts to symbols: code points become indices into the sorted alphabet of those in use. Two passes over the text.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "memory.hpp"
#include "parallel.hpp"

namespace treille {

// `width` bytes a code point, as the text is held in memory: 1, 2 or 4.
struct Text {
  const void* data;
  std::size_t length;
  int width;
};

struct Encoded {
  Buffer<std::int32_t> symbols;
  Buffer<std::int64_t> offsets;
  std::vector<std::int32_t> alphabet;
};

constexpr std::size_t kCodePoints = 0x110000;

enum class CharacterClass : std::uint8_t { space, word, other };

// The class of a code point, and the code point that it is read as, such as its lower case, in four bytes.
class Character {
 public:
  Character() = default;
  Character(char32_t folded, CharacterClass kind) : bits_(static_cast<std::uint32_t>(folded) | static_cast<std::uint32_t>(kind) << 24) {}
  char32_t folded() const { return static_cast<char32_t>(bits_ & 0xFFFFFF); }
  CharacterClass kind() const { return static_cast<CharacterClass>(bits_ >> 24); }

 private:
  std::uint32_t bits_ = 0;
};

using Characters = std::span<const Character>;  // one for every code point

template <class Use>
void with_code_points(const Text& text, Use&& use) {
  if (text.width == 1)
    use(static_cast<const std::uint8_t*>(text.data));
  else if (text.width == 2)
    use(static_cast<const std::uint16_t*>(text.data));
  else
    use(static_cast<const std::uint32_t*>(text.data));
}

// Every code point of a text.
struct AllCharacters {
  std::int64_t length(const Text& text) const { return static_cast<std::int64_t>(text.length); }
  template <class Use>
  void each(const Text& text, Use&& use) const {
    with_code_points(text, [&](const auto* s) {
      for (std::size_t k = 0; k < text.length; ++k) use(s[k]);
    });
  }
};

// Words with one space before, between and after them, words being runs without white space; empty for a text without words.
struct SpacedWords {
  Characters characters;

  std::int64_t length(const Text& text) const {
    std::int64_t n = 0;
    each(text, [&](auto) { ++n; });
    return n;
  }
  template <class Use>
  void each(const Text& text, Use&& use) const {
    with_code_points(text, [&](const auto* s) {
      bool within = false, any = false;
      for (std::size_t k = 0; k < text.length; ++k) {
        const bool space = characters[s[k]].kind() == CharacterClass::space;
        if (!space && !within) use(' ');
        if (!space) use(s[k]);
        within = !space;
        any |= within;
      }
      if (any) use(' ');
    });
  }
};

// `fold` empty: code points are read as themselves.
template <class Reader>
Encoded encode(std::span<const Text> texts, const Reader& reader, Characters fold, int threads) {
  Encoded out;
  out.offsets = Buffer<std::int64_t>(texts.size() + 1);
  out.offsets[0] = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) out.offsets[i + 1] = out.offsets[i] + static_cast<std::int64_t>(texts[i].length);
  const std::span<std::int64_t> offsets(out.offsets.data(), out.offsets.size());
  const int shares = static_cast<int>(std::min<std::int64_t>(threads, 1 + offsets.back() / 100000));
  const auto cuts = balanced_cuts(offsets, shares);

  // Tables of the code points that texts of this width can hold: most need 256 entries, not a million.
  int width = 1;
  for (const Text& text : texts) width = std::max(width, text.width);
  const std::size_t n_codes = width == 1 ? 0x100 : width == 2 ? 0x10000 : kCodePoints;
  std::vector<std::vector<char>> seen(static_cast<std::size_t>(shares), std::vector<char>(n_codes, 0));
  run_shares(shares, [&](int p) {
    auto& mine = seen[static_cast<std::size_t>(p)];
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) {
      poll();
      reader.each(texts[i], [&](auto c) { mine[c] = 1; });
      offsets[i + 1] = reader.length(texts[i]);
    }
  });
  for (std::size_t i = 0; i < texts.size(); ++i) offsets[i + 1] += offsets[i];
  auto folded = [&](std::size_t c) { return static_cast<std::int32_t>(fold.empty() ? c : fold[c].folded()); };
  auto in_use = [&](std::size_t c) { return std::any_of(seen.begin(), seen.end(), [&](const auto& mine) { return mine[c] != 0; }); };
  for (std::size_t c = 0; c < n_codes; ++c)
    if (in_use(c)) out.alphabet.push_back(folded(c));
  std::sort(out.alphabet.begin(), out.alphabet.end());
  out.alphabet.erase(std::unique(out.alphabet.begin(), out.alphabet.end()), out.alphabet.end());
  std::vector<std::int32_t> code(n_codes, 0);
  for (std::size_t c = 0; c < n_codes; ++c)
    if (in_use(c))
      code[c] = static_cast<std::int32_t>(std::lower_bound(out.alphabet.begin(), out.alphabet.end(), folded(c)) - out.alphabet.begin());
  out.symbols = Buffer<std::int32_t>(static_cast<std::size_t>(offsets.back()));
  run_between(cuts, [&](std::size_t i) {
    std::int32_t* to = out.symbols.data() + offsets[i];
    reader.each(texts[i], [&](auto c) { *to++ = code[c]; });
  });
  return out;
}

}  // namespace treille
