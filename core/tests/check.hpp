#pragma once
// What holds is counted; what does not ends the run. Each directory of the core has a file of checks, which main.cpp runs.

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (false)

namespace treille::tests {

// For routines that are checked in a header of their own.
inline void check(bool holds) { CHECK(holds); }

// How many checks each directory has passed.
int automata();
int features();
int representations();
int solve();
int text();
int trees();

}  // namespace treille::tests
