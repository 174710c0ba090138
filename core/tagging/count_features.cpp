// The features of a training set, counted template by template.

#include "interrupt.hpp"
#include "tagging/token_features.hpp"

namespace treille {
namespace {

struct FoundFeature {
  std::int64_t count;
  std::int32_t place;  // of the template
  std::int64_t key;    // a code, or a number in the interner of the template
};

// use(token, begin, end) for all tokens.
template <class Use>
void for_tokens(std::span<const std::int64_t> offsets, Use&& use) {
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    poll();
    for (std::int64_t i = offsets[s]; i < offsets[s + 1]; ++i) use(i, offsets[s], offsets[s + 1]);
  }
}

}  // namespace

FeatureList count_features(const std::vector<Template>& templates, const TokenBatch& batch, const GoldTags& gold,
                           std::span<const std::int32_t> sizes, std::int32_t n_items, std::int64_t min_count) {
  std::vector<FoundFeature> found;
  std::vector<Interner<std::int32_t>> interned(templates.size());
  auto keep = [&](std::size_t place, std::size_t key, std::int64_t count, std::int32_t shift) {
    if (count >= std::max<std::int64_t>(1, min_count))
      found.push_back({count, static_cast<std::int32_t>(place), static_cast<std::int64_t>(key) - shift});
  };
  for (std::size_t t = 0; t < templates.size(); ++t) {
    const Template& own = templates[t];
    if (own.items()) {
      std::vector<std::int64_t> counts(static_cast<std::size_t>(n_items));
      for (const std::int32_t item : batch.items)
        if (batch.item_map[static_cast<std::size_t>(item)] >= 0)
          ++counts[static_cast<std::size_t>(batch.item_map[static_cast<std::size_t>(item)])];
      for (std::size_t c = 0; c < counts.size(); ++c) keep(t, c, counts[c], 0);
    } else if (own.single()) {
      std::vector<std::int64_t> counts(static_cast<std::size_t>(sizes[static_cast<std::size_t>(own.fixed[0].attribute)] + kShift));
      for_tokens(batch.offsets, [&](std::int64_t i, std::int64_t begin, std::int64_t end) {
        const std::int32_t code = batch.code(own.fixed[0], i, begin, end);
        if (code != kUnknown) ++counts[static_cast<std::size_t>(code + kShift)];
      });
      for (std::size_t c = 0; c < counts.size(); ++c) keep(t, c, counts[c], kShift);
    } else {
      std::vector<std::int64_t> counts;
      std::vector<std::int32_t> key(own.size());
      for_tokens(batch.offsets, [&](std::int64_t i, std::int64_t begin, std::int64_t end) {
        if (!batch.codes(own.fixed, i, begin, end, key.data())) return;
        for (std::size_t k = 0; k < own.distances.size(); ++k) key[own.fixed.size() + k] = gold.previous(i, own.distances[k], begin, end);
        const std::size_t number = interned[t].add(std::span<const std::int32_t>(key));
        if (number == counts.size()) counts.push_back(0);
        ++counts[number];
      });
      for (std::size_t c = 0; c < counts.size(); ++c) keep(t, c, counts[c], 0);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const FoundFeature& a, const FoundFeature& b) { return a.count > b.count; });
  FeatureList out;
  out.templates.reserve(found.size());
  for (const FoundFeature& each : found) {
    out.templates.push_back(each.place);
    const Template& own = templates[static_cast<std::size_t>(each.place)];
    if (own.single() || own.items()) {
      out.codes.push_back(static_cast<std::int32_t>(each.key));
    } else {
      const auto codes = interned[static_cast<std::size_t>(each.place)][static_cast<std::size_t>(each.key)];
      out.codes.insert(out.codes.end(), codes.begin(), codes.end());
    }
  }
  return out;
}

}  // namespace treille
