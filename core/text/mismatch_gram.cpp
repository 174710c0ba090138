#include <algorithm>
#include <array>

#include "features/pairwise.hpp"
#include "interrupt.hpp"
#include "symbol_type.hpp"
#include "text/pattern_gram.hpp"

namespace treille {
namespace {

template <class Symbol>
using Runs = std::vector<std::vector<Symbol>>;

// The clean runs of each sequence; with `complement`, those of its reverse complement as well.
template <class Symbol>
std::vector<Runs<Symbol>> runs_of(const Recoded& batch, int length, std::span<const std::int32_t> complement) {
  std::vector<Runs<Symbol>> all(batch.data.size());
  std::vector<std::int32_t> sequence;
  for (std::size_t i = 0; i < batch.data.size(); ++i) {
    sequence.clear();
    for (const std::int32_t s : batch.data[i]) sequence.push_back(batch.recode[static_cast<std::size_t>(s)]);
    const auto keep = [&](Symbols run) { all[i].emplace_back(run.begin(), run.end()); };
    clean_runs(Symbols(sequence), static_cast<std::size_t>(length), keep);
    if (complement.empty()) continue;
    std::reverse(sequence.begin(), sequence.end());
    for (std::int32_t& s : sequence) s = s < 0 ? s : complement[static_cast<std::size_t>(s)];
    clean_runs(Symbols(sequence), static_cast<std::size_t>(length), keep);
  }
  return all;
}

template <class Symbol>
class ProfileKernel {
 public:
  ProfileKernel(int length, std::span<const double> weights) : length_(static_cast<std::size_t>(length)), weights_(weights) {}

  // Pairs of windows by mismatches are counted as integers, so that the order of x and y makes no difference at all.
  double operator()(const std::vector<std::vector<Symbol>>& x, const std::vector<std::vector<Symbol>>& y) {
    std::fill(totals_.begin(), totals_.end(), 0);
    for (const auto& a : x)
      for (const auto& b : y) count(a, b);
    double sum = 0;
    for (std::size_t m = 0; m <= length_; ++m) sum += weights_[m] * static_cast<double>(totals_[m]);
    return sum;
  }

 private:
  void count(const std::vector<Symbol>& x, const std::vector<Symbol>& y) {
    const std::size_t rows = x.size() - length_ + 1, windows = y.size() - length_ + 1;
    now_.resize(windows);
    before_.resize(windows);
    for (std::size_t j = 0; j < windows; ++j) now_[j] = mismatches(x.data(), y.data() + j);
    add(windows);
    for (std::size_t i = 1; i < rows; ++i) {
      poll();
      now_.swap(before_);
      now_[0] = mismatches(x.data() + i, y.data());
      const Symbol out = x[i - 1], in = x[i + length_ - 1];
      const Symbol* left = y.data();
      const Symbol* right = y.data() + length_;
      const std::uint8_t* from = before_.data();
      std::uint8_t* to = now_.data() + 1;
      for (std::size_t j = 0; j + 1 < windows; ++j)
        to[j] = static_cast<std::uint8_t>(from[j] - static_cast<std::uint8_t>(out != left[j]) + static_cast<std::uint8_t>(in != right[j]));
      add(windows);
    }
  }

  std::uint8_t mismatches(const Symbol* a, const Symbol* b) const {
    std::uint8_t m = 0;
    for (std::size_t j = 0; j < length_; ++j) m = static_cast<std::uint8_t>(m + (a[j] != b[j]));
    return m;
  }

  // Four tables take turns: neighbours often have the same number, and adding to one place again and again waits each time.
  void add(std::size_t windows) {
    const std::uint8_t* m = now_.data();
    std::size_t j = 0;
    for (; j + 4 <= windows; j += 4) {
      ++turns_[0][m[j]];
      ++turns_[1][m[j + 1]];
      ++turns_[2][m[j + 2]];
      ++turns_[3][m[j + 3]];
    }
    for (; j < windows; ++j) ++turns_[0][m[j]];
    for (std::size_t v = 0; v <= length_; ++v) {
      totals_[v] += std::uint64_t{turns_[0][v]} + turns_[1][v] + turns_[2][v] + turns_[3][v];
      turns_[0][v] = turns_[1][v] = turns_[2][v] = turns_[3][v] = 0;
    }
  }

  std::size_t length_;
  std::span<const double> weights_;
  std::vector<std::uint8_t> now_, before_;
  std::array<std::array<std::uint32_t, 256>, 4> turns_{};
  std::array<std::uint64_t, 256> totals_{};
};

// The number of codes in use.
std::int64_t n_codes(const Recoded& batch) {
  return batch.recode.empty() ? 0 : 1 + std::int64_t{*std::max_element(batch.recode.begin(), batch.recode.end())};
}

}  // namespace

Buffer<double> mismatch_gram(int length, std::span<const double> weights, std::span<const std::int32_t> complement, const Recoded& left,
                             const std::optional<Recoded>& right, int threads) {
  return with_symbol_type(std::max(n_codes(left), right ? n_codes(*right) : 0), [&](auto symbol) {
    using Symbol = decltype(symbol);
    // Two strands against two are twice one against two: k of x and y equals k of their reverse complements.
    const auto x = runs_of<Symbol>(left, length, {});
    const bool one_strand = complement.empty();
    const auto y = right || !one_strand ? runs_of<Symbol>(right ? *right : left, length, complement) : std::vector<Runs<Symbol>>();
    const auto& others = right || !one_strand ? y : x;
    return pairwise(x.size(), others.size(), !right, threads, [&] {
      return [&, kernel = ProfileKernel<Symbol>(length, weights)](std::size_t i, std::size_t j) mutable {
        return (one_strand ? 1 : 2) * kernel(x[i], others[j]);
      };
    });
  });
}

std::vector<double> mismatch_diagonal(int length, std::span<const double> weights, std::span<const std::int32_t> complement,
                                      const Recoded& batch, int threads) {
  return with_symbol_type(n_codes(batch), [&](auto symbol) {
    using Symbol = decltype(symbol);
    const auto x = runs_of<Symbol>(batch, length, {}), y = runs_of<Symbol>(batch, length, complement);
    return on_diagonal(x.size(), threads, [&] {
      return [&, kernel = ProfileKernel<Symbol>(length, weights)](std::size_t i) mutable {
        return (complement.empty() ? 1 : 2) * kernel(x[i], y[i]);
      };
    });
  });
}

}  // namespace treille
