#pragma once
// Coded rows (see rows.hpp) from (id, value) entries whose values mostly differ, as expected counts do. Parts as in row_builder.hpp.

#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "parallel.hpp"
#include "spaces/code_rows.hpp"
#include "spaces/row_builder.hpp"

namespace treille {

struct ColumnPart {
  Array<std::uint32_t> ids;
  Array<double> values;
  std::vector<std::int64_t> ends;

  // Ids must differ within a row.
  void add(std::uint32_t id, double value) {
    ids.push_back(id);
    values.push_back(value);
  }
  void end_row() { ends.push_back(static_cast<std::int64_t>(ids.size())); }
};

// The parts' rows one after another. Where `renamed` is given, id k of part p becomes renamed[p][k]. All ids are < n_ids then.
inline CodedEntries join_parts(std::vector<ColumnPart> parts, std::span<const Array<std::uint32_t>> renamed, std::size_t n_ids) {
  Array<std::int64_t> indptr(1, 0);
  std::size_t total = 0;
  for (const ColumnPart& part : parts) {
    for (const std::int64_t end : part.ends) indptr.push_back(static_cast<std::int64_t>(total) + end);
    total += part.ids.size();
  }
  Buffer<std::int32_t> columns(total);
  Buffer<double> values(total);
  std::size_t to = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    ColumnPart part = std::move(parts[p]);
    for (std::size_t e = 0; e < part.ids.size(); ++e, ++to) {
      columns[to] = static_cast<std::int32_t>(renamed.empty() ? part.ids[e] : renamed[p][part.ids[e]]);
      values[to] = part.values[e];
    }
  }
  Array<std::uint32_t> ids(n_ids);
  std::iota(ids.begin(), ids.end(), 0u);
  return RowCoder(indptr, {columns.data(), total}, {values.data(), total}, ids, n_ids, static_cast<int>(parts.size())).code();
}

}  // namespace treille
