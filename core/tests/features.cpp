// Rows: numbers in few bytes, concatenated terms, compaction.

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "check.hpp"
#include "features/compaction.hpp"
#include "features/concatenated_rows.hpp"
#include "features/csr.hpp"
#include "features/number_records.hpp"
#include "features/row_builder.hpp"
#include "features/rows.hpp"
#include "products.hpp"

namespace treille::tests {
namespace {

void concatenated_rows_are_dense_rows() {
  const std::vector<std::int64_t> indptr{0, 2, 3, 3, 5};
  const std::vector<std::uint32_t> narrow{0 << 1 | 1, 2 << 1, 0 << 1, 0 << 1 | 1, 1 << 1};  // ids 1 and 2 stand in one row each
  const std::vector<std::uint64_t> wide{0, 1, 0, 1, 2};
  const std::vector<double> codebook{1, 3}, one{2}, scale{0.5, 2, 1, 1.5}, mean{0.25, -1, 2}, shift{1, 0.5, 0, 3};
  double dense[4][6] = {};
  for (std::size_t i = 0; i < 4; ++i)
    for (auto e = static_cast<std::size_t>(indptr[i]); e < static_cast<std::size_t>(indptr[i + 1]); ++e) {
      dense[i][narrow[e] >> 1] += scale[i] * codebook[narrow[e] & 1];
      dense[i][3 + wide[e]] += scale[i] * one[0];
    }
  std::vector<double> dots(4, 0.0);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t z = 0; z < 3; ++z) {
      dots[i] += dense[i][3 + z] * mean[z];
      dense[i][3 + z] -= shift[i] * mean[z];
    }
  using Both = ConcatenatedRows<CodedRows<std::uint32_t>, CodedRows<std::uint64_t>>;
  std::vector<Both::Term> terms;
  terms.push_back({CodedRows<std::uint32_t>({indptr, narrow, 1, codebook, scale, 3, 1}), 3, {}});
  terms.push_back({CodedRows<std::uint64_t>({indptr, wide, 0, one, scale, 3, 3}), 3, {mean, shift, dots}});
  const Both rows(std::move(terms));
  check(rows.size() == 4);
  auto w = rows.zero();
  std::vector<double> expected(6, 0.0);
  std::mt19937 random(1);
  for (int step = 0; step < 20; ++step) {
    const std::size_t i = random() % 4;
    const double a = static_cast<double>(random() % 9) - 4;
    rows.axpy(i, a, w);
    for (std::size_t z = 0; z < 6; ++z) expected[z] += a * dense[i][z];
  }
  for (std::size_t i = 0; i < 4; ++i) {
    double dot = 0, sq_norm = 0;
    for (std::size_t z = 0; z < 6; ++z) {
      dot += dense[i][z] * expected[z];
      sq_norm += dense[i][z] * dense[i][z];
    }
    rows.prefetch(i);
    check(std::abs(rows.dot(i, w) - dot) < 1e-9);
    check(std::abs(rows.sq_norm(i) - sq_norm) < 1e-12);
  }
  std::vector<double> written(12, 0.0);
  rows.write_weights(w, written.data() + 1, 2);
  for (std::size_t z = 0; z < 6; ++z) check(std::abs(written[2 * z + 1] - expected[z]) < 1e-9 && written[2 * z] == 0);
}

void numbers_are_coded_exactly(unsigned kinds, int threads) {
  std::mt19937 random(kinds);
  const std::size_t n = 300, width = 400;
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  std::vector<std::uint32_t> ids(width);
  for (std::size_t j = 0; j < width; ++j) ids[j] = j % 5 == 0 ? kNoId : static_cast<std::uint32_t>(width - j);
  std::vector<std::map<std::uint32_t, double>> slow(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < width; ++j)
      if (i % 7 != 0 && random() % 2 == 0) {
        columns.push_back(static_cast<std::int32_t>(j));
        values.push_back(0.1 + 1e-3 * static_cast<double>(random() % kinds));
        if (ids[j] != kNoId) slow[i][ids[j]] = values.back();
      }
    indptr.push_back(static_cast<std::int64_t>(columns.size()));
  }
  const CodedEntries rows = from_csr(indptr, columns, values, ids, width, threads);
  const std::vector<double> scale(n, 1.0);
  rows.visit(scale, width, width, [&](const auto& view) {
    std::vector<std::uint32_t> found(view.entries.size());
    std::vector<double> numbers(view.entries.size());
    to_csr(view, 2, found.data(), numbers.data());
    std::size_t e = 0;
    for (const auto& row : slow)
      for (const auto& [id, number] : row) {
        check(e < found.size() && found[e] == id && numbers[e] == number);
        ++e;
      }
    check(e == found.size());
  });
}

