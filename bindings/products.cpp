// core/features/product_features.hpp for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "features/product_features.hpp"
#include "native.hpp"
#include "rows.hpp"

using namespace nb::literals;

namespace treille {
namespace {

// indptr, ids and values of each factor
using FactorsIn = std::vector<std::tuple<In<std::int64_t>, In<std::uint32_t>, In<double>>>;

Factors read_factors(const FactorsIn& in, std::size_t degree) {
  Factors factors{{}, degree};
  for (const auto& [indptr, ids, values] : in) factors.rows.push_back({view(indptr), view(ids), view(values)});
  if (in.empty() || degree == 0) throw std::length_error("expected at least one factor");
  return factors;
}

}  // namespace

void bind_products(nb::module_& m) {
  nb::class_<ProductFeatures>(m, "ProductFeatures", "All products of features of the factors of a product or a power of kernels.")
      .def_static(
          "fit",
          [](const FactorsIn& factors, std::size_t degree, int threads) {
            CodedEntries rows;
            auto features = unlocked([&] { return ProductFeatures::fit(read_factors(factors, degree), threads, rows); });
            return std::tuple(std::move(features), give(std::move(rows)));
          },
          "factors"_a, "degree"_a, "threads"_a,
          "The products in examples, and their rows: indptr, entries, code_bits and codebook. A factor is given as CSR arrays with rising "
          "ids: two factors of degree 1, or one of any degree.")
      .def_static(
          "of", [](In<std::int64_t> tuples, std::size_t steps) { return unlocked([&] { return ProductFeatures(view(tuples), steps); }); },
          "tuples"_a, "steps"_a, "Feature j is the product of tuples[j * steps : (j + 1) * steps]; tuples that occur again are left out.")
      .def("__len__", &ProductFeatures::size)
      .def(
          "transform",
          [](const ProductFeatures& self, const FactorsIn& factors, std::size_t degree, int threads) {
            return give(unlocked([&] { return self.transform(read_factors(factors, degree), threads); }));
          },
          "factors"_a, "degree"_a, "threads"_a, "Rows of other examples: indptr, entries, code_bits and codebook.")
      .def(
          "tuple",
          [](const ProductFeatures& self, std::size_t id) {
            std::vector<std::int64_t> factors(self.steps());
            self.tuple(id, factors.data());
            return factors;
          },
          "id"_a, "The ids of the factors of a feature.")
      .def(
          "tuples_of",
          [](const ProductFeatures& self, In<std::int64_t> ids) {
            Buffer<std::int64_t> out(ids.size() * self.steps());
            unlocked([&] {
              for (std::size_t k = 0; k < ids.size(); ++k)
                self.tuple(static_cast<std::size_t>(ids.data()[k]), out.data() + k * self.steps());
            });
            return give(std::move(out));
          },
          "ids"_a, "The ids of the factors of these features, one after another.")
      .def("tuples", native(&ProductFeatures::tuples), "threads"_a, "The ids of the factors of all features, one after another.");
  m.def(
      "estimate_products",
      [](const FactorsIn& factors, std::size_t degree, int threads) {
        const auto sizes = unlocked([&] { return estimate_products(read_factors(factors, degree), threads); });
        return std::pair(sizes.products, sizes.values);
      },
      "factors"_a, "degree"_a, "threads"_a, "About how many different products, and different values of them, examples have.");
}

}  // namespace treille
