#pragma once
// Decoding: beam search over the tags of a sentence, given the features of its tokens.
//
// The functions  f_k(x) = scale * (sum over the patterns of x) + b_k  give a score to each tag. A token's static features are scored once;
// features that depend on the tags before it, once for each history in the beam. The value of a sequence of tags is the sum of their
// log-probabilities, by a softmax of the scores; of two sequences that end with the same history, only the better one is kept. A beam of 1
// is greedy search.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "conjunctions/scorer.hpp"
#include "interrupt.hpp"
#include "parallel.hpp"
#include "tagging/token_features.hpp"

namespace treille {

struct TagSearch {
  const TokenFeatures& features;
  const ConjunctionScorer& scorer;
  std::span<const Item> item_of;      // of each feature
  std::span<const double> intercept;  // b_k
  double scale;
  std::span<const std::int32_t> pairs;    // two tags for each function, which is positive for the first; empty: a function for each tag
  std::span<const std::uint8_t> allowed;  // (n_tags + 1) x (n_tags + 1): whether tag k may follow tag j; n_tags: outside the sentence
  std::size_t beam;
};

// Scores of the tags, from the scores of the functions. For pairs of tags: sums of margins, clipped to [-1, 1].
inline void tag_scores(const TagSearch& s, std::span<const float> sums, std::span<double> scores) {
  auto f = [&](std::size_t k) { return s.scale * static_cast<double>(sums[k]) + s.intercept[k]; };
  if (s.pairs.empty()) {
    for (std::size_t k = 0; k < scores.size(); ++k) scores[k] = f(k);
    return;
  }
  std::fill(scores.begin(), scores.end(), 0.0);
  for (std::size_t p = 0; p < sums.size(); ++p) {
    const double won = std::clamp(f(p), -1.0, 1.0);
    scores[static_cast<std::size_t>(s.pairs[2 * p])] += won;
    scores[static_cast<std::size_t>(s.pairs[2 * p + 1])] -= won;
  }
}

class SentenceDecoder {
 public:
  explicit SentenceDecoder(const TagSearch& search)
      : s_(search),
        n_tags_(static_cast<std::size_t>(search.features.n_tags())),
        width_(static_cast<std::size_t>(std::max(search.features.history(), 1))),
        scores_(n_tags_) {}

  // Tags of the sentences [first, last), whose tokens begin at `offsets`, written to `tags`.
  void decode(const TokenRows& rows, std::span<const std::int64_t> offsets, std::size_t first, std::size_t last, std::int32_t* tags) {
    while (first < last) {
      std::size_t stop = first + 1;
      while (stop < last && offsets[stop + 1] - offsets[first] <= kTokens) ++stop;
      score_static(rows, static_cast<std::size_t>(offsets[first]), static_cast<std::size_t>(offsets[stop]));
      for (; first < stop; ++first) {
        tick();
        decode(rows, static_cast<std::size_t>(offsets[first]), static_cast<std::size_t>(offsets[first + 1]), tags);
      }
    }
  }

 private:
  struct Hypothesis {
    double worth;
    std::int32_t step, tag;  // its last step (-1: none), and the tag there
  };
  struct Step {
    std::int32_t tag, before;
  };
  struct Candidate {
    double worth;
    std::uint32_t from;
    std::int32_t tag;
  };

  // Items and scores of the static features of the tokens [begin, end).
  void score_static(const TokenRows& rows, std::size_t begin, std::size_t end) {
    begin_ = begin;
    starts_.assign(1, 0);
    items_.clear();
    for (std::size_t t = begin; t < end; ++t) {
      for (std::int64_t e = rows.indptr[t + 1]; e-- > rows.indptr[t];)
        items_.push_back(s_.item_of[static_cast<std::size_t>(rows.ids[static_cast<std::size_t>(e)])]);
      const auto own = items_.begin() + starts_.back();
      if (!std::is_sorted(own, items_.end())) std::sort(own, items_.end());
      starts_.push_back(static_cast<std::int64_t>(items_.size()));
    }
    fixed_.assign((end - begin) * s_.scorer.n_functions(), 0.0f);
    if (!s_.scorer.deep()) s_.scorer.add_rows({starts_, items_, s_.scorer.n_items()}, fixed_.data());
  }

  // Tags of the tokens [begin, end), a sentence.
  void decode(const TokenRows& rows, std::size_t begin, std::size_t end, std::int32_t* tags) {
    const auto outside = static_cast<std::int32_t>(n_tags_);
    auto place = [&](std::size_t t) { return s_.features.backward() ? end - 1 - t : begin + t; };
    steps_.clear();
    beam_.assign(1, {0.0, -1, outside});
    histories_.assign(width_, outside);
    auto items_of = [&](std::size_t t) {
      return std::span<const Item>(items_.begin() + starts_[place(t) - begin_], items_.begin() + starts_[place(t) - begin_ + 1]);
    };
    for (std::size_t t = 0; t < end - begin; ++t) {
      const auto items = items_of(t);
      if (t + 1 < end - begin) s_.scorer.request_late(items_of(t + 1));
      float* const fixed = fixed_.data() + (place(t) - begin_) * s_.scorer.n_functions();
      if (s_.scorer.deep())
        s_.scorer.add(items, scratch_, fixed);
      else
        s_.scorer.open(items, scratch_);
      own_fixed_ = {fixed, s_.scorer.n_functions()};
      extend(rows.parts.data() + place(t) * s_.features.n_dynamic(), t + 1 == end - begin);
    }
    std::int32_t step = beam_[0].step;
    for (std::size_t t = end - begin; t-- > 0; step = steps_[static_cast<std::size_t>(step)].before)
      tags[place(t)] = steps_[static_cast<std::size_t>(step)].tag;
  }

