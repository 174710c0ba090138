#pragma once
// Matrices of kernel values computed pair by pair, by several threads. A matrix of a batch with itself is computed in its lower half
// and mirrored, so that it is exactly symmetric.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include "memory.hpp"
#include "parallel.hpp"

namespace treille {

// Copies the lower half of an n x n matrix to its upper half, a square at a time.
inline void mirror(double* K, std::size_t n, int threads) {
  constexpr std::size_t kSide = 64;
  std::atomic<std::size_t> next{0};
  run_shares(threads, [&](int) {
    for (std::size_t top = kSide * next++; top < n; top = kSide * next++)
      for (std::size_t left = 0; left <= top; left += kSide)
        for (std::size_t i = top; i < std::min(n, top + kSide); ++i)
          for (std::size_t j = left; j < std::min(i, left + kSide); ++j) K[j * n + i] = K[i * n + j];
  });
}

// K[i][j] = work(i, j), rows * columns values; `make()` gives each thread its own `work`. Symmetric: only j <= i are computed.
template <class Make>
Buffer<double> pairwise(std::size_t rows, std::size_t columns, bool symmetric, int threads, Make&& make) {
  Buffer<double> K(rows * columns);
  std::atomic<std::size_t> next{0};
  expect(rows);
  run_shares(threads, [&](int) {
    auto work = make();
    for (std::size_t i = next++; i < rows; i = next++) {
      for (std::size_t j = 0; j < (symmetric ? i + 1 : columns); ++j) {
        poll();
        K[i * columns + j] = work(i, j);
      }
      tick();
    }
  });
  if (symmetric) mirror(K.data(), rows, threads);
  return K;
}

// work(i) for n examples: only the diagonal.
template <class Make>
std::vector<double> on_diagonal(std::size_t n, int threads, Make&& make) {
  std::vector<double> values(n);
  std::atomic<std::size_t> next{0};
  expect(n);
  run_shares(threads, [&](int) {
    auto work = make();
    for (std::size_t i = next++; i < n; i = next++) {
      tick();
      values[i] = work(i);
    }
  });
  return values;
}

}  // namespace treille
