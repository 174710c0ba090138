#include <algorithm>
#include <unordered_map>
#include <variant>
#include <vector>

#include "automata/prefix_counter.hpp"
#include "features/dictionary_fit.hpp"
#include "parallel.hpp"
#include "text/pattern_features.hpp"
#include "text/pattern_occurrences.hpp"

namespace treille {
namespace {

// visit(cells, n, value, places, n_places) for the patterns of such a string.
void each_in_string(const PatternFamily& family, Symbols string, const OccurrenceVisitor& visit) {
  if (!std::holds_alternative<GappyPatterns>(family)) return each_occurrence(family, string, visit);
  std::vector<std::int32_t> cells(string.size());
  std::vector<std::size_t> places(string.size());
  for (std::size_t j = 0; j < string.size(); ++j) {
    cells[j] = string[j] + 1;
    places[j] = j;
  }
  visit(cells.data(), static_cast<int>(cells.size()), 1.0, places.data(), places.size());
}

}  // namespace

void PatternFeatures::contributions(const Lattices& data, std::span<const std::int32_t> recode, std::span<const double> weights,
                                    std::size_t n_functions, int threads, double* out) const {
  const auto cuts = shares(data, threads);
  expect(data.size());
  const PatternValues values(family_, counts_);
  const GramSpan span = lattice_span(values.summed());
  // Gappy patterns cover all symbols of their string alike.
  const std::size_t places = std::holds_alternative<GappyPatterns>(family_) ? 1 : static_cast<std::size_t>(span.n);
  const std::size_t columns = places * n_functions;
  run_shares(static_cast<int>(cuts.size()) - 1, [&](int p) {
    PrefixCounter counter;
    std::vector<std::int32_t> string;
    const auto price = [&]<class W>(const InternedStrings& trie, const std::vector<W>& expected, std::vector<W>& prices) {
      // use(node, id, cells, value, places, n_places) for each known pattern of each string.
      const auto each_known = [&](auto&& use) {
        for (std::uint32_t node = 1; node < trie.size(); ++node) {
          if (trie.length(node) != span.n || expected[node] == W{}) continue;
          trie.spell(node, string);
          each_in_string(values.summed(), Symbols(string),
                         [&](const std::int32_t* cells, int n, double value, const std::size_t* at, std::size_t n_places) {
                           poll();
                           const std::uint32_t id = find(cells, n);
                           if (id != kNoPattern) use(node, id, cells, value, at, n_places);
                         });
        }
      };
      std::unordered_map<std::uint32_t, W> sums;  // expected sums of patterns, if their values differ from these
      if (counts_ != Counts::raw)
        each_known([&](std::uint32_t node, std::uint32_t id, const std::int32_t*, double value, const std::size_t*, std::size_t) {
          sums[id] += expected[node] * value;
        });
      each_known(
          [&](std::uint32_t node, std::uint32_t id, const std::int32_t* cells, double value, const std::size_t* at, std::size_t n_places) {
            W each(value / static_cast<double>(n_places));
            if (counts_ != Counts::raw) {
              if (sums[id] == W{}) return;
              each = each * per_count(counts_, sums[id]) * values.scale(cells);
            }
            for (std::size_t j = 0; j < std::min(places, n_places); ++j)
              for (std::size_t f = 0; f < n_functions; ++f)
                prices[node * columns + at[j] * n_functions + f] += each * weights[id * n_functions + f];
          });
    };
    for (std::size_t i = cuts[static_cast<std::size_t>(p)]; i < cuts[static_cast<std::size_t>(p) + 1]; ++i) {
      counter.share(data[i], recode, span, n_functions, places, price, out + static_cast<std::size_t>(data.arcs[i]) * n_functions);
      tick();
    }
  });
}

}  // namespace treille
