#pragma once
// What bindings of solvers share: Python's poll for their threads, and the names of outcomes.

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <utility>

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

}  // namespace treille
