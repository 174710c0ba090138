#pragma once
// The rows space: the interface of examples with explicit features for DualCD and similar solvers.

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "features/coded_rows.hpp"
#include "memory.hpp"
#include "spin_worker.hpp"

namespace treille {

// Entries from which on a row is worth more care, such as two threads.
constexpr std::size_t kLongRow = 4096;

// `Weights` is the representation of W' = sum_i alpha_i y_i Phi_i that the rows read and update.
template <class R>
concept FeatureRows = requires(const R& rows, std::size_t i, double a, typename R::Weights& w, const typename R::Weights& constant) {
  { rows.size() } -> std::convertible_to<std::size_t>;
  { rows.zero() } -> std::same_as<typename R::Weights>;
  { rows.dot(i, constant) } -> std::convertible_to<double>;
  { rows.sq_norm(i) } -> std::convertible_to<double>;
  rows.axpy(i, a, w);
  rows.prefetch(i);
};

// Rows whose weights are vectors, too: solvers in the primal add and multiply them.
template <class R>
concept VectorRows = FeatureRows<R> && requires(const R& rows, double a, typename R::Weights& w, const typename R::Weights& v) {
  { rows.inner(v, v) } -> std::convertible_to<double>;
  rows.combine(a, w, a, v);                                  // w <- a w + b v
  rows.add_squares(std::size_t{}, a, w);                     // w_z += a x_iz^2, where w is a diagonal matrix
  rows.divide(w, v);                                         // w_z <- w_z / (1 + v_z), where v is a diagonal matrix
  { rows.n_entries() } -> std::convertible_to<std::size_t>;  // that a pass over all rows reads
  { rows.n_cells() } -> std::convertible_to<std::size_t>;    // numbers in w, without the numbers of rows
};

// The loops of vectors of weights. Four sums, which the compiler may not make of one.
inline double inner_product(const double* v, const double* w, std::size_t n) {
  double s[4] = {0, 0, 0, 0};
  std::size_t z = 0;
  for (; z + 4 <= n; z += 4)
    for (std::size_t k = 0; k < 4; ++k) s[k] += v[z + k] * w[z + k];
  for (; z < n; ++z) s[0] += v[z] * w[z];
  return (s[0] + s[1]) + (s[2] + s[3]);
}
inline void combine(double a, double* w, double b, const double* v, std::size_t n) {
  if (a == 0)
    for (std::size_t z = 0; z < n; ++z) w[z] = b * v[z];
  else
    for (std::size_t z = 0; z < n; ++z) w[z] = a * w[z] + b * v[z];
}

inline void divide(double* w, const double* diagonal, std::size_t n) {
  for (std::size_t z = 0; z < n; ++z) w[z] /= 1 + diagonal[z];
}

// A dense matrix, row by row.
class DenseRows {
 public:
  using Weights = std::vector<double>;

  DenseRows(std::span<const double> values, std::size_t n_rows, std::size_t n_features) : values_(values), n_(n_rows), m_(n_features) {}

  std::size_t size() const { return n_; }

  Weights zero() const { return Weights(m_, 0.0); }

  double sq_norm(std::size_t i) const { return dot(i, std::vector<double>(row(i), row(i) + m_)); }

  double dot(std::size_t i, const std::vector<double>& w) const { return inner_product(row(i), w.data(), m_); }

  void axpy(std::size_t i, double a, std::vector<double>& w) const {
    const double* x = row(i);
    for (std::size_t z = 0; z < m_; ++z) w[z] = w[z] + a * x[z];
  }

  void prefetch(std::size_t i) const { request(row(i)); }

  double inner(const Weights& v, const Weights& w) const { return inner_product(v.data(), w.data(), m_); }
  void combine(double a, Weights& w, double b, const Weights& v) const { treille::combine(a, w.data(), b, v.data(), m_); }
  void add_squares(std::size_t i, double a, Weights& diagonal) const {
    for (std::size_t z = 0; z < m_; ++z) diagonal[z] += a * row(i)[z] * row(i)[z];
  }
  void divide(Weights& w, const Weights& diagonal) const { treille::divide(w.data(), diagonal.data(), m_); }
  std::size_t n_entries() const { return n_ * m_; }
  std::size_t n_cells() const { return m_; }

  void write_weights(const Weights& w, double* out, std::size_t stride) const {
    for (std::size_t z = 0; z < m_; ++z) out[z * stride] = w[z];
  }

 private:
  const double* row(std::size_t i) const { return values_.data() + i * m_; }