using Dense = std::vector<std::vector<double>>;

template <class Word>
Dense dense_of(const CodedRowsView<Word>& rows) {
  Dense dense(rows.size(), std::vector<double>(rows.n_features, 0.0));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const Word entry : rows.row(i)) dense[i][rows.id(entry)] = rows.scale[i] * rows.value(entry);
  return dense;
}

// Columns by frequency, and weights of cells read as weights of features: a row of cells is read as the original row.
template <class Word>
void compact_rows_are_the_same_rows(const CodedRowsView<Word>& rows, const CompactRows& compacted) {
  const std::size_t n_cells = compacted.cells.n_cells();
  auto use = [&](const auto& view) {
    const Dense cells = dense_of(view), slow = dense_of(rows);
    std::vector<double> weights(rows.n_features);
    std::vector<std::size_t> holders(n_cells, 0);
    std::size_t shared_entries = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      compacted.cells.read(cells[i], 1, 2, weights.data());
      for (std::size_t z = 0; z < weights.size(); ++z) check(std::abs(weights[z] - slow[i][z]) <= 1e-9 * (1 + std::abs(slow[i][z])));
      const auto again = compacted.cells.project(slow[i]);
      for (std::size_t c = 0; c < n_cells; ++c) {
        check(std::abs(again[c] - cells[i][c]) <= 1e-9 * (1 + std::abs(cells[i][c])));
        holders[c] += cells[i][c] != 0;
        shared_entries += cells[i][c] != 0 && c < compacted.n_shared;
      }
    }
    check(shared_entries == compacted.n_entries);
    for (std::size_t c = 0; c < n_cells && compacted.cells.n_families() == 0; ++c) {
      check((holders[c] > 1) == (c < compacted.n_shared));
      check(c == 0 || c >= compacted.n_shared || holders[c] <= holders[c - 1]);
    }
  };
  if (compacted.entries)
    compacted.entries->visit(rows.scale, n_cells, compacted.n_shared, use);
  else
    use(rows);
}

