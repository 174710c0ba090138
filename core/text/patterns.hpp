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

namespace treille {

using Symbols = std::span<const std::int32_t>;

// Calls use(run) for each longest run without left-out symbols that has `length` symbols at least.
template <class Use>
void clean_runs(Symbols x, std::size_t length, Use&& use) {
  for (std::size_t begin = 0; begin < x.size();) {
    std::size_t end = begin;
    while (end < x.size() && x[end] >= 0) ++end;
    if (end - begin >= length) use(x.subspan(begin, end - begin));
    begin = end + 1;
  }
}

// All choices of k out of `length` positions, in lexicographic order, k numbers each.
inline std::vector<int> choices(int length, int k) {
  std::vector<int> all, now(static_cast<std::size_t>(k));
  for (int j = 0; j < k; ++j) now[static_cast<std::size_t>(j)] = j;
  for (;;) {
    all.insert(all.end(), now.begin(), now.end());
    int j = k - 1;
    while (j >= 0 && now[static_cast<std::size_t>(j)] == length - k + j) --j;
    if (j < 0) return all;
    ++now[static_cast<std::size_t>(j)];
    for (int i = j + 1; i < k; ++i) now[static_cast<std::size_t>(i)] = now[static_cast<std::size_t>(i - 1)] + 1;
  }
}

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

// k positions out of a window of `length`, and the symbols there. With `complement` (the code of each symbol's complement), the
// windows of the reverse complement count too. Cost: C(length, k) patterns a window.
// Choices that are shifts of each other, A.C... and .A.C.., are a group of a table. With c choices before the group and m in it, the
// address of a pattern is c base^k + (its symbols as digits) m + (its shift): shifts of a pattern are neighbours.
struct GappedKmerPatterns {
  GappedKmerPatterns(int window, int fixed, std::vector<std::int32_t> complements)
      : length(window), k(fixed), complement(std::move(complements)) {
    const std::vector<int> all = choices(window, fixed);
    std::vector<const int*> sorted;
    for (std::size_t c = 0; c < all.size(); c += static_cast<std::size_t>(k)) sorted.push_back(all.data() + c);
    std::sort(sorted.begin(), sorted.end(), [&](const int* a, const int* b) { return before(a, b); });
    for (const int* choice : sorted) places.insert(places.end(), choice, choice + k);
  }
  int length, k;
  std::vector<std::int32_t> complement;
  std::vector<int> places;  // k per choice: groups of shifts, those of a group by rising first position

  int width() const { return length; }
  bool mixed() const { return false; }
  std::int64_t largest_cell(std::int64_t alphabet, std::int64_t) const { return alphabet; }
  std::size_t groups() const { return places.size() / static_cast<std::size_t>(k); }
  double group_size(std::int64_t base) const { return std::pow(static_cast<double>(base), k); }

  const int* place(std::size_t choice) const { return places.data() + choice * static_cast<std::size_t>(k); }

  // The first choice of each group of shifts, and the number of choices.
  std::vector<std::size_t> table_groups() const {
    std::vector<std::size_t> first;
    for (std::size_t choice = 0; choice < groups(); ++choice)
      if (place(choice)[0] == 0) first.push_back(choice);
    first.push_back(groups());
    return first;
  }

  std::int64_t n_shifts(std::size_t choice) const { return length - (place(choice)[k - 1] - place(choice)[0]); }

  // Order of choices: by shape, then by first position.
  bool before(const int* a, const int* b) const {
    for (int j = 1; j < k; ++j)
      if (a[j] - a[0] != b[j] - b[0]) return a[j] - a[0] < b[j] - b[0];
    return a[0] < b[0];
  }

  // The clean runs of a sequence, and of its reverse complement.
  template <class Use>
  void runs(Symbols x, Use&& use) const {
    clean_runs(x, static_cast<std::size_t>(length), use);
    if (complement.empty()) return;
    std::vector<std::int32_t> other(x.rbegin(), x.rend());
    for (std::int32_t& s : other) s = s < 0 ? s : complement[static_cast<std::size_t>(s)];
    clean_runs(Symbols(other), static_cast<std::size_t>(length), use);
  }

