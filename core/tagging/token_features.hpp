#pragma once
// Features of tokens with their ids: fitted, then frozen.
//
// Static features of a token depend on the words only, and are the ids of a CSR row; dynamic ones depend on the tags given before,
// which a decoder knows only when it reaches the token. Their static atoms are looked up beforehand: they are the token's `parts`, one per
// dynamic template. Exact: hashes only tell where to search.
//
// Single atoms are looked up once for each distinct value of a batch, so that a token costs one copy of a few ids for each column and
// offset, and the sorting of its row: about half a microsecond for the 45 templates of the defaults.

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "interner.hpp"
#include "memory.hpp"
#include "tagging/token_batch.hpp"

namespace treille {

// Features in the order of their ids: template t[id], and its codes one after the other.
struct FeatureList {
  Array<std::int32_t> templates, codes;
};

// The features that occur at least `min_count` times, the most frequent first; then by template and first occurrence.
// sizes[a] is the number of codes of attribute a.
FeatureList count_features(const std::vector<Template>& templates, const TokenBatch& batch, const GoldTags& gold,
                           std::span<const std::int32_t> sizes, std::int32_t n_items, std::int64_t min_count);

struct TokenRows {
  Buffer<std::int64_t> indptr;
  Buffer<std::int32_t> ids;    // increasing in each row
  Buffer<std::int32_t> parts;  // by token and dynamic template: what dynamic_ids needs
};

class TokenFeatures {
 public:
  // Throws std::invalid_argument where the features are not different ones of these templates.
  TokenFeatures(std::vector<Template> templates, std::vector<std::int32_t> sizes, std::int32_t n_items, std::int32_t n_tags, bool backward,
                std::span<const std::int32_t> feature_templates, std::span<const std::int32_t> codes);

  std::size_t n_features() const { return n_features_; }
  std::int32_t n_tags() const { return n_tags_; }
  bool backward() const { return backward_; }                // sentences are tagged from right to left
  std::int32_t history() const { return history_; }          // how many previous tags the features read
  std::size_t n_dynamic() const { return dynamic_.size(); }  // templates with tags, so the most dynamic features of a token

  // Static features of the tokens, in the order of the text whatever the direction.
  TokenRows transform(const TokenBatch& batch, int threads) const { return rows(batch, nullptr, threads); }

  // The same, plus the dynamic features for these tags, without parts: rows for training.
  TokenRows transform(const TokenBatch& batch, std::span<const std::int32_t> tags, int threads) const {
    const GoldTags gold{tags, n_tags_, backward_};
    return rows(batch, &gold, threads);
  }

  // use(id) for the dynamic features of a token with these parts. previous[k - 1] is the tag given k steps before, n_tags() where that
  // is before the first token; there must be history() of them. Ids are in no order.
  template <class Use>
  void dynamic_ids(const std::int32_t* parts, const std::int32_t* previous, Use&& use) const {
    for (std::size_t d = 0; d < dynamic_.size(); ++d) {
      if (parts[d] < 0) continue;
      const std::int32_t id = dynamic_[d].id(parts[d], dynamic_[d].key(previous, radix_));
      if (id >= 0) use(id);
    }
  }

 private:
  // (part, tags) -> id: a table for tags alone where it is small; otherwise the keys of each part, sorted.
  struct Dynamic {
    std::size_t place;  // of the template
    std::vector<std::int32_t> distances;
    Interner<std::int32_t> parts;
    std::vector<std::int32_t> table;
    std::vector<std::int64_t> starts;
    std::vector<std::pair<std::uint64_t, std::int32_t>> entries;

    std::uint64_t key(const std::int32_t* previous, std::uint64_t radix) const {
      std::uint64_t key = 0;
      for (const std::int32_t k : distances) key = key * radix + static_cast<std::uint64_t>(previous[k - 1]);
      return key;
    }
    std::int32_t id(std::int32_t part, std::uint64_t key) const {
      if (!table.empty()) return table[key];
      const auto first = entries.begin() + starts[static_cast<std::size_t>(part)];
      const auto last = entries.begin() + starts[static_cast<std::size_t>(part) + 1];
      const auto found = std::lower_bound(first, last, std::pair(key, std::int32_t{-1}));
      return found != last && found->first == key ? found->second : -1;
    }
  };

  // Templates of one static atom are tables by code + kShift; other static ones are interned codes with an id each.
  struct Joined {
    std::size_t place;
    Interner<std::int32_t> keys;
    std::vector<std::int32_t> ids;
  };

  // Templates of a single atom of the same column and offset.
  struct Group {
    std::size_t column;
    std::int32_t offset;
    std::vector<std::size_t> singles;  // templates
  };
  class Reader;

  void add_dynamic(const std::vector<std::vector<std::pair<std::int64_t, std::int32_t>>>& features, std::span<const std::int32_t> codes);
  TokenRows rows(const TokenBatch& batch, const GoldTags* gold, int threads) const;

  std::vector<Template> templates_;
  std::vector<std::vector<std::int32_t>> tables_;  // by template, of single atoms
  std::vector<std::int32_t> item_ids_;
  std::vector<Joined> joined_;
  std::vector<Dynamic> dynamic_;
  std::size_t n_features_ = 0;
  std::int32_t n_tags_, history_ = 0;
  std::uint64_t radix_;
  bool backward_;
};

}  // namespace treille
