#include "conjunctions/cells.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "features/row_builder.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

constexpr std::uint32_t kEmpty = ~std::uint32_t{0};

// Roots in contiguous ranges of about equal work.
std::vector<std::size_t> root_cuts(const ItemRows& rows, int parts) {
  std::vector<std::int64_t> work(rows.n_items + 1, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row(i);
    for (std::size_t r = 0; r < row.size(); ++r) work[row[r] + 1] += static_cast<std::int64_t>(row.size() - r);
  }
  std::partial_sum(work.begin(), work.end(), work.begin());
  return balanced_cuts(work, parts);
}

}  // namespace

std::size_t ConjunctionCells::Table::find(std::uint64_t key) const {
  std::size_t slot = home(key);
  while (slots[slot] != kEmpty && cells[slots[slot]].key != key) slot = (slot + 1) & (slots.size() - 1);
  return slot;
}

std::uint32_t ConjunctionCells::Table::add(std::uint64_t key, std::uint32_t support) {
  if (slots.size() < 2 * cells.size() + 2) place_all(std::max<std::size_t>(1 << 12, 2 * slots.size()));
  const std::size_t slot = find(key);
  if (slots[slot] == kEmpty) {
    slots[slot] = static_cast<std::uint32_t>(cells.size());
    cells.push_back({key, support, 0});
    members.resize(members.size() + static_cast<std::size_t>(degree), 0);
  }
  return slots[slot];
}

void ConjunctionCells::Table::place_all(std::size_t n_slots) {
  slots.assign(n_slots, kEmpty);
  for (std::size_t c = 0; c < cells.size(); ++c) slots[find(cells[c].key)] = static_cast<std::uint32_t>(c);
}

ConjunctionCells::Database::Database(const ItemRows& given, int threads) : rows(given), index(given), cuts(root_cuts(given, threads)) {}

