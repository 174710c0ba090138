#pragma once
// The semirings across the pane: by name.

#include <nanobind/nanobind.h>

#include <string>

#include "automata/semiring.hpp"

namespace treille {

// use(S) for the semiring of that name, the GIL released.
template <class Use>
auto over(const std::string& semiring, Use&& use) {
  nanobind::gil_scoped_release release;
  if (semiring == "log") return use(Log{});
  if (semiring == "tropical") return use(Tropical{});
  return use(Real{});
}

}  // namespace treille
