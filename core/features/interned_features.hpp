#pragma once
// Features that are some of the items of an interner: subtrees, walks, patterns of graphs. The key of an item may mention items before it.

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "features/coded_rows.hpp"
#include "interner.hpp"

namespace treille {

class InternedFeatures {
 public:
  using Key = std::vector<std::int32_t>;
  using KeyView = std::span<const std::int32_t>;

  struct Arrays {
    std::vector<std::int32_t> cells;     // of each item: its key
    std::vector<std::int64_t> starts;    // where the key of each item begins, and the end of the last
    std::vector<std::int32_t> features;  // the item of each feature
  };

  // Frozen features from the result of `parts`. is_sound(key, number) decides whether an item may have this key; `items` names them in the
  // message if something is wrong.
  template <class IsSound>
  static InternedFeatures from_parts(KeyView cells, std::span<const std::int64_t> starts, std::span<const std::int32_t> features,
                                     const char* items, IsSound&& is_sound) {
    InternedFeatures self;
    const auto require = [&](bool right) {
      if (!right) throw std::invalid_argument(std::string("the ") + items + " in the file do not fit together");
    };
    require(!starts.empty() && starts.front() == 0 && starts.back() == static_cast<std::int64_t>(cells.size()));
    for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
      require(starts[k] < starts[k + 1] && starts[k + 1] <= static_cast<std::int64_t>(cells.size()));
      const auto key = cells.subspan(static_cast<std::size_t>(starts[k]), static_cast<std::size_t>(starts[k + 1] - starts[k]));
      require(is_sound(key, static_cast<std::int32_t>(k)) && self.known.add(key) == k);
    }
    for (std::size_t k = 0; k < features.size(); ++k) {
      require(features[k] >= 0 && static_cast<std::size_t>(features[k]) < self.known.size());
      require(self.add(static_cast<std::uint32_t>(features[k])) == k);
    }
    return self;
  }

  // The arrays that rebuild the features `ids`. references(key, use) calls use(number) for every item that the key mentions, and
  // recode(key, numbers) replaces these numbers.
  template <class References, class Recode>
  Arrays parts(std::span<const std::int64_t> ids, References&& references, Recode&& recode) const {
    std::vector<bool> kept(known.size(), false);
    for (const std::int64_t id : ids) kept[static_cast<std::size_t>(item_of(id))] = true;
    for (std::size_t k = known.size(); k-- > 0;)
      if (kept[k]) references(known[k], [&](std::int32_t other) { kept[static_cast<std::size_t>(other)] = true; });
    Arrays arrays;
    std::vector<std::uint32_t> renamed(known.size(), 0);
    arrays.starts.push_back(0);
    Key key;
    for (std::size_t k = 0; k < known.size(); ++k) {
      if (!kept[k]) continue;
      renamed[k] = static_cast<std::uint32_t>(arrays.starts.size() - 1);
      key.assign(known[k].begin(), known[k].end());
      recode(key, std::span<const std::uint32_t>(renamed));
      arrays.cells.insert(arrays.cells.end(), key.begin(), key.end());
      arrays.starts.push_back(static_cast<std::int64_t>(arrays.cells.size()));
    }
    for (const std::int64_t id : ids) arrays.features.push_back(static_cast<std::int32_t>(renamed[static_cast<std::size_t>(item_of(id))]));
    return arrays;
  }

  // Makes features of the items that occur in examples, by falling number of examples; ties by number. Returns the id by item.
  std::span<const std::uint32_t> rank(std::span<const std::uint32_t> holders) {
    ids_ = by_falling_frequency(holders);
    features_.resize(holders.size() - static_cast<std::size_t>(std::ranges::count(holders, 0u)));
    for (std::size_t k = 0; k < ids_.size(); ++k)
      if (ids_[k] < features_.size())
        features_[ids_[k]] = static_cast<std::int32_t>(k);
      else
        ids_[k] = kAbsent;
    return ids_;
  }

  // The id of an item, which becomes the last feature if it is none.
  std::uint32_t add(std::uint32_t item) {
    ids_.resize(known.size(), kAbsent);
    if (ids_[item] == kAbsent) {
      ids_[item] = static_cast<std::uint32_t>(size());
      features_.push_back(static_cast<std::int32_t>(item));
    }
    return ids_[item];
  }

  std::size_t size() const { return features_.size(); }
  std::int32_t item_of(std::int64_t id) const { return features_[static_cast<std::size_t>(id)]; }
  std::span<const std::int32_t> items() const { return features_; }
  // The id of an item, or kAbsent; items that are not known have larger numbers.
  std::uint32_t id_of(std::uint32_t item) const { return item < ids_.size() ? ids_[item] : kAbsent; }

  Interner<std::int32_t> known;

 private:
  Array<std::uint32_t> ids_;            // by item; kAbsent if it is no feature
  std::vector<std::int32_t> features_;  // items by id
};

}  // namespace treille
