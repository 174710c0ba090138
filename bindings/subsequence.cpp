// core/text/subsequence for Python.

#include "text/subsequence.hpp"

#include <nanobind/nanobind.h>

#include "arrays.hpp"

using namespace nb::literals;

namespace treille {

void bind_subsequence(nb::module_& m) {
  m.def(
      "subsequence_gram",
      [](In<std::int32_t> symbols, In<std::int64_t> offsets, In<std::int32_t> right_symbols, In<std::int64_t> right_offsets, int n,
         double decay, int threads) {
        Buffer<double> out((offsets.size() - 1) * (right_offsets.size() - 1));
        {
          nb::gil_scoped_release release;
          subsequence_gram({view(symbols), view(offsets)}, {view(right_symbols), view(right_offsets)}, n, decay, threads, out.data());
        }
        return give(std::move(out));
      },
      "symbols"_a, "offsets"_a, "right_symbols"_a, "right_offsets"_a, "n"_a, "decay"_a, "threads"_a,
      "Subsequence kernel of two batches, row by row; equal numbers are equal symbols.");
  m.def(
      "subsequence_own_gram",
      [](In<std::int32_t> symbols, In<std::int64_t> offsets, int n, double decay, int threads) {
        Buffer<double> out((offsets.size() - 1) * (offsets.size() - 1));
        {
          nb::gil_scoped_release release;
          subsequence_gram({view(symbols), view(offsets)}, n, decay, threads, out.data());
        }
        return give(std::move(out));
      },
      "symbols"_a, "offsets"_a, "n"_a, "decay"_a, "threads"_a, "Subsequence kernel of a batch with itself.");
  m.def(
      "subsequence_diagonal",
      [](In<std::int32_t> symbols, In<std::int64_t> offsets, int n, double decay, int threads) {
        Buffer<double> out(offsets.size() - 1);
        {
          nb::gil_scoped_release release;
          subsequence_diagonal({view(symbols), view(offsets)}, n, decay, threads, out.data());
        }
        return give(std::move(out));
      },
      "symbols"_a, "offsets"_a, "n"_a, "decay"_a, "threads"_a, "k(x, x) of each.");
}

}  // namespace treille
