// The suffix structures of core/text for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "text/substring_shares.hpp"
#include "text/substring_tree.hpp"
#include "text/suffix_array.hpp"

using namespace nb::literals;

namespace treille {
namespace {

template <class Index>
auto sorted_suffixes(In<std::int32_t> symbols, In<std::int64_t> offsets, std::int32_t alphabet_size, int threads) {
  auto sorted = unlocked([&] { return suffix_array<Index>({view(symbols), view(offsets)}, alphabet_size, threads); });
  return std::tuple(give(std::move(sorted.suffix)), give(std::move(sorted.sequence)), give(std::move(sorted.lcp)));
}

}  // namespace

void bind_suffix(nb::module_& m) {
  m.def("suffix_array", &sorted_suffixes<std::int32_t>, "symbols"_a, "offsets"_a, "alphabet_size"_a, "threads"_a,
        "By rank: where the suffix begins, its sequence, and how many symbols it shares with the one before.");
  m.def("suffix_array_wide", &sorted_suffixes<std::int64_t>, "symbols"_a, "offsets"_a, "alphabet_size"_a, "threads"_a,
        "The same with 64-bit indices.");
  m.def(
      "substring_self",
      [](In<std::int32_t> symbols, In<std::int64_t> offsets, std::int32_t alphabet_size, std::int64_t min_length, In<double> cumulative,
         int threads) {
        return give(unlocked(
            [&] { return substring_self({view(symbols), view(offsets)}, alphabet_size, {min_length, view(cumulative)}, threads); }));
      },
      "symbols"_a, "offsets"_a, "alphabet_size"_a, "min_length"_a, "cumulative"_a, "threads"_a, "k(x, x) of every sequence.");

  m.def(
      "substring_shares",
      [](In<std::int32_t> symbols, In<std::int64_t> offsets, In<std::int32_t> right_symbols, In<std::int64_t> right_offsets,
         std::int32_t alphabet_size, std::int64_t min_length, In<double> cumulative, Matrix beta, int threads) {
        auto shares = unlocked([&] {
          return substring_shares({view(symbols), view(offsets)}, {view(right_symbols), view(right_offsets)}, alphabet_size,
                                  {min_length, view(cumulative)}, {beta.data(), beta.size()}, beta.shape(1), threads);
        });
        return give_matrix(std::move(shares), symbols.size(), beta.shape(1));
      },
      "symbols"_a, "offsets"_a, "right_symbols"_a, "right_offsets"_a, "alphabet_size"_a, "min_length"_a, "cumulative"_a, "beta"_a,
      "threads"_a, "The contribution of each symbol to the sum of beta times kernel values, a column per function.");

  nb::class_<SubstringTree>(m, "SubstringTree", "Products with the kernel matrix of weighted substring counts.")
      .def_static(
          "build",
          [](In<std::int32_t> symbols, In<std::int64_t> offsets, std::int32_t alphabet_size, std::int64_t min_length, In<double> cumulative,
             std::size_t n_left, int threads) {
            return unlocked([&] {
              return SubstringTree::build({view(symbols), view(offsets)}, alphabet_size, {min_length, view(cumulative)}, n_left, threads);
            });
          },
          "symbols"_a, "offsets"_a, "alphabet_size"_a, "min_length"_a, "cumulative"_a, "n_left"_a, "threads"_a)
      .def(
          "product",
          [](const SubstringTree& self, Matrix beta, int threads) {
            Buffer<double> out(self.n_rows() * beta.shape(1));
            unlocked([&] { self.product({beta.data(), beta.size()}, beta.shape(1), threads, out.data()); });
            return give_matrix(std::move(out), self.n_rows(), beta.shape(1));
          },
          "beta"_a, "threads"_a, "K beta, a column per function.")
      .def(
          "gram",
          [](const SubstringTree& self, int threads) {
            Buffer<double> out(self.n_rows() * self.n_columns());
            unlocked([&] { self.gram(threads, out.data()); });
            return give_matrix(std::move(out), self.n_rows(), self.n_columns());
          },
          "threads"_a, "K itself.")
      .def_prop_ro("n_nodes", &SubstringTree::n_nodes)
      .def_prop_ro("n_entries", &SubstringTree::n_entries)
      .def_prop_ro("nbytes", &SubstringTree::n_bytes);
}

}  // namespace treille
