#pragma once
// Loops over several numbers at a time, in the compiler's own vector types: portable, and without intrinsics. A routine is a template
// over the number of lanes, inlined into one function for each kind of processor; the kind is detected at run time.

#include <cstddef>
#include <cstring>

#define TREILLE_INLINE inline __attribute__((always_inline))

#if defined(__x86_64__)
#define TREILLE_AVX512 __attribute__((target("avx512f,avx512dq,fma")))
#define TREILLE_AVX2 __attribute__((target("avx2,fma")))
#else  // functions for these processors are then compiled for any, and not called
#define TREILLE_AVX512
#define TREILLE_AVX2
#endif

namespace treille {

enum class Processor { any, avx2, avx512 };

inline Processor processor() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return Processor::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Processor::avx2;
#endif
  return Processor::any;
}

// W numbers side by side. (The size of a vector type may not depend on a template's parameter.)
template <int W>
struct LanesOf;
template <>
struct LanesOf<2> {
  using type = double __attribute__((vector_size(16)));
};
template <>
struct LanesOf<4> {
  using type = double __attribute__((vector_size(32)));
};
template <>
struct LanesOf<8> {
  using type = double __attribute__((vector_size(64)));
};

template <int W>
struct Simd {
  using Lanes = typename LanesOf<W>::type;
  using Mask = decltype(Lanes{} == Lanes{});

  static TREILLE_INLINE void load(const double* from, Lanes& to) { std::memcpy(&to, from, sizeof to); }
  static TREILLE_INLINE void store(const Lanes& from, double* to) { std::memcpy(to, &from, sizeof from); }
};

}  // namespace treille
