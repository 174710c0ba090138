#include "conjunctions/conjunction_features.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "features/row_builder.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

struct Lister : PatternVisitor<true> {
  PatternTrees& trees;
  std::size_t most;
  std::uint32_t decide(const Pattern& p) {
    if (trees.items.size() == most) throw std::length_error("more conjunctions than expected");
    trees.levels.push_back(static_cast<std::uint8_t>(p.level));
    trees.items.push_back(p.item);
    return 0;
  }
};

struct Enough {};

struct SupportCounter : PatternVisitor<false> {
  double patterns = 0, occurrences = 0, most = 0;
  std::uint32_t decide(const Pattern& p) {
    ++patterns;
    occurrences += p.support;
    if (occurrences > most) throw Enough();
    return 0;
  }
};

// For each item, the number of occurrences of all patterns that begin with it, frequent or not, of at most `degree` items.
std::vector<double> root_work(const ItemRows& rows, int degree) {
  std::size_t longest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) longest = std::max(longest, rows.row(i).size());
  // subsets[q]: the number of sets of fewer than `degree` out of q items, by subsets_d(q + 1) = subsets_d(q) + subsets_{d-1}(q).
  std::vector<double> subsets(longest + 1, 1.0);
  for (int d = 1; d < degree; ++d) {
    std::vector<double> longer(longest + 1, 1.0);
    for (std::size_t q = 0; q < longest; ++q) longer[q + 1] = longer[q] + subsets[q];
    subsets = std::move(longer);
  }
  std::vector<double> work(rows.n_items, 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row(i);
    for (std::size_t r = 0; r < row.size(); ++r) work[row[r]] += subsets[row.size() - r - 1];
  }
  return work;
}

// Contiguous ranges of items of about equal work.
std::vector<std::size_t> root_cuts(const std::vector<double>& work, int shares) {
  const double total = std::accumulate(work.begin(), work.end(), 0.0);
  std::vector<std::int64_t> cumulative{0};
  double sum = 0;
  for (const double own : work) {
    sum += own;
    cumulative.push_back(static_cast<std::int64_t>(total > 0 ? sum / total * 1e15 : 0));
  }
  return balanced_cuts(cumulative, shares);
}

// d! times the coefficients of t^0 .. t^d; the product with exp(x t) - 1.
void extend(std::span<const double> from, double x, std::span<double> to) {
  std::fill(to.begin(), to.end(), 0.0);
  double term = 1;
  for (std::size_t r = 1; r < to.size(); ++r) {
    term *= x / static_cast<double>(r);
    for (std::size_t s = 0; s + r < to.size(); ++s) to[s + r] += from[s] * term;
  }
}

}  // namespace

ConjunctionFeatures ConjunctionFeatures::mine(const ItemRows& rows, int degree, std::size_t min_support, std::size_t most, bool constant,
                                              int threads, std::size_t long_array) {
  const ItemIndex index(rows);
  const auto cuts = root_cuts(root_work(rows, degree), threads);
  std::vector<PatternTrees> shares(static_cast<std::size_t>(threads));
  expect(rows.n_items);
  run_shares(threads, [&](int p) {
    const auto share = static_cast<std::size_t>(p);
    Miner miner(rows, index, degree, min_support, 0);
    Lister lister{{}, shares[share], most};
    for (std::size_t root = cuts[share]; root < cuts[share + 1]; ++root) {
      tick();
      miner.mine(static_cast<Item>(root), lister);
    }
  });
  PatternTrees& all = shares[0];
  std::size_t total = 0;
  for (const PatternTrees& share : shares) total += share.items.size();
  if (total > most) throw std::length_error("more conjunctions than expected");
  all.levels.reserve(total);
  all.items.reserve(total);
  for (std::size_t p = 1; p < shares.size(); ++p) {
    all.levels.insert(all.levels.end(), shares[p].levels.begin(), shares[p].levels.end());
    all.items.insert(all.items.end(), shares[p].items.begin(), shares[p].items.end());
    shares[p] = {};
  }
  return {std::move(all), rows.n_items, {}, constant, long_array};
}