  void extend(const std::int32_t* parts, bool last) {
    candidates_.clear();
    if (!s_.scorer.deep()) {
      more_.clear();
      for (std::size_t h = 0; h < beam_.size(); ++h) add_dynamic(parts, histories_.data() + h * width_);
      s_.scorer.prepare(more_, scratch_);
    }
    for (std::size_t h = 0; h < beam_.size(); ++h) {
      score(parts, histories_.data() + h * width_);
      add_candidates(h, last, true);
    }
    if (candidates_.empty())  // an illegal sequence is better than none
      for (std::size_t h = 0; h < beam_.size(); ++h) {
        score(parts, histories_.data() + h * width_);
        add_candidates(h, last, false);
      }
    keep_best();
  }

  void add_dynamic(const std::int32_t* parts, const std::int32_t* history) {
    s_.features.dynamic_ids(parts, history, [&](std::int32_t id) { more_.push_back(s_.item_of[static_cast<std::size_t>(id)]); });
  }

  // The scores of the tags for a history, as logarithms of a softmax.
  void score(const std::int32_t* parts, const std::int32_t* history) {
    more_.clear();
    add_dynamic(parts, history);
    std::sort(more_.begin(), more_.end());
    sums_.assign(own_fixed_.begin(), own_fixed_.end());
    s_.scorer.add_more(more_, scratch_, sums_.data());
    tag_scores(s_, sums_, scores_);
    if (s_.beam == 1) return;
    const double largest = *std::max_element(scores_.begin(), scores_.end());
    double sum = 0;
    for (const double v : scores_) sum += std::exp(kSharpness * (v - largest));
    for (double& v : scores_) v = kSharpness * (v - largest) - std::log(sum);
  }

  void add_candidates(std::size_t h, bool last, bool legal) {
    const std::uint8_t* may = s_.allowed.data() + static_cast<std::size_t>(beam_[h].tag) * (n_tags_ + 1);
    for (std::size_t k = 0; k < n_tags_; ++k)
      if (!legal || (may[k] != 0 && (!last || s_.allowed[k * (n_tags_ + 1) + n_tags_] != 0)))
        candidates_.push_back({beam_[h].worth + scores_[k], static_cast<std::uint32_t>(h), static_cast<std::int32_t>(k)});
  }

  void keep_best() {
    next_.clear();
    next_histories_.clear();
    std::make_heap(candidates_.begin(), candidates_.end(), worse);
    for (; next_.size() < s_.beam && !candidates_.empty(); candidates_.pop_back()) {
      std::pop_heap(candidates_.begin(), candidates_.end(), worse);
      const Candidate& c = candidates_.back();
      const auto before = histories_.begin() + static_cast<std::ptrdiff_t>(c.from * width_);
      own_.assign(1, c.tag);
      own_.insert(own_.end(), before, before + static_cast<std::ptrdiff_t>(width_ - 1));
      bool known = false;
      for (std::size_t h = 0; h < next_.size() && !known; ++h)
        known = std::equal(own_.begin(), own_.end(), next_histories_.begin() + static_cast<std::ptrdiff_t>(h * width_));
      if (known) continue;
      steps_.push_back({c.tag, beam_[c.from].step});
      next_.push_back({c.worth, static_cast<std::int32_t>(steps_.size()) - 1, c.tag});
      next_histories_.insert(next_histories_.end(), own_.begin(), own_.end());
    }
    std::swap(beam_, next_);
    std::swap(histories_, next_histories_);
  }

  // If two candidates have the same value, the earlier one is better.
  static bool worse(const Candidate& a, const Candidate& b) {
    return std::tuple(a.worth, b.from, b.tag) < std::tuple(b.worth, a.from, a.tag);
  }

  static constexpr std::int64_t kTokens = 1 << 14;  // scored together
  static constexpr double kSharpness = 2;           // scores of about +-1 tell tags apart: probabilities of about 0.98 and 0.02

  const TagSearch& s_;
  std::size_t n_tags_, width_;  // tags in a history
  ConjunctionScorer::Scratch scratch_;
  std::size_t begin_ = 0;  // the first token of those whose static features are scored
  std::vector<std::int64_t> starts_;
  std::vector<Item> items_, more_;
  std::vector<float> fixed_, sums_;
  std::span<const float> own_fixed_;  // of the token
  std::vector<double> scores_;
  std::vector<Hypothesis> beam_, next_;
  std::vector<std::int32_t> histories_, next_histories_, own_;
  std::vector<Candidate> candidates_;
  std::vector<Step> steps_;
};

inline void decode(const TagSearch& search, const TokenRows& rows, std::span<const std::int64_t> offsets, int threads, std::int32_t* tags) {
  const auto cuts = balanced_cuts(offsets, threads);
  expect(offsets.size() - 1);
  run_shares(threads, [&](int p) {
    SentenceDecoder decoder(search);
    decoder.decode(rows, offsets, cuts[static_cast<std::size_t>(p)], cuts[static_cast<std::size_t>(p) + 1], tags);
  });
}

}  // namespace treille
