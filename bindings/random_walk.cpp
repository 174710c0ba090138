// Walks in products of graphs for Python: core/graphs/random_walk.hpp and walk_features.hpp.

#include "graphs/random_walk.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "graphs.hpp"
#include "graphs/walk_features.hpp"
#include "native.hpp"
#include "rows.hpp"

using namespace nb::literals;

namespace treille {

void bind_random_walk(nb::module_& m) {
  nb::class_<WalkSeries> series(m, "WalkSeries");
  nb::enum_<WalkSeries::Kind>(series, "Kind")
      .value("exponential", WalkSeries::Kind::exponential)
      .value("geometric", WalkSeries::Kind::geometric)
      .value("counts", WalkSeries::Kind::counts);
  series.def(
      "__init__",
      [](WalkSeries* self, WalkSeries::Kind kind, double decay, std::int64_t first, std::int64_t last, bool directed, bool all_starts) {
        new (self) WalkSeries{kind, decay, first, last, directed, all_starts};
      },
      "kind"_a, "decay"_a, "first"_a, "last"_a, "directed"_a, "all_starts"_a);

  nb::class_<WalkIndex>(m, "WalkIndex", "Graphs prepared for products with others.")
      .def(
          "__init__", [](WalkIndex* self, const GraphsIn& graphs) { unlocked([&] { new (self) WalkIndex(read(graphs)); }); }, "graphs"_a)
      .def("__len__", [](const WalkIndex& self) { return self.graphs().size(); })
      .def("prepare", native(&WalkIndex::other), "left"_a, "Other graphs, for `gram`.")
      .def(
          "graphs", [](const WalkIndex& self) -> const WalkGraphs& { return self.graphs(); }, nb::rv_policy::reference_internal)
      .def(
          "cost",
          [](const WalkIndex& self, const WalkGraphs& left) {
            const WalkCost cost = unlocked([&] { return walk_cost(left, self.graphs()); });
            return std::pair(cost.cells, cost.arcs);
          },
          "left"_a, "Numbers in a vector of the largest product, at most, and products of arcs of all pairs.")
      .def(
          "gram",
          [](const WalkIndex& self, const WalkGraphs& left, const WalkSeries& series, In<double> left_radii, In<double> radii, bool own,
             int threads) {
            const std::size_t rows = left.size(), columns = self.graphs().size();
            return give_matrix(
                unlocked([&] { return walk_gram(left, self.graphs(), series, view(left_radii), view(radii), own, threads); }), rows,
                columns);
          },
          "left"_a, "series"_a, "left_radii"_a, "radii"_a, "own"_a, "threads"_a)
      .def(
          "diagonal",
          [](const WalkIndex& self, const WalkSeries& series, In<double> radii, int threads) {
            return give(unlocked([&] { return walk_diagonal(self.graphs(), series, view(radii), threads); }));
          },
          "series"_a, "radii"_a, "threads"_a)
      .def(
          "radii",
          [](const WalkIndex& self, double decay, bool directed, int threads) {
            return give(unlocked([&] { return walk_radii(self.graphs(), decay, directed, threads); }));
          },
          "decay"_a, "directed"_a, "threads"_a, "A bound on the spectral radius of the product of each graph with itself.");
  nb::class_<WalkGraphs>(m, "WalkGraphs").def("__len__", &WalkGraphs::size);

  m.def("plain_radii", native(&plain_radii), "graphs"_a, "decay"_a, "directed"_a, "threads"_a, "The same without labels.");
  m.def(
      "walk_moments",
      [](const GraphsIn& graphs, std::size_t n_terms, double scale, int threads) {
        const std::size_t n = std::get<1>(graphs).size() - 1;
        return give_matrix(unlocked([&] { return walk_moments(read(graphs), n_terms, scale, threads); }), n, n_terms);
      },
      "graphs"_a, "n_terms"_a, "scale"_a, "threads"_a, "Numbers of walks of 0, 1, 2, ... steps, divided by powers of the scale.");
  m.def(
      "moment_gram",
      [](Matrix left, Matrix right, In<double> coefficients, bool own, int threads) {
        const auto flat = [](const Matrix& matrix) { return std::span<const double>(matrix.data(), matrix.size()); };
        return give_matrix(unlocked([&] { return moment_gram(flat(left), flat(right), view(coefficients), own, threads); }), left.shape(0),
                           right.shape(0));
      },
      "left"_a, "right"_a, "coefficients"_a, "own"_a, "threads"_a);

  nb::class_<WalkFeatures>(m, "WalkFeatures", "Sequences of labels of walks with their ids: fitted, then frozen.")
      .def_static(
          "fit",
          [](const GraphsIn& graphs, int min_k, int k, Counts counts) {
            return give_fit([&](RowsWithNorms& rows) { return WalkFeatures::fit(read(graphs), min_k, k, counts, rows); });
          },
          "graphs"_a, "min_k"_a, "k"_a, "counts"_a)
      .def_static("from_parts", native(&WalkFeatures::from_parts), "steps"_a, "sequences"_a, "min_k"_a, "k"_a, "counts"_a)
      .def(
          "parts",
          [](const WalkFeatures& self, In<std::int64_t> ids) {
            const auto parts = unlocked([&] { return self.parts(view(ids)); });
            return std::tuple(give(parts.cells), give(parts.features));
          },
          "ids"_a, "The parts from which `from_parts` builds the features `ids`.")
      .def("transform", native(&WalkFeatures::transform), "graphs"_a, "threads"_a)
      .def(
          "contributions",
          [](const WalkFeatures& self, const GraphsIn& graphs, Matrix weights) {
            const Graphs read_graphs = read(graphs);
            const std::size_t n = read_graphs.labels.size(), n_arcs = read_graphs.targets.size(), n_functions = weights.shape(1);
            Buffer<double> nodes(n * n_functions), arcs(n_arcs * n_functions);
            unlocked([&] { self.contributions(read_graphs, {weights.data(), weights.size()}, n_functions, nodes.data(), arcs.data()); });
            return std::tuple(give_matrix(std::move(nodes), n, n_functions), give_matrix(std::move(arcs), n_arcs, n_functions));
          },
          "graphs"_a, "weights"_a, "The contributions of each node and each arc to functions of the rows.")
      .def("__len__", &WalkFeatures::size)
      .def("labels", &WalkFeatures::labels, "id"_a, "Labels of a sequence: node, edge, node, ...");
}

}  // namespace treille
