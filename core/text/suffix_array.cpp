#include "text/suffix_array.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "parallel.hpp"
#include "symbol_type.hpp"

namespace treille {
namespace {

// The text is prefetched this far ahead of the scan.
template <class Index>
constexpr Index kAhead = 32;

// Sorts the suffixes of one text t[0..n), symbols 0..k-1; the end of the text is smaller than any symbol.
//
// A suffix is of type S when it is smaller than the one that begins a symbol later, of type L otherwise; S after L is LMS. From the LMS
// suffixes in order, one scan to the right gives all L suffixes in order and one to the left all S suffixes. The LMS suffixes are put in
// order by naming the runs from one LMS place to the next, which the same two scans sort, and by recursion on the text of these names.
template <class Symbol, class Index>
class InducedSort {
 public:
  InducedSort(const Symbol* t, Index* sa, Index n, Index k)
      : t_(t),
        sa_(sa),
        n_(n),
        lms_(static_cast<std::size_t>(n / 64 + 1)),
        counts_(static_cast<std::size_t>(k)),
        places_(static_cast<std::size_t>(k)) {}

  void sort() {
    if (n_ == 0) return;
    for (Index i = 0; i < n_; ++i) ++counts_[static_cast<std::size_t>(t_[i])];
    std::fill_n(sa_, n_, Index{0});
    find_lms();
    bucket_ends();
    Index m = 0;
    lms_from_the_right([&](Index i) {
      sa_[--place(i)] = i;
      ++m;
    });
    if (m > 1) {
      induce();
      sort_lms(m);
      std::fill(sa_ + m, sa_ + n_, Index{0});
      bucket_ends();
      for (Index i = m - 1; i >= 0; --i) {  // no place is before i: at least i suffixes are smaller
        const Index j = std::exchange(sa_[i], Index{0});
        sa_[--place(j)] = j;
      }
    }
    induce();
  }

 private:
  Index& place(Index i) { return places_[static_cast<std::size_t>(t_[i])]; }
  void bucket_starts() { std::exclusive_scan(counts_.begin(), counts_.end(), places_.begin(), Index{0}); }
  void bucket_ends() { std::inclusive_scan(counts_.begin(), counts_.end(), places_.begin()); }

  // No branches: types are as good as random.
  void find_lms() {
    unsigned smaller = 0;  // type S; the last suffix is of type L
    for (Index i = n_ - 1; i > 0; --i) {
      const unsigned before = unsigned{t_[i - 1] < t_[i]} | (unsigned{t_[i - 1] == t_[i]} & smaller);
      lms_[static_cast<std::size_t>(i >> 6)] |= std::uint64_t{smaller & ~before} << (i & 63);
      smaller = before;
    }
  }
  bool is_lms(Index i) const { return lms_[static_cast<std::size_t>(i >> 6)] >> (i & 63) & 1; }

  template <class Use>
  void lms_from_the_right(Use&& use) const {
    for (std::size_t word = lms_.size(); word-- > 0;)
      for (std::uint64_t bits = lms_[word]; bits != 0;) {
        const int last = 63 - std::countl_zero(bits);
        bits ^= std::uint64_t{1} << last;
        use(static_cast<Index>(word * 64) + static_cast<Index>(last));
      }
  }

  // LMS suffixes stand in order at the ends of their buckets, zeros elsewhere; after it all suffixes are in order. An entry that has
  // nothing more to induce is kept as its complement, so that only half of the entries are looked up in the text. Place 0 has no suffix
  // before it; since it is never looked up, it cannot be confused with an empty place.
  void induce() {
    bucket_starts();
    put_larger(n_ - 1);
    for (Index i = 0; i < n_; ++i) {
      poll();
      if (i + kAhead<Index> < n_ && sa_[i + kAhead<Index>] > 0) __builtin_prefetch(t_ + sa_[i + kAhead<Index>] - 1);
      const Index j = sa_[i];
      sa_[i] = ~j;
      if (j > 0) put_larger(j - 1);
    }
    bucket_ends();
    for (Index i = n_ - 1; i >= 0; --i) {
      poll();
      if (i >= kAhead<Index> && sa_[i - kAhead<Index>] > 0) __builtin_prefetch(t_ + sa_[i - kAhead<Index>] - 1);
      const Index j = sa_[i];
      if (j <= 0) {
        sa_[i] = ~j;
        continue;
      }
      const Index p = j - 1;
      sa_[--place(p)] = p == 0 || t_[p - 1] > t_[p] ? ~p : p;
    }
  }
  void put_larger(Index p) { sa_[place(p)++] = p > 0 && t_[p - 1] < t_[p] ? ~p : p; }

