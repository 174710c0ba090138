// The core under sanitizers, without Python: each routine against a slow twin written from its definition, on random data.

#include "check.hpp"

using namespace treille;

int main() {
  const int passed = tests::text() + tests::features() + tests::solve() + tests::automata() + tests::trees() + tests::representations();
  std::printf("%d passed, 0 failed\n", passed);
}
