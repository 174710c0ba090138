#pragma once
// Arrays from Python to the core and back as numpy arrays; large data is not copied.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <span>
#include <vector>

#include "memory.hpp"
#include "unlocked.hpp"

namespace nb = nanobind;

namespace treille {

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;  // written to in place
template <class T>
using Out = nb::ndarray<nb::numpy, T>;

template <class T>
std::span<const T> view(const In<T>& array) {
  return {array.data(), array.size()};
}

template <class T>
Out<T> give(Buffer<T>&& buffer) {
  auto* owner = new Buffer<T>(std::move(buffer));
  return Out<T>(owner->data(), {owner->size()}, nb::capsule(owner, [](void* p) noexcept { delete static_cast<Buffer<T>*>(p); }));
}

// An array of the core's, to be handed to the core again.
template <class T>
In<T> keep(Buffer<T>&& buffer) {
  auto* owner = new Buffer<T>(std::move(buffer));
  return In<T>(owner->data(), {owner->size()}, nb::capsule(owner, [](void* p) noexcept { delete static_cast<Buffer<T>*>(p); }));
}

template <class T>
Out<T> copied(std::span<const T> values) {
  Buffer<T> copy(values.size());
  std::copy(values.begin(), values.end(), copy.data());
  return give(std::move(copy));
}

template <class T, class Allocator>
Out<T> give(const std::vector<T, Allocator>& values) {
  return copied(std::span<const T>(values));
}

// The same without a copy.
template <class T>
Out<T> give(Array<T>&& values) {
  auto* owner = new Array<T>(std::move(values));
  return Out<T>(owner->data(), {owner->size()}, nb::capsule(owner, [](void* p) noexcept { delete static_cast<Array<T>*>(p); }));
}

// Matrices are written row by row.
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline Out<double> give_matrix(Buffer<double>&& values, std::size_t n_rows, std::size_t n_columns) {
  auto* owner = new Buffer<double>(std::move(values));
  return Out<double>(owner->data(), {n_rows, n_columns},
                     nb::capsule(owner, [](void* p) noexcept { delete static_cast<Buffer<double>*>(p); }));
}

}  // namespace treille
