#pragma once
// The direct product of two graphs, never written out: its nodes are the pairs of nodes (u, u') with equal labels, its arcs the pairs of
// arcs of one type. A vector V over its nodes has one block for each common label, and one number for each pair of classes: group of u,
// then u', then u in its group, so that kLanes numbers are computed at once. A product costs the sum over common types of
//   (entries of the groups of x) * (columns of y)  +  (groups of x) * (arcs of y)   operations on kLanes numbers.

#include <algorithm>
#include <vector>

#include "graphs/walk_graphs.hpp"
#include "interrupt.hpp"
#include "memory.hpp"
#include "simd.hpp"

namespace treille {

class WalkProduct {
  static constexpr std::size_t kLanes = WalkGraphs::kLanes;
  using V = Simd<kLanes>;
  using Lanes = V::Lanes;

 public:
  // The product of graph i of x and graph j of y.
  void set(const WalkGraphs& x, std::size_t i, const WalkGraphs& y, std::size_t j) {
    x_ = &x, y_ = &y, i_ = i, j_ = j;
    const auto mine = x.blocks(i), theirs = y.blocks(j);
    bases_.assign(mine.size(), 0);
    common_.clear();
    cells_ = 0;
    pairs_ = 0;
    for (std::size_t a = 0, b = 0; a < mine.size() && b < theirs.size();) {
      if (mine[a].label != theirs[b].label) {
        ++(mine[a].label < theirs[b].label ? a : b);
        continue;
      }
      bases_[a] = cells_;
      common_.push_back({&mine[a], &theirs[b]});
      cells_ += mine[a].groups() * kLanes * theirs[b].size;
      pairs_ += mine[a].nodes * theirs[b].nodes;
      ++a, ++b;
    }
    matches_.clear();
    std::size_t most = 0;
    const auto ours = x.types(i), others = y.types(j);
    for (std::size_t a = 0, b = 0; a < ours.size() && b < others.size();) {
      if (ours[a].id != others[b].id) {
        ++(ours[a].id < others[b].id ? a : b);
        continue;
      }
      const auto &from = theirs[others[b].source], &to = theirs[others[b].target];
      matches_.push_back({&ours[a], &others[b], bases_[ours[a].source], kLanes * from.size, bases_[ours[a].target], kLanes * to.size});
      most = std::max(most, static_cast<std::size_t>(others[b].columns_end - others[b].columns));
      ++a, ++b;
    }
    if (sums_.size() < kLanes * most) sums_.resize(kLanes * most);
  }

  std::size_t cells() const { return cells_; }
  double pairs() const { return pairs_; }  // of nodes with equal labels
  bool has_arcs() const { return !matches_.empty(); }

  // out = s s'
  void start(double* out) const {
    const auto mine = x_->roots(i_), theirs = y_->roots(j_);
    for (const auto& [a, b] : common_)
      for (std::size_t group = 0; group < a->groups(); ++group) {
        poll();
        for (std::size_t v = 0; v < b->size; ++v)
          for (std::size_t lane = 0, u = group * kLanes; lane < kLanes; ++lane, ++u)
            *out++ = u < a->size ? mine[a->first + u] * theirs[b->first + v] : 0.0;
      }
  }

  // out = C_x in C_y'
  TREILLE_INLINE void apply(const double* in, double* out) {
    for (std::size_t first = 0; first < cells_; first += kAtOnce) {
      poll();
      std::fill_n(out + first, std::min(kAtOnce, cells_ - first), 0.0);
    }
    double* const sums = sums_.data();
    for (const Match& match : matches_) {
      const std::uint32_t* const columns = y_->columns() + match.y->columns;
      const std::int64_t n_columns = match.y->columns_end - match.y->columns;
      const WalkGraphs::Row *const rows = y_->rows() + match.y->rows, *const rows_end = y_->rows() + match.y->rows_end;
      const WalkGraphs::Arc* const arcs = y_->arcs() + match.y->arcs;
      const double* const from = in + match.target;
      const std::size_t stride = match.target_stride;
      for (std::int64_t g = match.x->groups; g < match.x->groups_end; ++g) {
        poll();
        const WalkGraphs::Group& group = x_->groups()[g];
        const WalkGraphs::Entry *const first = x_->entries() + group.entries, *const last = x_->entries() + group.end;
        for (std::int64_t c = 0; c < n_columns; c += kLanes) {
          const double* const at[] = {from + kLanes * columns[c], from + kLanes * columns[c + 1], from + kLanes * columns[c + 2],
                                      from + kLanes * columns[c + 3]};
          Lanes sum0{}, sum1{}, sum2{}, sum3{};
          for (const WalkGraphs::Entry* entry = first; entry < last; ++entry) {
            const std::size_t place = entry->group * stride + entry->lane;
            Lanes coefficients;
            V::load(entry->coefficients, coefficients);
            sum0 += coefficients * at[0][place];
            sum1 += coefficients * at[1][place];
            sum2 += coefficients * at[2][place];
            sum3 += coefficients * at[3][place];
          }
          double* const to = sums + kLanes * static_cast<std::size_t>(c);
          V::store(sum0, to);
          V::store(sum1, to + kLanes);
          V::store(sum2, to + 2 * kLanes);
          V::store(sum3, to + 3 * kLanes);
        }
        double* const to = out + match.source + group.number * match.source_stride;
        const WalkGraphs::Arc* arc = arcs;
        for (const WalkGraphs::Row* row = rows; row < rows_end; ++row) {
          Lanes value, sum;
          V::load(to + kLanes * row->source, value);
          for (const WalkGraphs::Arc* const end = arc + row->arcs; arc < end; ++arc) {
            V::load(sums + kLanes * arc->column, sum);
            value += sum * arc->weight;
          }
          V::store(value, to + kLanes * row->source);
        }
      }
    }
  }

 private:
  static_assert(kLanes == 4);
  static constexpr std::size_t kAtOnce = 1 << 16;  // numbers, between two polls
  struct Match {
    const WalkGraphs::Type *x, *y;
    std::size_t source, source_stride, target, target_stride;  // where their blocks begin, and how far groups are apart
  };
  struct Common {
    const WalkGraphs::Block *x, *y;
  };

  const WalkGraphs *x_ = nullptr, *y_ = nullptr;
  std::size_t i_ = 0, j_ = 0, cells_ = 0;
  double pairs_ = 0;
  std::vector<std::size_t> bases_;
  std::vector<Common> common_;
  std::vector<Match> matches_;
  Array<double> sums_;
};

}  // namespace treille
