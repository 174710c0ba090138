#pragma once
// Gapped k-mers, a family of patterns (patterns.hpp).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "text/windows.hpp"

namespace treille {

// k positions out of a window of `length`, and the symbols there. With `complement` (the code of each symbol's complement), the
// windows of the reverse complement count too. Cost: C(length, k) patterns a window.
// A pattern and its reverse complement occur equally often then. With `paired`, the two are one feature, which has half of the entries: the
// one that comes first of the two, times sqrt(2), so that inner products stay the same.
// Choices that are shifts of each other, A.C... and .A.C.., are a group of a table. With c choices before the group and m in it, the
// address of a pattern is c base^k + (its symbols as digits) m + (its shift): shifts of a pattern are neighbours.
struct GappedKmerPatterns {
  GappedKmerPatterns(int window, int fixed, std::vector<std::int32_t> complements, bool pairs = false)
      : length(window), k(fixed), complement(std::move(complements)), paired(pairs && !complement.empty()) {
    const std::vector<int> all = choices(window, fixed);
    std::vector<const int*> sorted;
    for (std::size_t c = 0; c < all.size(); c += static_cast<std::size_t>(k)) sorted.push_back(all.data() + c);
    std::sort(sorted.begin(), sorted.end(), [&](const int* a, const int* b) { return before(a, b); });
    for (const int* choice : sorted) places.insert(places.end(), choice, choice + k);
  }
  int length, k;
  std::vector<std::int32_t> complement;
  bool paired;
  double both = std::sqrt(2.0);  // the value of an occurrence of either of two patterns
  std::vector<int> places;       // k per choice: groups of shifts, those of a group by rising first position

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

  // The place of a choice and of its mirror image in an order: below 0 if the choice is before it, 0 if they are shifts of each other.
  int form_order(const int* fixed) const {
    for (int j = 1; j < k; ++j) {
      const int gap = fixed[j] - fixed[j - 1], mirrored = fixed[k - j] - fixed[k - j - 1];
      if (gap != mirrored) return gap < mirrored ? -1 : 1;
    }
    return 0;
  }

  // The same for a pattern and its reverse complement; 0 if they are the same.
  int pair_order(const std::int32_t* cells) const {
    int first = 0, last = length - 1;
    while (cells[first] == 0) ++first;
    while (cells[last] == 0) --last;
    for (int j = 0; first + j < last - j; ++j)
      if ((cells[first + j] > 0) != (cells[last - j] > 0)) return cells[first + j] > 0 ? -1 : 1;
    for (int j = 0; first + j <= last; ++j) {
      if (cells[first + j] == 0) continue;
      const std::int32_t other = complement[static_cast<std::size_t>(cells[last - j] - 1)] + 1;
      if (cells[first + j] != other) return cells[first + j] < other ? -1 : 1;
    }
    const int shift = first, mirrored = length - 1 - last;
    return shift == mirrored ? 0 : shift < mirrored ? -1 : 1;
  }
  double scale(const std::int32_t* cells) const { return paired && pair_order(cells) < 0 ? both : 1.0; }
  GappedKmerPatterns unscaled() const {
    GappedKmerPatterns copy = *this;
    copy.both = 1.0;
    return copy;
  }

  // The reverse complement of k symbols, by their number: that of the first is its highest digit.
  std::vector<std::uint32_t> reversed_codes(std::int32_t base) const {
    std::vector<std::uint32_t> out(static_cast<std::size_t>(group_size(base)));
    for (std::size_t code = 0; code < out.size(); ++code) {
      std::size_t rest = code, reversed = 0;
      for (int j = 0; j < k; ++j, rest /= static_cast<std::size_t>(base))
        reversed = reversed * static_cast<std::size_t>(base) + static_cast<std::size_t>(complement[rest % static_cast<std::size_t>(base)]);
      out[code] = static_cast<std::uint32_t>(reversed);
    }
    return out;
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
          const int order = paired ? pair_order(cells.data()) : 0;
          if (order <= 0) sink(cells.data(), length, order < 0 ? both : 1.0);
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

}  // namespace treille
