#include "features/helmert_basis.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>
#include <variant>
#include <vector>

#include "features/row_builder.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

// Writes one row after another. The members of a family are neighbours in the rows.
template <class Word>
class BasisWriter {
 public:
  BasisWriter(const CodedRowsView<Word>& rows, const HelmertBasis& basis, RowShare& share) : rows_(rows), basis_(basis), share_(share) {
    std::size_t most = 0;
    for (std::size_t f = 0; f < basis.n_families(); ++f) most = std::max(most, basis.size(f));
    values_.resize(most);
    for (std::size_t j = 0; j < most; ++j) factor_.push_back(1 / HelmertBasis::length(j));
    equals_.resize(most + 1);
  }

  void write(std::size_t i) {
    others_.clear();
    const Word *e = rows_.begin(i), *const end = rows_.end(i);
    while (e < end) {
      const Word* const first = e;
      const std::size_t family = basis_.family(rows_.id(*e)), code = rows_.code(*e);
      bool equal = true;
      for (++e; e < end && basis_.family(rows_.id(*e)) == family; ++e) equal &= rows_.code(*e) == code;
      const std::size_t m = basis_.size(family);
      if (equal && static_cast<std::size_t>(e - first) == m)
        share_.add_coded(static_cast<std::uint32_t>(family), code_of_equals(m, code));
      else
        add({first, e}, family, m);
    }
    for (const auto& [cell, code] : others_) share_.add_coded(cell, code);
    share_.end_row();
  }

 private:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFFu;

  void add(std::span<const Word> entries, std::size_t family, std::size_t m) {
    std::fill_n(values_.data(), m, 0.0);
    for (const Word e : entries) values_[basis_.member(rows_.id(e))] = rows_.value(e);
    double before = values_[0];
    for (std::size_t j = 1; j < m; ++j) {
      const double x = before - static_cast<double>(j) * values_[j];
      if (x != 0) others_.emplace_back(basis_.cell(family, j), share_.codebook().code_of(x * factor_[j]));
      before += values_[j];
    }
    share_.add(static_cast<std::uint32_t>(family), before / std::sqrt(static_cast<double>(m)));
  }

  // Most families are equal: their codes are kept by number of members and code.
  std::uint32_t code_of_equals(std::size_t m, std::size_t code) {
    if (equals_[m].empty()) equals_[m].assign(rows_.codebook.size(), kUnknown);
    std::uint32_t& known = equals_[m][code];
    if (known == kUnknown) known = share_.codebook().code_of(rows_.codebook[code] * std::sqrt(static_cast<double>(m)));
    return known;
  }

  const CodedRowsView<Word>& rows_;
  const HelmertBasis& basis_;
  RowShare& share_;
  std::vector<double> values_, factor_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> others_;  // cells and codes, written after the means
  std::vector<std::vector<std::uint32_t>> equals_;
};

}  // namespace

template <class Word>
std::optional<CodedEntries> rows_in_basis(const CodedRowsView<Word>& rows, const HelmertBasis& basis, int threads) {
  std::atomic<std::size_t> total{0};
  std::atomic<bool> fits{true};
  auto shares = fill_shares(balanced_cuts(rows.indptr, threads), [&](std::size_t, std::size_t first, std::size_t last, RowShare& share) {
    BasisWriter writer(rows, basis, share);
    const auto most = static_cast<std::size_t>(rows.indptr[last] - rows.indptr[first]);
    for (std::size_t i = first; i < last && fits; ++i) {
      writer.write(i);
      if (share.size() > most || share.codebook().bits() + std::bit_width(basis.n_cells()) > 32) fits = false;
    }
    total += share.size();
  });
  if (!fits || total >= rows.entries.size()) return std::nullopt;
  CodedEntries out = join_shares(std::move(shares), {}, basis.n_cells());
  if (!std::holds_alternative<Buffer<std::uint32_t>>(out.entries)) return std::nullopt;
  return out;
}

template std::optional<CodedEntries> rows_in_basis(const CodedRowsView<std::uint32_t>&, const HelmertBasis&, int);
template std::optional<CodedEntries> rows_in_basis(const CodedRowsView<std::uint64_t>&, const HelmertBasis&, int);

}  // namespace treille
