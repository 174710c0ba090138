#include "tagging/token_features.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "parallel.hpp"
#include "small_sort.hpp"

namespace treille {
namespace {

constexpr std::uint64_t kTable = std::uint64_t{1} << 22;  // the largest table of tags, in entries

[[noreturn]] void refuse() { throw std::invalid_argument("the features are not different ones of the templates"); }

void require(bool holds) {
  if (!holds) refuse();
}

}  // namespace

TokenFeatures::TokenFeatures(std::vector<Template> templates, std::vector<std::int32_t> sizes, std::int32_t n_items, std::int32_t n_tags,
                             bool backward, std::span<const std::int32_t> feature_templates, std::span<const std::int32_t> codes)
    : templates_(std::move(templates)),
      tables_(templates_.size()),
      n_features_(feature_templates.size()),
      n_tags_(n_tags),
      radix_(static_cast<std::uint64_t>(n_tags) + 1),
      backward_(backward) {
  // The offsets of the codes of the features of each template, and their ids.
  std::vector<std::vector<std::pair<std::int64_t, std::int32_t>>> features(templates_.size());
  std::size_t at = 0;
  for (std::size_t id = 0; id < n_features_; ++id) {
    const auto t = static_cast<std::size_t>(feature_templates[id]);
    require(t < templates_.size() && at + templates_[t].size() <= codes.size());
    features[t].emplace_back(static_cast<std::int64_t>(at), static_cast<std::int32_t>(id));
    for (std::size_t k = 0; k < templates_[t].size(); ++k, ++at) {
      const bool tag = k >= templates_[t].fixed.size(), item = templates_[t].items();
      const std::int32_t size = tag ? n_tags + 1 : item ? n_items : sizes[static_cast<std::size_t>(templates_[t].fixed[k].attribute)];
      const std::int32_t least = tag || item ? 0 : -kShift;
      require(codes[at] >= least && codes[at] < size && (codes[at] != kUnknown || least == 0));
    }
  }
  require(at == codes.size());
  item_ids_.assign(static_cast<std::size_t>(n_items), -1);
  for (std::size_t t = 0; t < templates_.size(); ++t) {
    const Template& own = templates_[t];
    if (own.dynamic()) {
      for (const std::int32_t k : own.distances) history_ = std::max(history_, k);
      dynamic_.push_back({t, own.distances, {}, {}, {}, {}});
    } else if (own.single() || own.items()) {
      auto& table = own.items() ? item_ids_ : tables_[t];
      const std::int32_t shift = own.items() ? 0 : kShift;
      if (own.single()) table.assign(static_cast<std::size_t>(sizes[static_cast<std::size_t>(own.fixed[0].attribute)] + kShift), -1);
      for (const auto& [first, id] : features[t]) {
        auto& entry = table[static_cast<std::size_t>(codes[static_cast<std::size_t>(first)] + shift)];
        require(entry < 0);
        entry = id;
      }
    } else {
      Joined& joined = joined_.emplace_back();
      joined.place = t;
      for (const auto& [first, id] : features[t]) {
        require(joined.keys.add(codes.subspan(static_cast<std::size_t>(first), own.size())) == joined.ids.size());
        joined.ids.push_back(id);
      }
    }
  }
  add_dynamic(features, codes);
}

void TokenFeatures::add_dynamic(const std::vector<std::vector<std::pair<std::int64_t, std::int32_t>>>& features,
                                std::span<const std::int32_t> codes) {
  std::vector<std::int32_t> previous(static_cast<std::size_t>(history_));
  for (Dynamic& own : dynamic_) {
    const std::size_t n_fixed = templates_[own.place].fixed.size();
    std::uint64_t keys = 1;
    for (std::size_t k = 0; k < own.distances.size(); ++k) {
      if (keys > (std::uint64_t{1} << 62) / radix_) throw std::length_error("a template reads too many tags");
      keys *= radix_;
    }
    std::vector<std::pair<std::int64_t, std::pair<std::uint64_t, std::int32_t>>> entries;
    if (n_fixed == 0) own.parts.add({});
    for (const auto& [first, id] : features[own.place]) {
      const auto at = static_cast<std::size_t>(first);
      const std::int64_t part = own.parts.add(codes.subspan(at, n_fixed));
      for (std::size_t k = 0; k < own.distances.size(); ++k)
        previous[static_cast<std::size_t>(own.distances[k] - 1)] = codes[at + n_fixed + k];
      entries.push_back({part, {own.key(previous.data(), radix_), id}});
    }
    std::sort(entries.begin(), entries.end());
    for (std::size_t e = 1; e < entries.size(); ++e)
      require(entries[e].first != entries[e - 1].first || entries[e].second.first != entries[e - 1].second.first);
    if (n_fixed == 0 && keys <= kTable) {
      own.table.assign(keys, -1);
      for (const auto& [_, entry] : entries) own.table[entry.first] = entry.second;
      continue;
    }
    own.starts.assign(own.parts.size() + 1, 0);
    for (const auto& [part, entry] : entries) {
      ++own.starts[static_cast<std::size_t>(part) + 1];
      own.entries.push_back(entry);
    }
    for (std::size_t p = 0; p < own.parts.size(); ++p) own.starts[p + 1] += own.starts[p];
  }
}

// A batch with the ids of single atoms looked up for every value of its columns: groups of templates of the same column and offset
// have one list of ids for each value.
class TokenFeatures::Reader {
 public:
  Reader(const TokenFeatures& features, const TokenBatch& batch) : features_(features), batch_(batch) {
    std::map<std::pair<std::size_t, std::int32_t>, std::vector<std::size_t>> groups;
    std::size_t longest = 0;
    for (std::size_t t = 0; t < features.templates_.size(); ++t) {
      const Template& own = features.templates_[t];
      longest = std::max(longest, own.size());
      if (own.single()) groups[{batch.column_of[static_cast<std::size_t>(own.fixed[0].attribute)], own.fixed[0].offset}].push_back(t);
    }
    for (const auto& [where, templates] : groups) add_group(where.first, where.second, templates);
    key_size_ = std::max<std::size_t>(1, longest);
  }

