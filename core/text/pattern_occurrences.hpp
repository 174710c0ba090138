#pragma once
// Occurrences of the patterns of any family in a sequence, and their worth. The loops over occurrences are
// compiled once, in pattern_occurrences.cpp.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "features/count_transform.hpp"
#include "text/pattern_counter.hpp"
#include "text/patterns.hpp"

namespace treille {

struct GramSpan;  // of automata/prefix_counter.hpp

// visit(cells, n, value, places, n_places) for an occurrence of a pattern, with the positions that it covers.
using OccurrenceVisitor = std::function<void(const std::int32_t*, int, double, const std::size_t*, std::size_t)>;
void each_occurrence(const PatternFamily& family, Symbols x, const OccurrenceVisitor& visit);

// Adds the patterns that occur in x to `counter`, their values times `factor`.
void add_patterns(const PatternFamily& family, Symbols x, double factor, PatternCounter& counter);

// The strings that are counted in lattices: gappy patterns themselves, windows of the other families. Refuses patterns at fixed places.
GramSpan lattice_span(const PatternFamily& family);

// use(strand, is_reverse) for a sequence and, with complements, its reverse complement.
template <class Use>
void each_strand(const GappedKmerPatterns& family, Symbols x, Use&& use) {
  use(x, false);
  if (family.complement.empty()) return;
  std::vector<std::int32_t> other(x.rbegin(), x.rend());
  for (std::int32_t& s : other) s = s < 0 ? s : family.complement[static_cast<std::size_t>(s)];
  use(Symbols(other), true);
}

inline GappedKmerPatterns one_strand(const GappedKmerPatterns& family) {
  GappedKmerPatterns copy = family;
  copy.complement.clear();
  copy.paired = false;
  return copy;
}

// Converts the sum over a pattern's occurrences to the value of the pattern. Raw sums are values; otherwise, occurrences are summed without
// their common factor.
class PatternValues {
 public:
  PatternValues(const PatternFamily& family, Counts counts);

  const PatternFamily& summed() const { return summed_; }
  double of(double sum, const std::int32_t* cells) const { return transformed(counts_, sum) * scale(cells); }
  double of_expected(double sum, const std::int32_t* cells) const { return transformed_expected(counts_, sum) * scale(cells); }
  // The common factor of a pattern's occurrences that summed() leaves out.
  double scale(const std::int32_t* cells) const;

 private:
  const PatternFamily& family_;
  Counts counts_;
  PatternFamily summed_;
};

}  // namespace treille
