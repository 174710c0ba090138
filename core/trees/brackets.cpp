#include "trees/brackets.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "interner.hpp"
#include "parallel.hpp"

namespace treille {
namespace {

enum Kind : unsigned char { kLetter, kBlank, kBracket };

constexpr std::array<Kind, 256> kKinds = [] {
  std::array<Kind, 256> kinds{};
  for (const unsigned char c : {' ', '\t', '\n', '\r', '\v', '\f'}) kinds[c] = kBlank;
  kinds['('] = kinds[')'] = kBracket;
  return kinds;
}();

Kind kind(char c) { return kKinds[static_cast<unsigned char>(c)]; }

// Reads the trees of one share of the texts.
class Reader {
 public:
  // The message for an error at `at`; empty if there is none.
  std::string read(std::string_view text) {
    text_ = text;
    at_ = 0;
    first_ = labels.size();
    open_.clear();
    bool outer = false;
    blanks();
    if (at_ == text_.size()) return "there is no tree, expected one such as (S (NP) (VP))";
    if (text_[at_] != '(') return "found " + shown() + ", expected '(', which begins a tree";
    do {
      if (text_[at_] == '(') {
        const std::size_t opened = at_++;
        blanks();
        const std::string_view label = word();
        if (label.empty() && open_.empty() && at_ < text_.size() && text_[at_] == '(') {
          outer = true;
          open_.push_back({kOuter, opened});
        } else if (label.empty()) {
          at_ = opened;
          return "the bracket has no label";
        } else {
          if (rooted() && outside()) {
            at_ = opened;
            return "a second root, expected one tree";
          }
          open_.push_back({add(label), opened});
        }
      } else if (text_[at_] == ')') {
        open_.pop_back();
        ++at_;
      } else {
        if (outside()) return "found " + shown() + " outside of any bracket with a label";
        add(word());
      }
      blanks();
    } while (!open_.empty() && at_ < text_.size());
    if (!open_.empty()) {
      at_ = open_.back().byte;
      return "the bracket opened here is not closed";
    }
    if (at_ == text_.size()) return outer && !rooted() ? "there is no tree in the bracket" : "";
    if (text_[at_] == '(') return "a second tree begins here, expected one a line";
    return text_[at_] == ')' ? "')' without its '('" : "found " + shown() + " after the end of the tree";
  }
  std::size_t at() const { return at_; }

  Array<std::int32_t> labels, parents;
  Interner<char> words;

 private:
  static constexpr std::int32_t kOuter = -1;
  struct Open {
    std::int32_t node;
    std::size_t byte;
  };

  bool rooted() const { return labels.size() > first_; }
  bool outside() const { return open_.empty() || open_.back().node == kOuter; }

  std::int32_t add(std::string_view label) {
    const auto node = static_cast<std::int32_t>(labels.size() - first_);
    labels.push_back(static_cast<std::int32_t>(words.add({label.data(), label.size()})));
    parents.push_back(open_.empty() ? -1 : open_.back().node);
    return node;
  }

  void blanks() {
    while (at_ < text_.size() && kind(text_[at_]) == kBlank) ++at_;
  }

  std::string_view word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && kind(text_[at_]) == kLetter) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::string shown() {
    const std::size_t begin = at_;
    std::string found(word().substr(0, 40));
    at_ = begin;
    return "'" + (found.empty() ? std::string(1, text_[at_]) : found) + "'";
  }

