#pragma once
// Rows of conjunctions that are never stored: a row is matched against the patterns (patterns.hpp) whenever it is read.
//
// Memory: the patterns and the items of the rows, and one number per pattern for W'; rows by pattern take C(|x|, 2) entries and more.
// Time: a match for each row read; an axpy after the dot of the same row needs none. Sums have the order of CodedRows (features/rows.hpp)
// with rows of less than kLongRow entries, so that the iterates of a solver are the same.

#include <cstdint>
#include <span>
#include <vector>

#include "conjunctions/conjunction_features.hpp"
#include "conjunctions/items.hpp"
#include "memory.hpp"
#include "parallel.hpp"

namespace treille {

class ConjunctionRows {
  // The entries of the row read last: id << 8 | level.
  struct Entries {
    explicit Entries(std::size_t n_items = 0) : present(n_items) {}
    std::size_t i = ~std::size_t{0};
    std::vector<std::uint64_t> words;
    ItemSet present;
  };

 public:
  struct Weights {
    Array<double> values;
    mutable Entries row;
  };

  // Does not own its arguments. values[k] is the value of a conjunction of k items, times scale[i] in row i.
  ConjunctionRows(const ConjunctionFeatures& features, const ItemRows& rows, std::span<const double> values, std::span<const double> scale)
      : features_(features), rows_(rows), values_(values), scale_(scale) {}

  std::size_t size() const { return rows_.size(); }

  Weights zero() const { return {Array<double>(features_.size(), 0.0), Entries(rows_.n_items)}; }

  double sq_norm(std::size_t i) const {
    Entries row(rows_.n_items);
    double sum = 0;
    for (const std::uint64_t entry : read(i, row)) sum += value(entry) * value(entry);
    return scale_[i] * scale_[i] * sum;
  }

  double dot(std::size_t i, const Weights& w) const { return scale_[i] * dot(read(i, w.row), w.values.data(), 1); }

  void axpy(std::size_t i, double a, Weights& w) const {
    const auto step = a * scale_[i];
    const double* const values = values_.data();
    const auto row = read(i, w.row);
    scatter(
        row.data(), row.data() + row.size(), w.values.data(), [](std::uint64_t entry) { return entry >> 8; },
        [=](std::uint64_t entry) { return step * values[entry & 255]; });
  }

  void prefetch(std::size_t i) const { request(rows_.row(i).data()); }

  void write_weights(const Weights& w, double* out, std::size_t stride) const {
    for (std::size_t id = 0; id < w.values.size(); ++id) out[id * stride] = w.values[id];
  }

  // out[i * width + k] = row i times column k of `weights`, which has `width` columns and a row for each feature.
  void matvec(std::span<const double> weights, std::size_t width, double* out, int threads) const {
    const auto cuts = balanced_cuts(rows_.indptr, threads);
    run_shares(threads, [&](int p) {
      Entries row(rows_.n_items);
      for (std::size_t i = cuts[static_cast<std::size_t>(p)]; i < cuts[static_cast<std::size_t>(p) + 1]; ++i) {
        poll();
        const auto entries = read(i, row);
        for (std::size_t k = 0; k < width; ++k) out[i * width + k] = scale_[i] * dot(entries, weights.data() + k, width);
      }
    });
  }

  // out[id * width + k] = the sum over i of coefficients[i * width + k] phi_id(x_i). Threads take ranges of roots: each number is summed
  // by one of them, over rising rows.
  void rmatvec(std::span<const double> coefficients, std::size_t width, double* out, int threads) const {
    std::fill(out, out + features_.size() * width, 0.0);
    std::vector<std::int64_t> work(rows_.n_items + 1, 0);
    for (std::size_t i = 0; i < size(); ++i)
      for (std::size_t r = 0; r < rows_.row(i).size(); ++r) work[rows_.row(i)[r] + 1] += static_cast<std::int64_t>(rows_.row(i).size() - r);
    for (std::size_t z = 0; z < rows_.n_items; ++z) work[z + 1] += work[z];
    const auto cuts = balanced_cuts(work, threads);
    run_shares(threads, [&](int p) {
      ItemSet present(rows_.n_items);
      const std::size_t begin = cuts[static_cast<std::size_t>(p)], end = cuts[static_cast<std::size_t>(p) + 1];
      for (std::size_t i = 0; i < size(); ++i) {
        poll();
        const auto row = rows_.row(i);
        auto place = [&](std::size_t root) {
          return static_cast<std::size_t>(std::partition_point(row.begin(), row.end(), [&](Item z) { return z < root; }) - row.begin());
        };
        auto use = [&](std::size_t id, int level) {
          const double own = scale_[i] * values_[static_cast<std::size_t>(level)];
          for (std::size_t k = 0; k < width; ++k) out[id * width + k] += own * coefficients[i * width + k];
        };
        present.insert(row);
        if (p == 0 && features_.constant()) use(0, 0);
        features_.match(row, place(begin), p + 1 == threads ? row.size() : place(end), present, use);
        present.erase(row);
      }
    });
  }

 private:
  std::span<const std::uint64_t> read(std::size_t i, Entries& row) const {
    if (row.i != i) {
      row.words.clear();
      const auto items = rows_.row(i);
      row.present.insert(items);
      features_.match(items, row.present,
                      [&](std::size_t id, int level) { row.words.push_back(std::uint64_t{id} << 8 | static_cast<std::uint64_t>(level)); });
      row.present.erase(items);
      row.i = i;
    }
    return row.words;
  }

  double value(std::uint64_t entry) const { return values_[entry & 255]; }

  double dot(std::span<const std::uint64_t> row, const double* w, std::size_t stride) const {
    return gather(
        row.data(), row.data() + row.size(), w, [=](std::uint64_t entry) { return (entry >> 8) * stride; },
        [this](std::uint64_t entry) { return value(entry); });
  }

  const ConjunctionFeatures& features_;
  ItemRows rows_;
  std::span<const double> values_;
  std::span<const double> scale_;
};

}  // namespace treille
