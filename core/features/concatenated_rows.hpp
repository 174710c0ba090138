#pragma once
// The rows space of a sum of kernels: an example has the features of several terms, and each term may have a centre.
//
// Row i of a term is  r_i - shift_i m,  where r_i is row i of its sparse rows and m a dense vector, the centre (or nothing). It is never
// written out. With the term's share of W' kept as  w = u - s m,  u sparse-made, s a number, and t = u.m kept up to date,
//   dot    (r_i - shift_i m).w = r_i.u - s (r_i.m) - shift_i (t - s |m|^2)
//   axpy   u += a r_i,  s += a shift_i,  t += a (r_i.m)
// so that a centre costs a few operations a visit. The products r_i.m are given. Everything else is the sum over terms.

#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "features/rows.hpp"

namespace treille {

// Kinds: the possible types of the terms' sparse rows, each a FeatureRows with write_weights.
template <FeatureRows... Kinds>
class ConcatenatedRows {
 public:
  struct Centre {
    std::span<const double> mean, shift, dots;  // m, shift_i and r_i.m; all empty: no centre
  };

  struct Term {
    std::variant<Kinds...> rows;
    std::size_t n_features;
    Centre centre;
  };

  struct TermWeights {
    std::variant<typename Kinds::Weights...> u;
    double s = 0, t = 0;
  };

  struct Weights {
    std::vector<TermWeights> terms;
  };

  explicit ConcatenatedRows(std::vector<Term> terms) : terms_(std::move(terms)) {
    for (const Term& term : terms_) {
      const auto m = term.centre.mean;
      mean_sq_.push_back(std::inner_product(m.begin(), m.end(), m.begin(), 0.0));
    }
  }

  std::size_t size() const {
    return std::visit([](const auto& rows) { return rows.size(); }, terms_.front().rows);
  }

  Weights zero() const {
    Weights w;
    for (const Term& term : terms_) w.terms.push_back(std::visit([](const auto& rows) { return TermWeights{rows.zero()}; }, term.rows));
    return w;
  }

  double sq_norm(std::size_t i) const {
    double sum = 0;
    for (std::size_t p = 0; p < terms_.size(); ++p) {
      sum += std::visit([i](const auto& rows) { return rows.sq_norm(i); }, terms_[p].rows);
      const Centre& centre = terms_[p].centre;
      if (!centre.mean.empty()) sum += centre.shift[i] * (centre.shift[i] * mean_sq_[p] - 2 * centre.dots[i]);
    }
    return std::max(sum, 0.0);
  }

  double dot(std::size_t i, const Weights& w) const {
    double sum = 0;
    for (std::size_t p = 0; p < terms_.size(); ++p) {
      const TermWeights& own = w.terms[p];
      sum += std::visit([&]<class R>(const R& rows) { return rows.dot(i, in<R>(own)); }, terms_[p].rows);
      const Centre& centre = terms_[p].centre;
      if (!centre.mean.empty()) sum -= own.s * centre.dots[i] + centre.shift[i] * (own.t - own.s * mean_sq_[p]);
    }
    return sum;
  }

  void axpy(std::size_t i, double a, Weights& w) const {
    for (std::size_t p = 0; p < terms_.size(); ++p) {
      TermWeights& own = w.terms[p];
      std::visit([&]<class R>(const R& rows) { rows.axpy(i, a, in<R>(own)); }, terms_[p].rows);
      const Centre& centre = terms_[p].centre;
      if (centre.mean.empty()) continue;
      own.s += a * centre.shift[i];
      own.t += a * centre.dots[i];
    }
  }

  void prefetch_record(std::size_t i, const Weights& w) const {
    for (std::size_t p = 0; p < terms_.size(); ++p)
      std::visit([&]<class R>(const R& rows) { rows.prefetch_record(i, in<R>(w.terms[p])); }, terms_[p].rows);
  }

  void prefetch(std::size_t i) const {
    for (const Term& term : terms_) std::visit([i](const auto& rows) { rows.prefetch(i); }, term.rows);
  }

  // (u - s m).(u' - s' m) = u.u' - s t' - s' t + s s' |m|^2
  double inner(const Weights& v, const Weights& w) const {
    double sum = 0;
    for (std::size_t p = 0; p < terms_.size(); ++p) {
      const TermWeights &a = v.terms[p], &b = w.terms[p];
      sum += std::visit([&]<class R>(const R& rows) { return rows.inner(in<R>(a), in<R>(b)); }, terms_[p].rows);
      sum += a.s * (b.s * mean_sq_[p] - b.t) - b.s * a.t;
    }
    return sum;
  }
  void combine(double a, Weights& w, double b, const Weights& v) const {
    for (std::size_t p = 0; p < terms_.size(); ++p) {
      std::visit([&]<class R>(const R& rows) { rows.combine(a, in<R>(w.terms[p]), b, in<R>(v.terms[p])); }, terms_[p].rows);
      w.terms[p].s = a * w.terms[p].s + b * v.terms[p].s;
      w.terms[p].t = a * w.terms[p].t + b * v.terms[p].t;
    }
  }
  // A centred term keeps the diagonal 0: divided, its weights would no longer be u - s m.
  void add_squares(std::size_t i, double a, Weights& diagonal) const {
    for (std::size_t p = 0; p < terms_.size(); ++p)
      if (terms_[p].centre.mean.empty())
        std::visit([&]<class R>(const R& rows) { rows.add_squares(i, a, in<R>(diagonal.terms[p])); }, terms_[p].rows);
  }
  void divide(Weights& w, const Weights& diagonal) const {
    for (std::size_t p = 0; p < terms_.size(); ++p)
      std::visit([&]<class R>(const R& rows) { rows.divide(in<R>(w.terms[p]), in<R>(diagonal.terms[p])); }, terms_[p].rows);
  }
  std::size_t n_entries() const {
    return sum_of([](const auto& rows) { return rows.n_entries(); });
  }
  std::size_t n_cells() const {
    return sum_of([](const auto& rows) { return rows.n_cells(); });
  }

  // w with one number per feature, the terms' features one after another, written to out[id * stride], which holds zeros.
  void write_weights(const Weights& w, double* out, std::size_t stride) const {
    for (std::size_t p = 0; p < terms_.size(); ++p) {
      std::visit([&]<class R>(const R& rows) { rows.write_weights(in<R>(w.terms[p]), out, stride); }, terms_[p].rows);
      const auto mean = terms_[p].centre.mean;
      for (std::size_t id = 0; id < mean.size(); ++id) out[id * stride] -= w.terms[p].s * mean[id];
      out += terms_[p].n_features * stride;
    }
  }

 private:
  template <class Count>
  std::size_t sum_of(Count&& count) const {
    std::size_t sum = 0;
    for (const Term& term : terms_) sum += std::visit(count, term.rows);
    return sum;
  }
  template <class R>
  static auto& in(TermWeights& w) {
    return *std::get_if<typename R::Weights>(&w.u);
  }
  template <class R>
  static const auto& in(const TermWeights& w) {
    return *std::get_if<typename R::Weights>(&w.u);
  }

  std::vector<Term> terms_;
  std::vector<double> mean_sq_;  // |m|^2
};

}  // namespace treille
