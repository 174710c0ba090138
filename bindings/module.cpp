#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace treille {
void bind_automata(nb::module_& m);
void bind_automata_algorithms(nb::module_& m);
void bind_lattices(nb::module_& m);
void bind_text(nb::module_& m);
void bind_suffix(nb::module_& m);
void bind_patterns(nb::module_& m);
void bind_features(nb::module_& m);
void bind_representations(nb::module_& m);
void bind_solve(nb::module_& m);
void bind_subpath(nb::module_& m);
void bind_subsequence(nb::module_& m);
void bind_tree_kernels(nb::module_& m);
void bind_xbw(nb::module_& m);
}  // namespace treille

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of treille.";
  // What a script still holds in its variables when Python ends is not a leak, but would be reported as one.
  nb::set_leak_warnings(false);
  treille::bind_automata(m);
  treille::bind_automata_algorithms(m);
  treille::bind_lattices(m);
  treille::bind_features(m);
  treille::bind_text(m);
  treille::bind_suffix(m);
  treille::bind_patterns(m);
  treille::bind_representations(m);
  treille::bind_solve(m);
  treille::bind_subpath(m);
  treille::bind_subsequence(m);
  treille::bind_tree_kernels(m);
  treille::bind_xbw(m);
}
