#pragma once
// Features whose columns over the rows are proportional: for every alpha they have proportional weights in W' = sum_i alpha_i y_i Phi_i.
//
// Feature z of class c has value(i, z) = v(z) x(i, c) in every row i. With |c|^2 = sum over z in c of v(z)^2, the unit vectors
// e_c = sum_z v(z) / |c| e_z are orthonormal, and row i is  sum_c x(i, c) |c| e_c:  as many entries as it has classes, the same inner
// products, and W'(z) = v(z) / |c| omega(c). All singletons of a row, features that occur nowhere else, are one class.
//
// Three passes over the entries: a hash of every column, divided by its first number; a check of every entry against its class, so that no
// collision of hashes can merge different columns; and the rows by class. Numbers are equal when their quotients are equal as doubles,
// which quotients of counts are whenever they are equal at all.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "features/coded_rows.hpp"
#include "features/row_builder.hpp"
#include "memory.hpp"
#include "parallel.hpp"
#include "tag_index.hpp"

namespace treille {

struct FeatureClasses {
  Array<std::uint32_t> of;    // the class of each feature: shared ones first, the more frequent the earlier, then one of singletons per row
  Array<double> value;        // v(z), positive for the first of a class; 0 where no row holds z
  Array<double> square;       // |c|^2
  std::size_t n_shared = 0;   // classes of features that the rows share
  std::size_t n_classes = 0;  // including the classes of singletons
};

template <class Word>
class ClassFinder {
 public:
  ClassFinder(const CodedRowsView<Word>& data, int threads) : data_(data), cuts_(balanced_cuts(data.indptr, threads)), threads_(threads) {
    const std::size_t n = data.indptr.size() - 1;
    split_.resize(n);
    for (std::size_t i = 0; i < n; ++i) split_[i] = std::partition_point(begin(i), end(i), [&](Word e) { return id(e) < data_.n_shared; });
  }

  FeatureClasses find() {
    hash_columns();
    group();
    verify();
    add_singletons();
    measure();
    return std::move(out_);
  }

