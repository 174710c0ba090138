// The subpath kernel of core/trees for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "contributions.hpp"
#include "forest.hpp"
#include "native.hpp"
#include "trees/subpath_features.hpp"
#include "trees/subpath_product.hpp"
#include "trees/upward_order.hpp"

using namespace nb::literals;

namespace treille {

using Ints = In<std::int32_t>;

void bind_subpath(nb::module_& m) {
  m.def(
      "root_paths",
      [](const ForestIn& forest) {
        auto paths = unlocked([&] { return root_paths(read(forest)); });
        return std::tuple(give(std::move(paths.of_node)), give(paths.label), give(paths.parent), give(paths.length));
      },
      "forest"_a, "The path of each node; of each path the last label, the path above, and the length.");
  m.def(
      "upward_order",
      [](const ForestIn& forest) {
        auto sorted = unlocked([&] { return upward_strings<std::int32_t>(read(forest)); });
        return std::tuple(give(std::move(sorted.owner)), give(std::move(sorted.lcp)), give(std::move(sorted.length)));
      },
      "forest"_a, "Nodes by upward string: the tree of each, how many labels it shares with the one before, and how many it has.");
  m.def("shared_paths", native(&shared_paths), "forest"_a, "cumulative"_a, "n_left"_a,
        "Products with the kernel matrix of weighted path counts.");
  m.def(
      "subpath_self",
      [](const ForestIn& forest, In<double> cumulative, Counts counts, int threads) {
        return give(unlocked([&] { return subpath_self(read(forest), view(cumulative), threads, counts); }));
      },
      "forest"_a, "cumulative"_a, "counts"_a, "threads"_a, "k(x, x) of every tree.");

  nb::class_<SubpathProduct>(m, "SubpathProduct", "Products with the kernel matrix of weighted path counts, in little memory.")
      .def_static(
          "of",
          [](const ForestIn& forest, In<double> cumulative) {
            return unlocked([&] { return SubpathProduct(read(forest), view(cumulative)); });
          },
          "forest"_a, "cumulative"_a)
      .def(
          "product",
          [](const SubpathProduct& self, Matrix beta, int threads) {
            Buffer<double> out(beta.size());
            unlocked([&] { self.product({beta.data(), beta.size()}, beta.shape(1), threads, out.data()); });
            return give_matrix(std::move(out), beta.shape(0), beta.shape(1));
          },
          "beta"_a, "threads"_a)
      .def_prop_ro("nbytes", &SubpathProduct::n_bytes);

  nb::class_<SubpathFeatures>(m, "SubpathFeatures", "Edges of the suffix tree of upward strings.")
      .def_static(
          "fit",
          [](const ForestIn& forest, std::int32_t n_labels, In<double> cumulative, Counts counts) {
            return unlocked([&] { return SubpathFeatures::fit(read(forest), n_labels, view(cumulative), counts); });
          },
          "forest"_a, "n_labels"_a, "cumulative"_a, "counts"_a)
      .def_static(
          "from_parts",
          [](const std::tuple<Ints, Ints, Ints, Ints, Ints, Ints>& parts, std::int32_t n_labels, In<double> cumulative, Counts counts) {
            return std::apply(
                [&](const auto&... part) {
                  return SubpathFeatures({Array<std::int32_t>(part.data(), part.data() + part.size())...}, n_labels, view(cumulative),
                                         counts);
                },
                parts);
          },
          "parts"_a, "n_labels"_a, "cumulative"_a, "counts"_a)
      .def("parts",
           [](const SubpathFeatures& self) {
             const auto& p = self.parts();
             return std::tuple(give(p.path_label), give(p.path_parent), give(p.node_parent), give(p.node_depth), give(p.edge_start),
                               give(p.feature));
           })
      .def(
          "transform",
          [](const SubpathFeatures& self, const ForestIn& forest, int threads) {
            auto rows = unlocked([&] { return self.transform(read(forest), threads); });
            return std::tuple(give(std::move(rows.indptr)), give(std::move(rows.features)), give(std::move(rows.values)));
          },
          "forest"_a, "threads"_a)
      .def(
          "contributions",
          [](const SubpathFeatures& self, const ForestIn& forest, Matrix weights) {
            const Forest trees = read(forest);
            return contributions(trees.n_nodes(), weights, [&](auto values, std::size_t n_functions, double* out) {
              self.contributions(trees, values, n_functions, out);
            });
          },
          "forest"_a, "weights"_a, "The contribution of each node to functions of the rows.")
      .def("restrict", native(&SubpathFeatures::restrict), "ids"_a)
      .def("path", &SubpathFeatures::path, "id"_a, "Labels of its longest path, read upwards, and the length of its shortest.")
      .def("__len__", &SubpathFeatures::size)
      .def_prop_ro("most_entries", &SubpathFeatures::most_entries);
}

}  // namespace treille
