#pragma once
// Rows in all their representations, from Python to solvers.

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <variant>
#include <vector>

#include "conjunction_rows.hpp"
#include "features/any_rows.hpp"
#include "features/concatenated_rows.hpp"
#include "features/part_rows.hpp"
#include "representations/automaton_rows.hpp"
#include "representations/naive_rows.hpp"
#include "representations/trie_rows.hpp"
#include "rows.hpp"
#include "solver_poll.hpp"

namespace treille {

struct DenseIn {
  In<double> values;
  std::size_t n_rows, n_features;

  std::size_t size() const { return n_rows; }
};

// A centre is three empty arrays where there is none; the centre of compact rows is given by features, and kept by cells.
struct TermIn {
  CodedIn rows;
  In<double> mean, shift, dots;
  std::shared_ptr<const CellMap> cells = nullptr;  // none: the columns are the features

  static TermIn of(const CompactIn& compact, In<double> mean, In<double> shift, In<double> dots) {
    if (mean.size() > 0) mean = keep(compact.cells.project(view(mean)));
    return {compact.rows, mean, shift, dots, std::make_shared<CellMap>(compact.cells)};
  }
};

struct ConcatenatedIn {
  std::vector<TermIn> terms;
  std::size_t n_features;  // columns of all terms

  explicit ConcatenatedIn(const std::vector<TermIn>& given) : terms(given), n_features(0) {
    for (const TermIn& term : terms) n_features += term.rows.n_features;
  }
  std::size_t size() const { return terms.front().rows.size(); }

  Out<double> read(In<double> cells, std::size_t n_functions) const {
    if (cells.size() != n_features * n_functions) throw std::length_error("the weights are not those of the cells");
    std::size_t total = 0;
    for (const TermIn& term : terms) total += term.cells ? term.cells->n_features() : term.rows.n_features;
    Buffer<double> weights(total * n_functions);
    double* to = weights.data();
    std::size_t at = 0;
    for (const TermIn& term : terms) {
      const auto own = view(cells).subspan(at, term.rows.n_features * n_functions);
      at += own.size();
      if (term.cells) {
        term.cells->read(own, n_functions, 1, to);
        to += term.cells->n_features() * n_functions;
      } else {
        to = std::copy(own.begin(), own.end(), to);
      }
    }
    return give(std::move(weights));
  }
};

// Segments of rows, each of one or more terms: see core/features/part_rows.hpp.
struct PartRowsIn {
  std::vector<std::vector<CodedIn>> segments;
  std::size_t n_features = 0, n_rows = 0;

  explicit PartRowsIn(std::vector<std::vector<CodedIn>> given) : segments(std::move(given)) {
    if (segments.empty() || segments.front().empty()) throw std::invalid_argument("rows have at least one segment of one term");
    for (const CodedIn& term : segments.front()) n_features += term.n_features;
    for (const auto& terms : segments) {
      n_rows += terms.front().size();
      std::size_t columns = 0;
      for (const CodedIn& term : terms) {
        columns += term.n_features;
        if (term.size() != terms.front().size()) throw std::length_error("the terms of a segment have different numbers of rows");
      }
      if (columns != n_features) throw std::length_error("the segments have different numbers of features");
    }
  }
  std::size_t size() const { return n_rows; }

  PartRows rows() const {
    std::vector<PartRows::Segment> all;
    for (const auto& terms : segments) {
      PartRows::Segment& each = all.emplace_back();
      std::size_t first = 0;
      for (const CodedIn& term : terms) {
        const auto weights = term.column_weights ? view(*term.column_weights) : std::span<const double>();
        with_words(term, [&](const auto& data) { each.push_back({data, weights, first, term.n_features}); });
        first += term.n_features;
      }
    }
    return PartRows(std::move(all));
  }
};

// The rows with W' in one of its representations.
using FormsIn = std::variant<const CodedIn*, const CompactIn*, const DenseIn*, const ConcatenatedIn*, const PartRowsIn*, const NaiveRows*,
                             const TrieRows*, const AutomatonRows*, const ConjunctionRowsIn*>;
// The representations whose weights are vectors.
using VectorsIn = std::variant<const CodedIn*, const CompactIn*, const DenseIn*, const ConcatenatedIn*>;

// Calls `use` with the rows in the layout of the core.
template <class Use>
void with_rows(const CodedIn& in, Use&& use) {
  const auto weights = in.column_weights ? view(*in.column_weights) : std::span<const double>();
  with_words(in, [&]<class Word>(const CodedRowsView<Word>& data) { use(CodedRows<Word>(data, weights)); });
}

template <class Use>
void with_rows(const CompactIn& in, Use&& use) {
  with_rows(in.rows, use);
}

template <class Use>
void with_rows(const DenseIn& in, Use&& use) {
  use(DenseRows(view(in.values), in.n_rows, in.n_features));
}

template <class Use>
void with_rows(const ConcatenatedIn& in, Use&& use) {
  using Rows = ConcatenatedRows<CodedRows<std::uint32_t>, CodedRows<std::uint64_t>>;
  std::vector<Rows::Term> terms;
  for (const TermIn& term : in.terms)
    with_rows(term.rows, [&](auto&& rows) {
      terms.push_back({std::move(rows), term.rows.n_features, {view(term.mean), view(term.shift), view(term.dots)}});
    });
  use(Rows(std::move(terms)));
}

template <class Use>
void with_rows(const PartRowsIn& in, Use&& use) {
  use(in.rows());
}

template <FeatureRows R, class Use>
void with_rows(const R& rows, Use&& use) {
  use(rows);
}

// The same with rows of any layout behind one type.
void with_any_rows(const FormsIn& in, const std::function<void(const AnyRows&)>& use);

template <class R>
std::size_t n_features(const R& rows) {
  if constexpr (std::is_same_v<R, CompactIn>)
    return rows.cells.n_cells();
  else if constexpr (FeatureRows<R>)
    return rows.n_features();
  else
    return rows.n_features;
}

}  // namespace treille
