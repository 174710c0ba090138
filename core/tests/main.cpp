// The core under sanitizers, without Python: each routine against a slow twin written from its definition, on random data.
// `core_tests trees text` runs these parts, `core_tests` all of them.

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "check.hpp"

int main(int argc, char** argv) {
  using namespace treille::tests;
  struct Part {
    std::string_view name;
    void (*run)();
  };
  const Part parts[] = {{"automata", automata},
                        {"conjunctions", conjunctions},
                        {"features", features},
                        {"graphs", graphs},
                        {"representations", representations},
                        {"solve", solve},
                        {"tagging", tagging},
                        {"text", text},
                        {"trees", trees}};
  for (const char* const* name = argv + 1; name < argv + argc; ++name)
    check(std::any_of(std::begin(parts), std::end(parts), [&](const Part& part) { return part.name == *name; }));
  for (const Part& part : parts)
    if (argc == 1 || std::find(argv + 1, argv + argc, part.name) != argv + argc) part.run();
  std::printf("all passed\n");
}
