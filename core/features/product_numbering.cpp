#include "features/product_numbering.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include "parallel.hpp"

namespace treille {
namespace {

// Multisets of `degree` out of n; no more than 10^15.
std::int64_t multisets(std::size_t n, std::size_t degree) {
  constexpr std::int64_t most = 1'000'000'000'000'000;
  std::int64_t count = 1;
  for (std::size_t t = 0; t < degree && count > 0; ++t) {
    if (static_cast<double>(count) * static_cast<double>(n + t) > 4e18) return most;
    count = count * static_cast<std::int64_t>(n + t) / static_cast<std::int64_t>(t + 1);
  }
  return std::min(count, most);
}

std::size_t length(const FactorRows& rows, std::size_t i) { return static_cast<std::size_t>(rows.indptr[i + 1] - rows.indptr[i]); }

// An occurrence of a prefix: the example, the place of its last feature in the row, and its first product among those of all examples.
struct Occurrence {
  std::uint32_t example, place;
  std::int64_t offset;
};

using Keys = std::vector<std::vector<std::uint64_t>>;  // of each table, found below one first feature

class Projection {
 public:
  Projection(const Factors& factors, std::size_t n_ids, std::uint32_t* ids)
      : factors_(factors), steps_(factors.steps()), is_power_(factors.degree > 1), ids_(ids), marks_(n_ids, 0) {}

  // All products that continue a prefix with a feature of this step. Their ids are counted from the first in `keys`.
  void extend(std::size_t step, std::span<const Occurrence> where, std::uint32_t prefix, Keys& keys) {
    poll();
    auto& own = keys[step > 0 ? step - 1 : 0];
    const auto first = static_cast<std::uint32_t>(own.size());
    if (own.size() + n_ids() >= std::numeric_limits<std::uint32_t>::max()) throw std::length_error("more than 2^32 products of features");
    if (where.size() == 1) return extend_one(step, where[0], prefix, keys);
    const bool is_last = step + 1 == steps_;
    std::vector<std::uint32_t> found;
    std::size_t total = 0;
    each_feature(step, where, [&](const Occurrence&, std::size_t, std::uint32_t feature) {
      if (marks_[feature]++ == 0) found.push_back(feature);
      ++total;
    });
    sort(found);
    for (const std::uint32_t feature : found) own.push_back(product_key(prefix, feature));
    if (is_last) {
      for (std::size_t k = 0; k < found.size(); ++k) marks_[found[k]] = first + static_cast<std::uint32_t>(k);
      each_feature(step, where, [&](const Occurrence& at, std::size_t place, std::uint32_t feature) {
        ids_[at.offset + static_cast<std::int64_t>(place - start(at))] = marks_[feature];
      });
      for (const std::uint32_t feature : found) marks_[feature] = 0;
      return;
    }
    std::vector<std::uint32_t> ends;
    std::uint32_t sum = 0;
    for (const std::uint32_t feature : found) ends.push_back(sum += std::exchange(marks_[feature], sum));
    std::vector<Occurrence> next(total);
    each_feature(step, where,
                 [&](const Occurrence& at, std::size_t place, std::uint32_t feature) { next[marks_[feature]++] = after(step, at, place); });
    for (const std::uint32_t feature : found) marks_[feature] = 0;
    for (std::size_t k = 0; k < found.size(); ++k) {
      const std::size_t begin = k > 0 ? ends[k - 1] : 0;
      extend(step + 1, std::span(next).subspan(begin, ends[k] - begin), first + static_cast<std::uint32_t>(k), keys);
    }
  }

  // The occurrence of a prefix and one more feature, at `place`.
  Occurrence after(std::size_t step, const Occurrence& at, std::size_t place) const {
    const auto next = static_cast<std::uint32_t>(place);
    if (!is_power_) {
      const auto width = static_cast<std::int64_t>(step + 1 < steps_ ? length(factors_.rows[step + 1], at.example) : 1);
      return {at.example, next, at.offset + static_cast<std::int64_t>(place) * width};
    }
    const std::size_t size = length(factors_.rows[0], at.example), left = steps_ - step;
    return {at.example, next, at.offset + multisets(size - at.place, left) - multisets(size - place, left)};
  }

 private:
  std::size_t n_ids() const { return marks_.size(); }
  std::size_t start(const Occurrence& at) const { return is_power_ ? at.place : 0; }

  template <class Use>
  void each_feature(std::size_t step, std::span<const Occurrence> where, Use&& use) const {
    const FactorRows& rows = factors_.rows[step % factors_.rows.size()];
    for (std::size_t k = 0; k < where.size(); ++k) {
      poll();
      if (k + kAhead < where.size()) request(&rows.indptr[where[k + kAhead].example]);
      if (k + kAhead / 2 < where.size()) request(rows.ids.data() + rows.indptr[where[k + kAhead / 2].example]);
      const Occurrence& at = where[k];
      const std::uint32_t* const ids = rows.ids.data() + rows.indptr[at.example];
      const std::size_t size = length(rows, at.example);
      for (std::size_t place = start(at); place < size; ++place) use(at, place, ids[place]);
    }
  }

  // For a prefix with one occurrence: its products are all different.
  void extend_one(std::size_t step, const Occurrence& at, std::uint32_t prefix, Keys& keys) {
    auto& own = keys[step > 0 ? step - 1 : 0];
    const auto first = static_cast<std::uint32_t>(own.size());
    each_feature(step, {&at, 1},
                 [&](const Occurrence&, std::size_t, std::uint32_t feature) { own.push_back(product_key(prefix, feature)); });
    const std::size_t count = own.size() - first;
    for (std::size_t k = 0; k < count; ++k) {
      const auto id = first + static_cast<std::uint32_t>(k);
      if (step + 1 == steps_) {
        ids_[at.offset + static_cast<std::int64_t>(k)] = id;
      } else {
        const Occurrence next = after(step, at, start(at) + k);
        extend(step + 1, {&next, 1}, id, keys);
      }
    }
  }

