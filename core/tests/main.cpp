// The core under sanitizers, without Python: each routine against a slow twin written from its definition, on random data.

#include "check.hpp"

int main() {
  using namespace treille::tests;
  text();
  features();
  conjunctions();
  solve();
  tagging();
  automata();
  trees();
  representations();
  std::printf("all passed\n");
}