ConjunctionFeatures::ConjunctionFeatures(PatternTrees trees, std::size_t n_items, std::span<const std::uint8_t> kept, bool constant,
                                         std::size_t long_array)
    : patterns_(std::move(trees), n_items, long_array), constant_(constant), n_features_(constant ? 1 : 0) {
  if (kept.empty()) {
    n_features_ += patterns_.size();
  } else {
    if (kept.size() != patterns_.size()) throw std::length_error("expected a mark for each conjunction");
    for (const std::uint8_t mark : kept) ids_.push_back(mark != 0 ? static_cast<std::uint32_t>(n_features_++) : kNoFeature);
  }
}

// write(share, thread's set of items, row number) writes a row.
template <class Write>
CodedEntries ConjunctionFeatures::write_rows(const ItemRows& rows, int threads, Write&& write) const {
  const auto cuts =
      balanced_cuts(rows.indptr, static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads), 1 + rows.items.size() / 2000)));
  expect(rows.size());
  auto shares = fill_shares(cuts, [&](std::size_t, std::size_t first, std::size_t last, RowShare& share) {
    ItemSet present(rows.n_items);
    auto write_row = write(share);
    for (std::size_t i = first; i < last; ++i) {
      present.insert(rows.row(i));
      write_row(i, present);
      present.erase(rows.row(i));
      share.end_row();
    }
  });
  return join_shares(std::move(shares), {}, size());
}

CodedEntries ConjunctionFeatures::rows(const ItemRows& rows, std::span<const double> values, int threads) const {
  return write_rows(rows, threads, [&](RowShare& share) {
    std::vector<std::uint32_t> codes;
    for (const double value : values) codes.push_back(share.codebook().code_of(value));
    return [&, codes](std::size_t i, const ItemSet& present) {
      match(rows.row(i), present,
            [&](std::size_t id, int level) { share.add_coded(static_cast<std::uint32_t>(id), codes[static_cast<std::size_t>(level)]); });
    };
  });
}

CodedEntries ConjunctionFeatures::real_rows(const ItemRows& rows, std::span<const double> numbers, double c0,
                                            std::span<const double> values, int threads) const {
  const std::size_t width = values.size();  // d + 1
  double factorial = 1;
  std::vector<double> start{1.0};
  for (std::size_t r = 1; r < width; ++r) {
    factorial *= static_cast<double>(r);
    start.push_back(start.back() * c0 / static_cast<double>(r));
  }
  for (double& each : start) each *= factorial;
  return write_rows(rows, threads, [&](RowShare& share) {
    return [&, series = std::vector<double>(width * width), number = std::vector<double>(rows.n_items)](std::size_t i,
                                                                                                        const ItemSet& present) mutable {
      const auto row = rows.row(i);
      for (std::size_t r = 0; r < row.size(); ++r) number[row[r]] = numbers[static_cast<std::size_t>(rows.indptr[i]) + r];
      std::copy(start.begin(), start.end(), series.begin());
      if (constant_) share.add(0, values[0]);
      match_nodes(row, 0, row.size(), present, [&](std::size_t node, std::size_t id) {
        const auto level = static_cast<std::size_t>(patterns_.level(node));
        const std::span<double> all = series, to = all.subspan(level * width, width);
        extend(all.subspan((level - 1) * width, width), number[patterns_.item(node)], to);
        if (id != kNoFeature && to.back() != 0) share.add(static_cast<std::uint32_t>(id), to.back() / values[level]);
      });
    };
  });
}

Buffer<double> ConjunctionFeatures::level_counts(const ItemRows& rows, std::size_t degree, int threads) const {
  auto counts = Buffer<double>::zeros(rows.size() * degree);
  const auto cuts = balanced_cuts(rows.indptr, threads);
  run_shares(threads, [&](int p) {
    ItemSet present(rows.n_items);
    for (std::size_t i = cuts[static_cast<std::size_t>(p)]; i < cuts[static_cast<std::size_t>(p) + 1]; ++i) {
      poll();
      present.insert(rows.row(i));
      match(rows.row(i), present, [&](std::size_t, int level) {
        if (level > 0) ++counts[i * degree + static_cast<std::size_t>(level) - 1];
      });
      present.erase(rows.row(i));
    }
  });
  return counts;
}