  void sort(std::vector<std::uint32_t>& found) const {
    if (found.size() * 32 < n_ids()) return std::sort(found.begin(), found.end());
    found.clear();
    for (std::uint32_t feature = 0; feature < n_ids(); ++feature)
      if (marks_[feature] != 0) found.push_back(feature);
  }

  static constexpr std::size_t kAhead = 16;

  const Factors& factors_;
  std::size_t steps_;
  bool is_power_;
  std::uint32_t* ids_;
  std::vector<std::uint32_t> marks_;  // marks of the features found at this step; 0 between steps
};

// The occurrences of each first feature: all[ends[z - 1] .. ends[z]) belong to feature z.
struct FirstFeatures {
  Buffer<Occurrence> all;
  std::vector<std::size_t> ends;

  FirstFeatures(const Factors& factors, const std::vector<std::int64_t>& offsets, std::size_t n_ids, const Projection& projection)
      : all(factors.rows[0].ids.size()), ends(n_ids, 0) {
    const FactorRows& rows = factors.rows[0];
    for (const std::uint32_t id : rows.ids) ++ends[id];
    std::size_t sum = 0;
    for (auto& end : ends) sum += std::exchange(end, sum);
    for (std::size_t i = 0; i < factors.size(); ++i) {
      poll();
      const Occurrence whole{static_cast<std::uint32_t>(i), 0, offsets[i]};
      for (std::size_t place = 0; place < length(rows, i); ++place)
        all[ends[rows.ids[static_cast<std::size_t>(rows.indptr[i]) + place]]++] = projection.after(0, whole, place);
    }
  }
  std::span<const Occurrence> of(std::size_t id) const {
    const std::size_t begin = id > 0 ? ends[id - 1] : 0;
    return {all.data() + begin, ends[id] - begin};
  }
};

// The keys found below all first features, one after another; prefixes are counted from there too, after the first table.
std::vector<Array<std::uint64_t>> joined(std::vector<Keys>& found, std::size_t n_tables, Array<std::uint32_t>& first) {
  std::vector<Array<std::uint64_t>> all(n_tables);
  for (std::size_t table = 0; table < n_tables; ++table) {
    std::size_t total = 0;
    for (const Keys& keys : found) total += keys.empty() ? 0 : keys[table].size();
    if (total >= ProductTable::kAbsent) throw std::length_error("more than 2^32 products of features");
    all[table].reserve(total);
    for (std::size_t z = 0; z < found.size(); ++z) {
      poll();
      const std::uint64_t before = table > 0 ? std::uint64_t{first[z]} << 32 : 0;
      first[z] = static_cast<std::uint32_t>(all[table].size());
      if (found[z].empty()) continue;
      for (const std::uint64_t key : found[z][table]) all[table].push_back(key + before);
      found[z][table] = {};
    }
  }
  return all;
}

}  // namespace

std::vector<std::int64_t> product_offsets(const Factors& factors) {
  std::vector<std::int64_t> offsets{0};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    std::int64_t count = multisets(length(factors.rows[0], i), factors.degree);
    for (std::size_t f = 1; f < factors.rows.size(); ++f) count *= static_cast<std::int64_t>(length(factors.rows[f], i));
    if (offsets.back() + count > std::numeric_limits<std::int64_t>::max() / 64) throw std::length_error("too many products of features");
    offsets.push_back(offsets.back() + count);
  }
  return offsets;
}

NumberedProducts number_products(const Factors& factors, const std::vector<std::int64_t>& offsets, int threads) {
  std::size_t n_ids = 0;
  for (const FactorRows& rows : factors.rows)
    for (const std::uint32_t id : rows.ids) n_ids = std::max<std::size_t>(n_ids, std::size_t{id} + 1);
  const std::size_t steps = factors.steps(), n_tables = std::max<std::size_t>(steps, 2) - 1;
  NumberedProducts out{Buffer<std::uint32_t>(static_cast<std::size_t>(offsets.back())), Array<std::uint32_t>(n_ids, 0), {}};
  if (steps == 1) {  // every example continues the empty product
    std::vector<Occurrence> all;
    for (std::size_t i = 0; i < factors.size(); ++i) all.push_back({static_cast<std::uint32_t>(i), 0, offsets[i]});
    std::vector<Keys> found(1, Keys(1));
    Projection(factors, n_ids, out.ids.data()).extend(0, all, 0, found[0]);
    Array<std::uint32_t> none(1, 0);
    out.keys = joined(found, 1, none);
    return out;
  }
  const auto shares = static_cast<int>(std::min<std::int64_t>(threads, 1 + offsets.back() / 20000));
  std::vector<Projection> workers(static_cast<std::size_t>(shares), Projection(factors, n_ids, out.ids.data()));
  const FirstFeatures firsts(factors, offsets, n_ids, workers[0]);
  std::vector<Keys> found(n_ids);
  std::atomic<std::size_t> next{0};
  expect(n_ids);
  run_shares(shares, [&](int p) {
    for (std::size_t z; (z = next.fetch_add(1)) < n_ids;) {
      tick();
      if (firsts.of(z).empty()) continue;
      found[z].resize(n_tables);
      workers[static_cast<std::size_t>(p)].extend(1, firsts.of(z), static_cast<std::uint32_t>(z), found[z]);
    }
  });
  out.keys = joined(found, n_tables, out.first);
  return out;
}

}  // namespace treille
