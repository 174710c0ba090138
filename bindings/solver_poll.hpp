#pragma once
// What bindings of solvers share: Python's poll for their threads, and the names of outcomes.

#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <utility>

#include "arrays.hpp"
#include "solve/monitor.hpp"

namespace nb = nanobind;

namespace treille {

inline const char* name(Status status) {
  if (status == Status::converged) return "converged";
  if (status == Status::max_epochs) return "max_epochs";
  return status == Status::rounding ? "rounding" : "stopped";
}

// Python's poll for a solver's threads. What it raises (Ctrl-C, too) must wait until they have ended.
class PythonPoll {
 public:
  explicit PythonPoll(nb::object poll) : poll_(std::move(poll)) {}

  bool operator()(std::int64_t done, std::int64_t epochs, double gap) {
    nb::gil_scoped_acquire acquire;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      return nb::cast<bool>(poll_(done, epochs, gap));
    } catch (...) {
      raised_ = std::current_exception();
      failed_ = true;
      return false;
    }
  }
  bool failed() const { return failed_; }
  void raise() const {
    if (failed_) std::rethrow_exception(raised_);
  }

 private:
  nb::object poll_;
  std::exception_ptr raised_;
  std::atomic<bool> failed_{false};
};

// Rows of a kernel matrix of n examples, asked for by row(i), for the threads of a solver: how a CachedGram fills them in.
inline auto python_rows(nb::object row, std::size_t n, const PythonPoll& polled) {
  return [row = std::move(row), n, &polled](std::size_t i, double* out) {
    if (polled.failed()) throw std::runtime_error("stopped");  // so that Ctrl-C need not wait for more rows
    nb::gil_scoped_acquire acquire;
    const auto values = nb::cast<In<double>>(row(i));
    if (values.size() != n) throw std::length_error("a row of the kernel matrix has the wrong length");
    std::copy_n(values.data(), n, out);
  };
}

}  // namespace treille
