#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

#include "features/dictionary_fit.hpp"
#include "parallel.hpp"
#include "text/pattern_features.hpp"
#include "text/pattern_occurrences.hpp"

namespace treille {
namespace {

// Gapped k-mers by their addresses in a table, all windows of a choice of positions at a time.
class TableShares {
 public:
  TableShares(const GappedKmerPatterns& family, const PatternTable& table, std::int32_t base, std::span<const double> weights,
              std::size_t n_functions, std::size_t n_symbols)
      : family_(family),
        own_(one_strand(family)),
        table_(table),
        base_(base),
        addresses_(own_, base),
        groups_(family.table_groups()),
        weights_(weights.begin(), weights.end()),
        n_functions_(n_functions) {
    std::vector<std::int32_t> cells(family.paired ? static_cast<std::size_t>(family.length) : 0);
    for (std::size_t id = 0; family.paired && id < table.addresses.size(); ++id) {
      family.cells(table.addresses[id], base, cells.data());
      for (std::size_t f = 0; f < n_functions; ++f) weights_[id * n_functions + f] *= family.scale(cells.data());
    }
    // Weights by address need one look-up each, not two; worth it where look-ups outnumber them.
    const std::size_t size = table.rank.size() * n_functions, looked_up = n_symbols * family.groups() * n_functions;
    if (size > kMostPrices || size > looked_up) return;
    prices_.assign(size, 0.0);
    for (std::size_t id = 0; id < table.addresses.size(); ++id)
      std::copy_n(weights_.data() + id * n_functions, n_functions, prices_.data() + table.addresses[id] * n_functions);
  }

  // Adds the worth of each symbol to `out`. Returns false, and adds nothing, if a symbol has no place in the table.
  bool add(Symbols x, double* out) {
    if (std::any_of(x.begin(), x.end(), [&](std::int32_t s) { return s >= base_; })) return false;
    each_strand(family_, x, [&](Symbols strand, bool reverse) {
      shares_.assign(n_functions_ * x.size(), 0.0);
      read(strand);
      for (std::size_t f = 0; f < n_functions_; ++f)
        for (std::size_t i = 0; i < x.size(); ++i)
          out[(reverse ? x.size() - 1 - i : i) * n_functions_ + f] += shares_[f * x.size() + i] / family_.k;
    });
    return true;
  }

 private:
  static constexpr std::size_t kMostPrices = std::size_t{1} << 22;

  void read(Symbols strand) {
    const auto size = static_cast<std::uint32_t>(family_.group_size(base_));
    const auto length = static_cast<std::size_t>(family_.length);
    addresses_.read(strand);
    runs_.clear();
    clean_runs(strand, length,
               [&](Symbols run) { runs_.push_back({static_cast<std::size_t>(run.data() - strand.data()), run.size() - length + 1}); });
    for (std::size_t group = 0; group + 1 < groups_.size(); ++group) {
      const auto first = static_cast<std::uint32_t>(groups_[group]), n = static_cast<std::uint32_t>(groups_[group + 1]) - first;
      if (family_.paired && family_.form_order(family_.place(first)) > 0) continue;
      for (std::uint32_t choice = 0; choice < n; ++choice) {
        poll();
        addresses_.list(first + choice, list_);
        for (std::uint32_t& address : list_) address = first * size + address * n + choice;
        for (std::size_t f = 0; f < n_functions_; ++f) {
          price(f);
          place(family_.place(first + choice), shares_.data() + f * strand.size());
        }
      }
    }
  }

  // The weight of the pattern of each window.
  void price(std::size_t f) {
    worth_.resize(list_.size());
    if (!prices_.empty()) {
      for (std::size_t w = 0; w < list_.size(); ++w) worth_[w] = prices_[list_[w] * n_functions_ + f];
      return;
    }
    for (std::size_t w = 0; w < list_.size(); ++w) {
      const std::uint32_t id = table_.rank[list_[w]];
      worth_[w] = id < table_.addresses.size() ? weights_[id * n_functions_ + f] : 0.0;
    }
  }

  // Adds it to the symbols that the pattern fixes.
  void place(const int* places, double* to) const {
    const double* worth = worth_.data();
    for (const Run& run : runs_) {
      for (int j = 0; j < family_.k; ++j) {
        double* const at = to + run.start + static_cast<std::size_t>(places[j]);
        for (std::size_t w = 0; w < run.windows; ++w) at[w] += worth[w];
      }
      worth += run.windows;
    }
  }

  struct Run {
    std::size_t start, windows;
  };

  const GappedKmerPatterns& family_;
  GappedKmerPatterns own_;
  const PatternTable& table_;
  std::int32_t base_;
  GappedKmerPatterns::Addresses addresses_;
  std::vector<std::size_t> groups_;
  std::vector<double> weights_;  // of occurrences
  std::size_t n_functions_;
  std::vector<double> prices_, worth_, shares_;  // by address; by window; by function and symbol
  std::vector<Run> runs_;
  std::vector<std::uint32_t> list_;
};

}  // namespace

void PatternFeatures::contributions(const Sequences& data, std::span<const std::int32_t> recode, std::span<const double> weights,
                                    std::size_t n_functions, int threads, double* out) const {
  const auto cuts = shares(data, threads);
  expect(data.size());
  run_shares(static_cast<int>(cuts.size()) - 1, [&](int p) {
    const PatternValues values(family_, counts_);
    const auto* const kmers = std::get_if<GappedKmerPatterns>(&family_);
    const auto* const addresses = std::get_if<PatternTable>(&store_);
    std::optional<TableShares> table;
    if (kmers != nullptr && addresses != nullptr && counts_ == Counts::raw)
      table.emplace(*kmers, *addresses, alphabet_size_, weights, n_functions, data.symbols.size());
    std::vector<std::int32_t> symbols;
    std::vector<std::uint32_t> known;                               // ids of the occurrences in the sequence
    std::vector<double> sums(counts_ == Counts::raw ? 0 : size());  // of the occurrences, by id
    for (std::size_t i = cuts[static_cast<std::size_t>(p)]; i < cuts[static_cast<std::size_t>(p) + 1]; ++i) {
      const auto sequence = data[i];
      symbols.resize(sequence.size());
      std::transform(sequence.begin(), sequence.end(), symbols.begin(),
                     [&](std::int32_t s) { return recode[static_cast<std::size_t>(s)]; });
      double* const to = out + static_cast<std::size_t>(data.offsets[i]) * n_functions;
      tick();
      if (table && table->add(Symbols(symbols), to)) continue;
      if (!sums.empty())
        each_occurrence(values.summed(), Symbols(symbols), [&](const std::int32_t* cells, int n, double value, auto...) {
          poll();
          const std::uint32_t id = find(cells, n);
          if (id == kNoPattern) return;
          sums[id] += value;
          known.push_back(id);
        });
      each_occurrence(values.summed(), Symbols(symbols),
                      [&](const std::int32_t* cells, int n, double value, const std::size_t* places, std::size_t n_places) {
                        poll();
                        const std::uint32_t id = find(cells, n);
                        if (id == kNoPattern) return;
                        if (!sums.empty()) value *= values.of(sums[id], cells) / sums[id];
                        for (std::size_t f = 0; f < n_functions; ++f) {
                          const double each = value * weights[id * n_functions + f] / static_cast<double>(n_places);
                          for (std::size_t j = 0; j < n_places; ++j) to[places[j] * n_functions + f] += each;
                        }
                      });
      for (const std::uint32_t id : known) sums[id] = 0;
      known.clear();
    }
  });
}

}  // namespace treille
