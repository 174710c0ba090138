// Patterns of core/graphs for Python: labels of nodes and edges, shortest paths, refined labels.

#include "graphs/graph_features.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "graphs.hpp"
#include "graphs/label_patterns.hpp"
#include "graphs/neighbourhoods.hpp"
#include "graphs/refinements.hpp"
#include "graphs/shortest_paths.hpp"
#include "native.hpp"
#include "rows.hpp"

using namespace nb::literals;

namespace treille {
namespace {

template <class P>
nb::class_<GraphFeatures<P>> bind_kind(nb::module_& m, const char* name) {
  using Features = GraphFeatures<P>;
  nb::class_<Features> features(m, name, "Patterns of graphs with their ids: fitted, then frozen.");
  features
      .def_static(
          "fit",
          [](const GraphsIn& graphs, const P& kind, Counts counts, int threads) {
            return give_fit([&](RowsWithNorms& rows) { return Features::fit(read(graphs), kind, counts, threads, rows); });
          },
          "graphs"_a, "kind"_a, "counts"_a, "threads"_a)
      .def_static("from_parts", native(&Features::from_parts), "cells"_a, "starts"_a, "features"_a, "n_labels"_a, "n_edge_labels"_a,
                  "kind"_a, "counts"_a)
      .def("parts", native(&Features::parts), "ids"_a, "The parts from which `from_parts` builds the features `ids`.")
      .def("transform", native(&Features::transform), "graphs"_a, "threads"_a)
      .def("merge", native(&Features::merge), "other"_a, "labels"_a, "edge_labels"_a,
           "The features of both, where the codes of labels of `other` become those given; and the ids of the features of `other`.")
      .def(
          "occurrences",
          [](const Features& self, const GraphsIn& graphs) {
            std::vector<std::int64_t> ids, examples{0};
            std::vector<std::int32_t> first, second;
            std::vector<double> times, factors;
            unlocked([&] {
              const Graphs all = read(graphs);
              examples.assign(all.size() + 1, 0);
              self.each(all, [&](std::size_t g, const PatternFound& found) {
                const std::uint32_t id = self.feature(found.pattern);
                if (id == KnownPatterns::kAbsent) return;
                ids.push_back(id);
                first.push_back(found.first);
                second.push_back(found.second);
                times.push_back(static_cast<double>(found.times));
                factors.push_back(found.factor);
                ++examples[g + 1];
              });
              for (std::size_t g = 0; g < all.size(); ++g) examples[g + 1] += examples[g];
            });
            return std::tuple(give(ids), give(first), give(second), give(times), give(factors), give(examples));
          },
          "graphs"_a, "Features, where they occur, how many times each counts, factors, and where the occurrences of each graph begin.")
      .def("__len__", &Features::size)
      .def("pattern_of", &Features::pattern_of, "id"_a)
      .def(
          "key",
          [](const Features& self, std::size_t pattern) {
            const auto key = self.key(pattern);
            return std::vector<std::int32_t>(key.begin(), key.end());
          },
          "pattern"_a);
  return features;
}

}  // namespace

void bind_graph_features(nb::module_& m) {
  nb::class_<NodeLabels>(m, "NodeLabels").def("__init__", [](NodeLabels* self) { new (self) NodeLabels{}; });
  nb::class_<EdgeLabels>(m, "EdgeLabels")
      .def("__init__", [](EdgeLabels* self, bool ends, bool directed) { new (self) EdgeLabels{ends, directed}; }, "ends"_a, "directed"_a);
  nb::class_<Refinements>(m, "Refinements")
      .def(
          "__init__", [](Refinements* self, std::int32_t rounds, bool edges) { new (self) Refinements{rounds, edges}; }, "rounds"_a,
          "edge_labelled"_a);
  nb::class_<ShortestPaths>(m, "ShortestPaths")
      .def(
          "__init__",
          [](ShortestPaths* self, double max_length, bool weighted, bool directed) {
            new (self) ShortestPaths{max_length, weighted, directed};
          },
          "max_length"_a, "weighted"_a, "directed"_a);
  bind_kind<NodeLabels>(m, "NodeLabelFeatures");
  bind_kind<EdgeLabels>(m, "EdgeLabelFeatures");
  bind_kind<ShortestPaths>(m, "ShortestPathFeatures");
  bind_kind<Refinements>(m, "RefinementFeatures")
      .def(
          "labels",
          [](const GraphFeatures<Refinements>& self, const GraphsIn& graphs, std::int32_t rounds) {
            const Graphs all = read(graphs);
            Buffer<std::int32_t> labels(static_cast<std::size_t>(rounds + 1) * all.labels.size());
            unlocked([&] {
              self.each(all, [&](std::size_t g, const PatternFound& found) {
                const auto node = static_cast<std::size_t>(all.offsets[g] + found.first);
                labels.data()[static_cast<std::size_t>(found.second) * all.labels.size() + node] = static_cast<std::int32_t>(found.pattern);
              });
            });
            return give(std::move(labels));
          },
          "graphs"_a, "rounds"_a, "The label of every node, round after round; those never seen are numbered after the known ones.")
      .def_prop_ro("n_patterns", &GraphFeatures<Refinements>::n_patterns);
  m.def(
      "neighbourhoods",
      [](const GraphsIn& graphs, In<std::int64_t> edges, In<std::int64_t> owners, In<std::int32_t> nodes, In<std::int32_t> rounds,
         std::size_t most) {
        const auto covered =
            unlocked([&] { return neighbourhoods(read(graphs), view(edges), view(owners), view(nodes), view(rounds), most); });
        return std::tuple(give(covered.offsets), give(covered.parts));
      },
      "graphs"_a, "edges"_a, "owners"_a, "nodes"_a, "rounds"_a, "most"_a,
      "Offsets and parts that refined labels cover; it ends after `most` parts.");
}

}  // namespace treille
