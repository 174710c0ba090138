#pragma once
// Features in families of nearly equal columns, turned so that rows have fewer entries.
//
// Gapped k-mers that are shifts of each other, say, stand equally often in an example, but for occurrences near its ends. An
// orthonormal basis of such a family begins with its mean (Helmert's matrix H). With v_0 .. v_{m-1} for the members' counts,
//   x_0 = (v_0 + ... + v_{m-1}) / sqrt(m),   x_j = (v_0 + ... + v_{j-1} - j v_j) / sqrt(j (j + 1)),   j = 1 .. m - 1.
// Where all members are equal only x_0 is not 0: one entry in place of m. Inner products stay what they are, and with them all iterates,
// up to rounding. Weights omega of the turned cells are those of the features by the transpose, w_o = sum_j H_jo omega_j.
//
// Cells: x_0 of every family, family by family, then the others, likewise.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "spaces/code_rows.hpp"

namespace treille {

class Turn {
 public:
  Turn() = default;
  // `sizes` has the number of members of each family. Feature z is member `member[z]` of family `family[z]`; members may lack a feature.
  Turn(std::span<const std::uint32_t> sizes, std::vector<std::uint32_t> family, std::vector<std::uint32_t> member)
      : first_(sizes.size() + 1, 0), family_(std::move(family)), member_(std::move(member)) {
    for (std::size_t f = 0; f < sizes.size(); ++f) first_[f + 1] = first_[f] + sizes[f];
  }

  std::size_t n_families() const { return first_.size() - 1; }
  std::size_t n_cells() const { return first_.back(); }
  std::size_t n_features() const { return family_.size(); }
  // Of x_j, j > 0; that of x_0 is the family itself.
  std::size_t cell(std::size_t family, std::size_t j) const { return n_families() + first_[family] - family + j - 1; }
  static double length(std::size_t j) { return std::sqrt(static_cast<double>(j) * static_cast<double>(j + 1)); }

  // Weights of the features from those of the cells, a row each, `n_functions` columns.
  void read(const double* cells, std::size_t n_functions, double* weights) const {
    for (std::size_t z = 0; z < n_features(); ++z) {
      const std::size_t f = family_[z], m = first_[f + 1] - first_[f], own = member_[z];
      for (std::size_t k = 0; k < n_functions; ++k) {
        auto omega = [&](std::size_t j) { return cells[cell(f, j) * n_functions + k] / length(j); };
        double w = cells[f * n_functions + k] / std::sqrt(static_cast<double>(m));
        if (own > 0) w -= static_cast<double>(own) * omega(own);
        for (std::size_t j = own + 1; j < m; ++j) w += omega(j);
        weights[z * n_functions + k] = w;
      }
    }
  }

 private:
  std::vector<std::uint32_t> first_{0};  // members before those of each family
  std::vector<std::uint32_t> family_, member_;
};

// The palette of rows that several threads write. Codes from `most` on have no room in an entry.
class SharedPalette {
 public:
  explicit SharedPalette(std::size_t most) : most_(most) {}
  std::uint32_t code_of(double number) {
    const std::lock_guard lock(mutex_);
    const std::uint32_t code = palette_.code_of(number);
    return code < most_ ? code : 0;
  }
  bool too_many() const { return palette_.values().size() > most_; }
  Buffer<double> values() const {
    Buffer<double> copy(palette_.values().size());
    std::copy(palette_.values().begin(), palette_.values().end(), copy.data());
    return copy;
  }

 private:
  std::size_t most_;
  std::mutex mutex_;
  Palette palette_;
};

// One turned row after another, each from the counts of its families, which come in rising order.
class TurnedRow {
 public:
  TurnedRow(const Turn& turn, SharedPalette& palette, int code_bits) : turn_(turn), palette_(palette), code_bits_(code_bits) {}

  void add(std::size_t family, const std::uint32_t* counts, std::size_t m) {
    const std::uint32_t count = counts[0];
    bool equal = true;
    for (std::size_t j = 1; j < m; ++j) equal &= counts[j] == count;
    if (equal) return means_.push_back(static_cast<std::uint32_t>(family) << code_bits_ | code_of_equals(m, count));
    double before = 0;
    for (std::size_t j = 0; j < m; ++j) {
      const double x = before - static_cast<double>(j) * counts[j];
      if (j > 0 && x != 0) others_.push_back(entry(turn_.cell(family, j), x / Turn::length(j)));
      before += counts[j];
    }
    means_.push_back(entry(family, before / std::sqrt(static_cast<double>(m))));
  }

  std::size_t size() const { return means_.size() + others_.size(); }
  // Writes the row, and begins the next.
  std::uint32_t* take(std::uint32_t* to) {
    to = std::copy(others_.begin(), others_.end(), std::copy(means_.begin(), means_.end(), to));
    means_.clear();
    others_.clear();
    return to;
  }

 private:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFFu;

  std::uint32_t code_of_equals(std::size_t m, std::uint32_t count) {
    if (m >= equals_.size()) equals_.resize(m + 1);
    if (count >= equals_[m].size()) equals_[m].resize(std::size_t{count} + 1, kUnknown);
    std::uint32_t& code = equals_[m][count];
    if (code == kUnknown) code = palette_.code_of(count * std::sqrt(static_cast<double>(m)));
    return code;
  }

  std::uint32_t entry(std::size_t cell, double number) {
    const auto [at, is_new] = known_.try_emplace(number, 0);
    if (is_new) at->second = palette_.code_of(number);
    return static_cast<std::uint32_t>(cell) << code_bits_ | at->second;
  }

  const Turn& turn_;
  SharedPalette& palette_;
  int code_bits_;
  std::vector<std::uint32_t> means_, others_;
  // Codes met before, so that few are asked for under the lock: by number of members and count, and by number.
  std::vector<std::vector<std::uint32_t>> equals_;
  std::unordered_map<double, std::uint32_t> known_;
};

}  // namespace treille
