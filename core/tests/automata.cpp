// Machines, algorithms on them, and lattices.

#include "automata.hpp"

#include "automata_algorithms.hpp"
#include "check.hpp"
#include "lattices.hpp"

namespace treille::tests {

int automata() {
  CHECK(automata_algorithms_tests::operations_keep_every_weight());
  CHECK(automata_algorithms_tests::edges_hold());
  machines_at_the_edges(check);
  int passed = 3;
  for (unsigned seed = 0; seed < 100; ++seed)
    for (const bool acyclic : {true, false}) {
      operations_obey_their_laws<Real>(seed, acyclic, check);
      operations_obey_their_laws<Log>(seed, acyclic, check);
      operations_obey_their_laws<Tropical>(seed, acyclic, check);
      passed += 3;
    }
  for (const int threads : {1, 3}) {
    lattices_are_their_paths(threads, check);
    ++passed;
  }
  return passed;
}

}  // namespace treille::tests