  // Puts the m LMS suffixes in order at sa[0..m). Before, all places are in the order of their runs up to the second LMS place.
  void sort_lms(Index m) {
    Index found = 0;
    for (Index i = 0; i < n_; ++i) {
      const Index j = sa_[i];
      sa_[found] = j;  // overwritten unless it counts; overwritten entries have been read
      found += is_lms(j);
    }

    // Indexed by half of the place (LMS places are two apart): first the length of the run, then its name.
    Index* const by_place = sa_ + m;
    std::fill(by_place, sa_ + n_, Index{-1});
    Index next = n_;  // the end of the text is one symbol more
    lms_from_the_right([&](Index i) {
      by_place[i >> 1] = next - i + 1;
      next = i;
    });
    Index names = 0, last = 0, last_length = 0;
    for (Index r = 0; r < m; ++r) {
      if (r + kAhead<Index> < m) __builtin_prefetch(by_place + (sa_[r + kAhead<Index>] >> 1));
      const Index i = sa_[r], length = by_place[i >> 1];
      const bool same = length == last_length && i + length <= n_ && last + length <= n_ && std::equal(t_ + i, t_ + i + length, t_ + last);
      names += !same;
      last = i;
      last_length = length;
      by_place[i >> 1] = names - 1;
    }
    if (names == m) return;

    Index* const text = sa_ + n_ - m;
    Index at = m;
    for (Index i = n_ - m - 1; i >= 0; --i)
      if (by_place[i] >= 0) text[--at] = by_place[i];
    InducedSort<Index, Index>(text, sa_, m, names).sort();
    at = m;
    lms_from_the_right([&](Index i) { text[--at] = i; });
    for (Index r = 0; r < m; ++r) sa_[r] = text[sa_[r]];
  }

  const Symbol* t_;
  Index* sa_;
  Index n_;
  Array<std::uint64_t> lms_;  // a bit a place
  Array<Index> counts_, places_;
};

// The data of a place of the text by rank: one cache line for both.
template <class Index>
struct Place {
  Index shared;  // at first the suffix before this one in the order, then the symbols shared with it
  std::int32_t sequence;
};

template <class Symbol, class Index>
SuffixArray<Index> sorted_suffixes(const Sequences& data, std::int32_t alphabet_size, int threads) {
  const std::size_t n_sequences = data.size(), n_symbols = static_cast<std::size_t>(data.offsets.back() - data.offsets.front());
  const std::size_t n = n_symbols + n_sequences;
  Buffer<Symbol> text(n);
  Buffer<Place<Index>> places(n);
  // Sequence i begins at offsets[i] - offsets[0] + i of the text, so that shares of sequences are shares of the text.
  const auto cuts = balanced_cuts(data.offsets, n < 100000 ? 1 : threads);
  const int n_shares = static_cast<int>(cuts.size()) - 1;
  const auto begin = [&](std::size_t i) { return static_cast<std::size_t>(data.offsets[i] - data.offsets.front()) + i; };
  run_between(cuts, [&](std::size_t i) {
    std::size_t at = begin(i);
    for (const std::int32_t symbol : data[i]) {
      places[at].sequence = static_cast<std::int32_t>(i);
      text[at++] = static_cast<Symbol>(symbol + 1);
    }
    text[at] = Symbol{0};
  });

  Buffer<Index> sa(n);
  InducedSort<Symbol, Index>(text.data(), sa.data(), static_cast<Index>(n), static_cast<Index>(alphabet_size + 1)).sort();

  // The separators come first, one for each sequence: ranks are counted after them.
  SuffixArray<Index> out{Buffer<Index>(n_symbols), Buffer<std::int32_t>(n_symbols), Buffer<Index>(n_symbols)};
  const auto share = [&](int p) { return n_symbols * static_cast<std::size_t>(p) / static_cast<std::size_t>(n_shares); };
  const Index* const order = sa.data() + n_sequences;
  constexpr std::size_t ahead = 32;
  run_shares(n_shares, [&](int p) {
    for (std::size_t r = share(p); r < share(p + 1); ++r) {
      if (r + ahead < n_symbols) __builtin_prefetch(&places[static_cast<std::size_t>(order[r + ahead])], 1);
      places[static_cast<std::size_t>(order[r])].shared = order[static_cast<std::ptrdiff_t>(r) - 1];
    }
  });
  run_shares(n_shares, [&](int p) {
    // A suffix shares at most one symbol less with its neighbour than the suffix a symbol earlier did: h falls n times at most.
    std::size_t h = 0;
    const std::size_t end = begin(cuts[p + 1]);
    for (std::size_t i = begin(cuts[p]); i < end; ++i) {
      if (text[i] == Symbol{0}) continue;  // and h is 0 after the last symbol of a sequence
      if (i + ahead < end) __builtin_prefetch(text.data() + (text[i + ahead] == Symbol{0} ? Index{0} : places[i + ahead].shared));
      poll();
      const Symbol* const before = text.data() + places[i].shared;
      while (text[i + h] != Symbol{0} && text[i + h] == before[h]) ++h;
      places[i].shared = static_cast<Index>(h);
      h -= h > 0;
    }
  });
  run_shares(n_shares, [&](int p) {
    for (std::size_t r = share(p); r < share(p + 1); ++r) {
      if (r + ahead < n_symbols) __builtin_prefetch(&places[static_cast<std::size_t>(order[r + ahead])]);
      const Place<Index> place = places[static_cast<std::size_t>(order[r])];
      out.suffix[r] = order[r] - static_cast<Index>(place.sequence);
      out.sequence[r] = place.sequence;
      out.lcp[r] = place.shared;
    }
  });
  return out;
}

}  // namespace

template <class Index>
SuffixArray<Index> suffix_array(const Sequences& data, std::int32_t alphabet_size, int threads) {
  return with_symbol_type(std::int64_t{alphabet_size} + 1,
                          [&](auto symbol) { return sorted_suffixes<decltype(symbol), Index>(data, alphabet_size, threads); });
}

template SuffixArray<std::int32_t> suffix_array<std::int32_t>(const Sequences&, std::int32_t, int);
template SuffixArray<std::int64_t> suffix_array<std::int64_t>(const Sequences&, std::int32_t, int);

}  // namespace treille
