#pragma once
// Sequences to test on.

#include <cstdint>
#include <random>
#include <vector>

#include "sequences.hpp"

namespace treille::tests {

struct Corpus {
  std::vector<std::int32_t> symbols;
  std::vector<std::int64_t> offsets{0};
  Sequences view() const { return {symbols, offsets}; }
};

inline Corpus random_corpus(std::mt19937& random, int n, int longest, std::int32_t alphabet) {
  Corpus corpus;
  for (int i = 0; i < n; ++i) {
    const auto length = random() % static_cast<unsigned>(longest + 1);
    for (unsigned k = 0; k < length; ++k) corpus.symbols.push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(alphabet)));
    corpus.offsets.push_back(static_cast<std::int64_t>(corpus.symbols.size()));
  }
  return corpus;
}

// Nothing, empty sequences, one symbol alone, or random ones.
inline Corpus nasty_corpus(std::mt19937& random, int which) {
  if (which == 0) return {};
  if (which == 1) return {{}, {0, 0, 0}};
  if (which == 2) return {std::vector<std::int32_t>(300, 0), {0, 150, 150, 299, 300}};
  return random_corpus(random, 12, 40, which);
}

}  // namespace treille::tests
