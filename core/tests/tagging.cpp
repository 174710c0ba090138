// Tokens of texts.

#include <random>
#include <sstream>
#include <string>

#include "check.hpp"
#include "tagging/columns.hpp"

namespace treille::tests {
namespace {

std::string value(const TokenText& text, std::size_t column, std::size_t token) {
  const auto found = text.values[column][static_cast<std::size_t>(text.codes[column][token])];
  return {found.begin(), found.end()};
}

// Random tables, written and read whole and in parts, with one more column appended.
void columns_come_back() {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const std::size_t width = 1 + random() % 3, n = random() % 40;
    const bool tabs = width > 1 && random() % 2;
    std::vector<std::string> cells;
    std::ostringstream out, longer;
    std::vector<std::int64_t> offsets = {0};
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t c = 0; c < width; ++c) {
        cells.push_back(std::string(1 + random() % 12, static_cast<char>('a' + random() % 3)));
        for (auto* stream : {&out, &longer}) *stream << cells.back() << (c + 1 == width ? "" : tabs ? "\t" : " \t ");
      }
      longer << (tabs ? '\t' : ' ') << "T";
      const bool last = random() % 4 == 0 || i + 1 == n;
      for (auto* stream : {&out, &longer}) *stream << (random() % 1 ? "\r\n" : "\n") << (last ? "\n" : "");
      if (last) offsets.push_back(static_cast<std::int64_t>(i + 1));
    }
    const std::string text = out.str();
    const auto whole = parse_columns(text, {tabs, tabs, 0}, 1, true);
    check(whole.fault.line == 0 && whole.lines.size() == n && std::ranges::equal(whole.offsets, offsets));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < width; ++c) check(value(whole, c, i) == cells[i * width + c]);
    const std::vector<std::int32_t> codes(n, 0);
    const std::vector<std::string_view> names = {"T"};
    check(append_column(text, whole.ends, tabs ? '\t' : ' ', codes, names) == longer.str());

    const std::size_t cut = random() % (text.size() + 1);
    const auto head = parse_columns(std::string_view(text).substr(0, cut), {tabs, tabs, width}, 1, false);
    const auto tail = parse_columns(std::string_view(text).substr(head.bytes_read), {tabs, tabs, width}, 1 + head.lines_read, true);
    check(head.lines.size() + tail.lines.size() == n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto& part = i < head.lines.size() ? head : tail;
      const std::size_t at = i < head.lines.size() ? i : i - head.lines.size();
      check(part.lines[at] == whole.lines[i]);
      for (std::size_t c = 0; c < width; ++c) check(value(part, c, at) == cells[i * width + c]);
    }
  }
}

void faults_have_a_line() {
  const auto ragged = parse_columns("a b\n\nc\n", {false, false, 0}, 1, true);
  check(ragged.fault.line == 3 && ragged.fault.found == 1);
  const auto weighted = parse_items("B\ta\\:b:1\ta\\:b\n\nI\tc:2\n", 1, true);
  check(weighted.fault.line == 3 && weighted.fault.field == "c:2");
  const auto items = parse_items("B\ta\\:b:1\ta\\:b\n\nI\tc", 1, true);
  check(items.items.size() == 2 && items.offsets.size() == 3 && items.item_names.size() == 2);
}

}  // namespace

void tagging() {
  columns_come_back();
  faults_have_a_line();
}

}  // namespace treille::tests
