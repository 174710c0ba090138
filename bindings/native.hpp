#pragma once
// Functions of the core as Python calls them: arguments and results converted by their types, the GIL released.

#include <nanobind/nanobind.h>

#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "arrays.hpp"

namespace treille {

// Converts arguments to a type of the core: the type that Python passes, `Given`, and read(given).
template <class T>
struct FromPython {};

template <class T>
struct FromPython<std::span<const T>> {
  using Given = In<T>;
  static std::span<const T> read(const Given& given) { return view(given); }
};

template <class A>
struct Parameter {
  using Given = A;
  static A read(A given) { return given; }
};
template <class A>
  requires requires { typename FromPython<std::remove_cvref_t<A>>::Given; }
struct Parameter<A> {
  using Given = const typename FromPython<std::remove_cvref_t<A>>::Given&;
  static auto read(Given given) { return FromPython<std::remove_cvref_t<A>>::read(given); }
};

// A result of the core as Python gets it: arrays by `give`, pairs and tuples as tuples, anything else as it is.
template <class R>
auto returned(R&& value) {
  if constexpr (requires { give(std::move(value)); })
    return give(std::move(value));
  else if constexpr (requires { std::tuple_size<R>::value; })
    return std::apply([](auto&... each) { return std::tuple(returned(std::move(each))...); }, value);
  else
    return std::move(value);
}

template <class R, class... A>
auto native(R (*function)(A...)) {
  return [function](typename Parameter<A>::Given... given) {
    return returned(unlocked([&] { return function(Parameter<A>::read(given)...); }));
  };
}
template <class T, class R, class... A>
auto native(R (T::*method)(A...) const) {
  return [method](const T& self, typename Parameter<A>::Given... given) {
    return returned(unlocked([&] { return (self.*method)(Parameter<A>::read(given)...); }));
  };
}
template <class T, class R, class... A>
auto native(R (T::*method)(A...)) {
  return [method](T& self, typename Parameter<A>::Given... given) {
    return returned(unlocked([&] { return (self.*method)(Parameter<A>::read(given)...); }));
  };
}

}  // namespace treille
