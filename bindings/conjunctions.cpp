// core/conjunctions for Python.

#include "conjunctions/cells.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "conjunctions/scorer.hpp"
#include "rows.hpp"

using namespace nb::literals;

namespace treille {
namespace {

// Cells with the rows they are found in.
struct CellsIn {
  RecodedItems items;
  ConjunctionCells cells;

  CellsIn(In<std::int64_t> indptr, In<std::int32_t> columns, In<std::uint32_t> item_of, std::size_t n_items, int degree,
          std::size_t min_support, int threads)
      : items(view(indptr), view(columns), view(item_of)), cells(items.view(n_items), degree, min_support, threads) {}
};

using PatternsOut = std::tuple<Out<std::uint8_t>, Out<std::uint32_t>, Out<std::uint32_t>>;

}  // namespace

void bind_conjunctions(nb::module_& m) {
  nb::class_<CellsIn>(m, "ConjunctionCells", "Frequent conjunctions of the columns of binary rows, those that occur in the same rows together.")
      .def(
          "__init__",
          [](CellsIn* self, In<std::int64_t> indptr, In<std::int32_t> columns, In<std::uint32_t> item_of, std::size_t n_items, int degree,
             std::size_t min_support, int threads) {
            unlocked([&] { new (self) CellsIn(indptr, columns, item_of, n_items, degree, min_support, threads); });
          },
          "indptr"_a, "columns"_a, "item_of"_a, "n_items"_a, "degree"_a, "min_support"_a, "threads"_a)
      .def_prop_ro("n_cells", [](const CellsIn& self) { return self.cells.n_cells(); })
      .def_prop_ro("n_shared", [](const CellsIn& self) { return self.cells.n_shared(); })
      .def_prop_ro("n_patterns", [](const CellsIn& self) { return self.cells.n_patterns(); })
      .def(
          "take_rows", [](CellsIn& self) { return give_entries(self.cells.take_rows()); },
          "indptr, entries, code_bits and codebook of the rows by cell; only once.")
      .def(
          "squares", [](const CellsIn& self, In<double> c) { return give(self.cells.squares(view(c))); }, "c"_a,
          "The squared value of each cell, for the squared values c of patterns of 1, 2, ... columns.")
      .def(
          "patterns",
          [](const CellsIn& self, In<std::uint32_t> marks) -> PatternsOut {
            if (marks.size() != self.cells.n_cells()) throw std::length_error("expected a number for each cell");
            auto listed = unlocked([&] { return self.cells.patterns(view(marks)); });
            return {give(std::move(listed.first.levels)), give(std::move(listed.first.items)), give(std::move(listed.second))};
          },
          "marks"_a, "Levels, items and marks of the patterns whose cells have a mark other than 0, in depth-first order.");

  m.def(
      "weight_lists",
      [](const CodedIn& rows, In<double> coefficients, std::size_t n_functions) {
        if (coefficients.size() != rows.size() * n_functions) throw std::length_error("expected coefficients for each row");
        const auto* words = std::get_if<In<std::uint32_t>>(&rows.entries);
        if (words == nullptr) throw std::length_error("expected rows with words of 4 bytes");
        const CodedRowsView<std::uint32_t> data{view(rows.indptr), view(*words),    rows.code_bits, view(rows.codebook),
                                                view(rows.scale),  rows.n_features, rows.n_shared};
        auto lists = unlocked([&] { return WeightLists(data, view(coefficients), n_functions); });
        return std::tuple(give(std::move(lists.words)), give(std::move(lists.at)));
      },
      "rows"_a, "coefficients"_a, "n_functions"_a, "For each cell the sum of the coefficients of its rows: words, and where each cell's begin.");

  nb::class_<ConjunctionScorer>(m, "ConjunctionScorer", "Linear functions of conjunctions.")
      .def(
          "__init__",
          [](ConjunctionScorer* self, In<std::uint8_t> levels, In<std::uint32_t> items, In<std::uint32_t> lists, In<std::uint32_t> words,
             std::size_t n_items, std::size_t n_functions, In<double> c) {
            unlocked([&] {
              new (self) ConjunctionScorer(view(levels), view(items), view(lists), view(words), n_items, n_functions, view(c));
            });
          },
          "levels"_a, "items"_a, "lists"_a, "words"_a, "n_items"_a, "n_functions"_a, "c"_a, nb::keep_alive<1, 5>())
      .def_prop_ro("n_bytes", &ConjunctionScorer::n_bytes)
      .def(
          "scores",
          [](const ConjunctionScorer& self, In<std::int64_t> indptr, In<std::int32_t> columns, In<std::uint32_t> item_of, int threads) {
            const std::size_t n = indptr.size() - 1, K = self.n_functions();
            Buffer<float> out = Buffer<float>::zeros(n * K);
            unlocked([&] {
              const RecodedItems items(view(indptr), view(columns), view(item_of));
              const ItemRows rows = items.view(self.n_items());
              const auto cuts = balanced_cuts(rows.indptr, threads);
              run_parts(threads, [&](int p) {
                ConjunctionScorer::Scratch scratch;
                for (std::size_t i = cuts[static_cast<std::size_t>(p)]; i < cuts[static_cast<std::size_t>(p) + 1]; ++i) {
                  poll();
                  self.add(rows.row(i), scratch, out.data() + i * K);
                }
              });
            });
            return give(std::move(out));
          },
          "indptr"_a, "columns"_a, "item_of"_a, "threads"_a, "The value of each function for each row.")
      .def(
          "patterns",
          [](const ConjunctionScorer& self, In<std::uint32_t> items, std::size_t k) {
            std::vector<std::pair<std::vector<std::uint32_t>, double>> found;
            self.each_pattern(view(items), k, [&](const std::vector<Item>& path, double value) {
              if (value != 0) found.emplace_back(path, value);
            });
            return found;
          },
          "items"_a, "k"_a, "The conjunctions of items, which rise, with their part of the value of function k.");
}

}  // namespace treille
