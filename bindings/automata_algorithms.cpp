// The algorithms of core/automata for Python: each over the semiring that is named.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <string_view>

#include "automata/compose.hpp"
#include "automata/determinize.hpp"
#include "automata/equivalent.hpp"
#include "automata/machine.hpp"
#include "automata/minimize.hpp"
#include "automata/push.hpp"
#include "automata/remove_epsilon.hpp"
#include "automata/semiring.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace treille {
namespace {

template <class Call>
auto over(std::string_view semiring, Call&& call) {
  nb::gil_scoped_release release;
  if (semiring == "log") return call(Log{});
  if (semiring == "tropical") return call(Tropical{});
  return call(Real{});
}

}  // namespace

void bind_automata_algorithms(nb::module_& m) {
  m.def(
      "compose",
      [](const Machine& left, const Machine& right, std::string_view semiring) {
        return over(semiring, [&]<class S>(S) { return compose<S>(left, right); });
      },
      "left"_a, "right"_a, "semiring"_a);
  m.def(
      "remove_epsilon",
      [](const Machine& machine, std::string_view semiring) {
        return over(semiring, [&]<class S>(S) { return remove_epsilon<S>(machine); });
      },
      "machine"_a, "semiring"_a);
  m.def(
      "determinize",
      [](const Machine& machine, std::string_view semiring) {
        return over(semiring, [&]<class S>(S) { return determinize<S>(machine); });
      },
      "machine"_a, "semiring"_a);
  m.def(
      "minimize",
      [](const Machine& machine, std::string_view semiring) {
        return over(semiring, [&]<class S>(S) { return minimize<S>(machine); });
      },
      "machine"_a, "semiring"_a);
  m.def(
      "push",
      [](const Machine& machine, std::string_view semiring) {
        return over(semiring, [&]<class S>(S) { return push<S>(machine); });
      },
      "machine"_a, "semiring"_a);
  m.def(
      "equivalent",
      [](const Machine& a, const Machine& b, std::string_view semiring, double tolerance) {
        return over(semiring, [&]<class S>(S) { return equivalent<S>(a, b, tolerance); });
      },
      "a"_a, "b"_a, "semiring"_a, "tolerance"_a);
}

}  // namespace treille
