#pragma once
// Rows of one part of a data set, for solvers whose weights belong to all parts together.
//
// A row has the features of several terms, one after another, as in a sum of kernels. Each term is coded rows (coded_rows.hpp), whose
// columns may have weights s_z: x_iz = scale_i s_z v_iz. W' is kept as u_z = s_z w_z in one array for all features of all terms, as
// CodedRows does:  w.x_i = sum_z u_z v_iz,  w += a x_i  is  u_z += a s_z^2 v_iz,  |w|^2 = sum_z (u_z / s_z)^2.
//
// Rows come in segments, one after another, each with codebooks of its own: files, say, and rows picked from others.

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "features/coded_rows.hpp"
#include "memory.hpp"

namespace treille {

class PartRows {
 public:
  struct Term {
    std::variant<CodedRowsView<std::uint32_t>, CodedRowsView<std::uint64_t>> rows;
    std::span<const double> column_weights;  // one per feature; empty: all 1
    std::size_t first;                       // id of its first feature among those of all terms
    std::size_t n_features;
  };

  using Segment = std::vector<Term>;

  using Weights = std::vector<double>;  // u

  explicit PartRows(std::vector<Segment> segments) : segments_(std::move(segments)) {
    for (const Term& term : segments_.front()) n_features_ += term.n_features;
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      first_.push_back(segment_of_.size());
      segment_of_.resize(segment_of_.size() + std::visit([](const auto& rows) { return rows.size(); }, segments_[s].front().rows),
                         static_cast<std::uint32_t>(s));
    }
  }

  std::size_t size() const { return segment_of_.size(); }

  Weights zero() const { return Weights(n_features_, 0.0); }

  // Of the w that belong to u and v.
  double inner(const Weights& u, const Weights& v) const {
    double sum = 0;
    for (const Term& term : segments_.front())
      for (std::size_t z = 0; z < term.n_features; ++z) {
        const double s = term.column_weights.empty() ? 1.0 : term.column_weights[z];
        if (s != 0) sum += u[term.first + z] / s * (v[term.first + z] / s);
      }
    return sum;
  }

  double dot(std::size_t row, const Weights& u) const { return dot(row, u.data()); }
  void axpy(std::size_t row, double a, Weights& u) const { axpy(row, a, u.data()); }

  double dot(std::size_t row, const double* u) const {
    double sum = 0;
    const auto [terms, i] = locate(row);
    for (const Term& term : terms) std::visit([&](const auto& rows) { sum += rows.scale[i] * dot(rows, i, u + term.first); }, term.rows);
    return sum;
  }

  void axpy(std::size_t row, double a, double* u) const {
    const auto [terms, i] = locate(row);
    for (const Term& term : terms)
      std::visit(
          [&](const auto& rows) {
            const double step = a * rows.scale[i];
            if (term.column_weights.empty())
              add(rows, i, u + term.first, [step](std::size_t, double value) { return step * value; });
            else
              add(rows, i, u + term.first,
                  [step, s = term.column_weights.data()](std::size_t z, double value) { return step * value * s[z] * s[z]; });
          },
          term.rows);
  }

  double sq_norm(std::size_t row) const {
    double sum = 0;
    const auto [terms, i] = locate(row);
    for (const Term& term : terms)
      std::visit(
          [&](const auto& rows) {
            double own = 0;
            for (const auto entry : rows.row(i)) {
              const double s = term.column_weights.empty() ? 1.0 : term.column_weights[rows.id(entry)];
              own += s * s * rows.value(entry) * rows.value(entry);
            }
            sum += rows.scale[i] * rows.scale[i] * own;
          },
          term.rows);
    return sum;
  }

  // Requests the start of a row while another is read.
  void prefetch(std::size_t row) const {
    const auto [terms, i] = locate(row);
    for (const Term& term : terms)
      std::visit(
          [&](const auto& rows) {
            const char* at = reinterpret_cast<const char*>(rows.begin(i));
            const char* stop = std::min(reinterpret_cast<const char*>(rows.end(i)), at + 1024);
            for (; at < stop; at += 64) request(at);
          },
          term.rows);
  }

 private:
  // The segment of a row, and its place there.
  std::pair<const Segment&, std::size_t> locate(std::size_t row) const {
    const std::size_t s = segment_of_[row];
    return {segments_[s], row - first_[s]};
  }

  template <class Word>
  static double dot(const CodedRowsView<Word>& rows, std::size_t i, const double* u) {
    const Word *e = rows.begin(i), *const stop = rows.end(i);
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (; e + 4 <= stop; e += 4) {
      s0 += rows.value(e[0]) * u[rows.id(e[0])];
      s1 += rows.value(e[1]) * u[rows.id(e[1])];
      s2 += rows.value(e[2]) * u[rows.id(e[2])];
      s3 += rows.value(e[3]) * u[rows.id(e[3])];
    }
    for (; e < stop; ++e) s0 += rows.value(*e) * u[rows.id(*e)];
    return (s0 + s1) + (s2 + s3);
  }

  template <class Word, class Change>
  static void add(const CodedRowsView<Word>& rows, std::size_t i, double* u, Change&& change) {
    const Word *e = rows.begin(i), *const stop = rows.end(i);
    auto next = [&](Word entry) { return static_cast<double>(u[rows.id(entry)] + change(rows.id(entry), rows.value(entry))); };
    for (; e + 4 <= stop; e += 4) {  // the ids of a row differ, so four reads may go before four writes
      const double v0 = next(e[0]), v1 = next(e[1]), v2 = next(e[2]), v3 = next(e[3]);
      u[rows.id(e[0])] = v0;
      u[rows.id(e[1])] = v1;
      u[rows.id(e[2])] = v2;
      u[rows.id(e[3])] = v3;
    }
    for (; e < stop; ++e) u[rows.id(*e)] = next(*e);
  }

  std::vector<Segment> segments_;
  std::size_t n_features_ = 0;
  std::vector<std::size_t> first_;         // row of each segment
  std::vector<std::uint32_t> segment_of_;  // each row
};

}  // namespace treille