  template <class Sink>
  void emit(Symbols x, Sink&& sink) const {
    std::vector<std::int32_t> cells(static_cast<std::size_t>(length));
    runs(x, [&](Symbols run) {
      for (std::size_t c = 0; c < groups(); ++c) {
        const int* place = this->place(c);
        std::fill(cells.begin(), cells.end(), 0);
        for (std::size_t start = 0; start + static_cast<std::size_t>(length) <= run.size(); ++start) {
          for (int j = 0; j < k; ++j) cells[static_cast<std::size_t>(place[j])] = run[start + static_cast<std::size_t>(place[j])] + 1;
          sink(cells.data(), length, 1.0);
        }
      }
    });
  }

  std::uint32_t address(const std::int32_t* cells, std::int64_t base) const {
    std::vector<int> fixed;
    std::int64_t code = 0;
    for (int j = 0; j < length; ++j)
      if (cells[j] > 0) {
        fixed.push_back(j);
        code = code * base + cells[j] - 1;
      }
    // The choices are sorted, so this one is found by bisection.
    std::size_t low = 0, high = groups();
    while (high - low > 1) {
      const std::size_t middle = (low + high) / 2;
      (before(fixed.data(), place(middle)) ? high : low) = middle;
    }
    const std::int64_t first = static_cast<std::int64_t>(low) - fixed[0];
    return static_cast<std::uint32_t>(first * static_cast<std::int64_t>(group_size(base)) + code * n_shifts(low) + fixed[0]);
  }

  // The group of an address: its first address, and how many shifts it has.
  std::pair<std::int64_t, std::int64_t> table_group(std::uint32_t address, std::int64_t base) const {
    const auto size = static_cast<std::int64_t>(group_size(base));
    const auto choice = static_cast<std::size_t>(address / size);
    return {(static_cast<std::int64_t>(choice) - place(choice)[0]) * size, n_shifts(choice)};
  }

  void cells(std::uint32_t address, std::int64_t base, std::int32_t* out) const {
    const auto [first, m] = table_group(address, base);
    const std::int64_t shift = (address - first) % m;
    std::int64_t code = (address - first) / m;
    const int* const fixed = place(static_cast<std::size_t>(first / static_cast<std::int64_t>(group_size(base)) + shift));
    std::fill(out, out + length, 0);
    for (int j = k - 1; j >= 0; --j, code /= base) out[fixed[j]] = static_cast<std::int32_t>(code % base) + 1;
  }

  // The addresses of a sequence's patterns, a choice of positions at a time: k additions each, in vectors.
  class Addresses {
   public:
    Addresses(const GappedKmerPatterns& family, std::int64_t base) : family_(family), base_(base) {}

    void read(Symbols x) {
      ends_.clear();
      digits_.clear();
      family_.runs(x, [&](Symbols run) {
        const std::size_t size = run.size();
        std::uint32_t power = 1;
        const std::size_t begin = digits_.size();
        digits_.resize(begin + size * static_cast<std::size_t>(family_.k));
        for (int j = family_.k - 1; j >= 0; --j, power *= static_cast<std::uint32_t>(base_))
          for (std::size_t i = 0; i < size; ++i)
            digits_[begin + static_cast<std::size_t>(j) * size + i] = static_cast<std::uint32_t>(run[i]) * power;
        ends_.push_back(size);
      });
    }

    void list(std::size_t group, std::vector<std::uint32_t>& out) const {
      const int* place = family_.places.data() + group * static_cast<std::size_t>(family_.k);
      const std::uint32_t* digits = digits_.data();
      out.clear();
      for (const std::size_t size : ends_) {
        const std::size_t windows = size - static_cast<std::size_t>(family_.length) + 1, first = out.size();
        out.resize(first + windows);
        std::uint32_t* to = out.data() + first;
        for (int j = 0; j < family_.k; ++j) {
          const std::uint32_t* from = digits + static_cast<std::size_t>(j) * size + place[j];
          for (std::size_t w = 0; w < windows; ++w) to[w] += from[w];
        }
        digits += size * static_cast<std::size_t>(family_.k);
      }
    }

   private:
    const GappedKmerPatterns& family_;
    std::int64_t base_;
    std::vector<std::size_t> ends_;      // the length of each run
    std::vector<std::uint32_t> digits_;  // of each run, symbol * base^(k - 1 - j), j by j
  };
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
