#pragma once
// Shared by bindings of solvers: Python's poll for their threads, kernel matrices, and the names of outcomes.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <utility>
#include <variant>

#include "arrays.hpp"
#include "solve/gram_rows.hpp"
#include "solve/watch.hpp"

namespace nb = nanobind;

namespace treille {

inline const char* name(Status status) {
  if (status == Status::converged) return "converged";
  if (status == Status::max_epochs) return "max_epochs";
  return status == Status::rounding ? "rounding" : "stopped";
}

// A function (problems done, epochs, relative gap) to call a few times a second, and the seconds for all problems together.
using WatchIn = std::pair<nb::object, double>;

// Python's poll for a solver's threads. Its exceptions (Ctrl-C, too) must wait until the threads have ended.
class PythonPoll {
 public:
  explicit PythonPoll(WatchIn watch) : poll_(std::move(watch.first)), seconds_(watch.second) {}

  Poll poll() {
    return {[this](std::int64_t done, std::int64_t epochs, double gap) { return call(done, epochs, gap); }, seconds_};
  }
  bool failed() const { return failed_; }
  void raise() const {
    if (failed_) std::rethrow_exception(raised_);
  }

 private:
  bool call(std::int64_t done, std::int64_t epochs, double gap) {
    nb::gil_scoped_acquire acquire;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      poll_(done, epochs, gap);
      return true;
    } catch (...) {
      raised_ = std::current_exception();
      failed_ = true;
      return false;
    }
  }

  nb::object poll_;
  double seconds_;
  std::exception_ptr raised_;
  std::atomic<bool> failed_{false};
};

// work(poll) with the GIL released. An exception of Python's poll comes first.
template <class Work>
void watched(WatchIn watch, Work&& work) {
  PythonPoll polled(std::move(watch));
  try {
    nb::gil_scoped_release release;
    const PageReuse reuse;
    work(polled);
  } catch (...) {
    if (!polled.failed()) throw;
  }
  polled.raise();
}

// A kernel matrix, or row(i) and the bytes of a cache for its rows.
using GramIn = std::variant<In<double>, std::pair<nb::object, std::size_t>>;

// use(rows) for the matrix of n examples.
template <class Use>
void with_gram(const GramIn& in, std::size_t n, const PythonPoll& polled, Use&& use) {
  if (const auto* matrix = std::get_if<In<double>>(&in)) {
    if (matrix->size() != n * n) throw std::length_error("the kernel matrix is not that of the examples");
    StoredGram rows(view(*matrix), n);
    return use(rows);
  }
  const auto& [row, cache_bytes] = std::get<1>(in);
  CachedGram rows(n, cache_bytes, [&](std::size_t i, double* out) {
    if (polled.failed()) throw std::runtime_error("stopped");  // so that Ctrl-C need not wait for more rows
    nb::gil_scoped_acquire acquire;
    const auto values = nb::cast<In<double>>(row(i));
    if (values.size() != n) throw std::length_error("a row of the kernel matrix has the wrong length");
    std::copy_n(values.data(), n, out);
  });
  use(rows);
}

}  // namespace treille
