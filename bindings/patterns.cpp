// core/text for Python: features of patterns, and the kernels' matrices that need no features.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "contributions.hpp"
#include "lattices.hpp"
#include "native.hpp"
#include "rows.hpp"
#include "text/pattern_features.hpp"
#include "text/pattern_gram.hpp"
#include "text/subsequence.hpp"
#include "text/subsequence_shares.hpp"

using namespace nb::literals;

namespace treille {
namespace {

// A batch as a matrix routine reads it: symbols, offsets, and the code of each symbol.
using BatchIn = std::tuple<In<std::int32_t>, In<std::int64_t>, In<std::int32_t>>;

}  // namespace

template <>
struct FromPython<Recoded> {
  using Given = BatchIn;
  static Recoded read(const Given& batch) { return {{view(std::get<0>(batch)), view(std::get<1>(batch))}, view(std::get<2>(batch))}; }
};
template <>
struct FromPython<std::optional<Recoded>> {
  using Given = std::optional<BatchIn>;
  static std::optional<Recoded> read(const Given& batch) { return batch ? std::optional(FromPython<Recoded>::read(*batch)) : std::nullopt; }
};

void bind_patterns(nb::module_& m) {
  nb::class_<GappyPatterns>(m, "GappyPatterns")
      .def(nb::init<int, std::int64_t, std::int64_t, double, double>(), "n"_a, "max_gap"_a, "max_total_gap"_a, "decay"_a, "contiguous"_a);
  nb::class_<WildcardPatterns>(m, "WildcardPatterns").def(nb::init<int, int, double>(), "k"_a, "m"_a, "decay"_a);
  nb::class_<PlacedPatterns>(m, "PlacedPatterns").def(nb::init<int>(), "d"_a);
  nb::class_<GappedKmerPatterns>(m, "GappedKmerPatterns")
      .def(nb::init<int, int, std::vector<std::int32_t>, bool>(), "length"_a, "k"_a, "complement"_a, "paired"_a);
  nb::class_<MismatchPatterns>(m, "MismatchPatterns").def(nb::init<int, int, std::int32_t>(), "k"_a, "m"_a, "alphabet_size"_a);

  nb::class_<PatternFeatures>(m, "PatternFeatures", "Patterns with their ids: fitted, then frozen.")
      .def_static(
          "fit",
          [](const PatternFamily& family, In<std::int32_t> symbols, In<std::int64_t> offsets, In<std::int32_t> recode,
             std::int32_t alphabet_size, Counts counts, int threads) {
            return give_fit([&](RowsWithNorms& rows) {
              return PatternFeatures::fit(family, {view(symbols), view(offsets)}, view(recode), alphabet_size, threads, rows, counts);
            });
          },
          "family"_a, "symbols"_a, "offsets"_a, "recode"_a, "alphabet_size"_a, "counts"_a, "threads"_a)
      .def_static(
          "fit_lattices",
          [](const PatternFamily& family, const LatticesIn& data, In<std::int32_t> recode, std::int32_t alphabet_size, Counts counts,
             int threads) {
            return give_fit([&](RowsWithNorms& rows) {
              return PatternFeatures::fit(family, data.view(), view(recode), alphabet_size, threads, rows, counts);
            });
          },
          "family"_a, "data"_a, "recode"_a, "alphabet_size"_a, "counts"_a, "threads"_a)
      .def_static("from_patterns", native(&PatternFeatures::from_patterns), "family"_a, "cells"_a, "lengths"_a, "alphabet_size"_a,
                  "counts"_a)
      .def(
          "transform",
          [](const PatternFeatures& self, In<std::int32_t> symbols, In<std::int64_t> offsets, In<std::int32_t> recode, int threads) {
            return give(unlocked([&] { return self.transform({view(symbols), view(offsets)}, view(recode), threads); }));
          },
          "symbols"_a, "offsets"_a, "recode"_a, "threads"_a)
      .def("transform_lattices",
           native(nb::overload_cast<const Lattices&, std::span<const std::int32_t>, int>(&PatternFeatures::transform, nb::const_)),
           "data"_a, "recode"_a, "threads"_a)
      .def("contributions", &contributions_of_symbols<PatternFeatures>, "symbols"_a, "offsets"_a, "recode"_a, "weights"_a, "threads"_a,
           "The contribution of each symbol to functions of the rows.")
      .def("contributions_of_arcs", &contributions_of_arcs<PatternFeatures>, "data"_a, "recode"_a, "weights"_a, "threads"_a,
           "The contribution of each arc to functions of the rows.")
      .def(
          "families",
          [](const PatternFeatures& self) -> std::optional<std::tuple<Out<std::uint32_t>, Out<std::uint32_t>, Out<std::uint32_t>>> {
            const auto families = self.families();
            if (!families) return std::nullopt;
            return std::tuple(give(families->sizes), give(families->family), give(families->member));
          },
          "Families of nearly equal columns as `compact` takes them; None where there are none.")
      .def("__len__", &PatternFeatures::size)
      .def_prop_ro("width", &PatternFeatures::width)
      .def_prop_ro("paired", &PatternFeatures::paired)
      .def("pattern", &PatternFeatures::pattern, "id"_a)
      .def("patterns", native(&PatternFeatures::patterns))
      .def("lengths", native(&PatternFeatures::lengths));

  m.def("gapped_kmer_gram", native(&gapped_kmer_gram), "family"_a, "base"_a, "left"_a, "right"_a.none(), "threads"_a);
  m.def("gapped_kmer_diagonal", native(&gapped_kmer_diagonal), "family"_a, "base"_a, "batch"_a, "threads"_a);
  m.def("mismatch_gram", native(&mismatch_gram), "length"_a, "weights"_a, "complement"_a, "left"_a, "right"_a.none(), "threads"_a);
  m.def("mismatch_diagonal", native(&mismatch_diagonal), "length"_a, "weights"_a, "complement"_a, "batch"_a, "threads"_a);
  m.def("weighted_degree_gram", native(&weighted_degree_gram), "d"_a, "shift"_a, "left"_a, "right"_a.none(), "threads"_a);
  m.def("weighted_degree_diagonal", native(&weighted_degree_diagonal), "d"_a, "shift"_a, "batch"_a, "threads"_a);

  m.def(
      "subsequence_gram",
      [](In<std::int32_t> symbols, In<std::int64_t> offsets, In<std::int32_t> right_symbols, In<std::int64_t> right_offsets, int n,
         double decay, int threads) {
        Buffer<double> out((offsets.size() - 1) * (right_offsets.size() - 1));
        unlocked([&] {
          subsequence_gram({view(symbols), view(offsets)}, {view(right_symbols), view(right_offsets)}, n, decay, threads, out.data());
        });
        return give(std::move(out));
      },
      "symbols"_a, "offsets"_a, "right_symbols"_a, "right_offsets"_a, "n"_a, "decay"_a, "threads"_a,
      "Subsequence kernel of two batches, row by row; equal numbers are equal symbols.");
  m.def(
      "subsequence_own_gram",
      [](In<std::int32_t> symbols, In<std::int64_t> offsets, int n, double decay, int threads) {
        Buffer<double> out((offsets.size() - 1) * (offsets.size() - 1));
        unlocked([&] { subsequence_gram({view(symbols), view(offsets)}, n, decay, threads, out.data()); });
        return give(std::move(out));
      },
      "symbols"_a, "offsets"_a, "n"_a, "decay"_a, "threads"_a, "Subsequence kernel of a batch with itself.");
  m.def(
      "subsequence_diagonal",
      [](In<std::int32_t> symbols, In<std::int64_t> offsets, int n, double decay, int threads) {
        Buffer<double> out(offsets.size() - 1);
        unlocked([&] { subsequence_diagonal({view(symbols), view(offsets)}, n, decay, threads, out.data()); });
        return give(std::move(out));
      },
      "symbols"_a, "offsets"_a, "n"_a, "decay"_a, "threads"_a, "k(x, x) of each.");
  m.def(
      "subsequence_shares",
      [](In<std::int32_t> symbols, In<std::int64_t> offsets, In<std::int32_t> right_symbols, In<std::int64_t> right_offsets, int n,
         double decay, Matrix beta, int threads) {
        const std::span<const double> coefficients{beta.data(), beta.size()};
        auto shares = unlocked([&] {
          return subsequence_shares({view(symbols), view(offsets)}, {view(right_symbols), view(right_offsets)}, n, decay, coefficients,
                                    beta.shape(1), threads);
        });
        return give_matrix(std::move(shares), symbols.size(), beta.shape(1));
      },
      "symbols"_a, "offsets"_a, "right_symbols"_a, "right_offsets"_a, "n"_a, "decay"_a, "beta"_a, "threads"_a,
      "The contribution of each symbol to the sum of beta times kernel values, a column per function.");
}

}  // namespace treille
