// Tokens of texts, and their features.

#include <algorithm>
#include <map>
#include <random>
#include <sstream>
#include <string>

#include "check.hpp"
#include "small_sort.hpp"
#include "tagging/columns.hpp"
#include "tagging/token_features.hpp"

namespace treille::tests {
namespace {

std::string value(const TokenText& text, std::size_t column, std::size_t token) {
  const auto found = text.values[column][static_cast<std::size_t>(text.codes[column][token])];
  return {found.begin(), found.end()};
}

// Random tables, written and read whole and in parts, with one more column appended.
void columns_round_trip() {
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

void errors_name_their_line() {
  const auto ragged = parse_columns("a b\n\nc\n", {false, false, 0}, 1, true);
  check(ragged.fault.line == 3 && ragged.fault.found == 1);
  const auto weighted = parse_items("B\ta\\:b:1\ta\\:b\n\nI\tc:x\n", 1, true);
  check(weighted.fault.line == 3 && weighted.fault.field == "c:x");
  const auto items = parse_items("B\ta\\:b:1\ta\\:b:3\n\nI\tc", 1, true);
  check(items.items.size() == 2 && items.offsets.size() == 3 && items.item_names.size() == 2);
  check(items.weights[0] == 3 && items.weights[1] == 1);
}

// Features counted, looked up, and found by a decoder, against a map from (template, codes) to the number of occurrences.
void features_of_tokens_equal_their_definition() {
  std::mt19937 random(11);
  const std::vector<Template> templates = {{{{0, 0}}, {}},     {{{0, -2}}, {}},         {{{1, 1}}, {}},
                                           {{}, {}},           {{{0, -1}, {1, 0}}, {}}, {{}, {1}},
                                           {{}, {2, 1}},       {{{0, 0}}, {1}},         {{{1, 1}, {0, 0}}, {3, 1}},
                                           {{{kItems, 0}}, {}}};
  for (int round = 0; round < 60; ++round) {
    const std::int32_t n_tags = 1 + static_cast<std::int32_t>(random() % 3), n_values = 6;
    std::vector<std::int64_t> offsets = {0};
    for (std::size_t s = random() % 6; s > 0; --s) offsets.push_back(offsets.back() + static_cast<std::int64_t>(random() % 5));
    const auto n = static_cast<std::size_t>(offsets.back());
    std::vector<std::int32_t> column(n), tags(n), items, map(n_values), other(n_values), item_map = {0, 1, 2};
    std::vector<std::int64_t> item_offsets = {0};
    for (auto& code : map) code = static_cast<std::int32_t>(random() % 4) - 1;
    for (auto& code : other) code = static_cast<std::int32_t>(random() % 3) - 1;
    for (std::size_t i = 0; i < n; ++i) {
      column[i] = static_cast<std::int32_t>(random() % n_values);
      tags[i] = static_cast<std::int32_t>(random() % static_cast<unsigned>(n_tags));
      for (std::int32_t item = 0; item < 3; ++item)
        if (random() % 2) items.push_back(item);
      item_offsets.push_back(static_cast<std::int64_t>(items.size()));
    }
    const TokenBatch batch{{column}, {0, 0}, {map, other}, offsets, items, item_map, item_offsets};
    const GoldTags gold{tags, n_tags, round % 2 == 1};
    const std::vector<std::int32_t> sizes = {3, 2};

    std::vector<std::vector<std::vector<std::int32_t>>> rows;  // by token: features, with their template first
    std::map<std::vector<std::int32_t>, std::int64_t> counts;
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
      for (std::int64_t i = offsets[s]; i < offsets[s + 1]; ++i) {
        auto& row = rows.emplace_back();
        for (std::size_t t = 0; t < templates.size(); ++t) {
          if (templates[t].items()) {
            for (std::int64_t k = item_offsets[static_cast<std::size_t>(i)]; k < item_offsets[static_cast<std::size_t>(i) + 1]; ++k)
              row.push_back({static_cast<std::int32_t>(t), items[static_cast<std::size_t>(k)]});
            continue;
          }
          std::vector<std::int32_t> key(templates[t].size() + 1, static_cast<std::int32_t>(t));
          if (!batch.codes(templates[t].fixed, i, offsets[s], offsets[s + 1], key.data() + 1)) continue;
          for (std::size_t k = 0; k < templates[t].distances.size(); ++k)
            key[1 + templates[t].fixed.size() + k] = gold.previous(i, templates[t].distances[k], offsets[s], offsets[s + 1]);
          row.push_back(key);
        }
        for (const auto& feature : row) ++counts[feature];
      }

    const std::int64_t min_count = 1 + static_cast<std::int64_t>(random() % 2);
    const FeatureList list = count_features(templates, batch, gold, sizes, 3, min_count);
    std::map<std::vector<std::int32_t>, std::int32_t> ids;
    std::size_t at = 0;
    std::int64_t last = std::numeric_limits<std::int64_t>::max();
    for (std::size_t id = 0; id < list.templates.size(); ++id) {
      std::vector<std::int32_t> key = {list.templates[id]};
      for (std::size_t k = templates[static_cast<std::size_t>(key[0])].size(); k > 0; --k) key.push_back(list.codes[at++]);
      check(counts.at(key) >= min_count && counts.at(key) <= last && ids.emplace(key, static_cast<std::int32_t>(id)).second);
      last = counts.at(key);
    }
    for (const auto& [key, count] : counts) check((count >= min_count) == ids.contains(key));

    const TokenFeatures features(templates, sizes, 3, n_tags, gold.backward, list.templates, list.codes);
    const TokenRows tagged = features.transform(batch, tags, 2), fixed = features.transform(batch, 1);
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<std::int32_t> expected;
      for (const auto& feature : rows[i])
        if (ids.contains(feature)) expected.push_back(ids.at(feature));
      std::sort(expected.begin(), expected.end());
      check(std::equal(expected.begin(), expected.end(), tagged.ids.data() + tagged.indptr[i], tagged.ids.data() + tagged.indptr[i + 1]));
      const std::size_t s =
          static_cast<std::size_t>(std::upper_bound(offsets.begin(), offsets.end(), static_cast<std::int64_t>(i)) - offsets.begin());
      std::vector<std::int32_t> previous, found(fixed.ids.data() + fixed.indptr[i], fixed.ids.data() + fixed.indptr[i + 1]);
      for (std::int32_t k = 1; k <= features.history(); ++k)
        previous.push_back(gold.previous(static_cast<std::int64_t>(i), k, offsets[s - 1], offsets[s]));
      features.dynamic_ids(fixed.parts.data() + i * features.n_dynamic(), previous.data(), [&](std::int32_t id) { found.push_back(id); });
      std::sort(found.begin(), found.end());
      check(found == expected);
    }
  }
}

void few_and_many_numbers_are_sorted() {
  std::mt19937 random(3);
  for (std::size_t n = 0; n < 200; ++n) {
    std::vector<std::int32_t> values(n);
    for (std::size_t k = 0; k < n; ++k) values[k] = static_cast<std::int32_t>(7 * k);
    std::shuffle(values.begin(), values.end(), random);
    sort_distinct(values);
    check(std::ranges::is_sorted(values) && (n == 0 || values.back() == static_cast<std::int32_t>(7 * (n - 1))));
  }
}

}  // namespace

void tagging() {
  few_and_many_numbers_are_sorted();
  features_of_tokens_equal_their_definition();
  columns_round_trip();
  errors_name_their_line();
}

}  // namespace treille::tests
