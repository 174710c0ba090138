#pragma once
// One code for a pair of labels, so that a transducer is an acceptor of pairs: codes are ordered as pairs are. For acceptors the code is
// the label, found in no time; for transducers the distinct pairs are sorted first, O(arcs log arcs).

#include <algorithm>
#include <cstdint>
#include <vector>

#include "automata/machine.hpp"

namespace treille {

class PairCodes {
 public:
  explicit PairCodes(const Machine& machine) {
    const auto arcs = machine.all_arcs();
    if (std::all_of(arcs.begin(), arcs.end(), [](const Arc& arc) { return arc.input == arc.output; })) return;
    pairs_.reserve(arcs.size());
    for (const Arc& arc : arcs) pairs_.push_back(pack(arc.input, arc.output));
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
  }

  Label code(const Arc& arc) const {
    if (pairs_.empty()) return arc.input;
    return static_cast<Label>(std::lower_bound(pairs_.begin(), pairs_.end(), pack(arc.input, arc.output)) - pairs_.begin());
  }
  Label input(Label code) const { return pairs_.empty() ? code : static_cast<Label>(pairs_[code] >> 32); }
  Label output(Label code) const { return pairs_.empty() ? code : static_cast<Label>(pairs_[code]); }

 private:
  static std::uint64_t pack(Label input, Label output) {
    return static_cast<std::uint64_t>(input) << 32 | static_cast<std::uint32_t>(output);
  }

  std::vector<std::uint64_t> pairs_;
};

}  // namespace treille