ConjunctionCells::ConjunctionCells(const ItemRows& rows, int degree, std::size_t min_support, int threads)
    : all_(rows, threads),
      degree_(degree),
      threads_(threads),
      min_support_(min_support),
      twins_(rows.n_items, 0),
      first_items_(find_twins()),
      first_(first_items_.view(rows.n_items), threads) {
  for (;; ++salt_) {
    find_cells();
    if (write_rows()) break;
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

// For a pattern of first twins, how many patterns of k = 1 .. degree items it stands for: the coefficients of the product of
// (1 + t)^twins - 1 over its items.
class ConjunctionCells::Ways {
 public:
  Ways(std::span<const std::uint32_t> twins, int degree)
      : twins_(twins), width_(static_cast<std::size_t>(degree) + 1), of_(width_ * width_, 0.0) {
    of_[0] = 1;
  }
  // Patterns come depth first: of_ holds the coefficients of each part of the path.
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

// make(part) gives the visitor of part p; each part is mined by one thread.
template <class Make>
void ConjunctionCells::mine_parts(const Database& database, Make&& make) const {
  expect(database.rows.n_items);
  run_parts(threads_, [&](int p) {
    Miner miner(database.rows, database.index, degree_, min_support_, salt_);
    auto visitor = make(static_cast<std::size_t>(p));
    for (std::size_t root = database.cuts[static_cast<std::size_t>(p)]; root < database.cuts[static_cast<std::size_t>(p) + 1]; ++root) {
      tick();
      miner.mine(static_cast<Item>(root), visitor);
    }
  });
}

void ConjunctionCells::find_cells() {
  const std::size_t width = static_cast<std::size_t>(degree_), n = all_.rows.size();
  std::vector<Table> tables(static_cast<std::size_t>(threads_));
  std::vector<Array<double>> alone(static_cast<std::size_t>(threads_));
  struct Finder : PatternVisitor<false> {
    Table& table;
    Array<double>& alone;
    std::size_t width;
    Ways ways;
    void expect(std::uint64_t key) const {
      if (!table.slots.empty()) request(&table.slots[table.home(key)]);
    }
    std::uint32_t decide(const Pattern& p) {
      if (p.support == 1) {
        ways.add(p, alone.data() + p.row * width);
      } else {
        const std::uint32_t cell = table.add(p.key, p.support);
        ++table.cells[cell].mined;
        ways.add(p, table.members.data() + cell * width);
      }
      return 0;
    }
  };
  mine_parts(first_, [&](std::size_t p) {
    alone[p].assign(n * width, 0);
    tables[p].degree = degree_;
    return Finder{{}, tables[p], alone[p], width, Ways(twins_, degree_)};
  });
  Table& all = tables[0];
  alone_ = std::move(alone[0]);
  for (std::size_t p = 1; p < tables.size(); ++p) {
    const Table& own = tables[p];
    for (std::size_t c = 0; c < own.cells.size(); ++c) {
      if (c + 16 < own.cells.size()) request(&all.slots[all.home(own.cells[c + 16].key)]);
      const std::uint32_t cell = all.add(own.cells[c].key, own.cells[c].support);
      all.cells[cell].mined += own.cells[c].mined;
      for (std::size_t l = 0; l < width; ++l) all.members[cell * width + l] += own.members[c * width + l];
    }
    std::transform(alone_.begin(), alone_.end(), alone[p].begin(), alone_.begin(), std::plus<>());
    tables[p] = {};
    alone[p] = {};
  }
  if (all.cells.size() + n >= kEmpty) throw std::length_error("more than 2^32 cells of conjunctions");
  // Frequent cells first; the order of the others must not depend on the number of threads.
  Array<std::uint32_t> order(all.cells.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto &x = all.cells[a], &y = all.cells[b];
    return x.support != y.support ? x.support > y.support : x.key < y.key;
  });
  table_ = {};
  table_.degree = degree_;
  table_.cells.reserve(order.size());
  table_.members.reserve(order.size() * width);
  for (const std::uint32_t c : order) {
    table_.cells.push_back(all.cells[c]);
    table_.members.insert(table_.members.end(), all.members.begin() + static_cast<std::ptrdiff_t>(c * width),
                          all.members.begin() + static_cast<std::ptrdiff_t>((c + 1) * width));
  }
  const std::size_t n_slots = std::max<std::size_t>(2, all.slots.size());
  tables.clear();
  table_.place_all(n_slots);
  const double shared = std::accumulate(table_.members.begin(), table_.members.end(), 0.0);
  n_patterns_ = static_cast<std::size_t>(std::accumulate(alone_.begin(), alone_.end(), shared));
}

// One pattern of each cell writes it into its rows. Two passes: the lengths of the rows, then the rows.
bool ConjunctionCells::write_rows() {
  const std::size_t n = all_.rows.size(), parts = static_cast<std::size_t>(threads_), width = static_cast<std::size_t>(degree_);
  struct Part {
    Array<std::uint32_t> lengths, met;  // of the part's own cells in each row; patterns in several rows that each row holds
    Array<std::uint32_t> marks;         // for each pattern in several rows, 1 + the cell that it writes, or 0
    std::size_t next = 0;
  };
  std::vector<Part> all(parts);
  Array<std::uint8_t> written(table_.cells.size(), 0);
  struct Counter : PatternVisitor<false> {
    const Table& table;
    Part& part;
    std::uint8_t* written;
    void expect(std::uint64_t key) const { request(&table.slots[table.home(key)]); }
    std::uint32_t decide(const Pattern& p) {
      if (p.support == 1) return 0;
      const std::uint32_t cell = table.slots[table.find(p.key)];
      const bool writes = std::atomic_ref(written[cell]).exchange(1, std::memory_order_relaxed) == 0;
      part.marks.push_back(writes ? cell + 1 : 0);
      return writes ? 2 : 1;
    }
    void each(std::uint32_t row, std::uint32_t mark) {
      ++part.met[row];
      part.lengths[row] += mark - 1;
    }
  };
  mine_parts(first_, [&](std::size_t p) {
    all[p].lengths.assign(n, 0);
    all[p].met.assign(n, 0);
    return Counter{{}, table_, all[p], written.data()};
  });
  written = {};

  Buffer<std::int64_t> indptr(n + 1);
  indptr[0] = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto own = std::span(alone_).subspan(i * width, width);
    std::int64_t length = std::any_of(own.begin(), own.end(), [](double count) { return count > 0; });
    for (Part& part : all) length += part.lengths[i];
    indptr[i + 1] = indptr[i] + length;
  }
  Buffer<std::uint32_t> entries(static_cast<std::size_t>(indptr[n]));
  struct Writer : PatternVisitor<false> {
    Part& part;
    Array<std::int64_t> to;
    std::uint32_t* entries;
    std::uint32_t decide(const Pattern& p) { return p.support == 1 ? 0 : part.marks[part.next++]; }
    void each(std::uint32_t row, std::uint32_t mark) { entries[to[row]++] = mark - 1; }
  };
  mine_parts(first_, [&](std::size_t p) {
    Array<std::int64_t> to(indptr.data(), indptr.data() + n);
    for (std::size_t before = 0; before < p; ++before)
      for (std::size_t i = 0; i < n; ++i) to[i] += all[before].lengths[i];
    return Writer{{}, all[p], std::move(to), entries.data()};
  });

  std::atomic<bool> wrong{false};
  const auto cuts = balanced_cuts({indptr.data(), n + 1}, threads_);
  run_parts(threads_, [&](int p) {
    RowSorter<std::uint32_t> sorter(n_cells(), 0);
    for (std::size_t i = cuts[static_cast<std::size_t>(p)]; i < cuts[static_cast<std::size_t>(p) + 1]; ++i) {
      poll();
      std::uint64_t met = 0, due = 0;
      std::size_t length = 0;
      for (const Part& part : all) met += part.met[i], length += part.lengths[i];
      const std::span row(entries.data() + indptr[i], length);
      for (const std::uint32_t cell : row) due += table_.cells[cell].mined;
      if (met != due) wrong = true;
      sorter.sort(row);
      if (static_cast<std::int64_t>(length) < indptr[i + 1] - indptr[i])
        entries[static_cast<std::size_t>(indptr[i + 1]) - 1] = static_cast<std::uint32_t>(n_shared() + i);
    }
  });
  if (wrong) return false;
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
  struct Part {
    PatternTrees trees;
    Array<std::uint32_t> marks;
  };
  std::vector<Part> parts(static_cast<std::size_t>(threads_));
  struct Lister : PatternVisitor<true> {
    const Table& table;
    std::span<const std::uint32_t> marks;
    Part& part;
    std::vector<Item> path;
    int listed = 0;  // items of the path that are nodes already
    void expect(std::uint64_t key) const { request(&table.slots[table.home(key)]); }
    std::uint32_t decide(const Pattern& p) {
      path[static_cast<std::size_t>(p.level)] = p.item;
      listed = std::min(listed, p.level - 1);
      const std::uint32_t mark = marks[p.support == 1 ? table.cells.size() + p.row : table.slots[table.find(p.key)]];
      if (mark == 0) return 0;
      for (; listed < p.level; ++listed) {
        part.trees.levels.push_back(static_cast<std::uint8_t>(listed + 1));
        part.trees.items.push_back(path[static_cast<std::size_t>(listed) + 1]);
        part.marks.push_back(listed + 1 == p.level ? mark : 0);
      }
      return 0;
    }
  };
  mine_parts(all_, [&](std::size_t p) { return Lister{{}, table_, marks, parts[p], std::vector<Item>(static_cast<std::size_t>(degree_) + 1)}; });
  Part all = std::move(parts[0]);
  auto append = [](auto& to, auto& from) {
    to.insert(to.end(), from.begin(), from.end());
    from = {};
  };
  for (std::size_t p = 1; p < parts.size(); ++p) {
    append(all.trees.levels, parts[p].trees.levels);
    append(all.trees.items, parts[p].trees.items);
    append(all.marks, parts[p].marks);
  }
  return {std::move(all.trees), std::move(all.marks)};
}

}  // namespace treille
