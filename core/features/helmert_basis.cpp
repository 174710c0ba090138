#include "features/helmert_basis.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "features/codebook.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

// One row after another. The members of a family are neighbours in the rows.
template <class Word>
class BasisRow {
 public:
  BasisRow(const CodedRowsView<Word>& rows, const HelmertBasis& basis, int code_bits)
      : rows_(rows), basis_(basis), code_bits_(code_bits), mask_((1u << code_bits) - 1) {
    std::size_t most = 0;
    for (std::size_t f = 0; f < basis.n_families(); ++f) most = std::max(most, basis.size(f));
    values_.resize(most);
    for (std::size_t j = 0; j < most; ++j) factor_.push_back(1 / HelmertBasis::length(j));
    equals_.resize(most + 1);
  }

  const Codebook& codebook() const { return codebook_; }
  std::size_t size() const { return means_.size() + others_.size(); }

  void read(std::size_t i) {
    means_.clear();
    others_.clear();
    const Word *e = rows_.begin(i), *const end = rows_.end(i);
    while (e < end) {
      const Word* const first = e;
      const std::size_t family = basis_.family(rows_.id(*e)), code = rows_.code(*e);
      bool equal = true;
      for (++e; e < end && basis_.family(rows_.id(*e)) == family; ++e) equal &= rows_.code(*e) == code;
      const std::size_t m = basis_.size(family);
      if (equal && static_cast<std::size_t>(e - first) == m)
        means_.push_back(static_cast<std::uint32_t>(family) << code_bits_ | code_of_equals(m, code));
      else
        add({first, e}, family, m);
    }
  }

  std::uint32_t* write(std::uint32_t* to) const {
    return std::copy(others_.begin(), others_.end(), std::copy(means_.begin(), means_.end(), to));
  }

 private:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFFu;

  void add(std::span<const Word> entries, std::size_t family, std::size_t m) {
    std::fill_n(values_.data(), m, 0.0);
    for (const Word e : entries) values_[basis_.member(rows_.id(e))] = rows_.value(e);
    double before = values_[0];
    for (std::size_t j = 1; j < m; ++j) {
      const double x = before - static_cast<double>(j) * values_[j];
      if (x != 0) others_.push_back(entry(basis_.cell(family, j), x * factor_[j]));
      before += values_[j];
    }
    means_.push_back(entry(family, before / std::sqrt(static_cast<double>(m))));
  }

  // Codes that do not fit are noticed by the size of the codebook.
  std::uint32_t entry(std::size_t cell, double x) {
    return static_cast<std::uint32_t>(cell) << code_bits_ | (codebook_.code_of(x) & mask_);
  }

  // Most families are equal: their codes are kept by number of members and code.
  std::uint32_t code_of_equals(std::size_t m, std::size_t code) {
    if (equals_[m].empty()) equals_[m].assign(rows_.codebook.size(), kUnknown);
    std::uint32_t& known = equals_[m][code];
    if (known == kUnknown) known = codebook_.code_of(rows_.codebook[code] * std::sqrt(static_cast<double>(m))) & mask_;
    return known;
  }

  const CodedRowsView<Word>& rows_;
  const HelmertBasis& basis_;
  int code_bits_;
  std::uint32_t mask_;
  std::vector<double> values_, factor_;
  std::vector<std::uint32_t> means_, others_;
  std::vector<std::vector<std::uint32_t>> equals_;
  Codebook codebook_;
};

}  // namespace

template <class Word>
std::optional<CodedEntries> rows_in_basis(const CodedRowsView<Word>& rows, const HelmertBasis& basis, int threads) {
  CodedEntries out;
  out.code_bits = 32 - static_cast<int>(std::bit_width(basis.n_cells()));
  if (basis.n_cells() == 0 || out.code_bits < 2) return std::nullopt;
  const std::size_t most_codes = std::size_t{1} << out.code_bits;
  const auto cuts = balanced_cuts(rows.indptr, threads);
  Buffer<std::uint32_t> entries(rows.entries.size());
  out.indptr = Buffer<std::int64_t>(rows.size() + 1);
  std::vector<Codebook> codebooks(static_cast<std::size_t>(threads));
  std::vector<std::int64_t> written(static_cast<std::size_t>(threads), 0);
  std::atomic<bool> fits{true};
  // Each part is written where its rows are now, then moved to the end of the part before.
  run_parts(threads, [&](int p) {
    BasisRow row(rows, basis, out.code_bits);
    std::uint32_t* const start = entries.data() + rows.indptr[cuts[p]];
    std::uint32_t* const stop = entries.data() + rows.indptr[cuts[p + 1]];
    std::uint32_t* to = start;
    for (std::size_t i = cuts[p]; i < cuts[p + 1] && fits; ++i) {
      row.read(i);
      if (row.size() > static_cast<std::size_t>(stop - to) || row.codebook().size() > most_codes) fits = false;
      if (fits) to = row.write(to);
      out.indptr[i + 1] = to - start;
    }
    written[static_cast<std::size_t>(p)] = to - start;
    codebooks[static_cast<std::size_t>(p)] = row.codebook();
  });
  if (!fits) return std::nullopt;
  Codebook codebook;
  std::int64_t end = 0;
  const std::uint32_t mask = static_cast<std::uint32_t>(most_codes - 1);
  for (std::size_t p = 0; p < codebooks.size(); ++p) {
    const auto codes = codebook.add(codebooks[p]);
    const std::uint32_t* const from = entries.data() + rows.indptr[cuts[p]];
    if (codebook.size() > most_codes) return std::nullopt;
    if (p > 0)  // the codes of the first part are the same
      std::transform(from, from + written[p], entries.data() + end, [&](std::uint32_t e) { return (e & ~mask) | codes[e & mask]; });
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) out.indptr[i + 1] += end;
    end += written[p];
  }
  if (static_cast<std::size_t>(end) >= rows.entries.size()) return std::nullopt;
  out.indptr[0] = 0;
  entries.shrink(static_cast<std::size_t>(end));
  out.entries = std::move(entries);
  out.codebook = codebook.values();
  return out;
}

template std::optional<CodedEntries> rows_in_basis(const CodedRowsView<std::uint32_t>&, const HelmertBasis&, int);
template std::optional<CodedEntries> rows_in_basis(const CodedRowsView<std::uint64_t>&, const HelmertBasis&, int);

}  // namespace treille
