#include "tagging/columns.hpp"

#include <charconv>
#include <cmath>
#include <cstring>

#include "interrupt.hpp"

namespace treille {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Calls token(line, number, end) for each line that is neither blank nor a comment, and sentence() after each run of them.
// `end` is where the line ends without trailing white space. Stops where token() returns false.
template <class Token, class Sentence>
void for_lines(std::string_view text, TokenText& out, std::int64_t first_line, bool end, Token&& token, Sentence&& sentence) {
  bool open = false;
  std::int64_t line = first_line;
  std::size_t at = 0;
  for (; at < text.size(); ++line) {
    if (line % 4096 == 0) poll();
    const auto* newline = static_cast<const char*>(std::memchr(text.data() + at, '\n', text.size() - at));
    if (newline == nullptr && !end) break;
    const std::size_t stop = newline == nullptr ? text.size() : static_cast<std::size_t>(newline - text.data());
    std::size_t last = stop;
    while (last > at && (is_blank(text[last - 1]) || text[last - 1] == '\r')) --last;
    if (last > at) {
      if (!token(at, last, stop, line)) return;
      open = true;
    } else {
      if (open) sentence();
      open = false;
    }
    at = stop + (newline != nullptr);
    if (!open) out.bytes_read = at, out.lines_read = line + 1 - first_line;
  }
  if (end) {
    if (open) sentence();
    out.bytes_read = text.size();
    out.lines_read = line - first_line;
  }
}

void close_sentence(TokenText& out) { out.offsets.push_back(static_cast<std::int64_t>(out.lines.size())); }

// Tokens of a sentence whose end was not seen are read again later.
void drop_open_sentence(TokenText& out) {
  const auto n = static_cast<std::size_t>(out.offsets.back());
  for (auto& codes : out.codes) codes.resize(n);
  out.lines.resize(n);
  out.ends.resize(n);
  if (out.item_offsets.size() > n + 1) {
    out.item_offsets.resize(n + 1);
    out.items.resize(static_cast<std::size_t>(out.item_offsets.back()));
    out.weights.resize(out.items.size());
  }
}

std::size_t split(std::string_view line, bool tabs, std::vector<std::string_view>& fields) {
  fields.clear();
  std::size_t at = 0;
  if (tabs) {
    for (std::size_t tab; (tab = line.find('\t', at)) != std::string_view::npos; at = tab + 1) fields.push_back(line.substr(at, tab - at));
    fields.push_back(line.substr(at));
  } else {
    while (true) {
      while (at < line.size() && is_blank(line[at])) ++at;
      if (at == line.size()) break;
      const std::size_t start = at;
      while (at < line.size() && !is_blank(line[at])) ++at;
      fields.push_back(line.substr(start, at - start));
    }
  }
  return fields.size();
}

void intern(TokenText& out, std::size_t column, std::string_view field) {
  out.codes[column].push_back(static_cast<std::int32_t>(out.values[column].add(std::span(field.data(), field.size()))));
}

// A feature without its escapes, and its weight; false if that is not a finite number.
bool unescape(std::string_view field, std::string& name, double& weight) {
  name.clear();
  weight = 1;
  for (std::size_t k = 0; k < field.size(); ++k) {
    if (field[k] == '\\' && k + 1 < field.size() && (field[k + 1] == ':' || field[k + 1] == '\\')) {
      name += field[++k];
    } else if (field[k] == ':') {
      const auto [rest, error] = std::from_chars(field.data() + k + 1, field.data() + field.size(), weight);
      return error == std::errc() && rest == field.data() + field.size() && std::isfinite(weight);
    } else {
      name += field[k];
    }
  }
  return true;
}

}  // namespace

TokenText parse_columns(std::string_view text, const ColumnFormat& format, std::int64_t first_line, bool end) {
  TokenText out;
  std::vector<std::string_view> fields;
  std::size_t width = format.n_columns;
  out.codes.resize(width);
  out.values.resize(width);
  auto token = [&](std::size_t at, std::size_t last, std::size_t stop, std::int64_t line) {
    if (format.comments && text[at] == '#' && text.substr(at, stop - at).find('\t') == std::string_view::npos) return true;
    if (format.tabs) last = stop - (stop > at && text[stop - 1] == '\r');  // the last fields may be empty
    const std::size_t found = split(text.substr(at, last - at), format.tabs, fields);
    if (width == 0) {
      out.codes.resize(width = found);
      out.values.resize(width);
    }
    if (found != width) {
      out.fault = {line, found, {}};
      return false;
    }
    for (std::size_t c = 0; c < width; ++c) intern(out, c, fields[c]);
    out.lines.push_back(line);
    out.ends.push_back(static_cast<std::int64_t>(last));
    return true;
  };
  for_lines(text, out, first_line, end, token, [&] {
    if (static_cast<std::int64_t>(out.lines.size()) > out.offsets.back()) close_sentence(out);  // more than comments
  });
  drop_open_sentence(out);
  return out;
}

TokenText parse_items(std::string_view text, std::int64_t first_line, bool end) {
  TokenText out;
  out.codes.resize(1);
  out.values.resize(1);
  std::vector<std::string_view> fields;
  std::vector<std::int64_t> last_place;  // by feature
  std::string name;
  double weight = 1;
  auto token = [&](std::size_t at, std::size_t last, std::size_t, std::int64_t line) {
    split(text.substr(at, last - at), true, fields);
    intern(out, 0, fields[0]);
    for (std::size_t k = 1; k < fields.size(); ++k) {
      if (fields[k].empty()) continue;
      if (!unescape(fields[k], name, weight)) {
        out.fault = {line, 0, std::string(fields[k])};
        return false;
      }
      const std::size_t item = out.item_names.add(std::span<const char>(name));
      if (item == last_place.size()) last_place.push_back(-1);
      if (last_place[item] >= out.item_offsets.back()) {  // twice in this token
        out.weights[static_cast<std::size_t>(last_place[item])] = weight;
        continue;
      }
      last_place[item] = static_cast<std::int64_t>(out.items.size());
      out.items.push_back(static_cast<std::int32_t>(item));
      out.weights.push_back(weight);
    }
    out.item_offsets.push_back(static_cast<std::int64_t>(out.items.size()));
    out.lines.push_back(line);
    out.ends.push_back(static_cast<std::int64_t>(last));
    return true;
  };
  for_lines(text, out, first_line, end, token, [&] { close_sentence(out); });
  drop_open_sentence(out);
  return out;
}

std::string append_column(std::string_view text, std::span<const std::int64_t> ends, char separator, std::span<const std::int32_t> codes,
                          std::span<const std::string_view> names) {
  std::size_t size = text.size() + codes.size();
  for (const std::int32_t code : codes) size += names[static_cast<std::size_t>(code)].size();
  std::string out;
  out.reserve(size);
  std::size_t at = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const auto end = static_cast<std::size_t>(ends[i]);
    out.append(text, at, end - at);
    out += separator;
    out += names[static_cast<std::size_t>(codes[i])];
    at = end;
  }
  out.append(text, at);
  return out;
}

}  // namespace treille
