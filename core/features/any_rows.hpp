#pragma once
// Rows of any kind behind one type, so that solvers are compiled once for all rows that are not read through CodedRows directly.
// A virtual call for each row costs a nanosecond or two: nothing beside a dot of hundreds of entries.

#include <any>
#include <cstdint>
#include <type_traits>

#include "features/rows.hpp"

namespace treille {

class AnyRows {
 public:
  using Weights = std::any;  // weights of the type that belongs to the rows

  virtual ~AnyRows() = default;
  virtual std::size_t size() const = 0;
  virtual Weights zero() const = 0;
  virtual double dot(std::size_t i, const Weights& w) const = 0;
  virtual double sq_norm(std::size_t i) const = 0;
  virtual void axpy(std::size_t i, double a, Weights& w) const = 0;
  virtual void prefetch(std::size_t i) const = 0;
  virtual void prefetch_record(std::size_t i, const Weights& w) const = 0;
  virtual void write_weights(const Weights& w, double* out, std::size_t stride) const = 0;
};

class AnyVectorRows : public AnyRows {
 public:
  virtual double inner(const Weights& v, const Weights& w) const = 0;
  virtual void combine(double a, Weights& w, double b, const Weights& v) const = 0;
  virtual void add_squares(std::size_t i, double a, Weights& diagonal) const = 0;
  virtual void divide(Weights& w, const Weights& diagonal) const = 0;
  virtual std::size_t n_entries() const = 0;
  virtual std::size_t n_cells() const = 0;
};

// Does not own the rows.
template <FeatureRows R, class Base = AnyRows>
class RowsAs : public Base {
 public:
  using Weights = AnyRows::Weights;

  explicit RowsAs(const R& rows) : rows_(rows) {}
  std::size_t size() const final { return rows_.size(); }
  Weights zero() const final { return rows_.zero(); }
  double dot(std::size_t i, const Weights& w) const final { return rows_.dot(i, own(w)); }
  double sq_norm(std::size_t i) const final { return rows_.sq_norm(i); }
  void axpy(std::size_t i, double a, Weights& w) const final { rows_.axpy(i, a, own(w)); }
  void prefetch(std::size_t i) const final { rows_.prefetch(i); }
  void prefetch_record(std::size_t i, const Weights& w) const final {
    if constexpr (requires { rows_.prefetch_record(i, own(w)); }) rows_.prefetch_record(i, own(w));
  }
  void write_weights(const Weights& w, double* out, std::size_t stride) const final { rows_.write_weights(own(w), out, stride); }

 protected:
  static typename R::Weights& own(Weights& w) { return *std::any_cast<typename R::Weights>(&w); }
  static const typename R::Weights& own(const Weights& w) { return *std::any_cast<typename R::Weights>(&w); }

  const R& rows_;
};

template <VectorRows R>
class VectorRowsAs final : public RowsAs<R, AnyVectorRows> {
 public:
  using Weights = AnyRows::Weights;
  using RowsAs<R, AnyVectorRows>::RowsAs;

  double inner(const Weights& v, const Weights& w) const final { return this->rows_.inner(this->own(v), this->own(w)); }
  void combine(double a, Weights& w, double b, const Weights& v) const final { this->rows_.combine(a, this->own(w), b, this->own(v)); }
  void add_squares(std::size_t i, double a, Weights& diagonal) const final { this->rows_.add_squares(i, a, this->own(diagonal)); }
  void divide(Weights& w, const Weights& diagonal) const final { this->rows_.divide(this->own(w), this->own(diagonal)); }
  std::size_t n_entries() const final { return this->rows_.n_entries(); }
  std::size_t n_cells() const final { return this->rows_.n_cells(); }
};

// use(rows) for rows that DualCD is compiled for: coded rows in words of 4 bytes as such, all others as AnyRows. Where `two_threads` may
// read a row, and rows are long, they do.
template <FeatureRows R, class Use>
void with_solved_rows(const R& rows, bool two_threads, Use&& use) {
  if constexpr (requires(SpinWorker& worker) { rows.shared_with(worker); })
    if (two_threads && rows.are_long()) {
      SpinWorker worker;
      return with_solved_rows(rows.shared_with(worker), false, use);
    }
  if constexpr (std::is_same_v<R, CodedRows<std::uint32_t>>)
    use(rows);
  else
    use(static_cast<const AnyRows&>(RowsAs<R>(rows)));
}

}  // namespace treille
