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

template <class Use>
void with_code_points(const Text& text, Use&& use) {
  if (text.width == 1)
    use(static_cast<const std::uint8_t*>(text.data));
  else if (text.width == 2)
    use(static_cast<const std::uint16_t*>(text.data));
  else
    use(static_cast<const std::uint32_t*>(text.data));
}

inline Encoded encode(std::span<const Text> texts, int threads) {
  Encoded out;
  out.offsets = Buffer<std::int64_t>(texts.size() + 1);
  out.offsets[0] = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) out.offsets[i + 1] = out.offsets[i] + static_cast<std::int64_t>(texts[i].length);
  const std::span<const std::int64_t> offsets(out.offsets.data(), out.offsets.size());
  const int parts = static_cast<int>(std::min<std::int64_t>(threads, 1 + offsets.back() / 100000));
  const auto cuts = balanced_cuts(offsets, parts);

  // Tables of the code points that texts of this width can hold: most need 256 entries, not a million.
  int width = 1;
  for (const Text& text : texts) width = std::max(width, text.width);
  const std::size_t n_codes = width == 1 ? 0x100 : width == 2 ? 0x10000 : kCodePoints;
  std::vector<std::vector<char>> seen(static_cast<std::size_t>(parts), std::vector<char>(n_codes, 0));
  run_parts(parts, [&](int p) {
    auto& mine = seen[static_cast<std::size_t>(p)];
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) {
      poll();
      with_code_points(texts[i], [&](const auto* s) {
        for (std::size_t k = 0; k < texts[i].length; ++k) mine[s[k]] = 1;
      });
    }
  });
  std::vector<std::int32_t> code(n_codes, 0);
  for (std::size_t c = 0; c < n_codes; ++c)
    for (const auto& mine : seen)
      if (mine[c]) {
        code[c] = static_cast<std::int32_t>(out.alphabet.size());
        out.alphabet.push_back(static_cast<std::int32_t>(c));
        break;
      }
  out.symbols = Buffer<std::int32_t>(static_cast<std::size_t>(offsets.back()));
  run_parts(parts, [&](int p) {
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i)
      with_code_points(texts[i], [&](const auto* s) {
        std::int32_t* to = out.symbols.data() + offsets[i];
        for (std::size_t k = 0; k < texts[i].length; ++k) to[k] = code[s[k]];
      });
  });
  return out;
}

}  // namespace treille
