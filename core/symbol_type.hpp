#pragma once
// Symbols in the fewest bytes: the cost is the number of bytes moved.

#include <cstdint>

namespace treille {

// Calls `use` with a value of the narrowest type that holds symbols 0..size-1.
template <class Use>
auto with_symbol_type(std::int64_t size, Use&& use) {
  if (size <= 256) return use(std::uint8_t{});
  if (size <= 65536) return use(std::uint16_t{});
  return use(std::int32_t{});
}

}  // namespace treille