  std::string_view text_;
  std::size_t at_ = 0, first_ = 0;
  std::vector<Open> open_;
};

// The labels of all shares, sorted, and the codes of each share's labels in them.
std::vector<std::vector<std::int32_t>> join(const std::vector<Reader>& readers, std::vector<std::string>& alphabet) {
  for (const Reader& reader : readers)
    for (std::size_t id = 0; id < reader.words.size(); ++id) alphabet.emplace_back(reader.words[id].begin(), reader.words[id].end());
  const auto less = [](const std::string& a, const std::string& b) {
    return std::ranges::lexicographical_compare(
        a, b, [](char x, char y) { return static_cast<unsigned char>(x) < static_cast<unsigned char>(y); });
  };
  std::sort(alphabet.begin(), alphabet.end(), less);
  alphabet.erase(std::unique(alphabet.begin(), alphabet.end()), alphabet.end());
  std::vector<std::vector<std::int32_t>> codes(readers.size());
  for (std::size_t p = 0; p < readers.size(); ++p)
    for (std::size_t id = 0; id < readers[p].words.size(); ++id) {
      const std::string word(readers[p].words[id].begin(), readers[p].words[id].end());
      codes[p].push_back(static_cast<std::int32_t>(std::lower_bound(alphabet.begin(), alphabet.end(), word, less) - alphabet.begin()));
    }
  return codes;
}

}  // namespace

BracketTrees read_brackets(std::span<const std::string_view> texts, int threads) {
  constexpr std::int64_t kWorthAThread = 1 << 16;
  std::vector<std::int64_t> bytes(texts.size() + 1, 0);
  for (std::size_t i = 0; i < texts.size(); ++i) bytes[i + 1] = bytes[i] + static_cast<std::int64_t>(texts[i].size());
  const int shares = static_cast<int>(std::clamp<std::int64_t>(bytes.back() / kWorthAThread, 1, threads));
  const auto cuts = balanced_cuts(bytes, shares);
  std::vector<Reader> readers(static_cast<std::size_t>(shares));
  std::vector<std::optional<BracketFault>> faults(readers.size());
  BracketTrees trees;
  trees.offsets.assign(texts.size() + 1, 0);
  run_shares(shares, [&](int share) {
    const auto p = static_cast<std::size_t>(share);
    Reader& reader = readers[p];
    for (std::size_t i = cuts[p]; i < cuts[p + 1] && !faults[p]; ++i) {
      const std::size_t before = reader.labels.size();
      if (std::string message = reader.read(texts[i]); !message.empty()) faults[p] = {i, reader.at(), std::move(message)};
      trees.offsets[i + 1] = static_cast<std::int64_t>(reader.labels.size() - before);
    }
  });
  for (auto& fault : faults)
    if (fault) {
      trees.offsets.assign(1, 0);
      trees.fault = std::move(fault);
      return trees;
    }
  std::partial_sum(trees.offsets.begin(), trees.offsets.end(), trees.offsets.begin());
  const auto codes = join(readers, trees.alphabet);
  trees.labels.resize(static_cast<std::size_t>(trees.offsets.back()));
  trees.parents.resize(trees.labels.size());
  run_shares(shares, [&](int share) {
    const auto p = static_cast<std::size_t>(share);
    const auto to = trees.offsets[cuts[p]];
    std::ranges::transform(readers[p].labels, trees.labels.begin() + to,
                           [&](std::int32_t label) { return codes[p][static_cast<std::size_t>(label)]; });
    std::ranges::copy(readers[p].parents, trees.parents.begin() + to);
    readers[p] = Reader();
  });
  return trees;
}

std::vector<std::int64_t> find_brackets(std::string_view text) {
  std::vector<std::int64_t> ends;
  std::int64_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (depth == 0 && kind(text[at]) != kBlank) {
      ends.push_back(static_cast<std::int64_t>(at));
      if (text[at] != '(') {  // no tree: it ends with its line, and the reader reports the error
        at = std::min(text.find('\n', at), text.size());
        ends.push_back(static_cast<std::int64_t>(at));
        continue;
      }
    }
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) {  // the rest of the line belongs to the item, and must be blank
      at = std::min(text.find('\n', at), text.size());
      ends.push_back(static_cast<std::int64_t>(at));
    }
  }
  if (depth > 0) ends.push_back(static_cast<std::int64_t>(text.size()));
  return ends;
}

}  // namespace treille