std::vector<Item> ConjunctionFeatures::items_of(std::size_t id) const {
  if (constant_ && id == 0) return {};
  std::size_t node = id - (constant_ ? 1 : 0);
  if (!ids_.empty()) {  // ids rise with nodes; some nodes are no features
    std::size_t low = 0, high = ids_.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      std::size_t next = middle;
      while (next < high && ids_[next] == kNoFeature) ++next;
      if (next < high && ids_[next] < id)
        low = next + 1;
      else
        high = middle;
    }
    node = low;
    while (ids_[node] != id) ++node;
  }
  std::vector<Item> items;
  for (int level = patterns_.level(node); level > 0; --level) {
    while (patterns_.level(node) != level) --node;
    items.push_back(patterns_.item(node));
  }
  std::reverse(items.begin(), items.end());
  return items;
}

std::pair<PatternTrees, Array<std::uint8_t>> ConjunctionFeatures::restricted(std::span<const std::int64_t> ids) const {
  Array<std::uint8_t> wanted(size(), 0), used(patterns_.size(), 0);
  for (const std::int64_t id : ids) wanted[static_cast<std::size_t>(id)] = 1;
  auto is_wanted = [&](std::size_t node) {
    const std::size_t id = ids_.empty() ? node + (constant_ ? 1 : 0) : ids_[node];
    return id != kNoFeature && wanted[id] != 0;
  };
  // Runs from the end: a node is used if it, or a node below it, is wanted.
  std::vector<std::uint8_t> below(std::numeric_limits<std::uint8_t>::max() + 2, 0);
  std::size_t n_used = 0, n_wanted = 0;
  for (std::size_t node = patterns_.size(); node-- > 0;) {
    const auto level = static_cast<std::size_t>(patterns_.level(node));
    const bool own = is_wanted(node);
    used[node] = own || below[level + 1] != 0;
    below[level + 1] = 0;
    below[level] |= used[node];
    n_used += used[node];
    n_wanted += own;
  }
  PatternTrees trees;
  Array<std::uint8_t> kept;
  for (std::size_t node = 0; node < patterns_.size(); ++node) {
    if (used[node] == 0) continue;
    trees.levels.push_back(static_cast<std::uint8_t>(patterns_.level(node)));
    trees.items.push_back(patterns_.item(node));
    if (n_wanted < n_used) kept.push_back(is_wanted(node) ? 1 : 0);
  }
  return {std::move(trees), std::move(kept)};
}

Array<std::uint8_t> ConjunctionFeatures::kept() const {
  Array<std::uint8_t> marks;
  for (const std::uint32_t id : ids_) marks.push_back(id != kNoFeature ? 1 : 0);
  return marks;
}

ConjunctionSizes estimate_conjunctions(const ItemRows& rows, int degree, std::size_t min_support, double budget) {
  const ItemIndex index(rows);
  const auto work = root_work(rows, degree);
  const double total = std::accumulate(work.begin(), work.end(), 0.0);
  const bool all = total <= budget;
  const auto stride =
      all ? 1 : static_cast<std::size_t>(std::min(total / budget + 1, static_cast<double>(std::max<std::size_t>(rows.n_items, 1))));
  Miner miner(rows, index, degree, min_support, 0);
  SupportCounter counter;
  counter.most = 4 * budget;
  double seen = 0;
  try {
    for (std::size_t root = stride / 2; root < rows.n_items; root += stride) {
      poll();
      miner.mine(static_cast<Item>(root), counter);
      seen += work[root];
    }
  } catch (const Enough&) {
    seen = counter.occurrences;
  }
  const double scale = all || seen == 0 ? 1.0 : total / seen;
  return {counter.patterns * scale, counter.occurrences * scale};
}

}  // namespace treille
