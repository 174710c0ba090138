#pragma once
// An exact map from n-grams to ids 0, 1, 2, ... Every match is confirmed symbol by symbol, so there are no collisions.
//
// Space per n-gram: 11 to 23 bytes of slots (tag_index.hpp), n symbols in the fewest bytes the alphabet allows, 4 bytes of tag and 4 of
// count. A lookup reads one or two cache lines: request them ahead with prefetch_slot and prefetch_gram.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "memory.hpp"
#include "parallel.hpp"
#include "tag_index.hpp"

namespace treille {

// Elementwise equality of n symbols. Same type: eight bytes at a time, since grams are short and a library call is not.
template <class A, class B>
inline bool same_symbols(const A* a, const B* b, std::size_t n) {
  if constexpr (std::is_same_v<A, B>) {
    const char* p = reinterpret_cast<const char*>(a);
    const char* q = reinterpret_cast<const char*>(b);
    std::size_t bytes = n * sizeof(A);
    std::uint64_t x, y;
    for (; bytes >= 8; bytes -= 8, p += 8, q += 8) {
      std::memcpy(&x, p, 8);
      std::memcpy(&y, q, 8);
      if (x != y) return false;
    }
    for (; bytes > 0; --bytes, ++p, ++q)
      if (*p != *q) return false;
    return true;
  } else {
    for (std::size_t k = 0; k < n; ++k)
      if (static_cast<std::int64_t>(a[k]) != static_cast<std::int64_t>(b[k])) return false;
    return true;
  }
}

template <class Symbol>
class NGramDictionary {
 public:
  static constexpr std::uint32_t kAbsent = TagIndex::kAbsent;

  // Grams hold at most `stride` symbols; several orders are kept only when `mixed_orders`.
  NGramDictionary(int stride, bool mixed_orders) : stride_(stride), mixed_(mixed_orders) {}

  std::size_t size() const { return tags_.size(); }
  const Symbol* gram(std::uint32_t id) const { return pool_.data() + std::size_t{id} * stride_; }
  int order(std::uint32_t id) const { return mixed_ ? orders_[id] : stride_; }
  std::uint32_t tag(std::uint32_t id) const { return tags_[id]; }
  int stride() const { return stride_; }
  bool mixed_orders() const { return mixed_; }

  void prefetch_slot(std::uint32_t tag) const { index_.prefetch(tag); }
  void prefetch_gram(std::uint32_t tag) const {
    const std::uint32_t id = index_.candidate(tag);
    if (id == kAbsent) return;
    request(gram(id));
    request(&examples_[id]);
  }

  // Reserves memory for n grams.
  void reserve(std::size_t n) {
    index_.reserve(n);
    pool_.reserve(n * static_cast<std::size_t>(stride_));
    tags_.reserve(n);
    examples_.reserve(n);
  }

  // The number of examples that contain each gram, as counted by count().
  const Array<std::uint32_t>& examples() const { return examples_; }
  void count(std::uint32_t id, std::uint32_t examples) { examples_[id] += examples; }

  template <class S>
  std::uint32_t find(std::uint32_t tag, const S* symbols, int order) const {
    return index_.find(tag, [&](std::uint32_t id) { return matches(id, symbols, order); });
  }

  std::uint32_t insert(std::uint32_t tag, const Symbol* symbols, int order) {
    return index_.find_or_add(
        tag, [&](std::uint32_t id) { return matches(id, symbols, order); },
        [&] {
          tags_.push_back(tag);
          examples_.push_back(0);
          pool_.insert(pool_.end(), symbols, symbols + order);
          pool_.resize(size() * stride_);
          if (mixed_) orders_.push_back(order);
        });
  }

  // Gives every gram the new id renamed[old id]; `renamed` is a permutation.
  void rename(const Array<std::uint32_t>& renamed, int threads) {
    Array<Symbol> pool(pool_.size());
    Array<std::uint32_t> tags(size()), examples(size());
    Array<std::int32_t> orders(orders_.size());
    run_shares(threads, [&](int p) {
      const auto share = [&](int t) { return size() * static_cast<std::size_t>(t) / static_cast<std::size_t>(threads); };
      index_.rename(renamed, static_cast<std::size_t>(p), static_cast<std::size_t>(threads));
      for (std::size_t id = share(p); id < share(p + 1); ++id) {
        const std::size_t to = renamed[id];
        std::memcpy(pool.data() + to * stride_, pool_.data() + id * stride_, stride_ * sizeof(Symbol));
        tags[to] = tags_[id];
        examples[to] = examples_[id];
        if (mixed_) orders[to] = orders_[id];
      }
    });
    pool_.swap(pool);
    tags_.swap(tags);
    examples_.swap(examples);
    orders_.swap(orders);
  }

 private:
  template <class S>
  bool matches(std::uint32_t id, const S* symbols, int order) const {
    return (!mixed_ || orders_[id] == order) && same_symbols(gram(id), symbols, static_cast<std::size_t>(order));
  }

  int stride_;
  bool mixed_;
  TagIndex index_{"n-grams", 70};
  Array<Symbol> pool_;             // grams, `stride_` symbols each, shorter ones padded with zeros
  Array<std::uint32_t> tags_;      // by id
  Array<std::uint32_t> examples_;  // by id
  Array<std::int32_t> orders_;     // by id, only when mixed
};

}  // namespace treille
