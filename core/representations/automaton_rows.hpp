#pragma once
// Rows with W' kept as an automaton that is minimal for every alpha at once, the training set fixed: states of the trie merge when their
// futures carry the same classes of features (features/column_classes.hpp) up to a factor. It never changes. Training changes the cells
// omega, one for each class, which its paths name: W'(z) = (product along the path of z) omega(c).
//   dot    walks the strings of Phi_i: the size of Phi_i o W'
//   axpy   omega(c) += a value(z) v(z) / |c|^2 for each string z: O(n(Phi_i)), by the states that the dot before has found
// This fills the cell that Allauzen, Cortes, Mohri leave open in their Table 3: section 5.3.

#include <cstdint>
#include <vector>

#include "automata/minimal_weights.hpp"
#include "features/column_classes.hpp"
#include "representations/row_strings.hpp"

namespace treille {

class AutomatonRows {
 public:
  struct Found {
    std::int32_t cls;
    double product;  // value(z) v(z)
  };

  struct Weights {
    Array<double> omega;
    mutable std::vector<Found> found;
    mutable std::size_t row;  // row that `found` belongs to
  };

  template <class Word>
  AutomatonRows(const CodedRowsView<Word>& data, const Sequences& strings, int threads)
      : AutomatonRows(data, strings, sorted_strings(strings), ClassFinder<Word>(data, threads).find()) {}

  std::size_t size() const { return rows_.size(); }
  std::size_t n_features() const { return n_features_; }
  std::size_t n_arcs() const { return automaton_.n_arcs(); }
  std::size_t n_states() const { return automaton_.size(); }
  std::size_t n_cells() const { return inverse_square_.size(); }
  std::size_t nbytes() const { return automaton_.nbytes() + 16 * n_cells(); }

  Weights zero() const { return {Array<double>(n_cells(), 0.0), {}, size()}; }

  double sq_norm(std::size_t i) const { return rows_.sq_norm(i); }

  double dot(std::size_t i, const Weights& w) const {
    walk(i, w);
    double sum = 0;
    for (const Found& f : w.found) sum += f.product * w.omega[static_cast<std::size_t>(f.cls)];
    return rows_.scale(i) * sum;
  }

  void axpy(std::size_t i, double a, Weights& w) const {
    if (w.row != i) walk(i, w);
    a *= rows_.scale(i);
    for (const Found& f : w.found) {
      const auto c = static_cast<std::size_t>(f.cls);
      w.omega[c] = w.omega[c] + a * f.product * inverse_square_[c];
    }
  }

  void prefetch(std::size_t i) const { rows_.prefetch(i); }

  void write_weights(const Weights& w, double* out, std::size_t stride) const {
    for (std::size_t z = 0; z < n_features_; ++z)
      if (value_[z] != 0) out[z * stride] = value_[z] * w.omega[class_[z]];
  }

 private:
  template <class Word>
  AutomatonRows(const CodedRowsView<Word>& data, const Sequences& strings, const Array<std::uint32_t>& order, FeatureClasses classes)
      : n_features_(data.n_features),
        rows_(data, strings, order),
        class_(std::move(classes.of)),
        value_(std::move(classes.value)),
        inverse_square_(classes.square.size()) {
    for (std::size_t c = 0; c < inverse_square_.size(); ++c) inverse_square_[c] = classes.square[c] > 0 ? 1 / classes.square[c] : 0;
    // Features of no row need no path.
    Array<std::int32_t> symbols, cls;
    Array<std::int64_t> offsets(1, 0);
    Array<double> weight;
    Array<std::uint32_t> sorted;
    for (const std::uint32_t z : order) {
      if (value_[z] == 0) continue;
      symbols.insert(symbols.end(), strings[z].begin(), strings[z].end());
      offsets.push_back(static_cast<std::int64_t>(symbols.size()));
      sorted.push_back(static_cast<std::uint32_t>(sorted.size()));
      cls.push_back(static_cast<std::int32_t>(class_[z]));
      weight.push_back(value_[z]);
    }
    automaton_ = WeightMinimizer::minimize(StringTrie({symbols, offsets}, sorted), cls, weight);
  }

  template <class Weights>
  void walk(std::size_t i, const Weights& w) const {
    struct Point {
      std::uint32_t state;
      ClassWeight so_far;
    };
    struct Walk {
      const WeightAutomaton& automaton;
      std::vector<Found>& found;
      std::vector<Point> path;  // by depth
      std::size_t depth = 0;
      void back_to(std::size_t kept) { depth = kept; }
      void step(std::int32_t symbol) {
        const Point& from = path[depth];
        const WeightArc& arc = *automaton.find(from.state, symbol);
        path[++depth] = {arc.target, {arc.cls == kElsewhere ? from.so_far.cls : arc.cls, from.so_far.weight * arc.weight}};
      }
      void arrive(double value) {
        const auto& [state, so_far] = path[depth];
        const std::int32_t cls = automaton.final(state).cls;
        found.push_back({cls == kElsewhere ? so_far.cls : cls, value * so_far.weight});  // a final weight is 1 always
      }
    };
    w.found.clear();
    Walk walk{automaton_, w.found, std::vector<Point>(rows_.longest() + 1)};
    walk.path[0] = {automaton_.start(), automaton_.entry()};
    rows_.read(i, walk);
    w.row = i;
  }

  std::size_t n_features_;
  RowStrings rows_;
  Array<std::uint32_t> class_;
  Array<double> value_, inverse_square_;
  WeightAutomaton automaton_;
};

}  // namespace treille
