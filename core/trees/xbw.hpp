#pragma once
// The XBW index of a forest: its shape and labels in little more space than they need, navigated and searched without decoding.
//
// Nodes are places 0..N-1: sorted by the upward string of their parents, siblings and equals in preorder. The roots come first, so that
// the root of tree i is place i. It stores a bit for each place, set at the last of some siblings, and a wavelet tree of labels,
// each twice: as the label of a leaf and of an inner node. Inner nodes with one label have their children in one run of blocks of siblings,
// in the order of their places. So children of the nodes that a path leads to stand side by side, and one label more is a step of search:
// two ranks and two selects.
//
// Space: N bits, and N times the mean code length of (label, leaf or not), which is at most H0(labels) + 2; 3.2 % more to count; no
// pointer. Ferragina, Luccio, Manzini, Muthukrishnan: Compressing and indexing labeled trees, with applications, J. ACM 2009 (there leaves
// have their own alphabet, too).

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "succinct/wavelet_tree.hpp"
#include "trees/forest.hpp"

namespace treille {

// A forest that owns its arrays (see forest.hpp).
struct Subtrees {
  Buffer<std::int32_t> labels, parents;
  Buffer<std::int64_t> offsets;
};

class Xbw {
 public:
  using Range = std::pair<std::size_t, std::size_t>;  // places, the end excluded

  // No tree is empty. See upward_order.hpp for the cost of the order.
  explicit Xbw(const Forest& forest);
  // Builds the index from the parts in a file; throws std::invalid_argument if they are inconsistent.
  Xbw(BitVector last, std::span<const std::int32_t> symbols, WaveletTree sequence);

  std::size_t n_nodes() const { return last_.size(); }
  std::size_t size() const { return last_.size() == 0 ? 0 : last_.select1(0) + 1; }  // trees

  std::int32_t label(std::size_t place) const { return static_cast<std::int32_t>(meaning(sequence_[place]) >> 1); }
  bool is_leaf(std::size_t place) const { return meaning(sequence_[place]) & 1; }
  Range children(std::size_t place) const;
  std::optional<std::size_t> parent(std::size_t place) const;
  std::size_t root(std::size_t place) const;

  // The nodes that the path, read downwards, ends at, wherever it begins: how many, and their places, which rise.
  std::size_t count(std::span<const std::int32_t> path) const;
  std::vector<std::int64_t> find(std::span<const std::int32_t> path) const;

  // The subtree of each of these nodes, as a forest; the roots 0..size()-1 give the whole one. An access, a rank and a select a node.
  Subtrees subtrees(std::span<const std::int64_t> places, int threads) const;

  std::size_t n_bytes() const { return last_.n_bytes() + sequence_.n_bytes() + symbols_.n_bytes() + first_block_.n_bytes(); }
  const BitVector& last() const { return last_; }
  std::vector<std::int32_t> symbols() const;  // 2 label + leaf, of each symbol of the sequence
  const WaveletTree& sequence() const { return sequence_; }

 private:
  std::size_t meaning(std::int32_t symbol) const { return symbols_.select1(static_cast<std::size_t>(symbol)); }
  std::size_t count_blocks(std::span<const std::int64_t> counts);    // how many there are
  std::int32_t symbol(std::int32_t label, bool leaf) const;          // or -1
  Range children_of(std::int32_t symbol, std::size_t before) const;  // of the node of that symbol with this many before it
  std::size_t block_begin(std::size_t block) const { return last_.select1(block - 1) + 1; }  // block 0 holds the roots
  void append_subtree(std::size_t place, Array<std::int32_t>& labels, Array<std::int32_t>& parents) const;
  std::optional<Range> below(std::span<const std::int32_t> path) const;  // children of where it ends

  BitVector last_;
  BitVector symbols_;   // symbol s of the sequence is the position of the s-th one, which is 2 label + leaf
  Packed first_block_;  // by symbol: the first block of children of its nodes
  WaveletTree sequence_;
};

}  // namespace treille
