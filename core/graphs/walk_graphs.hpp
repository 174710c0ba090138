#pragma once
// Graphs prepared for products of graphs. Nodes that no sequence of labels can distinguish (equal colours when colour refinement is stable)
// begin equally many walks of every kind, so they are one class: the matrix of arcs between classes replaces the adjacency matrix.
//
//   With m_c nodes in class c and B_cd the weight of the arcs from a node of c to the nodes of d,
//   1' A^n 1 = s' C^n s,   s_c = sqrt(m_c),   C_cd = B_cd sqrt(m_c / m_d),   which is symmetric where A is.
//
// Classes stand in blocks of equal labels, kLanes of them in a group; arcs by type: label of the source, of the edge, of the target.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "graphs/graphs.hpp"
#include "interner.hpp"

namespace treille {

using ArcTypes = Interner<std::int32_t>;

class WalkGraphs {
 public:
  static constexpr std::size_t kLanes = 4;

  // Nodes of one label.
  struct Block {
    std::int32_t label;
    std::uint32_t first, size;  // classes, counted in the graph
    double nodes;

    std::size_t groups() const { return (size + kLanes - 1) / kLanes; }
  };
  // C in a group of rows and one column: as many numbers as lanes.
  struct Entry {
    std::uint32_t group, lane;  // of the column in its block
    double coefficients[kLanes];
  };
  struct Group {
    std::uint32_t number;  // in its block
    std::int64_t entries, end;
  };
  // A source and how many arcs it has; the arcs of the rows of a type follow one another.
  struct Row {
    std::uint32_t source, arcs;  // the source counted in its block
  };
  struct Arc {
    std::size_t column;  // in the list of columns of its type
    double weight;
  };
  // Arcs of one type; rows with few arcs come first; the columns are the targets of its arcs, in their block, filled up to a multiple of
  // kLanes.
  struct Type {
    std::uint32_t id, source, target;  // source and target are blocks, counted in the graph
    std::int64_t groups, groups_end, columns, columns_end, rows, rows_end, arcs, arcs_end;
  };

  // Types are numbered by `types`: new ones are added to it or, if it is constant, their arcs are left out.
  WalkGraphs(const Graphs& graphs, ArcTypes& types) : WalkGraphs(graphs, [&](TypeKey key) { return types.add(key); }) {}
  WalkGraphs(const Graphs& graphs, const ArcTypes& types) : WalkGraphs(graphs, [&](TypeKey key) { return types.find(key); }) {}

  std::size_t size() const { return blocks_of_.size() - 1; }
  std::span<const Block> blocks(std::size_t g) const { return part(blocks_, blocks_of_, g); }
  std::span<const Type> types(std::size_t g) const { return part(types_, types_of_, g); }
  std::span<const double> roots(std::size_t g) const { return part(roots_, roots_of_, g); }  // s
  const Group* groups() const { return groups_.data(); }
  const Entry* entries() const { return entries_.data(); }
  const std::uint32_t* columns() const { return columns_.data(); }
  const Row* rows() const { return rows_.data(); }
  const Arc* arcs() const { return arcs_.data(); }
  double nodes(std::size_t g) const { return nodes_[g]; }
  double degree(std::size_t g) const { return degrees_[g]; }  // the largest sum of |weight| of the arcs of a node
  bool is_signed() const { return signed_; }

 private:
  template <class T>
  static std::span<const T> part(const std::vector<T>& all, const std::vector<std::size_t>& of, std::size_t g) {
    return std::span(all).subspan(of[g], of[g + 1] - of[g]);
  }
  using TypeKey = std::span<const std::int32_t>;
  using TypeOf = std::function<std::uint32_t(TypeKey)>;
  WalkGraphs(const Graphs& graphs, const TypeOf& type_of);
  void add_graph(const Graphs& graphs, std::size_t g, const TypeOf& type_of);
  struct TypedArc {
    std::uint32_t type, source, target;  // classes in their blocks
    std::uint32_t source_block, target_block;
    double weight;
  };
  void add_type(std::span<const TypedArc> arcs);

  std::vector<std::size_t> blocks_of_{0}, types_of_{0}, roots_of_{0};
  std::vector<Block> blocks_;
  std::vector<Type> types_;
  std::vector<double> roots_, nodes_, degrees_;
  std::vector<Group> groups_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> columns_;
  std::vector<Row> rows_;
  std::vector<Arc> arcs_;
  bool signed_ = false;
};

// The stable colour of every node of a graph: nodes of one colour have equal labels and, for each label of edges, weight and colour,
// equally many arcs. All different if that takes more than some rounds, as in long chains. Colours are numbered by their first node.
std::vector<std::uint32_t> stable_colours(const Graphs& graphs, std::size_t g);

}  // namespace treille
