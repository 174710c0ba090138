#pragma once
// Builds coded rows (see rows.hpp) from (id, value) entries. Several parts, each a contiguous run of rows, are written at the
// same time, one thread each; the result is the same however the rows are cut into parts.

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "memory.hpp"

namespace treille {

// Row i is entries[indptr[i] .. indptr[i + 1]), each id << code_bits | code, ids rising.
struct CodedEntries {
  Buffer<std::int64_t> indptr;
  std::variant<Buffer<std::uint32_t>, Buffer<std::uint64_t>> entries;
  int code_bits = 0;
  Buffer<double> palette;
};

class RowPart {
 public:
  // Ids must differ within a row.
  void add(std::uint32_t id, double value) {
    if (written_ % kBlock == 0) blocks_.emplace_back();
    Recent& recent = recent_[std::bit_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15u >> 58];
    if (recent.value != value) recent = {value, code_of(value)};
    const std::uint32_t code = recent.code;
    Block& block = blocks_.back();
    block.ids[written_ % kBlock] = id;
    block.codes[written_ % kBlock] = static_cast<std::uint8_t>(code < kAside ? code : kAside);
    if (code >= kAside) aside_.push_back(code);
    ++written_;
  }
  void end_row() { ends_.push_back(static_cast<std::int64_t>(written_)); }

 private:
  friend class PartJoiner;
  static constexpr std::uint32_t kAside = 255;  // codes from here on stand in aside_, in the order of their entries

  // Entries wait in blocks, each given back as soon as it is read, so that parts and result together never need twice the space.
  static constexpr std::size_t kBlock = std::size_t{1} << 19;
  struct Block {
    Buffer<std::uint32_t> ids{kBlock};
    Buffer<std::uint8_t> codes{kBlock};
    void free() {
      ids = {};
      codes = {};
    }
  };

  // A few values make up most entries: each keeps its code in the first line of cache.
  struct Recent {
    double value;
    std::uint32_t code;
  };

  std::uint32_t code_of(double value);

  std::vector<Block> blocks_;
  std::size_t written_ = 0;
  std::vector<std::uint32_t> aside_;
  std::vector<std::int64_t> ends_;
  std::vector<double> values_;  // by code, in the order met
  std::unordered_map<double, std::uint32_t> codes_of_;
  std::array<Recent, 64> recent_ = [] {
    std::array<Recent, 64> none;
    none.fill({std::numeric_limits<double>::quiet_NaN(), 0});
    return none;
  }();
};

// The parts' rows one after another. Where `renamed` is given, id k of part p becomes renamed[p][k]. All ids are < n_ids then.
CodedEntries join_parts(std::vector<RowPart> parts, std::span<const Array<std::uint32_t>> renamed, std::size_t n_ids);

}  // namespace treille
