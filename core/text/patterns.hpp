#pragma once
// Families of patterns that count-based string kernels search for. A family emits the patterns of one sequence:
//
//   family.emit(x, sink)   calls   sink(cells, n, value)   for every occurrence; phi_z(x) is the sum of the values of z. Gappy patterns
// give `places` after the value, if the sink takes it.
// A cell is a symbol + 1, or 0 where any symbol may stand. Symbols below 0 are left out: no window holds one.
// If the values of a pattern's occurrences have a common factor, scale(cells) is this factor, and unscaled() is the family without it.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "interrupt.hpp"
#include "text/gapped_kmer_patterns.hpp"
#include "text/windows.hpp"

namespace treille {

// n symbols in order, each gap between two of them at most max_gap symbols long, all gaps together at most max_total_gap.
// An occurrence weighs contiguous * decay^(gap symbols). Cost: one step an occurrence, (1 + max_gap)^(n - 1) a position at most.
struct GappyPatterns {
  int n;
  std::int64_t max_gap, max_total_gap;
  double decay, contiguous;

  int width() const { return n; }
  bool mixed() const { return false; }
  std::int64_t largest_cell(std::int64_t alphabet, std::int64_t) const { return alphabet; }
  double scale(const std::int32_t*) const { return contiguous; }
  GappyPatterns unscaled() const { return {n, max_gap, max_total_gap, decay, 1.0}; }

  template <class Sink>
  void emit(Symbols x, Sink&& sink) const {
    const std::size_t length = x.size(), last = static_cast<std::size_t>(n) - 1;
    if (length <= last) return;
    std::vector<std::size_t> at(last + 1);
    std::vector<std::int64_t> total(last + 1, 0);
    std::vector<double> weight(last + 1, contiguous);
    std::vector<std::int32_t> cells(last + 1);
    const auto report = [&](double value) {
      if constexpr (requires { sink(cells.data(), n, value, at.data()); })
        sink(cells.data(), n, value, at.data());
      else
        sink(cells.data(), n, value);
    };
    for (std::size_t start = 0; start + last < length; ++start) {
      at[0] = start;
      cells[0] = x[start] + 1;
      if (last == 0) {
        report(contiguous);
        continue;
      }
      at[1] = start;
      // at[depth] is the place tried last for symbol `depth`.
      for (std::size_t depth = 1; depth > 0;) {
        const std::size_t place = ++at[depth];
        const auto gap = static_cast<std::int64_t>(place - at[depth - 1] - 1);
        if (gap > max_gap || total[depth - 1] + gap > max_total_gap || place + (last - depth) >= length) {
          --depth;
          continue;
        }
        weight[depth] = gap == 0 ? weight[depth - 1] : weight[depth] * decay;
        total[depth] = total[depth - 1] + gap;
        cells[depth] = x[place] + 1;
        if (depth == last) {
          report(weight[depth]);
        } else {
          ++depth;
          at[depth] = place;
        }
      }
    }
  }
};

// Windows of k symbols with at most m of them replaced by "any"; an occurrence weighs decay^(number replaced).
// Cost: sum_{j <= m} C(k, j) patterns a window.
struct WildcardPatterns {
  WildcardPatterns(int window, int most, double decay) : k(window) {
    double weight = 1;
    for (int j = 0; j <= most; ++j, weight *= decay) {
      powers.push_back(weight);
      const auto places = choices(k, j);
      const std::size_t choice = static_cast<std::size_t>(j), count = j == 0 ? 1 : places.size() / choice;
      for (std::size_t c = 0; c < count; ++c) {
        std::vector<char> open(static_cast<std::size_t>(k), 0);
        for (std::size_t i = 0; i < choice; ++i) open[static_cast<std::size_t>(places[c * choice + i])] = 1;
        masks.insert(masks.end(), open.begin(), open.end());
        weights.push_back(weight);
      }
    }
  }
  int k;
  std::vector<char> masks;  // k a mask: which positions are open
  std::vector<double> weights;
  std::vector<double> powers;  // of decay

  int width() const { return k; }
  bool mixed() const { return false; }
  std::int64_t largest_cell(std::int64_t alphabet, std::int64_t) const { return alphabet; }
  double scale(const std::int32_t* cells) const { return powers[static_cast<std::size_t>(std::count(cells, cells + k, 0))]; }
  WildcardPatterns unscaled() const { return {k, static_cast<int>(powers.size()) - 1, 1.0}; }

  template <class Sink>
  void emit(Symbols x, Sink&& sink) const {
    const auto size = static_cast<std::size_t>(k);
    std::vector<std::int32_t> cells(size);
    for (std::size_t start = 0; start + size <= x.size(); ++start)
      for (std::size_t c = 0; c < weights.size(); ++c) {
        for (std::size_t j = 0; j < size; ++j) cells[j] = masks[c * size + j] ? 0 : x[start + j] + 1;
        sink(cells.data(), k, weights[c]);
      }
  }
};

// (position, n-gram that begins there), n <= d, weight sqrt(beta_n), beta_n = 2 (d - n + 1) / (d (d + 1)). The first cell is the position.
// Cost: d patterns a position, of d / 2 cells on average.
struct PlacedPatterns {
  int d;

