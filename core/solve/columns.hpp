#pragma once
// A sparse matrix by columns, in blocks of columns that follow each other: U_g = X_g / |X_g|, |X_g|^2 the sum of squares of the block, so
// that U_g U_g' has trace 1. Mostly, each column is a block. 12 bytes per entry.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "interrupt.hpp"
#include "memory.hpp"
#include "tag_index.hpp"

namespace treille {

struct Columns {
  std::size_t n_rows = 0;
  Array<std::int64_t> begin;  // column k has the entries begin[k] .. begin[k + 1] - 1; none where it is zero
  Array<std::uint32_t> rows;
  Array<double> values;
  Array<std::int64_t> blocks;  // block g has the columns blocks[g] .. blocks[g + 1] - 1
  Array<double> norms;         // |X_g|

  std::size_t size() const { return norms.size(); }  // blocks
  std::size_t n_columns() const { return begin.size() - 1; }
  std::size_t first(std::size_t g) const { return static_cast<std::size_t>(blocks[g]); }
  std::size_t last(std::size_t g) const { return static_cast<std::size_t>(blocks[g + 1]); }
  std::size_t block_length(std::size_t g) const { return static_cast<std::size_t>(begin[last(g)] - begin[first(g)]); }  // entries
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

  // Keeps one of equal columns, if each column is a block: n-grams within each other, and n-grams of one example only, are frequent.
  // Returns for each column the column that represents it.
  Array<std::int64_t> merge_equal() {
    const std::size_t n = n_columns();
    Array<std::int64_t> kept(n);  // first of all, the first column that is equal
    Array<std::uint32_t> different;
    TagIndex index("columns");
    for (std::size_t k = 0; k < n; ++k) {
      std::uint64_t hash = length(k);
      each(k, [&](std::uint32_t row, double value) { hash = mix(mix(hash, row), std::bit_cast<std::uint64_t>(value)); });
      auto same = [&](std::uint32_t number) { return equal(different[number], k); };
      kept[k] = different[index.find_or_add(tag_of(mix(hash, 0)), same, [&] { different.push_back(static_cast<std::uint32_t>(k)); })];
    }
    std::int64_t columns = 0, entries = 0;
    for (std::size_t k = 0; k < n; ++k) {
      if (kept[k] != static_cast<std::int64_t>(k)) {
        kept[k] = kept[static_cast<std::size_t>(kept[k])];  // already renumbered, since it comes before
        continue;
      }
      const auto first = static_cast<std::size_t>(begin[k]), last = static_cast<std::size_t>(begin[k + 1]);
      std::copy(rows.begin() + first, rows.begin() + last, rows.begin() + entries);
      std::copy(values.begin() + first, values.begin() + last, values.begin() + entries);
      norms[static_cast<std::size_t>(columns)] = norms[k];
      begin[static_cast<std::size_t>(columns)] = entries;
      entries += static_cast<std::int64_t>(last - first);
      kept[k] = columns++;
    }
    begin.resize(static_cast<std::size_t>(columns) + 1);
    blocks.resize(begin.size());
    begin.back() = entries;
    norms.resize(static_cast<std::size_t>(columns));
    rows.resize(static_cast<std::size_t>(entries));
    values.resize(static_cast<std::size_t>(entries));
    return kept;
  }

  bool equal(std::size_t j, std::size_t k) const {
    return length(j) == length(k) && std::equal(rows.begin() + begin[j], rows.begin() + begin[j + 1], rows.begin() + begin[k]) &&
           std::equal(values.begin() + begin[j], values.begin() + begin[j + 1], values.begin() + begin[k]);
  }

  // Rows in CSR, whose column j is column `first` + j of the matrix.
  struct Term {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> ids;
    std::span<const double> data;
    std::size_t first;
  };

  // From terms that lie side by side: column k of the matrix becomes column position[k], or is left out where that is -1; with no
  // positions, all stay. `blocks` as above; empty: each column is one. Stored zeros are left out, and so are blocks whose norm is 0.
  static Columns of_csr(const std::vector<Term>& terms, std::size_t n_columns, std::span<const std::int32_t> position,
                        std::span<const std::int64_t> blocks) {
    Columns out;
    out.n_rows = terms.front().indptr.size() - 1;
    if (!blocks.empty()) n_columns = static_cast<std::size_t>(blocks.back());
    out.begin.assign(n_columns + 1, 0);
    out.blocks.resize(blocks.empty() ? n_columns + 1 : blocks.size());
    if (blocks.empty())
      std::iota(out.blocks.begin(), out.blocks.end(), std::int64_t{0});
    else
      std::copy(blocks.begin(), blocks.end(), out.blocks.begin());
    auto visit = [&](auto&& use) {
      for (const Term& term : terms)
        for (std::size_t i = 0; i < out.n_rows; ++i) {
          poll();
          for (auto e = static_cast<std::size_t>(term.indptr[i]); e < static_cast<std::size_t>(term.indptr[i + 1]); ++e) {
            const std::size_t id = term.first + static_cast<std::size_t>(term.ids[e]);
            const std::int64_t k = position.empty() ? static_cast<std::int64_t>(id) : position[id];
            if (term.data[e] != 0 && k >= 0) use(i, static_cast<std::size_t>(k), term.data[e]);
          }
        }
    };
    Array<double> inverse(n_columns, 0.0);
    visit([&](std::size_t, std::size_t k, double value) {
      inverse[k] += value * value;
      ++out.begin[k];
    });
    out.norms.resize(out.blocks.size() - 1);
    for (std::size_t g = 0; g < out.size(); ++g) {
      const auto first = inverse.begin() + out.blocks[g], last = inverse.begin() + out.blocks[g + 1];
      out.norms[g] = std::sqrt(std::accumulate(first, last, 0.0));
      std::fill(first, last, out.norms[g] > 0 ? 1 / out.norms[g] : 0.0);
    }
    std::int64_t total = 0;
    for (std::size_t k = 0; k < n_columns; ++k) {
      const std::int64_t count = inverse[k] > 0 ? out.begin[k] : 0;
      out.begin[k] = total;
      total += count;
    }
    out.begin[n_columns] = total;
    out.rows.resize(static_cast<std::size_t>(total));
    out.values.resize(static_cast<std::size_t>(total));
    visit([&](std::size_t i, std::size_t k, double value) {
      if (!(inverse[k] > 0)) return;
      const auto e = static_cast<std::size_t>(out.begin[k]++);
      out.rows[e] = static_cast<std::uint32_t>(i);
      out.values[e] = value * inverse[k];
    });
    for (std::size_t k = n_columns; k > 0; --k) out.begin[k] = out.begin[k - 1];
    out.begin[0] = 0;
    return out;
  }
};

}  // namespace treille
