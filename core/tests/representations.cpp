// Representations of W'.

#include "representations.hpp"

#include <algorithm>

#include "corpus.hpp"

namespace treille::tests {

void representations() {
  for (const int which : {1, 2, 3, 300})
    for (const int threads : {1, 3}) {
      std::mt19937 random(static_cast<unsigned>(which));
      const Corpus corpus = nasty_corpus(random, which);
      representations_agree(corpus.view(), std::max(1, which), 3, 3, threads);
      representations_agree(corpus.view(), std::max(1, which), 1, 20, threads);
    }
}

}  // namespace treille::tests