  int width() const { return d + 1; }
  bool mixed() const { return true; }
  std::int64_t largest_cell(std::int64_t alphabet, std::int64_t longest) const { return std::max(alphabet, longest); }

  template <class Sink>
  void emit(Symbols x, Sink&& sink) const {
    std::vector<std::int32_t> cells(static_cast<std::size_t>(d) + 1);
    for (std::size_t start = 0; start < x.size(); ++start) {
      cells[0] = static_cast<std::int32_t>(start);
      for (int n = 1; n <= d && start + static_cast<std::size_t>(n) <= x.size(); ++n) {
        cells[static_cast<std::size_t>(n)] = x[start + static_cast<std::size_t>(n) - 1] + 1;
        sink(cells.data(), n + 1, std::sqrt(2.0 * (d - n + 1) / (static_cast<double>(d) * (d + 1))));
      }
    }
  }
};

// k symbols over 0..base-1; a window counts for every one within Hamming distance m of it.
// Cost: sum_{j <= m} C(k, j) (base - 1)^j patterns a window. In a table, the address of a pattern is its symbols as digits.
struct MismatchPatterns {
  int k, m;
  std::int32_t base;

  int width() const { return k; }
  bool mixed() const { return false; }
  std::int64_t largest_cell(std::int64_t alphabet, std::int64_t) const { return alphabet; }
  std::vector<std::size_t> table_groups() const { return {0, 1}; }
  double group_size(std::int64_t) const { return std::pow(static_cast<double>(base), k); }

  // Calls use() for `word` and all its neighbours, each written in place; from `first` on, at most `left` symbols change.
  template <class Use>
  void neighbours(std::int32_t* word, int first, int left, Use&& use) const {
    use();
    if (left == 0) return;
    for (int j = first; j < k; ++j) {
      const std::int32_t own = word[j];
      for (std::int32_t other = 1; other <= base; ++other) {
        if (other == own) continue;
        word[j] = other;
        neighbours(word, j + 1, left - 1, use);
      }
      word[j] = own;
    }
  }

  template <class Sink>
  void emit(Symbols x, Sink&& sink) const {
    std::vector<std::int32_t> cells(static_cast<std::size_t>(k));
    for (std::size_t start = 0; start + static_cast<std::size_t>(k) <= x.size(); ++start) {
      for (int j = 0; j < k; ++j) cells[static_cast<std::size_t>(j)] = x[start + static_cast<std::size_t>(j)] + 1;
      neighbours(cells.data(), 0, m, [&] { sink(cells.data(), k, 1.0); });
    }
  }

  std::uint32_t address(const std::int32_t* cells, std::int64_t) const {
    std::int64_t code = 0;
    for (int j = 0; j < k; ++j) code = code * base + cells[j] - 1;
    return static_cast<std::uint32_t>(code);
  }

  void cells(std::uint32_t address, std::int64_t, std::int32_t* out) const {
    for (int j = k - 1; j >= 0; --j, address /= static_cast<std::uint32_t>(base))
      out[j] = static_cast<std::int32_t>(address % static_cast<std::uint32_t>(base)) + 1;
  }

  class Addresses {
   public:
    Addresses(const MismatchPatterns& family, std::int64_t) : family_(family), powers_(static_cast<std::size_t>(family.k), 1) {
      for (std::size_t j = powers_.size() - 1; j > 0; --j) powers_[j - 1] = powers_[j] * static_cast<std::uint32_t>(family.base);
    }

    void read(Symbols x) { sequence_ = x; }

    void list(std::size_t, std::vector<std::uint32_t>& out) const {
      out.clear();
      const auto k = static_cast<std::size_t>(family_.k);
      for (std::size_t start = 0; start + k <= sequence_.size(); ++start) {
        poll();
        const std::int32_t* word = sequence_.data() + start;
        std::uint32_t code = 0;
        for (std::size_t j = 0; j < k; ++j) code += static_cast<std::uint32_t>(word[j]) * powers_[j];
        change(word, code, 0, family_.m, out);
      }
    }

   private:
    void change(const std::int32_t* word, std::uint32_t code, std::size_t first, int left, std::vector<std::uint32_t>& out) const {
      out.push_back(code);
      if (left == 0) return;
      for (std::size_t j = first; j < powers_.size(); ++j) {
        const std::uint32_t without = code - static_cast<std::uint32_t>(word[j]) * powers_[j];
        for (std::int32_t other = 0; other < family_.base; ++other)
          if (other != word[j]) change(word, without + static_cast<std::uint32_t>(other) * powers_[j], j + 1, left - 1, out);
      }
    }

    const MismatchPatterns& family_;
    Symbols sequence_;
    std::vector<std::uint32_t> powers_;
  };
};

using PatternFamily = std::variant<GappyPatterns, WildcardPatterns, PlacedPatterns, GappedKmerPatterns, MismatchPatterns>;

}  // namespace treille
