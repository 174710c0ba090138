#pragma once
// Rows of one part of a data set, for solvers whose weights belong to all parts together.
//
// A row has the features of several terms, one after another, as in a sum of kernels. Each term is coded rows (coded_rows.hpp), whose
// columns may have weights s_z: x_iz = scale_i s_z v_iz. W' is kept as u_z = s_z w_z in one array for all features of all terms, as
// CodedRows does:  w.x_i = sum_z u_z v_iz,  w += a x_i  is  u_z += a s_z^2 v_iz.
//
// Rows come in segments, one after another, each with its own codebooks, such as files, and rows selected from others.

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
    std::size_t first;                       // id of its first feature among the features of all terms
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

  void write_weights(const Weights& u, double* out, std::size_t stride) const {
    for (const Term& term : segments_.front())
      for (std::size_t z = 0; z < term.n_features; ++z) {
        const double s = term.column_weights.empty() ? 1.0 : term.column_weights[z];
        out[(term.first + z) * stride] = s != 0 ? u[term.first + z] / s : 0.0;
      }
  }

  double dot(std::size_t row, const Weights& u) const { return dot(row, u.data()); }
  void axpy(std::size_t row, double a, Weights& u) const { axpy(row, a, u.data()); }

  double dot(std::size_t row, const double* u) const {
    double sum = 0;
    const auto [terms, i] = locate(row);
    for (const Term& term : terms)
      std::visit([&](const auto& rows) { sum += rows.scale[i] * rows.dot(rows.begin(i), rows.end(i), u + term.first); }, term.rows);
    return sum;
  }

  void axpy(std::size_t row, double a, double* u) const {
    const auto [terms, i] = locate(row);
    for (const Term& term : terms)
      std::visit(
          [&](const auto& rows) {
            const double step = a * rows.scale[i];
            auto add = [&](auto&& change) { rows.add(rows.begin(i), rows.end(i), u + term.first, change); };
            if (term.column_weights.empty())
              add([&](auto entry) { return step * rows.value(entry); });
            else
              add([&, s = term.column_weights.data()](auto entry) {
                return step * rows.value(entry) * s[rows.id(entry)] * s[rows.id(entry)];
              });
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
    for (const Term& term : terms) std::visit([&](const auto& rows) { rows.prefetch(rows.begin(i), rows.end(i)); }, term.rows);
  }

 private:
  // The segment of a row, and its place there.
  std::pair<const Segment&, std::size_t> locate(std::size_t row) const {
    const std::size_t s = segment_of_[row];
    return {segments_[s], row - first_[s]};
  }

  std::vector<Segment> segments_;
  std::size_t n_features_ = 0;
  std::vector<std::size_t> first_;         // row of each segment
  std::vector<std::uint32_t> segment_of_;  // each row
};

}  // namespace treille
