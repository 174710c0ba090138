// The algorithms of core/automata for Python: each over the semiring that is named.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "automata/compose.hpp"
#include "automata/determinize.hpp"
#include "automata/equivalent.hpp"
#include "automata/machine.hpp"
#include "automata/minimize.hpp"
#include "automata/push.hpp"
#include "automata/remove_epsilon.hpp"
#include "semirings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace treille {
void bind_automata_algorithms(nb::module_& m) {
  m.def(
      "compose",
      [](const Machine& left, const Machine& right, const std::string& semiring) {
        return over(semiring, [&]<class S>(S) { return compose<S>(left, right); });
      },
      "left"_a, "right"_a, "semiring"_a);
  m.def(
      "remove_epsilon",
      [](const Machine& machine, const std::string& semiring) {
        return over(semiring, [&]<class S>(S) { return remove_epsilon<S>(machine); });
      },
      "machine"_a, "semiring"_a);
  m.def(
      "determinize",
      [](const Machine& machine, const std::string& semiring) {
        return over(semiring, [&]<class S>(S) { return determinize<S>(machine); });
      },
      "machine"_a, "semiring"_a);
  m.def(
      "minimize",
      [](const Machine& machine, const std::string& semiring) { return over(semiring, [&]<class S>(S) { return minimize<S>(machine); }); },
      "machine"_a, "semiring"_a);
  m.def(
      "push",
      [](const Machine& machine, const std::string& semiring) { return over(semiring, [&]<class S>(S) { return push<S>(machine); }); },
      "machine"_a, "semiring"_a);
  m.def(
      "equivalent",
      [](const Machine& a, const Machine& b, const std::string& semiring, double tolerance) {
        return over(semiring, [&]<class S>(S) { return equivalent<S>(a, b, tolerance); });
      },
      "a"_a, "b"_a, "semiring"_a, "tolerance"_a);
}

}  // namespace treille
