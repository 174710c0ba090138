#include "conjunctions/cells.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>

#include "parallel.hpp"

namespace treille {
namespace {

// Roots in contiguous ranges of about equal work.
std::vector<std::size_t> root_cuts(const ItemRows& rows, int shares) {
  std::vector<std::int64_t> work(rows.n_items + 1, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row(i);
    for (std::size_t r = 0; r < row.size(); ++r) work[row[r] + 1] += static_cast<std::int64_t>(row.size() - r);
  }
  std::partial_sum(work.begin(), work.end(), work.begin());
  return balanced_cuts(work, shares);
}

}  // namespace

std::pair<std::uint32_t, bool> ConjunctionCells::Table::add(std::uint64_t key, std::uint32_t support) {
  const std::size_t known = cells.size();
  const std::uint32_t cell = index.find_or_add(tag(key), same(key), [&] {
    cells.push_back({key, support, 0});
    members.resize(members.size() + static_cast<std::size_t>(degree), 0);
  });
  return {cell, cells.size() > known};
}

ConjunctionCells::Database::Database(const ItemRows& given, int threads) : rows(given), index(given), cuts(root_cuts(given, threads)) {}

ConjunctionCells::ConjunctionCells(const ItemRows& rows, int degree, std::size_t min_support, int threads)
    : all_(rows, threads),
      degree_(degree),
      threads_(threads),
      min_support_(min_support),
      twins_(rows.n_items, 0),
      first_items_(find_twins()),
      first_(first_items_.view(rows.n_items), threads),
      table_(degree) {
  for (;; ++salt_) {
    auto shares = find_cells();
    join_cells(shares);
    if (write_rows(shares)) break;
  }
}

RecodedItems ConjunctionCells::find_twins() {
  const std::size_t n_items = all_.rows.n_items;
  std::vector<Item> order(n_items), first(n_items, kNoItem);
  std::iota(order.begin(), order.end(), Item{0});
  auto less = [&](Item a, Item b) {
    const auto x = all_.index.holders(a), y = all_.index.holders(b);
    return x.size() != y.size() ? x.size() < y.size() : std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  };
  std::stable_sort(order.begin(), order.end(), less);
  for (std::size_t k = 0; k < n_items; ++k) {
    const Item leader = k > 0 && !less(order[k - 1], order[k]) ? first[order[k - 1]] : order[k];
    first[order[k]] = leader;
    ++twins_[leader];
  }
  for (Item item = 0; item < n_items; ++item)
    if (first[item] != item) first[item] = kNoItem;
  return RecodedItems(all_.rows.indptr, all_.rows.items, std::span<const Item>(first));
}

// The number of patterns of k = 1 .. degree items that a pattern of first twins represents: the coefficients of the product of
// (1 + t)^twins - 1 over its items.
class ConjunctionCells::Ways {
 public:
  Ways(std::span<const std::uint32_t> twins, int degree)
      : twins_(twins), width_(static_cast<std::size_t>(degree) + 1), of_(width_ * width_, 0.0) {
    of_[0] = 1;
  }
  // Patterns come depth first: of_ holds the coefficients of each prefix of the path.
  void add(const Pattern& p, double* members) {
    const double* before = of_.data() + (static_cast<std::size_t>(p.level) - 1) * width_;
    double* own = of_.data() + static_cast<std::size_t>(p.level) * width_;
    std::fill(own, own + width_, 0.0);
    double choices = 1;
    for (std::size_t k = 1; k < width_; ++k) {
      choices *= (static_cast<double>(twins_[p.item]) - static_cast<double>(k) + 1) / static_cast<double>(k);
      if (choices <= 0) break;
      for (std::size_t j = 0; j + k < width_; ++j) own[j + k] += before[j] * choices;
    }
    for (std::size_t k = 1; k < width_; ++k) members[k - 1] += own[k];
  }

