// The core under sanitizers, without Python: each routine against a slow twin written from its definition, on random data.

#include "check.hpp"

int main() {
  using namespace treille::tests;
  for (auto* directory : {text, features, solve, automata, trees, representations}) directory();
  std::printf("all passed\n");
}
