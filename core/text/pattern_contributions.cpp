#include <algorithm>
#include <utility>
#include <vector>

#include "features/dictionary_fit.hpp"
#include "parallel.hpp"
#include "text/pattern_features.hpp"
#include "text/pattern_occurrences.hpp"
#include "text/pattern_values.hpp"

namespace treille {
namespace {

// Gapped k-mers by their addresses in a table, all windows of a choice of positions at a time. False: a symbol has no place in the table.
class TableShares {
 public:
  TableShares(const GappedKmerPatterns& family, const PatternTable& table, std::int32_t base)
      : family_(family), own_(one_strand(family)), table_(table), base_(base), addresses_(own_, base), groups_(family.table_groups()) {}

  template <class Add>
  bool read(Symbols x, Add&& add) {
    if (std::any_of(x.begin(), x.end(), [&](std::int32_t s) { return s >= base_; })) return false;
    const auto size = static_cast<std::uint32_t>(family_.group_size(base_));
    const auto length = static_cast<std::size_t>(family_.length);
    each_strand(family_, x, [&](Symbols strand, bool reverse) {
      addresses_.read(strand);
      starts_.clear();
      clean_runs(strand, length, [&](Symbols run) {
        for (std::size_t w = 0; w + length <= run.size(); ++w) starts_.push_back(static_cast<std::size_t>(run.data() - strand.data()) + w);
      });
      for (std::size_t group = 0; group + 1 < groups_.size(); ++group) {
        const auto first = static_cast<std::uint32_t>(groups_[group]), n = static_cast<std::uint32_t>(groups_[group + 1]) - first;
        for (std::uint32_t choice = 0; choice < n; ++choice) {
          poll();
          addresses_.list(first + choice, list_);
          const int* const places = family_.place(first + choice);
          for (std::size_t w = 0; w < list_.size(); ++w) {
            const std::uint32_t id = table_.rank[first * size + list_[w] * n + choice];
            if (id >= table_.addresses.size()) continue;
            const std::size_t start = reverse ? x.size() - 1 - starts_[w] : starts_[w];
            add(id, start, places, reverse ? -1 : 1);
          }
        }
      }
    });
    return true;
  }

 private:
  const GappedKmerPatterns& family_;
  GappedKmerPatterns own_;
  const PatternTable& table_;
  std::int32_t base_;
  GappedKmerPatterns::Addresses addresses_;
  std::vector<std::size_t> groups_, starts_;
  std::vector<std::uint32_t> list_;
};

}  // namespace

void PatternFeatures::contributions(const Sequences& data, std::span<const std::int32_t> recode, std::span<const double> weights,
                                    std::size_t n_functions, int threads, double* out) const {
  std::fill_n(out, data.symbols.size() * n_functions, 0.0);
  const auto cuts = shares(data, threads);
  expect(data.size());
  std::visit(
      [&]<class Family, class Stored>(const Family& family, const Stored& stored) {
        if constexpr (kHasTable<Family> || !kIsTable<Stored>)
          run_parts(static_cast<int>(cuts.size()) - 1, [&](int part) {
            const PatternValues<Family> values(family, counts_);
            std::vector<std::int32_t> symbols;
            std::vector<double> sums(counts_ == Counts::raw ? 0 : size(), 0.0);
            [[maybe_unused]] std::optional<TableShares> table;
            if constexpr (std::is_same_v<Family, GappedKmerPatterns> && kIsTable<Stored>) table.emplace(family, stored, alphabet_size_);
            for (std::size_t i = cuts[static_cast<std::size_t>(part)]; i < cuts[static_cast<std::size_t>(part) + 1]; ++i) {
              const auto sequence = data[i];
              symbols.resize(sequence.size());
              std::transform(sequence.begin(), sequence.end(), symbols.begin(),
                             [&](std::int32_t s) { return recode[static_cast<std::size_t>(s)]; });
              double* const to = out + static_cast<std::size_t>(data.offsets[i]) * n_functions;
              if (table && counts_ == Counts::raw) {
                if constexpr (std::is_same_v<Family, GappedKmerPatterns> && kIsTable<Stored>) {
                  const double share = 1.0 / family.k;
                  const bool done = table->read(symbols, [&](std::uint32_t id, std::size_t start, const int* places, int direction) {
                    for (std::size_t f = 0; f < n_functions; ++f) {
                      const double each = share * weights[id * n_functions + f];
                      for (int j = 0; j < family.k; ++j)
                        to[static_cast<std::size_t>(static_cast<std::int64_t>(start) + direction * places[j]) * n_functions + f] += each;
                    }
                  });
                  tick();
                  if (done) continue;
                }
              }
              const auto visit_known = [&](auto&& visit) {
                each_occurrence(values.summed(), Symbols(symbols),
                                [&](const std::int32_t* cells, int n, double value, const std::size_t* places, std::size_t n_places) {
                                  poll();
                                  const std::uint32_t id = find_pattern(family, stored, alphabet_size_, cells, n);
                                  if (id != kNoPattern) visit(id, cells, value, places, n_places);
                                });
              };
              if (!sums.empty())
                visit_known(
                    [&](std::uint32_t id, const std::int32_t*, double value, const std::size_t*, std::size_t) { sums[id] += value; });
              visit_known([&](std::uint32_t id, const std::int32_t* cells, double value, const std::size_t* places, std::size_t n_places) {
                if (!sums.empty()) value *= values.of(sums[id], cells) / sums[id];
                for (std::size_t f = 0; f < n_functions; ++f) {
                  const double each = value * weights[id * n_functions + f] / static_cast<double>(n_places);
                  for (std::size_t j = 0; j < n_places; ++j) to[places[j] * n_functions + f] += each;
                }
              });
              if (!sums.empty())
                visit_known([&](std::uint32_t id, const std::int32_t*, double, const std::size_t*, std::size_t) { sums[id] = 0; });
              tick();
            }
          });
      },
      family_, store_);
}

}  // namespace treille