  std::size_t key_size() const { return key_size_; }

  void append(std::int64_t i, std::int64_t begin, std::int64_t end, std::int32_t* key, Array<std::int32_t>& ids) const {
    for (const Rows& rows : rows_) {
      const std::int64_t at = i + rows.offset;
      std::size_t row;
      if (at < begin)
        row = rows.n_values + static_cast<std::size_t>(begin - at) - 1;
      else if (at >= end)
        row = rows.n_values + static_cast<std::size_t>(at - end);
      else
        row = static_cast<std::size_t>(rows.column[static_cast<std::size_t>(at)]);
      ids.insert(ids.end(), rows.ids.begin() + rows.starts[row], rows.ids.begin() + rows.starts[row + 1]);
    }
    for (const Joined& joined : features_.joined_) {
      const auto& atoms = features_.templates_[joined.place].fixed;
      if (!batch_.codes(atoms, i, begin, end, key)) continue;
      const std::uint32_t found = joined.keys.find(std::span<const std::int32_t>(key, atoms.size()));
      if (found != Interner<std::int32_t>::kAbsent) ids.push_back(joined.ids[found]);
    }
    if (features_.item_ids_.empty() || batch_.item_offsets.empty()) return;
    for (std::int64_t k = batch_.item_offsets[static_cast<std::size_t>(i)]; k < batch_.item_offsets[static_cast<std::size_t>(i) + 1]; ++k) {
      const std::int32_t code = batch_.item_map[static_cast<std::size_t>(batch_.items[static_cast<std::size_t>(k)])];
      if (code >= 0 && features_.item_ids_[static_cast<std::size_t>(code)] >= 0)
        ids.push_back(features_.item_ids_[static_cast<std::size_t>(code)]);
    }
  }

  std::int32_t part(const Dynamic& dynamic, std::int64_t i, std::int64_t begin, std::int64_t end, std::int32_t* key) const {
    const auto& atoms = features_.templates_[dynamic.place].fixed;
    if (!batch_.codes(atoms, i, begin, end, key)) return -1;
    return static_cast<std::int32_t>(dynamic.parts.find(std::span<const std::int32_t>(key, atoms.size())));  // kAbsent is -1
  }

 private:
  struct Rows {
    std::int32_t offset;
    std::span<const std::int32_t> column;
    std::size_t n_values;
    std::vector<std::uint32_t> starts;  // by value, then by distance outside of the sentence
    std::vector<std::int32_t> ids;
  };

