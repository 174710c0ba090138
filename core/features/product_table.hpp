#pragma once
// An exact map from keys to ids 0, 1, 2, ... A key is a pair: the id of a product of features, and one more feature.
//
// Space per key: 8 bytes, and 11 to 23 bytes of slots (tag_index.hpp). A lookup reads one or two cache lines: request them ahead with
// prefetch_slot and prefetch_key.

#include <cstdint>
#include <utility>

#include "interrupt.hpp"
#include "memory.hpp"
#include "tag_index.hpp"

namespace treille {

inline std::uint64_t product_key(std::uint32_t prefix, std::uint32_t feature) { return std::uint64_t{prefix} << 32 | feature; }

class ProductTable {
 public:
  static constexpr std::uint32_t kAbsent = TagIndex::kAbsent;

  ProductTable() = default;
  // Key k has the id k; they differ. Nothing can be found before build().
  explicit ProductTable(Array<std::uint64_t> keys) : keys_(std::move(keys)) {}
  void build() {
    if (index_.size() == size()) return;
    index_.clear(size());
    for (std::size_t id = 0; id < size(); ++id) {
      poll();
      if (id + kAhead < size()) prefetch_slot(tag_of(keys_[id + kAhead]));
      index_.add(tag_of(keys_[id]));
    }
  }

  static std::uint32_t tag_of(std::uint64_t key) { return static_cast<std::uint32_t>((key ^ key >> 31) * 0x9E3779B97F4A7C15u >> 32); }

  std::size_t size() const { return keys_.size(); }
  std::uint32_t prefix(std::size_t id) const { return static_cast<std::uint32_t>(keys_[id] >> 32); }
  std::uint32_t feature(std::size_t id) const { return static_cast<std::uint32_t>(keys_[id]); }

  void prefetch_slot(std::uint32_t tag) const { index_.prefetch(tag); }
  void prefetch_key(std::uint32_t tag) const {
    if (const std::uint32_t id = index_.candidate(tag); id != kAbsent) request(&keys_[id]);
  }

  std::uint32_t find(std::uint64_t key, std::uint32_t tag) const {
    return index_.find(tag, [&](std::uint32_t id) { return keys_[id] == key; });
  }
  std::uint32_t find(std::uint64_t key) const { return find(key, tag_of(key)); }

  std::uint32_t insert(std::uint64_t key) {
    return index_.find_or_add(tag_of(key), [&](std::uint32_t id) { return keys_[id] == key; }, [&] { keys_.push_back(key); });
  }

 private:
  static constexpr std::size_t kAhead = 24;

  TagIndex index_{"products of features", 70};
  Array<std::uint64_t> keys_;  // by id
};

}  // namespace treille
