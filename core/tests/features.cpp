// Rows: numbers in few bytes, and parts side by side.

#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "check.hpp"
#include "features/concatenated_rows.hpp"
#include "features/csr.hpp"
#include "features/rows.hpp"

namespace treille::tests {
namespace {

void parts_side_by_side_are_dense_rows() {
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
  std::vector<Both::Part> parts;
  parts.push_back({CodedRows<std::uint32_t>({indptr, narrow, 1, codebook, scale, 3, 1}), 3, {}});
  parts.push_back({CodedRows<std::uint64_t>({indptr, wide, 0, one, scale, 3, 3}), 3, {mean, shift, dots}});
  const Both rows(std::move(parts));
  CHECK(rows.size() == 4);
  auto w = rows.zero<double>();
  std::vector<double> expected(6, 0.0);
  std::mt19937 random(1);
  for (int step = 0; step < 20; ++step) {
    const std::size_t i = random() % 4;
    const double a = static_cast<double>(random() % 9) - 4;
    rows.axpy(i, a, w);
    for (std::size_t z = 0; z < 6; ++z) expected[z] += a * dense[i][z];
  }
  auto coarse = rows.zero<float>();
  rows.round(w, coarse);
  for (std::size_t i = 0; i < 4; ++i) {
    double dot = 0, sq_norm = 0;
    for (std::size_t z = 0; z < 6; ++z) {
      dot += dense[i][z] * expected[z];
      sq_norm += dense[i][z] * dense[i][z];
    }
    rows.prefetch(i);
    CHECK(std::abs(rows.dot(i, w) - dot) < 1e-9 && std::abs(rows.dot(i, coarse) - dot) < 1e-2);
    CHECK(std::abs(rows.sq_norm(i) - sq_norm) < 1e-12);
  }
  std::vector<double> written(12, 0.0);
  rows.write_weights(w, written.data() + 1, 2);
  for (std::size_t z = 0; z < 6; ++z) CHECK(std::abs(written[2 * z + 1] - expected[z]) < 1e-9 && written[2 * z] == 0);
}

void numbers_are_coded_as_they_are(unsigned kinds, int threads) {
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
  const CodedEntries rows = RowCoder(indptr, columns, values, ids, width, threads).code();
  const std::vector<double> scale(n, 1.0);
  std::visit(
      [&]<class Word>(const Buffer<Word>& entries) {
        std::vector<std::uint32_t> found(entries.size());
        std::vector<double> numbers(entries.size());
        expand<Word>({rows.indptr.data(), rows.indptr.size()}, {entries.data(), entries.size()}, rows.code_bits,
                     {rows.codebook.data(), rows.codebook.size()}, scale, 2, found.data(), numbers.data());
        std::size_t e = 0;
        for (const auto& row : slow)
          for (const auto& [id, number] : row) {
            CHECK(e < found.size() && found[e] == id && numbers[e] == number);
            ++e;
          }
        CHECK(e == found.size());
      },
      rows.entries);
}

void long_rows_are_the_same_in_two_hands() {
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
  CHECK(alone.are_long());
  SpinWorker worker;
  const auto shared = alone.shared_with(worker);
  auto one = alone.zero<double>(), two = one;
  std::vector<double> slow(width, 0.0);
  for (int turn = 0; turn < 500; ++turn) {
    const std::size_t i = random() % n;
    const double dot = alone.dot(i, one), a = 0.01 * static_cast<double>(random() % 7) - 0.03;
    double expected = 0;
    for (std::size_t z = 0; z < width; ++z) expected += dense[i][z] * slow[z];
    CHECK(dot == shared.dot(i, two));
    CHECK(std::abs(dot - expected) <= 1e-9 * (1 + std::abs(expected)));
    alone.axpy(i, a, one);
    shared.axpy(i, a, two);
    for (std::size_t z = 0; z < width; ++z) slow[z] += a * dense[i][z];
  }
  CHECK(one.shared == two.shared);
}

}  // namespace

int spaces() {
  int passed = 2;
  parts_side_by_side_are_dense_rows();
  long_rows_are_the_same_in_two_hands();
  for (const unsigned kinds : {1u, 100u, 100'000'000u})
    for (const int threads : {1, 3}) {
      numbers_are_coded_as_they_are(kinds, threads);
      ++passed;
    }
  return passed;
}

}  // namespace treille::tests
