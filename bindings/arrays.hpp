#pragma once
// Arrays across the pane: numpy in, numpy out, never a copy of large data.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <span>
#include <vector>

#include "memory.hpp"

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

template <class T>
Out<T> give(const std::vector<T>& values) {
  Buffer<T> copy(values.size());
  std::copy(values.begin(), values.end(), copy.data());
  return give(std::move(copy));
}

}  // namespace treille
