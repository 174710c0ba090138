#pragma once
// Random numbers that are the same with every standard library. Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014, figure 15.

#include <cstddef>
#include <cstdint>

#include "tag_index.hpp"

namespace treille {

class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}

  std::uint64_t operator()() { return scrambled(state_ += 0x9e3779b97f4a7c15); }

  std::size_t below(std::size_t n) { return static_cast<std::size_t>((static_cast<unsigned __int128>((*this)()) * n) >> 64); }

 private:
  std::uint64_t state_;
};

}  // namespace treille
