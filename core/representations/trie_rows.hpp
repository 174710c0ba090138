#pragma once
// Rows with W' kept as a deterministic weighted trie of the features' strings: a weight for each of its states.
//   dot    walks the strings of Phi_i down the trie: O(n(Phi_i) l), n strings of length l at most; a shared prefix is walked once
//   axpy   the states that a dot on the same row has just found: O(n(Phi_i)); without one, it walks first
// Allauzen, Cortes, Mohri, section 5.2.

#include <cstdint>
#include <vector>

#include "automata/string_trie.hpp"
#include "representations/row_strings.hpp"

namespace treille {

class TrieRows {
 public:
  struct Found {
    std::uint32_t state, depth;
    double value;
  };

  // The prefixes of one length of a row's strings.
  struct Level {
    std::vector<std::uint32_t> parent;  // place in the level above
    std::vector<std::int32_t> symbol;
    std::vector<std::uint32_t> state;
  };

  struct Weights {
    Array<double> w;                    // by state
    mutable std::vector<Level> levels;  // work space of a walk
    mutable std::vector<Found> found;
    mutable std::size_t row;  // row that `found` belongs to
  };

  template <class Word>
  TrieRows(const CodedRowsView<Word>& data, const Sequences& strings) : TrieRows(data, strings, sorted_strings(strings)) {}

  std::size_t size() const { return rows_.size(); }
  std::size_t n_features() const { return n_features_; }
  std::size_t n_arcs() const { return trie_.n_arcs(); }
  std::size_t nbytes() const { return trie_.nbytes() + 8 * trie_.size(); }

  Weights zero() const { return {Array<double>(trie_.size(), 0.0), std::vector<Level>(rows_.longest() + 1), {}, size()}; }

  double sq_norm(std::size_t i) const { return rows_.sq_norm(i); }

  double dot(std::size_t i, const Weights& w) const {
    walk(i, w);
    double sum = 0;
    for (const Found& f : w.found) sum += f.value * w.w[f.state];
    return rows_.scale(i) * sum;
  }

  void axpy(std::size_t i, double a, Weights& w) const {
    if (w.row != i) walk(i, w);
    a *= rows_.scale(i);
    for (const Found& f : w.found) w.w[f.state] = w.w[f.state] + a * f.value;
  }

  void prefetch(std::size_t i) const { rows_.prefetch(i); }

  void write_weights(const Weights& w, double* out, std::size_t stride) const {
    for (std::size_t z = 0; z < n_features_; ++z) out[z * stride] = w.w[trie_.end(z)];
  }

 private:
  template <class Word>
  TrieRows(const CodedRowsView<Word>& data, const Sequences& strings, const Array<std::uint32_t>& order)
      : n_features_(data.n_features), trie_(strings, order), rows_(data, strings, order) {}

  // Level by level: the searches of a level do not wait for each other, so that memory answers many at a time.
  template <class Weights>
  void walk(std::size_t i, const Weights& w) const {
    struct Reader {
      std::vector<Level>& levels;
      std::vector<Found>& found;
      std::vector<std::uint32_t> path;  // by depth, the place in its level
      std::size_t depth = 0;
      void back_to(std::size_t kept) { depth = kept; }
      void step(std::int32_t symbol) {
        Level& next = levels[depth + 1];
        next.parent.push_back(path[depth]);
        next.symbol.push_back(symbol);
        path[++depth] = static_cast<std::uint32_t>(next.parent.size() - 1);
      }
      void arrive(double value) { found.push_back({path[depth], static_cast<std::uint32_t>(depth), value}); }
    };
    w.found.clear();
    for (Level& level : w.levels) {
      level.parent.clear();
      level.symbol.clear();
    }
    w.levels[0].state.assign(1, 0);
    rows_.read(i, Reader{w.levels, w.found, std::vector<std::uint32_t>(rows_.longest() + 1, 0)});
    for (std::size_t depth = 1; depth < w.levels.size(); ++depth) {
      const Level& above = w.levels[depth - 1];
      Level& level = w.levels[depth];
      level.state.resize(level.parent.size());
      for (const std::uint32_t parent : level.parent) trie_.prefetch_children(above.state[parent]);
      for (std::size_t k = 0; k < level.parent.size(); ++k) level.state[k] = trie_.child(above.state[level.parent[k]], level.symbol[k]);
    }
    for (Found& f : w.found) f.state = w.levels[f.depth].state[f.state];
    w.row = i;
  }

  std::size_t n_features_;
  StringTrie trie_;
  RowStrings rows_;
};

}  // namespace treille
