#pragma once
// Text to tokens: one token per line in columns (CoNLL), or a label and features per line (CRFsuite); a blank line ends a sentence.
// The values of a column are numbered by first occurrence. One pass; about 0.1 microseconds per token and column.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interner.hpp"
#include "memory.hpp"

namespace treille {

struct ColumnFormat {
  bool tabs;              // one tab separates; otherwise any run of blanks and tabs
  bool comments;          // a line with # first and no tab is a comment
  std::size_t n_columns;  // 0: as many as the first token has
};

// The place of an error in a text; line 0: none.
struct TextFault {
  std::int64_t line = 0;
  std::size_t found = 0;   // columns
  std::string field = {};  // CRFsuite: the feature whose weight is not a finite number
};

struct TokenText {
  std::vector<Array<std::int32_t>> codes;  // by column, one per token
  std::vector<Interner<char>> values;      // by column
  Array<std::int64_t> offsets = {0};       // of the sentences
  Array<std::int64_t> lines, ends;         // by token: its line, and where its last field ends in the text
  std::size_t bytes_read = 0;              // up to the end of the last sentence
  std::int64_t lines_read = 0;             // within these bytes
  TextFault fault;

  // CRFsuite: the features of token i are items[item_offsets[i] .. item_offsets[i + 1]), each at most once: its last weight counts.
  Array<std::int32_t> items;
  Array<double> weights;
  Array<std::int64_t> item_offsets = {0};
  Interner<char> item_names;
};

// The sentences of a text. If it does not `end` here, the text after the last blank line is left unread.
TokenText parse_columns(std::string_view text, const ColumnFormat& format, std::int64_t first_line, bool end);

// The same for `label TAB feature TAB feature ...`; \: and \\ are escapes, and `:weight` may follow a feature.
TokenText parse_items(std::string_view text, std::int64_t first_line, bool end);

// The text with a separator and names[codes[i]] inserted where token i ends.
std::string append_column(std::string_view text, std::span<const std::int64_t> ends, char separator, std::span<const std::int32_t> codes,
                          std::span<const std::string_view> names);

}  // namespace treille