  std::span<const double> values_;
  std::size_t n_, m_;
};

// Coded rows (coded_rows.hpp) with W' as one number per feature.
//
// Columns may have weights s_z: row i is then x_iz = s_z v_iz, v_iz the coded values, which are not touched. W' is kept as u_z = s_z w_z,
// so that a dot reads no more than without weights, and an axpy multiplies by s_z^2:  w.x_i = sum_z u_z v_iz,  w += a x_i  is  u_z += a
// s_z^2 v_iz.
//
// If ids fall with frequency, most reads of w hit its cached head. Features from n_shared on are singletons: they occur in at most
// one row. A singleton z of row i has w_z = (what axpy added to row i) * phi_z, whatever happens elsewhere: the row keeps one
// number for all of them, `own`, and reads only its shared prefix. Every iterate is exact.
//
// Rows of thousands of entries are read in two halves, the features before and after one fixed id, which two threads may do at the same
// time (shared_with): each keeps its half of w in its own cache. The sums are the same with one thread or two.
template <class Word>
class CodedRows {
 public:
  struct Weights {
    Array<double> shared;
    std::vector<double> own;
  };

  using Data = CodedRowsView<Word>;

  // `column_weights`: one for each feature; empty: all 1.
  explicit CodedRows(const Data& data, std::span<const double> column_weights = {})
      : data_(data), rows_(size()), column_weights_(column_weights) {
    for (const double weight : column_weights) squares_.push_back(weight * weight);
    for (std::size_t i = 0; i < size(); ++i) {
      if (i + kRowsAhead < size()) request(end(i + kRowsAhead));
      const Word *first = data_.begin(i), *split = end(i);
      while (split > first && id(split[-1]) >= data_.n_shared) --split;  // from the end: a binary search would wait for memory
      rows_[i] = {first, split, data_.scale[i], sum_of_squares(split, end(i))};
    }
    if (are_long()) cut_in_halves();
  }

  std::size_t size() const { return data_.size(); }

  bool are_long() const { return data_.entries.size() >= kLongRow * std::max<std::size_t>(size(), 1); }

  // The same rows, read by two threads if they are long. Then only one caller at a time is allowed.
  CodedRows shared_with(SpinWorker& worker) const {
    CodedRows rows = *this;
    rows.worker_ = &worker;
    return rows;
  }

  Weights zero() const { return {Array<double>(data_.n_shared, 0.0), std::vector<double>(size(), 0.0)}; }

  double sq_norm(std::size_t i) const {
    return rows_[i].scale * rows_[i].scale * (sum_of_squares(begin(i), split(i)) + rows_[i].singleton_sq);
  }

  double dot(std::size_t i, const Weights& w) const {
    const double* weights = w.shared.data();
    double sum = 0, rest = 0;
    if (middle_.empty())
      sum = data_.dot(begin(i), split(i), weights);
    else
      in_halves([&] { sum = data_.dot(begin(i), middle_[i], weights); }, [&] { rest = data_.dot(middle_[i], split(i), weights); });
    return rows_[i].scale * (sum + rest + w.own[i] * rows_[i].singleton_sq);
  }

  void axpy(std::size_t i, double a, Weights& w) const {
    double* weights = w.shared.data();
    a *= rows_[i].scale;
    if (middle_.empty())
      axpy(begin(i), split(i), a, weights);
    else
      in_halves([&] { axpy(begin(i), middle_[i], a, weights); }, [&] { axpy(middle_[i], split(i), a, weights); });
    w.own[i] += a;
  }

  // Prefetches the memory that prefetch and dot read first.
  void prefetch_record(std::size_t i, const Weights& w) const {
    request(&rows_[i]);
    request(&w.own[i]);
  }

  void prefetch(std::size_t i) const { data_.prefetch(begin(i), split(i)); }

