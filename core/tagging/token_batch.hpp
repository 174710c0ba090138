#pragma once
// Tokens with coded columns, and templates that make features of them.
//
// An attribute is a function of a column: its map gives every value of the column in a batch a code, kUnknown where it has none. A
// template is a list of atoms; a static atom is the code of an attribute `offset` tokens away, which is before(d) or after(d) for the
// d-th position outside the sentence, and a tag atom is the tag given `offset` >= 1 steps before. A feature is a template with its codes;
// if one of the codes is unknown, there is no feature.

#include <cstdint>
#include <span>
#include <vector>

namespace treille {

constexpr std::int32_t kUnknown = -1;
constexpr std::int32_t kReach = 32;              // offsets are at most this
constexpr std::int32_t kShift = 2 * kReach + 1;  // code + kShift >= 0

constexpr std::int32_t before(std::int64_t distance) { return static_cast<std::int32_t>(-1 - distance); }
constexpr std::int32_t after(std::int64_t distance) { return static_cast<std::int32_t>(-1 - kReach - distance); }

constexpr std::int32_t kTag = -1, kItems = -2;  // attributes of atoms that are tags or a user's features, not columns

struct Atom {
  std::int32_t attribute, offset;
};

struct Template {
  std::vector<Atom> fixed;              // static atoms
  std::vector<std::int32_t> distances;  // of the tag atoms

  bool dynamic() const { return !distances.empty(); }
  std::size_t size() const { return fixed.size() + distances.size(); }
  bool items() const { return fixed.size() == 1 && fixed[0].attribute == kItems; }
  bool single() const { return !dynamic() && fixed.size() == 1 && !items(); }
};

struct TokenBatch {
  std::vector<std::span<const std::int32_t>> columns;  // codes of the values, by column
  std::vector<std::size_t> column_of;                  // by attribute
  std::vector<std::span<const std::int32_t>> maps;     // by attribute: the code of each value of its column
  std::span<const std::int64_t> offsets;               // of the sentences
  std::span<const std::int32_t> items, item_map;       // user's features and the code of each
  std::span<const std::int64_t> item_offsets;          // by token

  std::size_t n_tokens() const { return static_cast<std::size_t>(offsets.back()); }

  std::int32_t code(const Atom& atom, std::int64_t token, std::int64_t begin, std::int64_t end) const {
    const std::int64_t at = token + atom.offset;
    if (at < begin) return before(begin - at);
    if (at >= end) return after(at - end + 1);
    const auto attribute = static_cast<std::size_t>(atom.attribute);
    return maps[attribute][static_cast<std::size_t>(columns[column_of[attribute]][static_cast<std::size_t>(at)])];
  }

  // The codes of the static atoms; false if one is unknown.
  bool codes(const std::vector<Atom>& atoms, std::int64_t token, std::int64_t begin, std::int64_t end, std::int32_t* out) const {
    for (const Atom& atom : atoms)
      if ((*out++ = code(atom, token, begin, end)) == kUnknown) return false;
    return true;
  }
};

// Tags of all tokens in the order of the text; the k-th tag before a token is the tag of the k-th token tagged before it.
struct GoldTags {
  std::span<const std::int32_t> tags;
  std::int32_t n_tags;  // also the code of a tag before the first
  bool backward;

  std::int32_t previous(std::int64_t token, std::int32_t k, std::int64_t begin, std::int64_t end) const {
    const std::int64_t at = backward ? token + k : token - k;
    return at < begin || at >= end ? n_tags : tags[static_cast<std::size_t>(at)];
  }
};

}  // namespace treille
