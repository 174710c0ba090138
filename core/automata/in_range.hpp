#pragma once
// Results that doubles can hold, even if intermediate numbers are out of their range. Operations over the reals run on doubles, at their
// speed; where a number has left their range meanwhile, which the processor's flags of overflow and underflow tell at no cost, the
// operation runs again on scaled numbers (scaled.hpp), and the weights of its result become doubles again.

#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "automata/machine.hpp"
#include "automata/semiring.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace treille {

// The flags of overflow and underflow. On x86-64 doubles have a separate register of flags, which takes a twentieth of the time that
// the C library's functions take.
#if defined(__x86_64__)
constexpr unsigned kRangeFlags = _MM_EXCEPT_OVERFLOW | _MM_EXCEPT_UNDERFLOW;
inline bool left_the_range() { return (_mm_getcsr() & kRangeFlags) != 0; }
inline void clear_range_flags() {
  if (left_the_range()) _mm_setcsr(_mm_getcsr() & ~kRangeFlags);
}
#else
constexpr int kRangeFlags = FE_OVERFLOW | FE_UNDERFLOW;
inline bool left_the_range() { return std::fetestexcept(kRangeFlags) != 0; }
inline void clear_range_flags() { std::feclearexcept(kRangeFlags); }
#endif

// Separate from the reader of the flags, so that no arithmetic is moved past it.
template <class Run>
[[gnu::noinline]] void run_apart(Run& run) {
  run();
}

// Calls run(); returns whether no number overflowed, or lost digits by underflow. If one did, an error of run is dropped: it may
// be due to wrong numbers.
template <class Run>
bool in_range(Run&& run) {
  clear_range_flags();
  try {
    run_apart(run);
  } catch (const std::invalid_argument&) {
    if (!left_the_range()) throw;
  }
  return !left_the_range();
}

inline BasicMachine<Scaled> scaled(const Machine& machine) {
  return converted<Scaled>(machine, [](double weight) { return Scaled(weight); });
}

// The double nearest to a number; std::invalid_argument where it is too large.
inline double representable(const Scaled& number, const std::string& what) {
  const double value = number.value();
  if (!std::isfinite(value))
    throw std::invalid_argument(what + " is about 10^" + std::to_string(std::llround(log(abs(number)) / std::log(10.0))) +
                                ", too large for a number: scale the weights down, or use costs, astype('log')");
  return value;
}

// The machine with weights that are doubles. Where a weight is out of range, factors 2^p are moved along the arcs, which keeps the weight
// of every path: arc s -> t of weight w gets w 2^(p(t) - p(s)), p(start) = 0, and a final weight f gets f 2^-p(s). Such p are solutions of
// difference constraints (Bellman and Ford). Paths too light for a normal double may lose their weight; std::invalid_argument where others
// would. `operation` names what was done, for the message. O(states + arcs) for each of a few rounds, mostly.
Machine balanced(const BasicMachine<Scaled>& machine, const char* operation);

// The same without these factors.
Machine rounded(const BasicMachine<Scaled>& machine, const char* operation);

// run(S, machines...), a machine over S: over the reals with doubles where they suffice, else with scaled numbers; finish makes a machine
// of doubles of the result.
template <class S, class Run, class... Machines>
Machine over_any_range(const char* operation, Machine (*finish)(const BasicMachine<Scaled>&, const char*), Run&& run,
                       const Machines&... machines) {
  if constexpr (std::is_same_v<S, Real>) {
    Machine plain;
    if (!in_range([&] { plain = run(Real{}, machines...); })) return finish(run(ScaledReal{}, scaled(machines)...), operation);
    return plain;
  } else {
    return run(S{}, machines...);
  }
}

}  // namespace treille