void compaction_keeps_rows(int threads) {
  std::mt19937 random(5);
  const std::size_t n = 40, width = 300;
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values, scale, weights;
  std::vector<std::uint32_t> ids(width);
  for (std::size_t j = 0; j < width; ++j) {
    ids[j] = static_cast<std::uint32_t>(j);
    weights.push_back(j % 7 == 0 ? 0.0 : 0.5 * static_cast<double>(j % 5) - 0.75);
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j + 2 < width; j += 3) {
      if (random() % (2 + j / 3 % 41) > 0) continue;
      const double value = static_cast<double>(1 + random() % 4);
      for (std::size_t k = 0; k < 2; ++k) {  // proportional columns, and one that no row has
        columns.push_back(static_cast<std::int32_t>(j + k));
        values.push_back(value * (1.0 + static_cast<double>(k)));
      }
    }
    indptr.push_back(static_cast<std::int64_t>(columns.size()));
    scale.push_back(0.5 + static_cast<double>(i % 3));
  }
  const CodedEntries coded = from_csr(indptr, columns, values, ids, width, threads);
  coded.visit(scale, width, width, [&](const auto& rows) {
    const Dense dense = dense_of(rows);
    const auto counts = column_counts(rows, threads);
    for (std::size_t z = 0; z < width; ++z) {
      std::size_t holders = 0;
      for (const auto& row : dense) holders += row[z] != 0;
      check(counts[z] == holders);
    }
    for (const bool merge : {false, true}) {
      const CompactRows compacted = compact(rows, std::nullopt, merge, threads);
      compact_rows_are_the_same_rows(rows, compacted);
      check(!merge || compacted.cells.n_cells() <= width / 3);
      if (merge || !compacted.entries) continue;
      compacted.entries->visit(scale, width, width, [&](const auto& ordered) {
        check(!compact(ordered, std::nullopt, false, threads).entries);  // already ordered
      });
    }
    weigh_columns(rows, weights, threads).visit(scale, width, width, [&](const auto& weighed) {
      const Dense found = dense_of(weighed);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t z = 0; z < width; ++z) check(std::abs(found[i][z] - weights[z] * dense[i][z]) <= 1e-12);
    });
  });
}

// Members of a family are scattered among the ids, and one of every family has no feature.
void long_rows_of_families_are_compacted_to_their_basis(int threads) {
  constexpr std::size_t n_families = 3000, members = 3, n = 4;
  std::mt19937 random(9);
  std::vector<std::uint32_t> sizes(n_families, members + 1), family, member, ids;
  for (std::uint32_t z = 0; z < n_families * members; ++z) {
    family.push_back(z % n_families);
    member.push_back((z / n_families + z) % (members + 1));
    ids.push_back(z);
  }
  for (std::size_t z = 0; z < family.size(); ++z) member[z] = static_cast<std::uint32_t>((z / n_families + family[z]) % (members + 1));
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  const std::vector<double> scale{1, 2, 0.5, 1};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t z = 0; z < family.size(); ++z) {
      if ((z + i) % n_families % 4 == 0) continue;
      columns.push_back(static_cast<std::int32_t>(z));
      values.push_back(static_cast<double>(1 + family[z] % 3 + (random() % 50 == 0)));
    }
    indptr.push_back(static_cast<std::int64_t>(columns.size()));
  }
  const Families families{sizes, family, member};
  from_csr(indptr, columns, values, ids, family.size(), threads).visit(scale, family.size(), family.size(), [&](const auto& rows) {
    check(!compact(rows, families, false, threads).cells.n_families());  // a missing member makes a difference in every family
    for (std::size_t f = 0; f < sizes.size(); ++f) sizes[f] = members;
    for (std::size_t z = 0; z < member.size(); ++z) member[z] = static_cast<std::uint32_t>((z / n_families + family[z]) % members);
    const CompactRows compacted = compact(rows, families, false, threads);
    check(compacted.cells.n_families() == n_families && 2 * compacted.n_entries < rows.entries.size());
    compact_rows_are_the_same_rows(rows, compacted);
  });
}

