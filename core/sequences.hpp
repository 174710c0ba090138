#pragma once
// Many symbol sequences in two flat arrays: sequence i is symbols[offsets[i] .. offsets[i + 1]).

#include <cstdint>
#include <span>

namespace treille {

struct Sequences {
  std::span<const std::int32_t> symbols;
  std::span<const std::int64_t> offsets;
  std::int32_t border = -1;  // a symbol that an n-gram may begin or end with, but not hold inside; -1: none

  std::size_t size() const { return offsets.size() - 1; }
  std::span<const std::int32_t> operator[](std::size_t i) const {
    return symbols.subspan(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
  }
};

}  // namespace treille
