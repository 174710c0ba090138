#pragma once
// An orthonormal basis for families of nearly equal columns, in which rows have fewer entries.
//
// Gapped k-mers that are shifts of each other, for example, occur equally often in an example, except near its ends. The first vector
// of a family's basis is its mean (Helmert's matrix H). With v_0 .. v_{m-1} for the values of the members,
//   x_0 = (v_0 + ... + v_{m-1}) / sqrt(m),   x_j = (v_0 + ... + v_{j-1} - j v_j) / sqrt(j (j + 1)),   j = 1 .. m - 1.
// Where all members are equal only x_0 is not 0: one entry instead of m. Inner products do not change, nor do the iterates of a solver,
// up to rounding. The weights of the features are w_o = sum_j H_jo omega_j, for weights omega of the cells.
//
// Cells: x_0 of every family, family by family, then the others in the same order.

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "features/coded_rows.hpp"
#include "memory.hpp"

namespace treille {

// Feature z is member `member[z]` of family `family[z]`, which has sizes[family[z]] members; some members may have no feature.
struct Families {
  std::span<const std::uint32_t> sizes, family, member;
};

class HelmertBasis {
 public:
  explicit HelmertBasis(const Families& families)
      : first_(families.sizes.size() + 1, 0),
        family_(families.family.begin(), families.family.end()),
        member_(families.member.begin(), families.member.end()) {
    for (std::size_t f = 0; f < families.sizes.size(); ++f) first_[f + 1] = first_[f] + families.sizes[f];
  }

  std::size_t n_families() const { return first_.size() - 1; }
  std::size_t n_cells() const { return first_.back(); }
  std::size_t n_features() const { return family_.size(); }
  std::size_t family(std::size_t feature) const { return family_[feature]; }
  std::size_t member(std::size_t feature) const { return member_[feature]; }
  std::size_t size(std::size_t family) const { return first_[family + 1] - first_[family]; }
  // The place of a feature in the list of all members of all families.
  std::uint32_t place(std::size_t feature) const { return first_[family_[feature]] + member_[feature]; }
  // The cell of x_j, j > 0; the cell of x_0 is the family itself.
  std::size_t cell(std::size_t family, std::size_t j) const { return n_families() + first_[family] - family + j - 1; }
  static double length(std::size_t j) { return std::sqrt(static_cast<double>(j) * static_cast<double>(j + 1)); }

  // Calls use(cell, H_jo) for the coordinates of one feature.
  template <class Use>
  void coordinates(std::size_t feature, Use&& use) const {
    const std::size_t f = family_[feature], m = size(f), own = member_[feature];
    use(f, 1 / std::sqrt(static_cast<double>(m)));
    if (own > 0) use(cell(f, own), -static_cast<double>(own) / length(own));
    for (std::size_t j = own + 1; j < m; ++j) use(cell(f, j), 1 / length(j));
  }

 private:
  std::vector<std::uint32_t> first_;  // members before those of each family
  Array<std::uint32_t> family_, member_;
};

// The rows in the basis; nothing if they would not have fewer entries, or cells and values do not fit 32 bits. The places of the
// features must rise with their ids.
template <class Word>
std::optional<CodedEntries> rows_in_basis(const CodedRowsView<Word>& rows, const HelmertBasis& basis, int threads);

}  // namespace treille
