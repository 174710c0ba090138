// Conjunctions of items: mined and matched, held to all subsets of every row.

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "check.hpp"
#include "conjunctions/conjunction_features.hpp"
#include "conjunctions/conjunction_rows.hpp"
#include "features/rows.hpp"

namespace treille::tests {
namespace {

using Subset = std::vector<Item>;

struct RandomItems {
  std::vector<std::int64_t> indptr{0};
  std::vector<Item> items;
  std::size_t n_items;

  RandomItems(std::size_t n, std::size_t width, std::mt19937& random) : n_items(width) {
    for (std::size_t i = 0; i < n; ++i) {
      for (Item z = 0; z < width; ++z)
        if (i % 9 != 4 && random() % (width + 2) < 1 + z / 2) items.push_back(z);
      indptr.push_back(static_cast<std::int64_t>(items.size()));
    }
  }
  ItemRows rows() const { return {indptr, items, n_items}; }
};

std::set<Subset> subsets(std::span<const Item> row, std::size_t degree) {
  std::set<Subset> all{{}};
  for (const Item item : row)
    for (Subset set : std::set<Subset>(all))
      if (set.size() < degree) {
        set.push_back(item);
        all.insert(set);
      }
  all.erase(Subset{});
  return all;
}

std::set<Subset> frequent(const ItemRows& rows, std::size_t degree, std::size_t min_support) {
  std::map<Subset, std::size_t> counts;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const Subset& set : subsets(rows.row(i), degree)) ++counts[set];
  std::set<Subset> out;
  for (const auto& [set, count] : counts)
    if (count >= min_support) out.insert(set);
  return out;
}

void check_rows(const ConjunctionFeatures& features, const ItemRows& rows, std::size_t degree, const std::vector<double>& values) {
  std::map<Subset, std::size_t> ids;
  for (std::size_t id = features.constant() ? 1 : 0; id < features.size(); ++id) ids[features.items_of(id)] = id;
  const CodedEntries coded = features.rows(rows, values, 2);
  const std::vector<double> scale(rows.size(), 0.5);
  coded.visit(scale, features.size(), features.size(), [&]<class Word>(const CodedRowsView<Word>& view) {
    const CodedRows<Word> stored(view);
    const ConjunctionRows fly(features, rows, values, scale);
    auto w = stored.zero();
    auto v = fly.zero();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::map<std::size_t, double> expected;
      if (features.constant()) expected[0] = values[0];
      for (const Subset& set : subsets(rows.row(i), degree))
        if (const auto found = ids.find(set); found != ids.end()) expected[found->second] = values[set.size()];
      std::map<std::size_t, double> own;
      for (const Word entry : view.row(i)) own[view.id(entry)] = view.value(entry);
      check(own == expected);
      check(std::is_sorted(view.row(i).begin(), view.row(i).end()));
      check(stored.sq_norm(i) == fly.sq_norm(i));
      stored.axpy(i, 0.25 + static_cast<double>(i), w);
      fly.axpy(i, 0.25 + static_cast<double>(i), v);
      check(stored.dot(i / 2, w) == fly.dot(i / 2, v));
    }
    std::vector<double> one(features.size()), other(features.size()), ones(rows.size(), 1.0), sums(features.size());
    stored.write_weights(w, one.data(), 1);
    fly.write_weights(v, other.data(), 1);
    check(one == other);
    for (const int threads : {1, 3}) {
      std::vector<double> out(rows.size());
      fly.matvec(other, 1, out.data(), threads);
      for (std::size_t i = 0; i < rows.size(); ++i) check(out[i] == fly.dot(i, v));
      fly.rmatvec(ones, 1, sums.data(), threads);
      double total = 0, entries = 0;
      for (const double sum : sums) total += sum;
      for (std::size_t i = 0; i < rows.size(); ++i)
        for (const Word entry : view.row(i)) entries += 0.5 * view.value(entry);
      check(std::abs(total - entries) <= 1e-9 * (1 + entries));
    }
  });
}

void frequent_conjunctions_match_all_subsets() {
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    const RandomItems data(random() % 40, 1 + random() % 14, random);
    const ItemRows rows = data.rows();
    const std::size_t degree = 1 + random() % 4, min_support = 1 + random() % 4;
    const auto expected = frequent(rows, degree, min_support);
    const std::vector<double> values{1.0, 1.5, 2.0, 0.75, 3.0};
    for (const std::size_t long_array : {std::size_t{0}, std::size_t{6}, std::size_t{1} << 40}) {
      const auto features = ConjunctionFeatures::mine(rows, static_cast<int>(degree), min_support, 1 << 30, round % 2 != 0,
                                                      1 + static_cast<int>(random() % 3), long_array);
      const std::size_t first = features.constant() ? 1 : 0;
      std::set<Subset> found;
      for (std::size_t id = first; id < features.size(); ++id) found.insert(features.items_of(id));
      check(found == expected);
      check(features.size() == expected.size() + first);
      check_rows(features, rows, degree, values);

      std::vector<std::int64_t> ids;
      for (std::size_t id = 0; id < features.size(); ++id)
        if (random() % 3 == 0) ids.push_back(static_cast<std::int64_t>(id));
      auto [trees, kept] = features.restricted(ids);
      check(are_trees(trees.levels, trees.items, rows.n_items, degree));
      const bool constant = features.constant() && !ids.empty() && ids[0] == 0;
      const ConjunctionFeatures some(std::move(trees), rows.n_items, kept, constant, long_array);
      check(some.size() == ids.size());
      for (std::size_t id = 0; id < ids.size(); ++id) check(some.items_of(id) == features.items_of(static_cast<std::size_t>(ids[id])));
      check_rows(some, rows, degree, values);
    }
    const auto sizes = estimate_conjunctions(rows, static_cast<int>(degree), min_support, 1e9);
    check(sizes.patterns == static_cast<double>(expected.size()));
    check(estimate_conjunctions(rows, static_cast<int>(degree), min_support, 20).patterns >= 0);
  }
}

}  // namespace

void conjunctions() { frequent_conjunctions_match_all_subsets(); }

}  // namespace treille::tests
