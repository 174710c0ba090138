// core/conjunctions for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "conjunction_rows.hpp"
#include "conjunctions/cells.hpp"
#include "conjunctions/conjunction_products.hpp"
#include "conjunctions/scorer.hpp"
#include "rows.hpp"

using namespace nb::literals;

namespace treille {
namespace {

// Cells with the rows in which they occur.
struct CellsIn {
  RecodedItems items;
  ConjunctionCells cells;

  CellsIn(In<std::int64_t> indptr, In<std::int32_t> columns, In<std::uint32_t> item_of, std::size_t n_items, int degree,
          std::size_t min_support, int threads)
      : items(view(indptr), view(columns), view(item_of)), cells(items.view(n_items), degree, min_support, threads) {}
};

// The items of rows as the core takes them.
ItemRows item_rows(const In<std::int64_t>& indptr, const In<std::uint32_t>& items, std::size_t n_items) {
  if (indptr.size() == 0 || static_cast<std::size_t>(indptr.data()[indptr.size() - 1]) != items.size())
    throw std::length_error("expected the items of each row");
  return {view(indptr), view(items), n_items};
}

using TreesOut = std::tuple<Out<std::uint8_t>, Out<std::uint32_t>, Out<std::uint8_t>>;

void bind_features(nb::module_& m) {
  m.def(
      "recode_items",
      [](In<std::int64_t> indptr, In<std::int32_t> columns, In<std::uint32_t> item_of) {
        const auto items = unlocked([&] { return RecodedItems(view(indptr), view(columns), view(item_of)); });
        const ItemRows rows = items.view(0);
        return std::pair(copied(rows.indptr), copied(rows.items));
      },
      "indptr"_a, "columns"_a, "item_of"_a, "indptr and items of rows: column j is item_of[j], or is left out where that is 2^32 - 1.");
  m.def(
      "estimate_conjunctions",
      [](In<std::int64_t> indptr, In<std::uint32_t> items, std::size_t n_items, int degree, std::size_t min_support, double budget) {
        const ItemRows rows = item_rows(indptr, items, n_items);
        const auto sizes = unlocked([&] { return estimate_conjunctions(rows, degree, min_support, budget); });
        return std::pair(sizes.patterns, sizes.occurrences);
      },
      "indptr"_a, "items"_a, "n_items"_a, "degree"_a, "min_support"_a, "budget"_a,
      "About how many conjunctions are frequent, and how often they occur, by about `budget` steps; exact if these suffice.");

  using Features = ConjunctionFeatures;
  nb::class_<Features>(m, "ConjunctionFeatures", "Conjunctions of items as explicit features.")
      .def_static(
          "mine",
          [](In<std::int64_t> indptr, In<std::uint32_t> items, std::size_t n_items, int degree, std::size_t min_support, std::size_t most,
             bool constant, int threads, std::size_t long_array) {
            const ItemRows rows = item_rows(indptr, items, n_items);
            return unlocked([&] { return Features::mine(rows, degree, min_support, most, constant, threads, long_array); });
          },
          "indptr"_a, "items"_a, "n_items"_a, "degree"_a, "min_support"_a, "most"_a, "constant"_a, "threads"_a, "long_array"_a,
          "The conjunctions of at most `degree` items that occur in at least `min_support` rows. Roots with more than `long_array` nodes "
          "below them are matched by a hash table, others by a scan.")
      .def_static(
          "of",
          [](In<std::uint8_t> levels, In<std::uint32_t> items, In<std::uint8_t> kept, std::size_t n_items, std::size_t degree,
             bool constant) {
            return unlocked([&] {
              if (!are_trees(view(levels), view(items), n_items, degree)) throw std::invalid_argument("the conjunctions are no trees");
              PatternTrees trees{{view(levels).begin(), view(levels).end()}, {view(items).begin(), view(items).end()}};
              return Features(std::move(trees), n_items, view(kept), constant);
            });
          },
          "levels"_a, "items"_a, "kept"_a, "n_items"_a, "degree"_a, "constant"_a,
          "The conjunctions of the nodes of trees in depth-first order that are `kept`; all if it is empty.")
      .def("__len__", &Features::size)
      .def_prop_ro_static(
          "long_array", [](nb::handle) { return Patterns::kLongArray; }, "Number of nodes from which a hash table is faster than a scan.")
      .def_prop_ro("n_items", [](const Features& self) { return self.patterns().n_items(); })
      .def_prop_ro("constant", &Features::constant)
      .def_prop_ro("n_bytes", [](const Features& self) { return self.patterns().n_bytes(); })
      .def(
          "rows",
          [](const Features& self, In<std::int64_t> indptr, In<std::uint32_t> items, In<double> values, int threads) {
            const ItemRows rows = item_rows(indptr, items, self.patterns().n_items());
            return give(unlocked([&] { return self.rows(rows, view(values), threads); }));
          },
          "indptr"_a, "items"_a, "values"_a, "threads"_a, "Rows: indptr, entries, code_bits and codebook. values[k]: of k items.")
      .def(
          "real_rows",
          [](const Features& self, In<std::int64_t> indptr, In<std::uint32_t> items, In<double> numbers, double coef0, In<double> values,
             int threads) {
            const ItemRows rows = item_rows(indptr, items, self.patterns().n_items());
            return give(unlocked([&] { return self.real_rows(rows, view(numbers), coef0, view(values), threads); }));
          },
          "indptr"_a, "items"_a, "numbers"_a, "coef0"_a, "values"_a, "threads"_a,
          "Rows of examples whose items have numbers other than 1: products with binary rows are those of the polynomial kernel.")
      .def(
          "level_counts",
          [](const Features& self, In<std::int64_t> indptr, In<std::uint32_t> items, std::size_t degree, int threads) {
            const ItemRows rows = item_rows(indptr, items, self.patterns().n_items());
            return give_matrix(unlocked([&] { return self.level_counts(rows, degree, threads); }), rows.size(), degree);
          },
          "indptr"_a, "items"_a, "degree"_a, "threads"_a, "How many conjunctions of 1, 2, ... items each row has.")
      .def("items_of", &Features::items_of, "id"_a, "The items of a feature; none for the constant.")
      .def(
          "items_of_all",
          [](const Features& self, In<std::int64_t> ids) {
            std::vector<Item> items;
            std::vector<std::int64_t> offsets{0};
            unlocked([&] {
              for (std::size_t k = 0; k < ids.size(); ++k) {
                poll();
                const auto own = self.items_of(static_cast<std::size_t>(ids.data()[k]));
                items.insert(items.end(), own.begin(), own.end());
                offsets.push_back(static_cast<std::int64_t>(items.size()));
              }
            });
            return std::pair(give(offsets), give(items));
          },
          "ids"_a, "The items of these features, one feature after another, preceded by the offset of each feature.")
      .def(
          "trees",
          [](const Features& self) -> TreesOut {
            return {copied(self.patterns().levels()), copied(self.patterns().items()), give(self.kept())};
          },
          "levels, items and kept as `of` takes them.")
      .def(
          "restricted",
          [](const Features& self, In<std::int64_t> ids) -> TreesOut {
            auto [trees, kept] = unlocked([&] { return self.restricted(view(ids)); });
            return {give(trees.levels), give(trees.items), give(kept)};
          },
          "ids"_a, "The same for these features only.");

  nb::class_<ConjunctionRowsIn>(m, "ConjunctionRows", "Rows of conjunctions that are matched whenever they are read.")
      .def(
          "__init__",
          [](ConjunctionRowsIn* self, const Features& features, In<std::int64_t> indptr, In<std::uint32_t> items, In<double> values,
             In<double> scale) {
            item_rows(indptr, items, 0);
            if (scale.size() + 1 != indptr.size()) throw std::length_error("expected a scale for each row");
            new (self) ConjunctionRowsIn{&features, indptr, items, values, scale, features.size()};
          },
          nb::keep_alive<1, 2>(), "features"_a, "indptr"_a, "items"_a, "values"_a, "scale"_a)
      .def(
          "matvec",
          [](const ConjunctionRowsIn& self, In<double> weights, std::size_t width, int threads) {
            if (weights.size() != width * self.n_features) throw std::length_error("expected a weight for each feature");
            Buffer<double> out(self.size() * width);
            unlocked([&] { self.rows().matvec(view(weights), width, out.data(), threads); });
            return give(std::move(out));
          },
          "weights"_a, "width"_a, "threads"_a)
      .def(
          "rmatvec",
          [](const ConjunctionRowsIn& self, In<double> coefficients, std::size_t width, InOut<double> out, int threads) {
            if (coefficients.size() != width * self.size() || out.size() != width * self.n_features)
              throw std::length_error("expected a coefficient for each row and a number for each feature");
            unlocked([&] { self.rows().rmatvec(view(coefficients), width, out.data(), threads); });
          },
          "coefficients"_a, "width"_a, "out"_a, "threads"_a);
}

void bind_products(nb::module_& m) {
  nb::class_<ConjunctionProducts>(m, "ConjunctionProducts", "Rows of conjunctions times weights, without the rows.")
      .def(
          "__init__",
          [](ConjunctionProducts* self, const ConjunctionFeatures& features, In<double> weights, std::size_t width, In<double> values) {
            if (weights.size() != width * features.size()) throw std::length_error("expected a weight for each feature");
            unlocked([&] { new (self) ConjunctionProducts(features, view(weights), width, view(values)); });
          },
          nb::keep_alive<1, 3>(), "features"_a, "weights"_a, "width"_a, "values"_a)
      .def_prop_ro("n_bytes", &ConjunctionProducts::n_bytes)
      .def(
          "matvec",
          [](const ConjunctionProducts& self, In<std::int64_t> indptr, In<std::uint32_t> items, int threads) {
            const ItemRows rows = item_rows(indptr, items, self.n_items());
            return give_matrix(unlocked([&] { return self.matvec(rows, threads); }), rows.size(), self.width());
          },
          "indptr"_a, "items"_a, "threads"_a, "The products of binary rows, given as items, with each column of the weights.");
}

using PatternsOut = std::tuple<Out<std::uint8_t>, Out<std::uint32_t>, Out<std::uint32_t>>;

}  // namespace

void bind_conjunctions(nb::module_& m) {
  bind_features(m);
  bind_products(m);
  nb::class_<CellsIn>(m, "ConjunctionCells",
                      "Frequent conjunctions of the columns of binary rows, those that occur in the same rows together.")
      .def(
          "__init__",
          [](CellsIn* self, In<std::int64_t> indptr, In<std::int32_t> columns, In<std::uint32_t> item_of, std::size_t n_items, int degree,
             std::size_t min_support,
             int threads) { unlocked([&] { new (self) CellsIn(indptr, columns, item_of, n_items, degree, min_support, threads); }); },
          "indptr"_a, "columns"_a, "item_of"_a, "n_items"_a, "degree"_a, "min_support"_a, "threads"_a)
      .def_prop_ro("n_cells", [](const CellsIn& self) { return self.cells.n_cells(); })
      .def_prop_ro("n_shared", [](const CellsIn& self) { return self.cells.n_shared(); })
      .def_prop_ro("n_patterns", [](const CellsIn& self) { return self.cells.n_patterns(); })
      .def(
          "take_rows", [](CellsIn& self) { return give(self.cells.take_rows()); },
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
      "rows"_a, "coefficients"_a, "n_functions"_a,
      "For each cell the sum of the coefficients of its rows: words, and where each cell's begin.");

  nb::class_<ConjunctionScorer>(m, "ConjunctionScorer", "Linear functions of conjunctions.")
      .def(
          "__init__",
          [](ConjunctionScorer* self, In<std::uint8_t> levels, In<std::uint32_t> items, In<std::uint32_t> lists, In<std::uint32_t> words,
             std::size_t n_items, std::size_t n_functions, In<double> c, std::uint32_t first_late) {
            unlocked([&] {
              new (self) ConjunctionScorer(view(levels), view(items), view(lists), view(words), n_items, n_functions, view(c), first_late);
            });
          },
          "levels"_a, "items"_a, "lists"_a, "words"_a, "n_items"_a, "n_functions"_a, "c"_a, "first_late"_a, nb::keep_alive<1, 5>())
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
              run_shares(threads, [&](int p) {
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
