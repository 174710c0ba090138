#include "text/pattern_occurrences.hpp"

#include <stdexcept>
#include <variant>

#include "automata/prefix_counter.hpp"

namespace treille {
namespace {

// A family in which the occurrences of a pattern have a common factor.
template <class Family>
constexpr bool kScaled = requires(const Family& family) { family.unscaled(); };

void visit_all(const GappyPatterns& family, Symbols x, const OccurrenceVisitor& visit) {
  family.emit(x, [&](const std::int32_t* cells, int n, double value, const std::size_t* places) {
    visit(cells, n, value, places, static_cast<std::size_t>(n));
  });
}

void visit_all(const PlacedPatterns& family, Symbols x, const OccurrenceVisitor& visit) {
  std::vector<std::size_t> places(static_cast<std::size_t>(family.d));
  family.emit(x, [&](const std::int32_t* cells, int n, double value) {
    const auto size = static_cast<std::size_t>(n) - 1;
    for (std::size_t j = 0; j < size; ++j) places[j] = static_cast<std::size_t>(cells[0]) + j;
    visit(cells, n, value, places.data(), size);
  });
}

// A pattern of a window covers the symbols that it fixes.
template <class Family>
void visit_all(const Family& family, Symbols x, const OccurrenceVisitor& visit) {
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

}  // namespace

void each_occurrence(const PatternFamily& family, Symbols x, const OccurrenceVisitor& visit) {
  const auto* const kmers = std::get_if<GappedKmerPatterns>(&family);
  if (kmers == nullptr) return std::visit([&](const auto& f) { visit_all(f, x, visit); }, family);
  const GappedKmerPatterns own = one_strand(*kmers);
  each_strand(*kmers, x, [&](Symbols strand, bool reverse) {
    std::vector<std::size_t> turned;
    visit_all(own, strand, [&](const std::int32_t* cells, int n, double, const std::size_t* places, std::size_t n_places) {
      if (kmers->paired && kmers->pair_order(cells) > 0) return;
      turned.assign(places, places + n_places);
      if (reverse)
        for (std::size_t& place : turned) place = x.size() - 1 - place;
      visit(cells, n, kmers->scale(cells), turned.data(), n_places);
    });
  });
}

void add_patterns(const PatternFamily& family, Symbols x, double factor, PatternCounter& counter) {
  const auto add = [&](const std::int32_t* cells, int n, double value) { counter.add(cells, n, factor * value); };
  std::visit([&](const auto& f) { f.emit(x, add); }, family);
}

GramSpan lattice_span(const PatternFamily& family) {
  if (std::holds_alternative<PlacedPatterns>(family)) throw std::invalid_argument("patterns at fixed places are not counted in lattices");
  if (const auto* const gappy = std::get_if<GappyPatterns>(&family))
    return {gappy->n, gappy->n, gappy->max_gap, gappy->max_total_gap, gappy->decay, gappy->contiguous};
  const int width = std::visit([](const auto& f) { return f.width(); }, family);
  return {width, width};
}

PatternValues::PatternValues(const PatternFamily& family, Counts counts) : family_(family), counts_(counts), summed_(family) {
  if (counts_ == Counts::raw) return;
  std::visit(
      [&]<class Family>(const Family& f) {
        if constexpr (kScaled<Family>) summed_ = f.unscaled();
      },
      family_);
}

double PatternValues::scale(const std::int32_t* cells) const {
  if (counts_ == Counts::raw) return 1.0;
  return std::visit(
      [&]<class Family>([[maybe_unused]] const Family& f) {
        if constexpr (kScaled<Family>)
          return f.scale(cells);
        else
          return 1.0;
      },
      family_);
}

}  // namespace treille
