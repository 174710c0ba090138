#pragma once
// Work in the core with the GIL released, which Ctrl-C stops (core/interrupt.hpp).

#include <nanobind/nanobind.h>

#include <csignal>
#include <exception>
#include <thread>
#include <utility>

#include "interrupt.hpp"
#include "memory.hpp"

namespace treille {

inline unsigned long main_thread = 0;  // Python's, set when the module is loaded

// While it lives, and if it was made in Python's main thread, Ctrl-C is noticed by poll(). Python's own handler is called as well, so
// that PyErr_CheckSignals finds the signal; if a handler of the user raises nothing, the work continues.
class InterruptScope {
 public:
  InterruptScope() {
#if !defined(_WIN32)
    if (PyThread_get_thread_ident() != main_thread || interrupt.confirm != nullptr) return;
    interrupt.owner = std::this_thread::get_id();
    interrupt.confirm = [] {
      nanobind::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() == 0) return false;
      raised() = std::make_exception_ptr(nanobind::python_error());
      return true;
    };
    struct sigaction ours = {};
    ours.sa_flags = SA_ONSTACK;
    ours.sa_handler = [](int signal) {
      interrupt.pending = true;
      if (chained()) before().sa_handler(signal);
    };
    sigaction(SIGINT, &ours, &before());  // two calls of the system in all: most work takes microseconds
    if (!chained()) sigaction(SIGINT, &before(), nullptr);
    installed_ = interruptible = true;
#endif
  }
  InterruptScope(const InterruptScope&) = delete;
  ~InterruptScope() {
#if !defined(_WIN32)
    if (!installed_) return;
    sigaction(SIGINT, &before(), nullptr);
    interrupt.confirm = nullptr;
    interrupt.pending = interrupt.confirmed = interruptible = false;
#endif
  }

  // The exception that Python raised, in place of `Interrupted`; needs the GIL.
  [[noreturn]] static void raise() {
    if (raised()) std::rethrow_exception(std::exchange(raised(), nullptr));
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nanobind::python_error();
  }

 private:
  static std::exception_ptr& raised() {
    static std::exception_ptr value;
    return value;
  }
#if !defined(_WIN32)
  static struct sigaction& before() {
    static struct sigaction value;
    return value;
  }
  // Returns whether the handler before ours is Python's; otherwise the signal is ignored, or ends the process.
  static bool chained() {
    return (before().sa_flags & SA_SIGINFO) == 0 && before().sa_handler != SIG_IGN && before().sa_handler != SIG_DFL;
  }
  bool installed_ = false;
#endif
};

// work() with the GIL released.
template <class Work>
auto unlocked(Work&& work) {
  InterruptScope scope;
  try {
    nanobind::gil_scoped_release release;
    const PageReuse reuse;
    return work();
  } catch (const Interrupted&) {
    InterruptScope::raise();
  }
}

}  // namespace treille
