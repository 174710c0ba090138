#pragma once
// Where the patterns of a family occur in a sequence.

#include <cstdint>
#include <vector>

#include "text/patterns.hpp"

namespace treille {

// visit(cells, n, value, places, n_places) for every occurrence of a pattern in x, with the positions that it covers.
template <class Visit>
void each_occurrence(const GappyPatterns& family, Symbols x, Visit&& visit) {
  family.emit(x, [&](const std::int32_t* cells, int n, double value, const std::size_t* places) {
    visit(cells, n, value, places, static_cast<std::size_t>(n));
  });
}

template <class Visit>
void each_occurrence(const PlacedPatterns& family, Symbols x, Visit&& visit) {
  std::vector<std::size_t> places(static_cast<std::size_t>(family.d));
  family.emit(x, [&](const std::int32_t* cells, int n, double value) {
    const auto size = static_cast<std::size_t>(n) - 1;
    for (std::size_t j = 0; j < size; ++j) places[j] = static_cast<std::size_t>(cells[0]) + j;
    visit(cells, n, value, places.data(), size);
  });
}

// Patterns of a window cover those of its symbols that they fix.
template <class Family, class Visit>
void each_in_windows(const Family& family, Symbols x, Visit&& visit) {
  const auto width = static_cast<std::size_t>(family.width());
  std::vector<std::size_t> places;
  for (std::size_t start = 0; start + width <= x.size(); ++start)
    family.emit(x.subspan(start, width), [&](const std::int32_t* cells, int n, double value) {
      places.clear();
      for (std::size_t j = 0; j < width; ++j)
        if (cells[j] != 0) places.push_back(start + j);
      visit(cells, n, value, places.data(), places.size());
    });
}

template <class Visit>
void each_occurrence(const WildcardPatterns& family, Symbols x, Visit&& visit) {
  each_in_windows(family, x, visit);
}

template <class Visit>
void each_occurrence(const MismatchPatterns& family, Symbols x, Visit&& visit) {
  each_in_windows(family, x, visit);
}

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
  return copy;
}

template <class Visit>
void each_occurrence(const GappedKmerPatterns& family, Symbols x, Visit&& visit) {
  const GappedKmerPatterns own = one_strand(family);
  each_strand(family, x, [&](Symbols strand, bool reverse) {
    std::vector<std::size_t> turned;
    each_in_windows(own, strand, [&](const std::int32_t* cells, int n, double value, const std::size_t* places, std::size_t n_places) {
      turned.assign(places, places + n_places);
      if (reverse)
        for (std::size_t& place : turned) place = x.size() - 1 - place;
      visit(cells, n, value, turned.data(), n_places);
    });
  });
}

}  // namespace treille
