#pragma once
// Equal records get equal numbers: how maps whose features are records, such as strings, paths or trees, are merged.
//
// A record is `own` cells, or all that it has, and then numbers of records before it, or -1 for none: a tree is its label and its
// children, a path its last label and the path before it. The numbers 0, 1, 2, ... are given in the order in which records are first
// met. Exact (see interner.hpp), in expected time O(cells).

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "interner.hpp"
#include "interrupt.hpp"

namespace treille {

// Record r is cells[starts[r] .. starts[r + 1]).
inline std::vector<std::int64_t> number_records(std::span<const std::int32_t> cells, std::span<const std::int64_t> starts,
                                                std::size_t own) {
  if (starts.empty() || starts.back() != static_cast<std::int64_t>(cells.size())) throw std::length_error("expected starts of all cells");
  std::vector<std::int64_t> numbers;
  numbers.reserve(starts.size() - 1);
  Interner<std::int32_t> known;
  std::vector<std::int32_t> key;
  for (std::size_t r = 0; r + 1 < starts.size(); ++r) {
    poll();
    const auto record = cells.subspan(static_cast<std::size_t>(starts[r]), static_cast<std::size_t>(starts[r + 1] - starts[r]));
    key.assign(record.begin(), record.end());
    for (std::size_t k = own; k < key.size(); ++k) {
      if (key[k] >= static_cast<std::int32_t>(r)) throw std::out_of_range("a record names one that is not before it");
      if (key[k] >= 0) key[k] = static_cast<std::int32_t>(numbers[static_cast<std::size_t>(key[k])]);
    }
    numbers.push_back(known.add(key));
  }
  return numbers;
}

}  // namespace treille
