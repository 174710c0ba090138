#include <utility>

#include "automata/components.hpp"
#include "automata/in_range.hpp"
#include "automata/rational.hpp"
#include "automata/reading.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

// D(X o U o Y): the sums of weights at triples of a state of X, of U and of Y, pushed forward. In (q, r, u) arcs of U lead to a later q, to
// a later r, or, reading and writing nothing, to a later u in `order`.
template <class W>
W value_of(const Machine& U, std::span<const State> order, const Lattice& x, std::span<const std::int32_t> recode_x, const Lattice& y,
           std::span<const std::int32_t> recode_y, std::vector<W>& cells) {
  if (x.size() == 0 || y.size() == 0 || U.start() == kNoState) return W{};
  const auto heads_x = arc_heads(x), heads_y = arc_heads(y);
  const auto width = at(U.size());
  const auto cell = [&](std::size_t q, std::size_t r, State u) { return (q * y.size() + r) * width + at(u); };
  cells.assign(x.size() * y.size() * width, W{});
  cells[cell(0, 0, U.start())] = 1.0;
  W sum = 0.0;
  for (std::size_t q = 0; q < x.size(); ++q)
    for (std::size_t r = 0; r < y.size(); ++r)
      for (const State u : order) {
        poll();
        const W value = cells[cell(q, r, u)];
        if (value == W{}) continue;
        sum += value * x.finals[q] * y.finals[r] * U.final_weight(u);
        const auto step = [&](const Arc& arc, std::size_t q_next, double weight) {
          if (arc.output == kEpsilon) {
            cells[cell(q_next, r, arc.target)] += value * weight * arc.weight;
            return;
          }
          for (std::size_t b = heads_y[r]; b < heads_y[r + 1]; ++b)
            if (recode_y[at(y.symbols[b])] == arc.output)
              cells[cell(q_next, at(y.targets[b]), arc.target)] += value * weight * arc.weight * y.weights[b];
        };
        for (const Arc& arc : reading(U, u, kEpsilon)) step(arc, q, 1.0);
        for (std::size_t a = heads_x[q]; a < heads_x[q + 1]; ++a) {
          const Label label = recode_x[at(x.symbols[a])];
          if (label == kEpsilon) continue;
          for (const Arc& arc : reading(U, u, label)) step(arc, at(x.targets[a]), x.weights[a]);
        }
      }
  return sum;
}

// values[k] = K(x(k), y(k)) for the pairs of lattices that pair(k) names.
template <class Pair>
void fill_values(const Machine& U, std::span<const State> order, const LabelledLattices& left, const LabelledLattices& right,
                 std::span<double> values, Pair&& pair) {
  const auto fill = [&]<class W>(W, auto&& finish) {
    std::vector<W> cells;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto [i, j] = pair(k);
      values[k] = finish(value_of<W>(U, order, left.data[i], left.recode, right.data[j], right.recode, cells));
    }
  };
  if (in_range([&] { fill(double{}, [](double value) { return value; }); })) return;
  fill(Scaled{}, [](const Scaled& value) { return representable(value, "a value of the kernel"); });
}

}  // namespace

std::vector<double> rational_gram(const Machine& U, const LabelledLattices& left, const LabelledLattices& right, int threads) {
  const Components components(U, does_nothing);
  const std::size_t n = left.data.size(), m = right.data.size();
  std::vector<double> K(n * m);
  run_in_turns(n, threads, [&](std::size_t i) {
    fill_values(U, components.order(), left, right, {K.data() + i * m, m}, [&](std::size_t j) { return std::pair(i, j); });
  });
  return K;
}

std::vector<double> rational_diagonal(const Machine& U, const LabelledLattices& left, const LabelledLattices& right, int threads) {
  const Components components(U, does_nothing);
  std::vector<double> values(left.data.size());
  run_in_turns(values.size(), threads, [&](std::size_t i) {
    fill_values(U, components.order(), left, right, {values.data() + i, 1}, [&](std::size_t) { return std::pair(i, i); });
  });
  return values;
}

}  // namespace treille