  // |w|^2 is the sum of (u_z / s_z)^2, and of own_i^2 times the singletons' squares.
  double inner(const Weights& v, const Weights& w) const {
    double sum = 0;
    if (squares_.empty())
      sum = inner_product(v.shared.data(), w.shared.data(), data_.n_shared);
    else
      for (std::size_t id = 0; id < data_.n_shared; ++id)
        if (squares_[id] > 0) sum += v.shared[id] * w.shared[id] / squares_[id];
    if (data_.n_shared < data_.n_features)
      for (std::size_t i = 0; i < size(); ++i) sum += v.own[i] * w.own[i] * rows_[i].singleton_sq;
    return sum;
  }
  void combine(double a, Weights& w, double b, const Weights& v) const {
    treille::combine(a, w.shared.data(), b, v.shared.data(), data_.n_shared);
    treille::combine(a, w.own.data(), b, v.own.data(), size());
  }
  // The singletons of a row always have weights in one proportion, so the matrix is a number there.
  void add_squares(std::size_t i, double a, Weights& diagonal) const {
    a *= rows_[i].scale * rows_[i].scale;
    auto add = [&](auto&& square) {
      for (const Word* e = begin(i); e < split(i); ++e) diagonal.shared[id(*e)] += a * value(*e) * value(*e) * square(id(*e));
    };
    if (squares_.empty())
      add([](std::size_t) { return 1.0; });
    else
      add([&](std::size_t z) { return squares_[z]; });
    diagonal.own[i] += a * rows_[i].singleton_sq;
  }
  void divide(Weights& w, const Weights& diagonal) const {
    treille::divide(w.shared.data(), diagonal.shared.data(), data_.n_shared);
    treille::divide(w.own.data(), diagonal.own.data(), size());
  }
  std::size_t n_entries() const { return data_.entries.size(); }
  std::size_t n_cells() const { return data_.n_shared; }

  // w with one number per feature, written to out[id * stride].
  void write_weights(const Weights& w, double* out, std::size_t stride) const {
    const double* s = column_weights_.data();
    for (std::size_t id = 0; id < data_.n_shared; ++id)
      out[id * stride] = column_weights_.empty() ? w.shared[id] : s[id] != 0 ? w.shared[id] / s[id] : 0.0;
    for (std::size_t i = 0; i < size(); ++i)
      if (w.own[i] != 0)
        for (const Word* e = split(i); e < end(i); ++e)
          out[id(*e) * stride] += w.own[i] * value(*e) * (column_weights_.empty() ? 1.0 : s[id(*e)]);
  }

 private:
  static constexpr std::size_t kRowsAhead = 8;

  void axpy(const Word* e, const Word* stop, double step, double* weights) const {
    const double *codebook = data_.codebook.data(), *squares = squares_.data();
    if (squares_.empty())
      data_.add(e, stop, weights, [=, this](Word entry) { return step * codebook[code(entry)]; });
    else
      data_.add(e, stop, weights, [=, this](Word entry) { return step * codebook[code(entry)] * squares[id(entry)]; });
  }

  template <class Low, class High>
  void in_halves(Low&& low, High&& high) const {
    if (worker_ != nullptr) return worker_->run(low, high);
    low();
    high();
  }

  // Cuts at the id that halves the entries, estimated from some rows.
  void cut_in_halves() {
    std::vector<std::size_t> ids;
    for (std::size_t i = 0; i < size(); i += 1 + size() / 64)
      for (const Word* e = begin(i); e < split(i); e += std::min<std::ptrdiff_t>(16, split(i) - e)) ids.push_back(id(*e));
    if (ids.empty()) return;
    const auto half = ids.begin() + static_cast<std::ptrdiff_t>(ids.size() / 2);
    std::nth_element(ids.begin(), half, ids.end());
    middle_.resize(size());
    for (std::size_t i = 0; i < size(); ++i) middle_[i] = std::partition_point(begin(i), split(i), [&](Word e) { return id(e) < *half; });
  }

  // The data of a row that a visit needs, in half a cache line: for short rows, reading it from several arrays costs more than the entries.
  struct Row {
    const Word *begin, *split;  // singletons from `split` on
    double scale, singleton_sq;
  };

  const Word* begin(std::size_t i) const { return rows_[i].begin; }
  const Word* split(std::size_t i) const { return rows_[i].split; }
  const Word* end(std::size_t i) const { return data_.end(i); }
  std::size_t id(Word entry) const { return data_.id(entry); }
  std::size_t code(Word entry) const { return data_.code(entry); }
  double value(Word entry) const { return data_.value(entry); }
  double sum_of_squares(const Word* first, const Word* last) const {
    double sum = 0;
    if (squares_.empty())
      for (; first < last; ++first) sum += value(*first) * value(*first);
    else
      for (; first < last; ++first) sum += value(*first) * value(*first) * squares_[id(*first)];
    return sum;
  }

  Data data_;
  Array<Row> rows_;
  std::vector<const Word*> middle_;  // where row i's second half begins; empty unless rows are long
  SpinWorker* worker_ = nullptr;
  std::span<const double> column_weights_;
  Array<double> squares_;  // of the weights of columns
};

}  // namespace treille