void long_rows_are_the_same_with_two_threads() {
  constexpr std::size_t n = 5, length = 5000, width = 3 * length;
  std::mt19937 random(3);
  std::vector<std::int64_t> indptr{0};
  std::vector<std::uint32_t> entries;
  std::vector<double> dense[n];
  const std::vector<double> codebook{1, 2.5, 4, 7}, scale{1, 0.5, 2, 1, 3};
  for (std::size_t i = 0; i < n; ++i) {
    dense[i].assign(width, 0.0);
    for (std::uint32_t id = 0; id < width; ++id)
      if (random() % 3 < 2) {
        const auto code = static_cast<std::uint32_t>(random() % 4);
        entries.push_back(id << 2 | code);
        dense[i][id] = scale[i] * codebook[code];
      }
    indptr.push_back(static_cast<std::int64_t>(entries.size()));
  }
  const CodedRows<std::uint32_t> alone({indptr, entries, 2, codebook, scale, width, width});
  check(alone.are_long());
  SpinWorker worker;
  const auto shared = alone.shared_with(worker);
  auto one = alone.zero(), two = one;
  std::vector<double> slow(width, 0.0);
  for (int turn = 0; turn < 500; ++turn) {
    const std::size_t i = random() % n;
    const double dot = alone.dot(i, one), a = 0.01 * static_cast<double>(random() % 7) - 0.03;
    double expected = 0;
    for (std::size_t z = 0; z < width; ++z) expected += dense[i][z] * slow[z];
    check(dot == shared.dot(i, two));
    check(std::abs(dot - expected) <= 1e-9 * (1 + std::abs(expected)));
    alone.axpy(i, a, one);
    shared.axpy(i, a, two);
    for (std::size_t z = 0; z < width; ++z) slow[z] += a * dense[i][z];
  }
  check(one.shared == two.shared);
}

// Ids from 2^26 - 1 on and values after the 63rd do not fit the words of a share.
void parts_keep_any_ids_and_values() {
  const std::vector<std::uint32_t> ids{0, 62, 63, (1u << 26) - 2, (1u << 26) - 1, 1u << 26, 0xFFFFFFF0u};
  std::vector<RowShare> shares(2);
  for (std::size_t i = 0; i < 20; ++i) {
    RowShare& share = shares[i / 10];
    for (std::size_t k = 0; k < ids.size(); ++k) share.add(ids[k], 0.5 + static_cast<double>(i * ids.size() + k));
    share.end_row();
  }
  const CodedEntries rows = join_shares(std::move(shares), {}, 0xFFFFFFFFu);
  rows.visit({}, 0xFFFFFFFFu, 0xFFFFFFFFu, [&](const auto& view) {
    check(view.size() == 20);
    for (std::size_t i = 0; i < view.size(); ++i) {
      check(view.row(i).size() == ids.size());
      for (std::size_t k = 0; k < ids.size(); ++k) {
        check(view.id(view.row(i)[k]) == ids[k]);
        check(view.value(view.row(i)[k]) == 0.5 + static_cast<double>(i * ids.size() + k));
      }
    }
  });
}

// Random trees: a label, then the numbers of the children.
void equal_records_have_equal_numbers() {
  std::mt19937 random(7);
  std::vector<std::int32_t> cells;
  std::vector<std::int64_t> starts{0}, expected;
  std::map<std::vector<std::int64_t>, std::int64_t> known;
  for (unsigned r = 0; r < 500; ++r) {
    cells.push_back(static_cast<std::int32_t>(random() % 3));
    std::vector<std::int64_t> key{cells.back()};
    for (auto k = random() % 3; k > 0; --k) {
      cells.push_back(static_cast<std::int32_t>(random() % std::min(r + 1, 20u)) - 1);
      key.push_back(cells.back() < 0 ? -1 : expected[static_cast<std::size_t>(cells.back())]);
    }
    starts.push_back(static_cast<std::int64_t>(cells.size()));
    expected.push_back(known.try_emplace(key, static_cast<std::int64_t>(known.size())).first->second);
  }
  check(known.size() < expected.size() && number_records(cells, starts, 1) == expected);
}

}  // namespace

void features() {
  equal_records_have_equal_numbers();
  parts_keep_any_ids_and_values();
  products();
  concatenated_rows_are_dense_rows();
  long_rows_are_the_same_with_two_threads();
  for (const int threads : {1, 3}) {
    compaction_keeps_rows(threads);
    long_rows_of_families_are_compacted_to_their_basis(threads);
  }
  for (const unsigned kinds : {1u, 100u, 100'000'000u})
    for (const int threads : {1, 3}) numbers_are_coded_exactly(kinds, threads);
}

}  // namespace treille::tests