  // The rows by class. The singletons of a row come last.
  CodedEntries merged_rows(const FeatureClasses& classes) const {
    Array<double> factor(classes.n_shared);  // factor of the first number of a class
    for (std::size_t c = 0; c < classes.n_shared; ++c) factor[c] = std::sqrt(classes.square[c]) / classes.value[leader_[c]];
    auto shares = fill_shares(cuts_, [&](std::size_t, std::size_t first, std::size_t last, RowShare& share) {
      for (std::size_t i = first; i < last; ++i) {
        for (const Word* e = begin(i); e < split_[i]; ++e) {
          if (e + kAhead < split_[i]) __builtin_prefetch(&mark_[id(e[kAhead])]);
          const std::uint32_t mark = mark_[id(*e)], c = mark & ~(kAlone | kLeads);
          if ((mark & kLeads) == 0 || value(*e) == 0) continue;
          share.add(c, (mark & kAlone) != 0 ? value(*e) : value(*e) * factor[c]);
        }
        double square = 0;
        for (const Word* e = split_[i]; e < end(i); ++e) square += value(*e) * value(*e);
        if (square > 0) share.add(classes.of[id(*split_[i])], std::sqrt(square));
        share.end_row();
      }
    });
    return join_shares(std::move(shares), {}, classes.n_classes);
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr int kAhead = 16;                                     // entries from which memory is asked for
  static constexpr std::uint32_t kAlone = 1u << 31, kLeads = 1u << 30;  // in mark_: the only feature of its class; the first

  struct Column {
    std::uint64_t hash = 0;
    std::uint32_t first = kNone;  // code of its first number
    std::uint32_t holders = 0;
  };

  // Each thread takes a range of ids, which is contiguous in every row.
  void hash_columns() {
    columns_.assign(data_.n_shared, {});
    const auto ranges = id_ranges(data_, threads_);
    run_shares(threads_, [&](int p) {
      for (std::size_t i = 0; i < split_.size(); ++i) {
        const std::uint64_t row = scrambled(i + 1);
        const auto mine = data_.between(i, ranges[p], ranges[p + 1]);
        const Word* const stop = std::min(mine.data() + mine.size(), split_[i]);
        for (const Word* e = mine.data(); e < stop; ++e) {
          if (e + kAhead < stop) __builtin_prefetch(&columns_[id(e[kAhead])], 1);
          const std::uint32_t own = code(*e);
          if (data_.codebook[own] == 0) continue;
          Column& column = columns_[id(*e)];
          if (column.first == kNone) column.first = own;
          ++column.holders;
          column.hash += own == column.first ? row : scrambled(row ^ std::bit_cast<std::uint64_t>(quotient(own, column.first)));
        }
      }
    });
  }

  // Classes by hash and number of rows, numbered by their first feature.
  void group() {
    out_.of.assign(data_.n_features, 0);
    TagIndex index("classes of features");
    for (std::size_t z = 0; z < data_.n_shared; ++z) {
      const Column& own = columns_[z];
      auto same = [&](std::uint32_t c) {
        const Column& other = columns_[leader_[c]];
        return other.hash == own.hash && other.holders == own.holders;
      };
      out_.of[z] = index.find_or_add(tag_of(scrambled(own.hash)), same, [&] { leader_.push_back(static_cast<std::uint32_t>(z)); });
    }
    if (leader_.size() >= kLeads) throw std::length_error("more than 2^30 classes of features");
    mark_.assign(out_.of.begin(), out_.of.begin() + static_cast<std::ptrdiff_t>(data_.n_shared));
    Array<std::uint32_t> members(leader_.size(), 0);
    for (const std::uint32_t c : mark_) ++members[c];
    for (std::size_t c = 0; c < leader_.size(); ++c) mark_[leader_[c]] |= members[c] == 1 ? kAlone | kLeads : kLeads;
  }

  // Every entry must be in a row that also has the first feature of its class, at the same quotient. As both have equally many rows, these
  // are the same.
  void verify() {
    std::vector<std::vector<std::uint32_t>> wrong(static_cast<std::size_t>(threads_));
    run_shares(threads_, [&](int p) {
      struct Seen {
        std::uint32_t row = 0, code = 0;
      };
      Array<Seen> seen(leader_.size());
      for (std::size_t i = cuts_[p]; i < cuts_[p + 1]; ++i)
        for (const Word* e = begin(i); e < split_[i]; ++e) {
          if (e + kAhead < split_[i]) __builtin_prefetch(&mark_[id(e[kAhead])]);
          const std::uint32_t mark = mark_[id(*e)], own = code(*e), c = mark & ~(kAlone | kLeads);
          if ((mark & kAlone) != 0 || data_.codebook[own] == 0) continue;
          if ((mark & kLeads) != 0) {
            seen[c] = {static_cast<std::uint32_t>(i + 1), own};
            continue;
          }
          const std::uint32_t of_first = columns_[leader_[c]].first, of_own = columns_[id(*e)].first;
          const bool same = seen[c].row == i + 1 &&
                            ((seen[c].code == of_first && own == of_own) || quotient(seen[c].code, of_first) == quotient(own, of_own));
          if (!same) wrong[static_cast<std::size_t>(p)].push_back(static_cast<std::uint32_t>(id(*e)));
        }
    });
    for (const auto& share : wrong)
      for (const std::uint32_t z : share)
        if (leader_[out_.of[z]] != z) {
          out_.of[z] = static_cast<std::uint32_t>(leader_.size());
          mark_[z] = out_.of[z] | kLeads;
          leader_.push_back(z);
        }
  }

  void add_singletons() {
    out_.n_shared = out_.n_classes = leader_.size();
    for (std::size_t i = 0; i < split_.size(); ++i) {
      if (split_[i] == end(i)) continue;
      for (const Word* e = split_[i]; e < end(i); ++e) out_.of[id(*e)] = static_cast<std::uint32_t>(out_.n_classes);
      ++out_.n_classes;
    }
  }

  void measure() {
    out_.value.assign(data_.n_features, 0.0);  // kept for columns that no row has
    auto first = [&](std::size_t z) { return columns_[z].first == kNone ? 0.0 : data_.codebook[columns_[z].first]; };
    for (std::size_t z = 0; z < data_.n_shared; ++z) out_.value[z] = std::copysign(1.0, first(leader_[out_.of[z]])) * first(z);
    for (std::size_t i = 0; i < split_.size(); ++i)
      for (const Word* e = split_[i]; e < end(i); ++e) out_.value[id(*e)] = value(*e);
    out_.square.assign(out_.n_classes, 0.0);
    for (std::size_t z = 0; z < data_.n_features; ++z)
      if (out_.n_classes > 0) out_.square[out_.of[z]] += out_.value[z] * out_.value[z];
  }

  const Word* begin(std::size_t i) const { return data_.begin(i); }
  const Word* end(std::size_t i) const { return data_.end(i); }
  std::size_t id(Word e) const { return data_.id(e); }
  std::uint32_t code(Word e) const { return static_cast<std::uint32_t>(data_.code(e)); }
  double value(Word e) const { return data_.value(e); }
  double quotient(std::uint32_t code, std::uint32_t first) const { return data_.codebook[code] / data_.codebook[first]; }

  CodedRowsView<Word> data_;
  std::vector<std::size_t> cuts_;
  int threads_;
  std::vector<const Word*> split_;  // where the singletons of row i begin
  Array<Column> columns_;
  Array<std::uint32_t> leader_;  // the first feature of each shared class
  Array<std::uint32_t> mark_;    // by shared feature: its class, and whether it is the first or only feature of it
  FeatureClasses out_;
};

}  // namespace treille