 private:
  std::span<const std::uint32_t> twins_;
  std::size_t width_;
  std::vector<double> of_;
};

// make(share) gives the visitor of share p; each share is mined by one thread.
template <class Make>
void ConjunctionCells::mine_shares(const Database& database, Make&& make) const {
  expect(database.rows.n_items);
  run_shares(threads_, [&](int p) {
    Miner miner(database.rows, database.index, degree_, min_support_, salt_);
    auto visitor = make(static_cast<std::size_t>(p));
    for (std::size_t root = database.cuts[static_cast<std::size_t>(p)]; root < database.cuts[static_cast<std::size_t>(p) + 1]; ++root) {
      tick();
      miner.mine(static_cast<Item>(root), visitor);
    }
  });
}

// Each thread finds its own cells. A cell is written where its first pattern is met, which counts in the lengths of its rows.
std::vector<ConjunctionCells::Share> ConjunctionCells::find_cells() {
  const std::size_t width = static_cast<std::size_t>(degree_), n = all_.rows.size();
  struct Finder : PatternVisitor<false> {
    Share& share;
    std::size_t width;
    Ways ways;
    void expect(std::uint64_t key) const { share.table.expect(key); }
    std::uint32_t decide(const Pattern& p) {
      if (p.support == 1) {
        ways.add(p, share.alone.data() + p.row * width);
        return 0;
      }
      const auto [cell, first] = share.table.add(p.key, p.support);
      ++share.table.cells[cell].mined;
      ways.add(p, share.table.members.data() + cell * width);
      share.marks.push_back(first ? cell + 1 : 0);
      return first ? 2 : 1;
    }
    void each(std::uint32_t row, std::uint32_t mark) {
      ++share.met[row];
      share.lengths[row] += mark - 1;
    }
  };
  std::vector<Share> shares;
  for (int p = 0; p < threads_; ++p) shares.push_back({Table(degree_), {}, {}, {}, {}});
  mine_shares(first_, [&](std::size_t p) {
    shares[p].alone.assign(n * width, 0);
    shares[p].lengths.assign(n, 0);
    shares[p].met.assign(n, 0);
    return Finder{{}, shares[p], width, Ways(twins_, degree_)};
  });
  return shares;
}

// One table of all cells, numbered in the order of their first patterns, which does not depend on the number of threads: in each row the
// cells rise. A cell that several threads found is written by the first of them.
void ConjunctionCells::join_cells(std::vector<Share>& shares) {
  const std::size_t width = static_cast<std::size_t>(degree_);
  table_ = std::move(shares[0].table);
  alone_ = std::move(shares[0].alone);
  Array<std::uint32_t> cell_of;  // for each cell of a thread, 1 + its number here, or 0 if it was known before
  for (std::size_t p = 1; p < shares.size(); ++p) {
    const Table own = std::move(shares[p].table);
    cell_of.clear();
    for (std::size_t c = 0; c < own.cells.size(); ++c) {
      if (c + 16 < own.cells.size()) table_.expect(own.cells[c + 16].key);
      const auto [cell, is_new] = table_.add(own.cells[c].key, own.cells[c].support);
      cell_of.push_back(is_new ? cell + 1 : 0);
      table_.cells[cell].mined += own.cells[c].mined;
      for (std::size_t l = 0; l < width; ++l) table_.members[cell * width + l] += own.members[c * width + l];
    }
    std::transform(alone_.begin(), alone_.end(), shares[p].alone.begin(), alone_.begin(), std::plus<>());
    shares[p].alone = {};
    for (std::uint32_t& mark : shares[p].marks)
      if (mark != 0) mark = cell_of[mark - 1];
  }
  if (n_cells() >= ~std::uint32_t{0}) throw std::length_error("more than 2^32 cells of conjunctions");
  const double shared = std::accumulate(table_.members.begin(), table_.members.end(), 0.0);
  n_patterns_ = static_cast<std::size_t>(std::accumulate(alone_.begin(), alone_.end(), shared));
}

// Writes the rows, first with places for cells that two threads found, then without. False if rows and cells differ in patterns.
bool ConjunctionCells::write_rows(std::vector<Share>& shares) {
  const std::size_t n = all_.rows.size(), width = static_cast<std::size_t>(degree_);
  Buffer<std::int64_t> places(n + 1), indptr(n + 1);
  places[0] = 0;
  for (std::size_t i = 0; i < n; ++i) {
    places[i + 1] = places[i] + 1;
    for (const Share& share : shares) places[i + 1] += share.lengths[i];
  }
  Buffer<std::uint32_t> entries(static_cast<std::size_t>(places[n]));
  struct Writer : PatternVisitor<false> {
    Share& share;
    std::int64_t* to;
    std::uint32_t* entries;
    std::uint32_t decide(const Pattern& p) { return p.support == 1 ? 0 : share.marks[share.next++]; }
    void each(std::uint32_t row, std::uint32_t mark) { entries[to[row]++] = mark - 1; }
  };
  std::vector<Array<std::int64_t>> ends(shares.size());
  mine_shares(first_, [&](std::size_t p) {
    ends[p].assign(places.data(), places.data() + n);
    for (std::size_t before = 0; before < p; ++before)
      for (std::size_t i = 0; i < n; ++i) ends[p][i] += shares[before].lengths[i];
    return Writer{{}, shares[p], ends[p].data(), entries.data()};
  });
  for (Share& share : shares) share.marks = {};

  std::atomic<bool> wrong{false};
  const auto cuts = balanced_cuts({places.data(), n + 1}, threads_);
  run_shares(threads_, [&](int t) {
    for (std::size_t i = cuts[static_cast<std::size_t>(t)]; i < cuts[static_cast<std::size_t>(t) + 1]; ++i) {
      poll();
      std::uint32_t* const begin = entries.data() + places[i];
      std::uint32_t* end = begin;
      const std::uint32_t* from = begin;
      std::uint64_t met = 0, due = 0;
      for (std::size_t p = 0; p < shares.size(); ++p) {
        end = std::copy(from, static_cast<const std::uint32_t*>(entries.data() + ends[p][i]), end);
        from += shares[p].lengths[i];
        met += shares[p].met[i];
      }
      for (const std::uint32_t* cell = begin; cell < end; ++cell) due += table_.cells[*cell].mined;
      if (met != due) wrong = true;
      const auto own = std::span(alone_).subspan(i * width, width);
      if (std::any_of(own.begin(), own.end(), [](double count) { return count > 0; })) *end++ = static_cast<std::uint32_t>(n_shared() + i);
      indptr[i + 1] = end - begin;
    }
  });
  if (wrong) return false;
  indptr[0] = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::copy(entries.data() + places[i], entries.data() + places[i] + indptr[i + 1], entries.data() + indptr[i]);
    indptr[i + 1] += indptr[i];
  }
  entries.shrink(static_cast<std::size_t>(indptr[n]));
  Buffer<double> codebook(1);
  codebook[0] = 1.0;
  entries_ = {std::move(indptr), std::move(entries), 0, std::move(codebook)};
  return true;
}

