#pragma once
// Trees from brackets: (S (NP the cat) (VP (V sat))). A bracket is a node, its label follows it at once or after blanks; a word that no
// bracket opens is a leaf. An outer bracket with no label, as in the Penn Treebank, is dropped. Any depth: there is no recursion.
// About 100 MB a second and thread.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "memory.hpp"

namespace treille {

// An error in a text, and its byte.
struct BracketFault {
  std::size_t item = 0, byte = 0;
  std::string message;
};

struct BracketTrees {
  Array<std::int32_t> labels, parents;  // as in a Forest
  std::vector<std::int64_t> offsets;
  std::vector<std::string> alphabet;  // the distinct labels, sorted by their bytes
  std::optional<BracketFault> fault;  // the first one; the rest is empty then
};

// One tree each. The result does not depend on the number of threads.
BracketTrees read_brackets(std::span<const std::string_view> texts, int threads);

// The first byte and the end of each tree of a text, found by balanced brackets. If a tree is not closed, its end is the end of the text.
std::vector<std::int64_t> find_brackets(std::string_view text);

}  // namespace treille
