#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <utility>

#include "unlocked.hpp"

namespace nb = nanobind;

namespace treille {
using Bind = void(nb::module_&);
Bind bind_automata, bind_conjunctions, bind_features, bind_finite_newton, bind_graph_features, bind_graphlets, bind_graphs,
    bind_kernel_learning, bind_lattices, bind_parts, bind_patterns, bind_perceptron, bind_products, bind_random_walk, bind_representations,
    bind_solve, bind_subpath, bind_suffix, bind_tagging, bind_text, bind_tree_kernels, bind_xbw;
}  // namespace treille

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of treille.";
  // Objects in a script's variables when Python ends are no leak, but would be reported as one.
  nb::set_leak_warnings(false);
  treille::main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  m.def(
      "progress", [] { return std::pair(treille::interrupt.done.load(), treille::interrupt.total.load()); },
      "Items done and items in all of the work at hand.");
  m.def("begin_progress", [] { treille::expect(0); }, "Until work counts its items, there are none.");
  treille::bind_automata(m);
  treille::bind_conjunctions(m);
  treille::bind_features(m);
  treille::bind_finite_newton(m);
  treille::bind_graph_features(m);
  treille::bind_graphlets(m);
  treille::bind_graphs(m);
  treille::bind_kernel_learning(m);
  treille::bind_lattices(m);
  treille::bind_parts(m);
  treille::bind_patterns(m);
  treille::bind_perceptron(m);
  treille::bind_products(m);
  treille::bind_random_walk(m);
  treille::bind_representations(m);
  treille::bind_solve(m);
  treille::bind_subpath(m);
  treille::bind_suffix(m);
  treille::bind_tagging(m);
  treille::bind_text(m);
  treille::bind_tree_kernels(m);
  treille::bind_xbw(m);
}
