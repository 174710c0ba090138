#pragma once
// Rows with W' kept as the alphas alone: W' = sum_j alpha_j Phi_j is never summed up, and
//   dot    sum_j alpha_j k(x_i, x_j),  each k the product of two sparse rows: all entries of all rows with alpha_j != 0
//   axpy   alpha_i += a:  O(1)
// Allauzen, Cortes, Mohri, section 5.1. For comparison: it costs as much as a solver that computes kernel values on demand.

#include <cstdint>
#include <vector>

#include "features/coded_rows.hpp"
#include "memory.hpp"

namespace treille {

class NaiveRows {
 public:
  // A dot writes its row out to `row`, and clears it again.
  struct Weights {
    std::vector<double> alpha;
    mutable Array<double> row;
  };

  template <class Word>
  explicit NaiveRows(const CodedRowsView<Word>& data)
      : indptr_(data.indptr.begin(), data.indptr.end()), entries_(data.entries.size()), n_features_(data.n_features) {
    Entry* to = entries_.data();
    for (std::size_t i = 0; i < data.size(); ++i)
      for (const Word entry : data.row(i)) *to++ = {data.scale[i] * data.value(entry), static_cast<std::uint32_t>(data.id(entry))};
  }

  std::size_t size() const { return indptr_.size() - 1; }
  std::size_t n_features() const { return n_features_; }

  Weights zero() const { return {std::vector<double>(size(), 0.0), Array<double>(n_features_, 0.0)}; }

  double sq_norm(std::size_t i) const {
    double sum = 0;
    for (const Entry* e = begin(i); e < end(i); ++e) sum += e->value * e->value;
    return sum;
  }

  double dot(std::size_t i, const Weights& w) const {
    for (const Entry* e = begin(i); e < end(i); ++e) w.row[e->id] = e->value;
    double sum = 0;
    for (std::size_t j = 0; j < size(); ++j) {
      if (w.alpha[j] == 0) continue;
      double product = 0;
      for (const Entry* e = begin(j); e < end(j); ++e) product += e->value * w.row[e->id];
      sum += w.alpha[j] * product;
    }
    for (const Entry* e = begin(i); e < end(i); ++e) w.row[e->id] = 0;
    return sum;
  }

  void axpy(std::size_t i, double a, Weights& w) const { w.alpha[i] += a; }

  void prefetch(std::size_t i) const { request(begin(i)); }

  // w with one number per feature, added to out[id * stride].
  void write_weights(const Weights& w, double* out, std::size_t stride) const {
    for (std::size_t i = 0; i < size(); ++i)
      if (w.alpha[i] != 0)
        for (const Entry* e = begin(i); e < end(i); ++e) out[e->id * stride] += w.alpha[i] * e->value;
  }

  std::size_t nbytes() const { return 8 * size(); }  // of W'

 private:
  struct Entry {
    double value;
    std::uint32_t id;
  };

  const Entry* begin(std::size_t i) const { return entries_.data() + indptr_[i]; }
  const Entry* end(std::size_t i) const { return entries_.data() + indptr_[i + 1]; }

  std::vector<std::int64_t> indptr_;
  Array<Entry> entries_;
  std::size_t n_features_;
};

}  // namespace treille
