#pragma once
// Splits texts into words: runs of word characters, and every other visible character by itself or not at all, numbered in the order of
// their code points. One pass over the text and one over the words.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interner.hpp"
#include "memory.hpp"
#include "parallel.hpp"
#include "text/encode.hpp"

namespace treille {

struct EncodedWords {
  Buffer<std::int32_t> symbols;
  Buffer<std::int64_t> offsets;
  std::vector<std::u32string> alphabet;
};

struct WordRules {
  Characters characters;
  bool alnum;  // only runs of word characters are words
};

// The words of some texts in the order in which they occur, numbered as they appear first.
class WordList {
 public:
  void add(const Text& text, const WordRules& rules) {
    const Character* const characters = rules.characters.data();
    if (word_.size() < text.length) word_.resize(text.length);
    char32_t* const word = word_.data();
    with_code_points(text, [&](const auto* s) {
      for (std::size_t k = 0; k < text.length;) {
        Character c = characters[s[k++]];
        if (c.kind() == CharacterClass::space || (rules.alnum && c.kind() == CharacterClass::other)) continue;
        word[0] = c.folded();
        std::size_t length = 1;
        if (c.kind() == CharacterClass::word)
          for (; k < text.length && (c = characters[s[k]]).kind() == CharacterClass::word; ++k) word[length++] = c.folded();
        symbols.push_back(static_cast<std::int32_t>(words_.add({word, length})));
      }
    });
  }

  std::size_t size() const { return words_.size(); }
  std::u32string_view operator[](std::size_t word) const { return {words_[word].data(), words_[word].size()}; }

  Array<std::int32_t> symbols;

 private:
  std::u32string word_;  // work space for the current word
  Interner<char32_t> words_;
};

inline EncodedWords encode_words(std::span<const Text> texts, const WordRules& rules, int threads) {
  EncodedWords out;
  out.offsets = Buffer<std::int64_t>(texts.size() + 1);
  std::vector<std::int64_t> characters(texts.size() + 1, 0);
  for (std::size_t i = 0; i < texts.size(); ++i) characters[i + 1] = characters[i] + static_cast<std::int64_t>(texts[i].length);
  const int shares = static_cast<int>(std::min<std::int64_t>(threads, 1 + characters.back() / 100000));
  const auto cuts = balanced_cuts(characters, shares);

  std::vector<WordList> lists(static_cast<std::size_t>(shares));
  run_shares(shares, [&](int p) {
    auto& list = lists[static_cast<std::size_t>(p)];
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) {
      list.add(texts[i], rules);
      out.offsets[i + 1] = static_cast<std::int64_t>(list.symbols.size());
    }
  });
  for (const auto& list : lists)
    for (std::size_t word = 0; word < list.size(); ++word) out.alphabet.emplace_back(list[word]);
  std::sort(out.alphabet.begin(), out.alphabet.end());
  out.alphabet.erase(std::unique(out.alphabet.begin(), out.alphabet.end()), out.alphabet.end());

  out.offsets[0] = 0;
  std::vector<std::int64_t> first(lists.size() + 1, 0);
  for (std::size_t p = 0; p < lists.size(); ++p) first[p + 1] = first[p] + static_cast<std::int64_t>(lists[p].symbols.size());
  out.symbols = Buffer<std::int32_t>(static_cast<std::size_t>(first.back()));
  run_shares(shares, [&](int p) {
    const auto& list = lists[static_cast<std::size_t>(p)];
    std::vector<std::int32_t> rank(list.size());
    for (std::size_t word = 0; word < list.size(); ++word)
      rank[word] = static_cast<std::int32_t>(std::lower_bound(out.alphabet.begin(), out.alphabet.end(), list[word]) - out.alphabet.begin());
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) out.offsets[i + 1] += first[static_cast<std::size_t>(p)];
    std::transform(list.symbols.begin(), list.symbols.end(), out.symbols.data() + first[static_cast<std::size_t>(p)],
                   [&](std::int32_t number) { return rank[static_cast<std::size_t>(number)]; });
  });
  return out;
}

}  // namespace treille
