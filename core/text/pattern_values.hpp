#pragma once
// Values and ids of patterns, for all families and stores of PatternFeatures.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "features/count_transform.hpp"
#include "text/pattern_counter.hpp"
#include "text/pattern_features.hpp"
#include "text/pattern_table.hpp"

namespace treille {

// What the occurrences of a pattern sum to, and the value of the pattern. Raw sums are values; for the others, occurrences are summed
// without their common factor.
template <class Family>
class PatternValues {
 public:
  PatternValues(const Family& family, Counts counts) : family_(family), counts_(counts) {
    if constexpr (kScaled)
      if (counts != Counts::raw) unscaled_ = family.unscaled();
  }
  const Family& summed() const { return unscaled_ ? *unscaled_ : family_; }
  double of(double sum, const std::int32_t* cells) const { return transformed(counts_, sum) * scale(cells); }
  double of_expected(double sum, const std::int32_t* cells) const { return transformed_expected(counts_, sum) * scale(cells); }
  // The common factor of a pattern's occurrences that summed() leaves out.
  double scale([[maybe_unused]] const std::int32_t* cells) const {
    if constexpr (kScaled)
      if (unscaled_) return family_.scale(cells);
    return 1.0;
  }

 private:
  static constexpr bool kScaled = requires(const Family& family) { family.unscaled(); };

  const Family& family_;
  Counts counts_;
  std::optional<Family> unscaled_;
};

template <class Store>
constexpr bool kIsTable = std::is_same_v<std::remove_cvref_t<Store>, PatternTable>;

constexpr std::uint32_t kNoPattern = NGramDictionary<std::int32_t>::kAbsent;

// The id of a pattern in a store, or kNoPattern.
template <class Family, class Stored>
std::uint32_t find_pattern(const Family& family, const Stored& stored, std::int32_t alphabet_size, const std::int32_t* cells, int n) {
  if constexpr (!kIsTable<Stored>) {
    return stored.find(pattern_tag(cells, n), cells, n);
  } else {
    if constexpr (kHasTable<Family>)
      if (std::all_of(cells, cells + n, [&](std::int32_t cell) { return cell <= alphabet_size; }))
        if (const std::uint32_t rank = stored.rank[family.address(cells, alphabet_size)]; rank < stored.addresses.size()) return rank;
    return kNoPattern;
  }
}

}  // namespace treille
