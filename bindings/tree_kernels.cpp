// core/trees for Python: readers of brackets, matrices of tree kernels, features of subtrees.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "forest.hpp"
#include "native.hpp"
#include "rows.hpp"
#include "trees/brackets.hpp"
#include "trees/heavy_fragments.hpp"
#include "trees/preorder.hpp"
#include "trees/subtree_features.hpp"
#include "trees/tree_gram.hpp"
#include "trees/tree_index.hpp"
#include "trees/tree_shares.hpp"

using namespace nb::literals;

namespace treille {
namespace {

std::string_view utf8(nb::handle text) {
  Py_ssize_t size;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes == nullptr) throw nb::python_error();
  return {bytes, static_cast<std::size_t>(size)};
}

// Item, byte and message of an error.
using FaultOut = std::tuple<std::size_t, std::size_t, std::string>;

using FragmentOut = std::tuple<double, std::vector<std::int32_t>, std::vector<std::int32_t>, std::vector<std::uint8_t>>;

template <class Rule>
void bind_rule(nb::module_& m, nb::class_<TreeIndex<typename Rule::Kin>>& index) {
  using Index = TreeIndex<typename Rule::Kin>;
  index.def("gram", native(&tree_gram<Rule>), "left"_a, "rule"_a, "own"_a, "threads"_a,
            "The kernel values of the trees `left` and the trees of the index, row by row; `own`: `left` are the trees of the index.");
  index.def(
      "shares",
      [](const Index& self, const ForestIn& left, const Rule& rule, Matrix beta, int threads) {
        const std::span<const double> coefficients{beta.data(), beta.size()};
        auto shares = unlocked([&] { return tree_shares(self, read(left), rule, coefficients, beta.shape(1), threads); });
        return give_matrix(std::move(shares), std::get<0>(left).size(), beta.shape(1));
      },
      "left"_a, "rule"_a, "beta"_a, "threads"_a,
      "The contribution of each node of the trees `left` to the sum of beta times kernel values, a column per function.");
  m.def(
      "heavy_fragments",
      [](const ForestIn& forest, const Rule& rule, In<double> beta, std::size_t count, std::uint64_t most_visited,
         std::uint64_t most_stored) {
        const auto heavy = unlocked([&] { return heavy_fragments(read(forest), rule, view(beta), count, {most_visited, most_stored}); });
        std::vector<FragmentOut> found;
        for (const Fragment& one : heavy.found) found.emplace_back(one.weight, one.labels, one.depths, one.kinds);
        return std::tuple(found, heavy.complete);
      },
      "forest"_a, "rule"_a, "beta"_a, "count"_a, "most_visited"_a, "most_stored"_a,
      "The heaviest fragments: weight, and labels, depths and kinds of nodes in preorder (0: inner, 1: cut, 2: leaf); and whether the "
      "search came to its end.");
  m.def("tree_diagonal", native(&tree_diagonal<Rule>), "all"_a, "rule"_a, "threads"_a, "k(x, x) of each tree.");
}

template <class Kin>
nb::class_<TreeIndex<Kin>> bind_index(nb::module_& m, const char* name) {
  return nb::class_<TreeIndex<Kin>>(m, name, "Distinct subtrees of many trees.")
      .def(
          "__init__", [](TreeIndex<Kin>* self, const ForestIn& forest) { unlocked([&] { new (self) TreeIndex<Kin>(read(forest)); }); },
          "forest"_a)
      .def("__len__", &TreeIndex<Kin>::size);
}

}  // namespace

void bind_tree_kernels(nb::module_& m) {
  m.def(
      "read_brackets",
      [](const nb::typed<nb::list, nb::str>& texts, int threads) {
        std::vector<std::string_view> views;
        for (const nb::handle text : texts) views.push_back(utf8(text));
        auto trees = unlocked([&] { return read_brackets(views, threads); });
        std::optional<FaultOut> fault;
        if (trees.fault) fault = FaultOut(trees.fault->item, trees.fault->byte, trees.fault->message);
        return std::tuple(give(trees.labels), give(trees.parents), give(trees.offsets), trees.alphabet, fault);
      },
      "texts"_a, "threads"_a, "Labels, parents, offsets, the alphabet, and the first error: item, byte and message, or None.");
  m.def(
      "find_brackets", [](const nb::bytes& text) { return give(find_brackets({text.c_str(), text.size()})); }, "text"_a,
      "Where trees begin and end in UTF-8 text.");

  m.def(
      "to_preorder",
      [](In<std::int32_t> parents, In<std::int64_t> offsets) {
        auto found = unlocked([&] { return to_preorder(view(parents), view(offsets)); });
        std::optional<FaultOut> fault;
        if (found.fault) fault = FaultOut(found.fault->tree, found.fault->node, found.fault->message);
        return std::tuple(give(found.order), give(found.parents), fault);
      },
      "parents"_a, "offsets"_a,
      "The old place of each node and its new parent, both empty if nothing changes; and the first error: tree, node and message.");

  nb::class_<SubsetTrees>(m, "SubsetTrees")
      .def(
          "__init__", [](SubsetTrees* self, double decay, double sigma, bool leaves) { new (self) SubsetTrees{decay, sigma, leaves}; },
          "decay"_a, "sigma"_a, "leaves"_a);
  nb::class_<PartialTrees>(m, "PartialTrees")
      .def(
          "__init__", [](PartialTrees* self, double decay, double mu, bool gaps) { new (self) PartialTrees{decay, mu, gaps}; }, "decay"_a,
          "mu"_a, "gaps"_a);
  auto by_production = bind_index<ByProduction>(m, "ProductionIndex");
  auto by_label = bind_index<ByLabel>(m, "LabelIndex");
  bind_rule<SubsetTrees>(m, by_production);
  bind_rule<PartialTrees>(m, by_label);

  nb::class_<SubtreeFeatures>(m, "SubtreeFeatures", "Complete subtrees with their ids: fitted, then frozen.")
      .def_static(
          "fit",
          [](const ForestIn& forest, double decay, bool leaves, Counts counts) {
            return give_fit([&](RowsWithNorms& rows) { return SubtreeFeatures::fit(read(forest), decay, leaves, rows, counts); });
          },
          "forest"_a, "decay"_a, "leaves"_a, "counts"_a)
      .def_static("from_parts", native(&SubtreeFeatures::from_parts), "cells"_a, "starts"_a, "subtrees"_a, "decay"_a, "leaves"_a,
                  "counts"_a)
      .def("parts", native(&SubtreeFeatures::parts), "ids"_a, "The parts from which `from_parts` builds the features `ids`.")
      .def("transform", native(&SubtreeFeatures::transform), "forest"_a, "threads"_a)
      .def("at_nodes", native(&SubtreeFeatures::at_nodes), "forest"_a, "The feature of the complete subtree at each node, or -1.")
      .def("__len__", &SubtreeFeatures::size)
      .def("nodes", &SubtreeFeatures::nodes, "id"_a, "Labels in preorder, and how many children each node has.");
}

}  // namespace treille
