#pragma once
// Feature rows across the pane.

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include "arrays.hpp"
#include "text/ngram_rows.hpp"

namespace treille {

using Words = std::variant<Out<std::uint32_t>, Out<std::uint64_t>>;
// indptr, entries, code_bits, palette, squared norms
using RowsOut = std::tuple<Out<std::int64_t>, Words, int, Out<double>, Out<double>>;

inline RowsOut give_rows(NGramRows&& rows) {
  CodedEntries& e = rows.entries;
  Words words = std::visit([](auto& entries) { return Words(give(std::move(entries))); }, e.entries);
  return {give(std::move(e.indptr)), std::move(words), e.code_bits, give(std::move(e.palette)), give(rows.sq_norms)};
}

}  // namespace treille
