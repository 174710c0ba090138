#pragma once
// Tokens, templates and rows of tokens from Python to the core, and back.

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "native.hpp"
#include "tagging/token_features.hpp"

namespace treille {

// Atoms of templates as Python holds them: template t has the rows offsets[t] .. offsets[t + 1], static atoms first.
struct TemplatesIn {
  In<std::int32_t> offsets, attributes, distances;

  std::vector<Template> read() const {
    std::vector<Template> out(offsets.size() - 1);
    for (std::size_t t = 0; t < out.size(); ++t)
      for (std::int32_t a = view(offsets)[t]; a < view(offsets)[t + 1]; ++a) {
        const std::int32_t attribute = view(attributes)[static_cast<std::size_t>(a)], offset = view(distances)[static_cast<std::size_t>(a)];
        if (attribute == kTag)
          out[t].distances.push_back(offset);
        else
          out[t].fixed.push_back({attribute, offset});
      }
    return out;
  }
};

struct TokenBatchIn {
  std::vector<In<std::int32_t>> columns;
  std::vector<std::size_t> column_of;
  std::vector<In<std::int32_t>> maps;
  In<std::int64_t> offsets;
  In<std::int32_t> items, item_map;
  In<std::int64_t> item_offsets;

  TokenBatch read() const {
    TokenBatch out{{}, column_of, {}, view(offsets), view(items), view(item_map), view(item_offsets)};
    for (const auto& column : columns) out.columns.push_back(view(column));
    for (const auto& map : maps) out.maps.push_back(view(map));
    return out;
  }
};

using TokenRowsOut = std::tuple<Out<std::int64_t>, Out<std::int32_t>, Out<std::int32_t>>;

inline TokenRowsOut give(TokenRows&& rows) {
  return {give(std::move(rows.indptr)), give(std::move(rows.ids)), give(std::move(rows.parts))};
}

template <>
struct FromPython<TokenBatch> {
  using Given = TokenBatchIn;
  static TokenBatch read(const Given& given) { return given.read(); }
};

}  // namespace treille