  void add_group(std::size_t column, std::int32_t offset, const std::vector<std::size_t>& templates) {
    Rows rows{offset, batch_.columns[column], 0, {0}, {}};
    auto attribute = [&](std::size_t t) { return static_cast<std::size_t>(features_.templates_[t].fixed[0].attribute); };
    rows.n_values = batch_.maps[attribute(templates[0])].size();
    auto add_row = [&](auto&& code_of) {
      for (const std::size_t t : templates) {
        const std::int32_t code = code_of(t);
        const std::int32_t id = code == kUnknown ? -1 : features_.tables_[t][static_cast<std::size_t>(code + kShift)];
        if (id >= 0) rows.ids.push_back(id);
      }
      rows.starts.push_back(static_cast<std::uint32_t>(rows.ids.size()));
    };
    for (std::size_t v = 0; v < rows.n_values; ++v) add_row([&](std::size_t t) { return batch_.maps[attribute(t)][v]; });
    for (std::int32_t d = 1; d <= std::abs(offset); ++d) add_row([&](std::size_t) { return offset < 0 ? before(d) : after(d); });
    rows_.push_back(std::move(rows));
  }

  const TokenFeatures& features_;
  const TokenBatch& batch_;
  std::vector<Rows> rows_;
  std::size_t key_size_ = 1;
};

TokenRows TokenFeatures::rows(const TokenBatch& batch, const GoldTags* gold, int threads) const {
  const std::size_t n = batch.n_tokens(), n_parts = gold == nullptr ? dynamic_.size() : 0;
  const Reader reader(*this, batch);
  TokenRows out{Buffer<std::int64_t>(n + 1), {}, Buffer<std::int32_t>(n * n_parts)};
  out.indptr[0] = 0;
  const int shares = static_cast<int>(std::clamp<std::size_t>(n / 1000, 1, static_cast<std::size_t>(std::max(1, threads))));
  const auto cuts = balanced_cuts(batch.offsets, shares);
  std::vector<Array<std::int32_t>> ids(static_cast<std::size_t>(shares));
  run_shares(shares, [&](int p) {
    auto& own = ids[static_cast<std::size_t>(p)];
    std::vector<std::int32_t> key(reader.key_size()), previous(static_cast<std::size_t>(history_));
    const auto first_token = static_cast<std::size_t>(batch.offsets[cuts[p]]),
               last_token = static_cast<std::size_t>(batch.offsets[cuts[p + 1]]);
    own.reserve((last_token - first_token) * std::min<std::size_t>(templates_.size(), 64));
    for (std::size_t s = cuts[p]; s < cuts[p + 1]; ++s) {
      poll();
      const std::int64_t begin = batch.offsets[s], end = batch.offsets[s + 1];
      for (std::int64_t i = begin; i < end; ++i) {
        const std::size_t start = own.size();
        reader.append(i, begin, end, key.data(), own);
        if (gold != nullptr) {
          for (std::int32_t k = 1; k <= history_; ++k) previous[static_cast<std::size_t>(k - 1)] = gold->previous(i, k, begin, end);
          for (const Dynamic& dynamic : dynamic_) {
            const std::int32_t part = reader.part(dynamic, i, begin, end, key.data());
            const std::int32_t id = part < 0 ? -1 : dynamic.id(part, dynamic.key(previous.data(), radix_));
            if (id >= 0) own.push_back(id);
          }
        } else {
          for (std::size_t d = 0; d < n_parts; ++d)
            out.parts[static_cast<std::size_t>(i) * n_parts + d] = reader.part(dynamic_[d], i, begin, end, key.data());
        }
        sort_distinct(std::span(own).subspan(start));
        out.indptr[static_cast<std::size_t>(i) + 1] = static_cast<std::int64_t>(own.size());
      }
    }
  });
  std::size_t total = 0;
  for (const auto& own : ids) total += own.size();
  out.ids = Buffer<std::int32_t>(total);
  std::int64_t shift = 0;
  for (int p = 0; p < shares; ++p) {
    const auto& own = ids[static_cast<std::size_t>(p)];
    std::copy(own.begin(), own.end(), out.ids.data() + shift);
    for (std::int64_t i = batch.offsets[cuts[p]]; i < batch.offsets[cuts[p + 1]]; ++i) out.indptr[static_cast<std::size_t>(i) + 1] += shift;
    shift += static_cast<std::int64_t>(own.size());
  }
  return out;
}

}  // namespace treille
