#pragma once
// The contributions of the parts of examples to functions of their features.

#include "arrays.hpp"
#include "lattices.hpp"
#include "unlocked.hpp"

namespace treille {

// `share(weights, n_functions, out)` adds to one row for each of n parts.
template <class Share>
Out<double> contributions(std::size_t n, const Matrix& weights, Share&& share) {
  const std::size_t n_functions = weights.shape(1);
  auto out = Buffer<double>::zeros(n * n_functions);
  unlocked([&] { share(std::span<const double>(weights.data(), weights.size()), n_functions, out.data()); });
  return give_matrix(std::move(out), n, n_functions);
}

template <class Features>
Out<double> contributions_of_symbols(const Features& self, In<std::int32_t> symbols, In<std::int64_t> offsets, In<std::int32_t> recode,
                                     Matrix weights, int threads) {
  return contributions(symbols.size(), weights, [&](auto values, std::size_t n_functions, double* out) {
    self.contributions({view(symbols), view(offsets)}, view(recode), values, n_functions, threads, out);
  });
}

template <class Features>
Out<double> contributions_of_arcs(const Features& self, const LatticesIn& data, In<std::int32_t> recode, Matrix weights, int threads) {
  const Lattices lattices = data.view();
  return contributions(lattices.symbols.size(), weights, [&](auto values, std::size_t n_functions, double* out) {
    self.contributions(lattices, view(recode), values, n_functions, threads, out);
  });
}

}  // namespace treille
