#pragma once
// From the features of tokens to tags: beam search over the tags of a sentence.
//
// A token's scores are  f_k(x) = scale * (sum over the patterns of x) + b_k,  one for each tag. Its static features are scored once; those
// that depend on the tags before it once for each of the histories in the beam. A sequence of tags is worth the sum of its scores, and
// of two that end with the same history only the better one is kept. A beam of 1 is greedy search.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "conjunctions/scorer.hpp"
#include "interrupt.hpp"
#include "parallel.hpp"
#include "tagging/token_features.hpp"

namespace treille {

struct TagSearch {
  const TokenFeatures& features;
  const ConjunctionScorer& scorer;
  std::span<const Item> item_of;           // of each feature
  std::span<const double> intercept;       // b_k
  double scale;
  std::span<const std::uint8_t> allowed;   // (n_tags + 1) x (n_tags + 1): whether tag k may follow tag j; n_tags: outside the sentence
  std::size_t beam;
};

class SentenceDecoder {
 public:
  explicit SentenceDecoder(const TagSearch& search)
      : s_(search), n_tags_(static_cast<std::size_t>(search.features.n_tags())), history_(static_cast<std::size_t>(search.features.history())) {}

  // Tags of the tokens [begin, end) of `rows`, written to `tags`.
  void decode(const TokenRows& rows, std::size_t begin, std::size_t end, std::int32_t* tags) {
    const std::size_t length = end - begin;
    const auto outside = static_cast<std::int32_t>(n_tags_);
    steps_.clear();
    beam_.assign(1, {0.0, -1, outside});
    histories_.assign(std::max<std::size_t>(history_, 1), outside);
    for (std::size_t t = 0; t < length; ++t) {
      const std::size_t token = s_.features.backward() ? end - 1 - t : begin + t;
      score_static(rows, token);
      extend(rows.parts.data() + token * s_.features.n_dynamic(), t + 1 == length);
    }
    trace(length, begin, end, tags);
  }

 private:
  struct Hypothesis {
    double score;
    std::int32_t step;  // its last step, -1: none
    std::int32_t tag;
  };
  struct Step {
    std::int32_t tag, before;
  };
  struct Candidate {
    double score;
    std::uint32_t from;
    std::int32_t tag;
  };

  void score_static(const TokenRows& rows, std::size_t token) {
    items_.clear();
    for (std::int64_t e = rows.indptr[token]; e < rows.indptr[token + 1]; ++e)
      items_.push_back(s_.item_of[static_cast<std::size_t>(rows.ids[static_cast<std::size_t>(e)])]);
    std::sort(items_.begin(), items_.end());
    fixed_.assign(n_tags_, 0.0f);
    s_.scorer.add(items_, scratch_, fixed_.data());
  }

  void extend(const std::int32_t* parts, bool last) {
    const std::size_t width = std::max<std::size_t>(history_, 1);
    candidates_.clear();
    for (std::size_t h = 0; h < beam_.size(); ++h) {
      more_.clear();
      s_.features.dynamic_ids(parts, histories_.data() + h * width, [&](std::int32_t id) { more_.push_back(s_.item_of[static_cast<std::size_t>(id)]); });
      std::sort(more_.begin(), more_.end());
      scores_ = fixed_;
      s_.scorer.add_more(more_, scratch_, scores_.data());
      const std::uint8_t* may = s_.allowed.data() + static_cast<std::size_t>(beam_[h].tag) * (n_tags_ + 1);
      const std::size_t before = candidates_.size();
      for (std::size_t k = 0; k < n_tags_; ++k)
        if (may[k] != 0 && (!last || s_.allowed[k * (n_tags_ + 1) + n_tags_] != 0))
          candidates_.push_back({beam_[h].score + s_.scale * scores_[k] + s_.intercept[k], static_cast<std::uint32_t>(h), static_cast<std::int32_t>(k)});
      if (candidates_.size() == before)  // nothing is allowed: rather an illegal tag than none
        for (std::size_t k = 0; k < n_tags_; ++k)
          candidates_.push_back({beam_[h].score + s_.scale * scores_[k] + s_.intercept[k] - 1e6, static_cast<std::uint32_t>(h), static_cast<std::int32_t>(k)});
    }
    std::stable_sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
    next_.clear();
    next_histories_.clear();
    for (const Candidate& c : candidates_) {
      if (next_.size() == s_.beam) break;
      own_.assign(1, c.tag);
      own_.insert(own_.end(), histories_.begin() + static_cast<std::ptrdiff_t>(c.from * width),
                  histories_.begin() + static_cast<std::ptrdiff_t>((c.from + 1) * width - 1));
      bool known = false;
      for (std::size_t h = 0; h < next_.size() && !known; ++h)
        known = std::equal(own_.begin(), own_.end(), next_histories_.begin() + static_cast<std::ptrdiff_t>(h * width));
      if (known) continue;
      steps_.push_back({c.tag, beam_[c.from].step});
      next_.push_back({c.score, static_cast<std::int32_t>(steps_.size()) - 1, c.tag});
      next_histories_.insert(next_histories_.end(), own_.begin(), own_.end());
    }
    std::swap(beam_, next_);
    std::swap(histories_, next_histories_);
  }

  // The best sequence from its last step back.
  void trace(std::size_t length, std::size_t begin, std::size_t end, std::int32_t* tags) const {
    std::int32_t at = length > 0 ? beam_[0].step : -1;
    for (std::size_t t = length; at >= 0; at = steps_[static_cast<std::size_t>(at)].before) {
      --t;
      tags[s_.features.backward() ? end - 1 - t : begin + t] = steps_[static_cast<std::size_t>(at)].tag;
    }
  }

  const TagSearch& s_;
  std::size_t n_tags_, history_;
  ConjunctionScorer::Scratch scratch_;
  std::vector<Item> items_, more_;
  std::vector<float> fixed_, scores_;
  std::vector<Hypothesis> beam_, next_;
  std::vector<std::int32_t> histories_, next_histories_, own_;
  std::vector<Candidate> candidates_;
  std::vector<Step> steps_;
};

inline void decode(const TagSearch& search, const TokenRows& rows, std::span<const std::int64_t> offsets, int threads, std::int32_t* tags) {
  const auto cuts = balanced_cuts(offsets, threads);
  run_parts(threads, [&](int p) {
    SentenceDecoder decoder(search);
    for (std::size_t i = cuts[static_cast<std::size_t>(p)]; i < cuts[static_cast<std::size_t>(p) + 1]; ++i) {
      tick();
      decoder.decode(rows, static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(offsets[i + 1]), tags);
    }
  });
}

}  // namespace treille