std::vector<double> ConjunctionCells::squares(std::span<const double> c) const {
  const auto width = static_cast<std::size_t>(degree_);
  std::vector<double> sums(n_cells());
  for (std::size_t cell = 0; cell < n_cells(); ++cell) {
    const bool own = cell >= n_shared();
    const double* members = own ? alone_.data() + (cell - n_shared()) * width : table_.members.data() + cell * width;
    for (std::size_t l = 0; l < width; ++l) sums[cell] += c[l] * members[l];
  }
  return sums;
}

std::pair<PatternTrees, Array<std::uint32_t>> ConjunctionCells::patterns(std::span<const std::uint32_t> marks) const {
  struct Share {
    PatternTrees trees;
    Array<std::uint32_t> marks;
  };
  std::vector<Share> shares(static_cast<std::size_t>(threads_));
  struct Lister : PatternVisitor<true> {
    const Table& table;
    std::span<const std::uint32_t> marks;
    Share& share;
    std::vector<Item> path;
    int listed = 0;  // items of the path that are nodes already
    void expect(std::uint64_t key) const { table.expect(key); }
    std::uint32_t decide(const Pattern& p) {
      path[static_cast<std::size_t>(p.level)] = p.item;
      listed = std::min(listed, p.level - 1);
      const std::uint32_t mark = marks[p.support == 1 ? table.cells.size() + p.row : table[p.key]];
      if (mark == 0) return 0;
      for (; listed < p.level; ++listed) {
        share.trees.levels.push_back(static_cast<std::uint8_t>(listed + 1));
        share.trees.items.push_back(path[static_cast<std::size_t>(listed) + 1]);
        share.marks.push_back(listed + 1 == p.level ? mark : 0);
      }
      return 0;
    }
  };
  mine_shares(all_, [&](std::size_t p) {
    shares[p].trees.levels.reserve(n_patterns_);  // pages that stay empty are never touched
    shares[p].trees.items.reserve(n_patterns_);
    shares[p].marks.reserve(n_patterns_);
    return Lister{{}, table_, marks, shares[p], std::vector<Item>(static_cast<std::size_t>(degree_) + 1)};
  });
  Share all = std::move(shares[0]);
  auto append = [](auto& to, auto& from) {
    to.insert(to.end(), from.begin(), from.end());
    from = {};
  };
  for (std::size_t p = 1; p < shares.size(); ++p) {
    append(all.trees.levels, shares[p].trees.levels);
    append(all.trees.items, shares[p].trees.items);
    append(all.marks, shares[p].marks);
  }
  return {std::move(all.trees), std::move(all.marks)};
}

}  // namespace treille
