#include "features/helmert_basis.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "features/codebook.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

// One row after another, each from the codes of its entries.
template <class Word>
class BasisRow {
 public:
  BasisRow(const CodedRowsView<Word>& rows, const HelmertBasis& basis, std::span<const std::uint32_t> places, int code_bits)
      : rows_(rows),
        basis_(basis),
        places_(places),
        code_bits_(code_bits),
        codes_(basis.n_cells(), 0),
        seen_(basis.n_families() / 64 + 1) {}

  const Codebook& codebook() const { return codebook_; }
  std::size_t size() const { return means_.size() + others_.size(); }

  void read(std::size_t i) {
    means_.clear();
    others_.clear();
    for (const Word entry : rows_.row(i)) {
      const std::size_t z = rows_.id(entry), f = basis_.family(z);
      codes_[places_[z]] = static_cast<std::uint32_t>(rows_.code(entry)) + 1;
      seen_[f >> 6] |= std::uint64_t{1} << (f & 63);
    }
    for (std::size_t word = 0; word < seen_.size(); ++word)
      for (std::uint64_t bits = std::exchange(seen_[word], 0); bits != 0; bits &= bits - 1)
        add(word << 6 | static_cast<std::size_t>(std::countr_zero(bits)));
  }

  std::uint32_t* write(std::uint32_t* to) const {
    return std::copy(others_.begin(), others_.end(), std::copy(means_.begin(), means_.end(), to));
  }

 private:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFFu;

  double value(std::uint32_t code) const { return code == 0 ? 0.0 : rows_.codebook[code - 1]; }

  void add(std::size_t family) {
    const std::size_t m = basis_.size(family);
    std::uint32_t* const codes = codes_.data() + basis_.first_place(family);
    const std::uint32_t first = codes[0];
    bool equal = true;
    for (std::size_t j = 1; j < m; ++j) equal &= codes[j] == first;
    if (equal) {
      means_.push_back(static_cast<std::uint32_t>(family) << code_bits_ | code_of_equals(m, first));
    } else {
      double before = 0;
      for (std::size_t j = 0; j < m; ++j) {
        const double own = value(codes[j]), x = before - static_cast<double>(j) * own;
        if (j > 0 && x != 0) others_.push_back(entry(basis_.cell(family, j), x / HelmertBasis::length(j)));
        before += own;
      }
      means_.push_back(entry(family, before / std::sqrt(static_cast<double>(m))));
    }
    std::fill_n(codes, m, 0u);
  }

  std::uint32_t entry(std::size_t cell, double x) {
    return static_cast<std::uint32_t>(cell) << code_bits_ | (codebook_.code_of(x) & mask());
  }
  std::uint32_t mask() const { return (1u << code_bits_) - 1; }

  // Most families are equal: their codes are kept by number of members and code.
  std::uint32_t code_of_equals(std::size_t m, std::uint32_t code) {
    if (m >= equals_.size()) equals_.resize(m + 1);
    if (equals_[m].empty()) equals_[m].assign(rows_.codebook.size() + 1, kUnknown);
    std::uint32_t& known = equals_[m][code];
    if (known == kUnknown) known = codebook_.code_of(value(code) * std::sqrt(static_cast<double>(m))) & mask();
    return known;
  }

  const CodedRowsView<Word>& rows_;
  const HelmertBasis& basis_;
  std::span<const std::uint32_t> places_;
  int code_bits_;
  std::vector<std::uint32_t> codes_;  // of all members of all families: 1 + code, 0 where the row has no entry
  std::vector<std::uint64_t> seen_;   // families of the row
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
  Array<std::uint32_t> places(basis.n_features());
  for (std::size_t z = 0; z < places.size(); ++z) places[z] = static_cast<std::uint32_t>(basis.place(z));
  const auto cuts = balanced_cuts(rows.indptr, threads);
  Buffer<std::uint32_t> entries(rows.entries.size());
  out.indptr = Buffer<std::int64_t>(rows.size() + 1);
  std::vector<Codebook> codebooks(static_cast<std::size_t>(threads));
  std::vector<std::int64_t> written(static_cast<std::size_t>(threads), 0);
  std::atomic<bool> fits{true};
  // Each part is written where its rows are now, then moved to the end of the part before.
  run_parts(threads, [&](int p) {
    BasisRow row(rows, basis, places, out.code_bits);
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
