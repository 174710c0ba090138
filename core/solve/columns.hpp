#pragma once
// A sparse matrix by columns, each divided by its norm: U_k = X_k / |X_k|. 12 bytes per entry.

#include <cmath>
#include <cstdint>
#include <span>

#include "interrupt.hpp"
#include "memory.hpp"

namespace treille {

struct Columns {
  std::size_t n_rows = 0;
  Array<std::int64_t> begin;  // column k has the entries begin[k] .. begin[k + 1] - 1; none where it is zero
  Array<std::uint32_t> rows;
  Array<double> values;
  Array<double> norms;  // |X_k|

  std::size_t size() const { return norms.size(); }
  std::size_t n_entries() const { return rows.size(); }
  std::size_t length(std::size_t k) const { return static_cast<std::size_t>(begin[k + 1] - begin[k]); }

  // Calls visit(row, value) for each entry of column k.
  template <class Visit>
  void each(std::size_t k, Visit&& visit) const {
    const std::uint32_t* row = rows.data() + begin[k];
    const double* value = values.data() + begin[k];
    for (std::size_t e = 0, stop = length(k); e < stop; ++e) visit(row[e], value[e]);
  }

  double dot(std::size_t k, const double* x) const {
    const std::uint32_t* row = rows.data() + begin[k];
    const double* value = values.data() + begin[k];
    double s[4] = {0, 0, 0, 0};
    std::size_t e = 0;
    const std::size_t stop = length(k);
    for (; e + 4 <= stop; e += 4)
      for (std::size_t j = 0; j < 4; ++j) s[j] += value[e + j] * x[row[e + j]];
    for (; e < stop; ++e) s[0] += value[e] * x[row[e]];
    return (s[0] + s[1]) + (s[2] + s[3]);
  }

  void axpy(std::size_t k, double a, double* x) const {
    each(k, [&](std::uint32_t row, double value) { x[row] += a * value; });
  }

  // From rows in CSR. Stored zeros are left out, and so are columns whose norm is not a positive number.
  static Columns of_csr(std::span<const std::int64_t> indptr, std::span<const std::int32_t> ids, std::span<const double> data,
                        std::size_t n_columns) {
    Columns out;
    out.n_rows = indptr.size() - 1;
    out.begin.assign(n_columns + 1, 0);
    out.norms.assign(n_columns, 0.0);
    auto visit = [&](auto&& use) {
      for (std::size_t i = 0; i < out.n_rows; ++i) {
        poll();
        for (auto e = static_cast<std::size_t>(indptr[i]); e < static_cast<std::size_t>(indptr[i + 1]); ++e)
          if (data[e] != 0) use(i, static_cast<std::size_t>(ids[e]), data[e]);
      }
    };
    visit([&](std::size_t, std::size_t k, double value) {
      out.norms[k] += value * value;
      ++out.begin[k];
    });
    std::int64_t total = 0;
    for (std::size_t k = 0; k < n_columns; ++k) {
      out.norms[k] = std::sqrt(out.norms[k]);
      const std::int64_t count = out.norms[k] > 0 ? out.begin[k] : 0;
      out.begin[k] = total;
      total += count;
    }
    out.begin[n_columns] = total;
    out.rows.resize(static_cast<std::size_t>(total));
    out.values.resize(static_cast<std::size_t>(total));
    visit([&](std::size_t i, std::size_t k, double value) {
      if (!(out.norms[k] > 0)) return;
      const auto e = static_cast<std::size_t>(out.begin[k]++);
      out.rows[e] = static_cast<std::uint32_t>(i);
      out.values[e] = value / out.norms[k];
    });
    for (std::size_t k = n_columns; k > 0; --k) out.begin[k] = out.begin[k - 1];
    out.begin[0] = 0;
    return out;
  }
};

}  // namespace treille
