#pragma once
// The gram space: the interface of a kernel for SMO. K is n x n and symmetric; rows come one at a time.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "memory.hpp"

namespace treille {

// A row is a handle: handle.get() points at K[i, 0 .. n - 1], which stays as long as the handle does. Any thread may ask.
class GramRows {
 public:
  using Handle = std::shared_ptr<const double>;

  virtual ~GramRows() = default;
  virtual std::size_t size() const = 0;
  virtual Handle row(std::size_t i) = 0;
};

// A matrix that lies in memory, row by row.
class StoredGram final : public GramRows {
 public:
  StoredGram(std::span<const double> matrix, std::size_t n) : matrix_(matrix), n_(n) {}
  std::size_t size() const final { return n_; }
  Handle row(std::size_t i) final { return {Handle(), matrix_.data() + i * n_}; }

 private:
  std::span<const double> matrix_;
  std::size_t n_;
};

// Rows computed on demand by fill(i, out), the most recently used of them kept: at most `bytes`, but at least two rows for each thread at
// work, which an SMO step needs. In float64: rounding K to float would show in the seventh digit of objective and bias.
class CachedGram final : public GramRows {
 public:
  using Fill = std::function<void(std::size_t, double*)>;

  CachedGram(std::size_t n, std::size_t bytes, Fill fill)
      : n_(n), room_(bytes / (sizeof(double) * std::max<std::size_t>(n, 1))), fill_(std::move(fill)), rows_(n), place_(n) {}

  std::size_t size() const final { return n_; }

  Handle row(std::size_t i) final {
    {
      const std::lock_guard lock(mutex_);
      if (rows_[i]) {
        order_.splice(order_.begin(), order_, place_[i]);
        return rows_[i];
      }
      while (order_.size() >= std::max<std::size_t>(room_, 1)) {
        rows_[order_.back()].reset();
        order_.pop_back();
      }
    }
    auto buffer = std::make_shared<Buffer<double>>(n_);
    fill_(i, buffer->data());
    const Handle handle(buffer, buffer->data());
    const std::lock_guard lock(mutex_);
    if (!rows_[i]) {  // else another thread was first
      rows_[i] = handle;
      order_.push_front(i);
      place_[i] = order_.begin();
    }
    return handle;
  }

 private:
  std::size_t n_, room_;
  Fill fill_;
  std::mutex mutex_;
  std::vector<Handle> rows_;      // empty where not kept
  std::list<std::size_t> order_;  // of the rows kept, the most recently used first
  std::vector<std::list<std::size_t>::iterator> place_;
};

}  // namespace treille
