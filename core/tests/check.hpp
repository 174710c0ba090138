#pragma once
// A check that fails ends the run. Each directory of the core has a file of checks, which main.cpp runs.

#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace treille::tests {

inline void check(bool holds, std::source_location where = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%u: failed in %s\n", where.file_name(), where.line(), where.function_name());
  std::exit(1);
}

void automata();
void conjunctions();
void features();
void graphs();
void representations();
void solve();
void tagging();
void text();
void trees();

}  // namespace treille::tests
