// The core under sanitizers, without Python: each routine against a slow twin written from its definition, on random data.
// `core_tests trees text` runs these suites, `core_tests` all of them.

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "check.hpp"

int main(int argc, char** argv) {
  using namespace treille::tests;
  struct Suite {
    std::string_view name;
    void (*run)();
  };
  const Suite suites[] = {{"automata", automata},
                          {"conjunctions", conjunctions},
                          {"features", features},
                          {"graphs", graphs},
                          {"representations", representations},
                          {"solve", solve},
                          {"tagging", tagging},
                          {"text", text},
                          {"trees", trees}};
  for (const char* const* name = argv + 1; name < argv + argc; ++name)
    check(std::any_of(std::begin(suites), std::end(suites), [&](const Suite& suite) { return suite.name == *name; }));
  for (const Suite& suite : suites)
    if (argc == 1 || std::find(argv + 1, argv + argc, suite.name) != argv + argc) suite.run();
  std::printf("all passed\n");
}
