#include "text/substring_tree.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "parallel.hpp"
#include "text/lcp_intervals.hpp"
#include "text/suffix_array.hpp"

namespace treille {
namespace {

// Depths of no weight are 0, and those beyond the last weight are cut to it: fewer nodes, the same sums.
class Lengths {
 public:
  explicit Lengths(const SubstringWeights& weights)
      : cumulative_(weights.cumulative), min_(weights.min_length), max_(static_cast<std::int64_t>(weights.cumulative.size()) - 1) {}
  template <class Index>
  Index depth(Index shared) const {
    const auto l = std::min<std::int64_t>(shared, max_);
    return l < min_ ? Index{0} : static_cast<Index>(l);
  }
  double up_to(std::int64_t length) const { return cumulative_[static_cast<std::size_t>(std::min(length, max_))]; }

 private:
  std::span<const double> cumulative_;
  std::int64_t min_, max_;
};

// Both passes over the tree for B columns. `b` and `o` hold B values for each sequence, `s` for each node and the root, all of them 0.
template <int B, class Node>
void multiply(const Array<Node>& nodes, const Array<std::int32_t>& entries, const double* b, double* o, double* s) {
  const auto at = [](auto* values, std::int64_t i) { return values + i * B; };
  const std::size_t n_nodes = nodes.size();
  std::size_t e = 0;
  for (std::size_t u = 0; u < n_nodes; ++u) {
    poll();
    double sum[B];
    double* const own = at(s, static_cast<std::int64_t>(u));
    for (int k = 0; k < B; ++k) sum[k] = own[k];
    for (const auto end = static_cast<std::size_t>(nodes[u].entries_end); e < end; ++e) {
      const double* const x = at(b, entries[e]);
      for (int k = 0; k < B; ++k) sum[k] += x[k];
    }
    double* const parent = at(s, nodes[u].parent);
    for (int k = 0; k < B; ++k) {
      own[k] = sum[k];
      parent[k] += sum[k];
    }
  }
  std::fill_n(at(s, static_cast<std::int64_t>(n_nodes)), B, 0.0);  // nothing is above the root
  for (std::size_t u = n_nodes; u-- > 0;) {
    poll();
    double v[B];
    double* const own = at(s, static_cast<std::int64_t>(u));
    const double* const parent = at(s, nodes[u].parent);
    for (int k = 0; k < B; ++k) own[k] = v[k] = parent[k] + own[k] * nodes[u].weight;
    for (const auto begin = static_cast<std::size_t>(u > 0 ? nodes[u - 1].entries_end : 0); e > begin;) {
      double* const x = at(o, entries[--e]);
      for (int k = 0; k < B; ++k) x[k] += v[k];
    }
  }
}

constexpr std::size_t kColumns = 8;  // taken together

// Calls `use` with the number of columns as a constant: 1, 2, 4 or 8.
template <class Use>
void with_width(std::size_t width, Use&& use) {
  switch (width) {
    case 1:
      return use(std::integral_constant<int, 1>{});
    case 2:
      return use(std::integral_constant<int, 2>{});
    case 4:
      return use(std::integral_constant<int, 4>{});
    default:
      return use(std::integral_constant<int, kColumns>{});
  }
}

}  // namespace

SubstringTree SubstringTree::build(const Sequences& data, std::int32_t alphabet_size, const SubstringWeights& weights, std::size_t n_left,
                                   int threads) {
  SubstringTree tree(data.size(), n_left);
  const auto fill = [&]<class Index>(Index) {
    const SuffixArray<Index> sorted = suffix_array<Index>(data, alphabet_size, threads);
    tree.fill(
        sorted.sequence, sorted.lcp,
        [&](std::int32_t i, std::size_t r) {
          return data.offsets[static_cast<std::size_t>(i) + 1] - data.offsets.front() - sorted.suffix[r];
        },
        weights);
  };
  if (needs_wide_index(data))
    fill(std::int64_t{});
  else
    fill(std::int32_t{});
  return tree;
}

template <class Index>
SubstringTree SubstringTree::of_sorted(const SortedStrings<Index>& strings, std::size_t n_owners, const SubstringWeights& weights,
                                       std::size_t n_left) {
  SubstringTree tree(n_owners, n_left);
  tree.fill(strings.owner, strings.lcp, [&](std::int32_t, std::size_t r) { return std::int64_t{strings.length[r]}; }, weights);
  return tree;
}

template SubstringTree SubstringTree::of_sorted(const SortedStrings<std::int32_t>&, std::size_t, const SubstringWeights&, std::size_t);
template SubstringTree SubstringTree::of_sorted(const SortedStrings<std::int64_t>&, std::size_t, const SubstringWeights&, std::size_t);

template <class Index, class Length>
void SubstringTree::fill(const Buffer<std::int32_t>& owner, const Buffer<Index>& lcp, Length&& length, const SubstringWeights& weights) {
  const Lengths lengths(weights);
  auto& nodes = nodes_.template emplace<Array<Node<Index>>>();
  const std::int32_t* const sequence = owner.data();
  nodes.reserve(lcp.size());  // more than needed: pages are only taken when they are written
  entries_.reserve(lcp.size());
  const auto kind = [&](std::int32_t i) { return two_sided() ? static_cast<std::int32_t>(static_cast<std::size_t>(i) >= n_left_) : i; };

  // Intervals whose parent is still to come. An interval with one kind of sequence below is no node.
  struct Done {
    Index first, last;
    Index node;         // or -1
    std::int32_t kind;  // where there is no node
  };
  std::vector<Done> done;
  lcp_intervals(
      static_cast<Index>(lcp.size()), [&](Index r) { return lengths.depth(lcp[static_cast<std::size_t>(r)]); },
      [&](const LcpInterval<Index>& u) {
        poll();
        std::size_t children = done.size();
        while (children > 0 && done[children - 1].first >= u.first) --children;
        const double above = lengths.up_to(u.depth);

        std::int32_t one = -1;
        bool several = false;
        const auto meet = [&](std::int32_t kind) {
          several |= one >= 0 && one != kind;
          one = kind;
        };
        const auto leaves = [&](Index first, Index last) {
          for (Index r = first; r <= last; ++r) {
            const std::int32_t i = sequence[r];
            meet(kind(i));
            if (own_.empty()) continue;
            own_[static_cast<std::size_t>(i)] += lengths.up_to(length(i, static_cast<std::size_t>(r))) - above;
          }
        };
        Index next = u.first;
        for (std::size_t c = children; c < done.size(); ++c) {
          leaves(next, done[c].first - 1);
          next = done[c].last + 1;
          if (done[c].node < 0)
            meet(done[c].kind);
          else
            several = true;
        }
        leaves(next, u.last);

        const double weight = above - lengths.up_to(u.parent_depth);
        Index node = -1;
        if (!several) {
          const double count = static_cast<double>(u.last - u.first + 1);
          if (!own_.empty()) own_[static_cast<std::size_t>(one)] += count * count * weight;
        } else {
          node = static_cast<Index>(nodes.size());
          const bool root = u.depth == 0;
          next = u.first;
          for (std::size_t c = children; c < done.size(); ++c) {
            if (done[c].node < 0) continue;
            if (!root) entries_.insert(entries_.end(), sequence + next, sequence + done[c].first);
            next = done[c].last + 1;
            nodes[static_cast<std::size_t>(done[c].node)].parent = node;
          }
          if (!root) {
            entries_.insert(entries_.end(), sequence + next, sequence + u.last + 1);
            nodes.push_back({weight, 0, static_cast<Index>(entries_.size())});
          }
        }
        done.resize(children);
        done.push_back({u.first, u.last, node, one});
      });
}

// Calls load(first, width, b) and store(first, width, o) around the passes for columns first..first+width-1; b and o hold `stride` values
// a sequence. The division into columns does not depend on the number of threads.
template <class Load, class Store>
void SubstringTree::by_columns(std::size_t n_functions, int threads, Load&& load, Store&& store) const {
  const std::size_t n_blocks = (n_functions + kColumns - 1) / kColumns;
  const int n_shares = static_cast<int>(std::clamp<std::size_t>(n_blocks, 1, static_cast<std::size_t>(threads)));
  expect(n_blocks);
  run_shares(n_shares, [&](int p) {
    const std::size_t stride = std::bit_ceil(std::min(n_functions, kColumns));
    Buffer<double> b(n_sequences_ * stride), o(n_sequences_ * stride), s((n_nodes() + 1) * stride);
    for (std::size_t block = static_cast<std::size_t>(p); block < n_blocks; block += static_cast<std::size_t>(n_shares)) {
      tick();
      const std::size_t first = block * kColumns, width = std::min(kColumns, n_functions - first);
      for (Buffer<double>* values : {&b, &o, &s}) std::fill_n(values->data(), values->size(), 0.0);
      load(first, width, stride, b.data());
      with_width(stride, [&]<int B>(std::integral_constant<int, B>) {
        std::visit([&](const auto& nodes) { multiply<B>(nodes, entries_, b.data(), o.data(), s.data()); }, nodes_);
      });
      if (!own_.empty())
        for (std::size_t i = 0; i < b.size(); ++i) o[i] += own_[i / stride] * b[i];
      store(first, width, stride, o.data());
    }
  });
}

void SubstringTree::product(std::span<const double> beta, std::size_t n_functions, int threads, double* out) const {
  const std::size_t first_column = n_sequences_ - n_columns();
  by_columns(
      n_functions, threads,
      [&](std::size_t first, std::size_t width, std::size_t stride, double* b) {
        for (std::size_t j = 0; j < n_columns(); ++j)
          std::copy_n(beta.data() + j * n_functions + first, width, b + (first_column + j) * stride);
      },
      [&](std::size_t first, std::size_t width, std::size_t stride, const double* o) {
        for (std::size_t i = 0; i < n_rows(); ++i) std::copy_n(o + i * stride, width, out + i * n_functions + first);
      });
}

void SubstringTree::gram(int threads, double* out) const {
  const std::size_t first_column = n_sequences_ - n_columns();
  by_columns(
      n_columns(), threads,
      [&](std::size_t first, std::size_t width, std::size_t stride, double* b) {
        for (std::size_t k = 0; k < width; ++k) b[(first_column + first + k) * stride + k] = 1.0;
      },
      [&](std::size_t first, std::size_t width, std::size_t stride, const double* o) {
        if (two_sided()) {
          for (std::size_t i = 0; i < n_rows(); ++i) std::copy_n(o + i * stride, width, out + i * n_columns() + first);
          return;
        }
        for (std::size_t k = 0; k < width; ++k)  // exactly symmetric: sums taken in another order may differ in the last bit
          for (std::size_t i = first + k; i < n_rows(); ++i) {
            poll();  // the first block takes all pages of the matrix
            out[i * n_rows() + first + k] = out[(first + k) * n_rows() + i] = o[i * stride + k];
          }
      });
}

std::size_t SubstringTree::n_nodes() const {
  return std::visit([](const auto& nodes) { return nodes.size(); }, nodes_);
}

std::size_t SubstringTree::n_bytes() const {
  return std::visit(
      [&](const auto& nodes) {
        return nodes.size() * sizeof(nodes[0]) + entries_.size() * sizeof(entries_[0]) + own_.size() * sizeof(own_[0]);
      },
      nodes_);
}

std::vector<double> substring_self(const Sequences& data, std::int32_t alphabet_size, const SubstringWeights& weights, int threads) {
  std::vector<double> out(data.size(), 0.0);
  const std::int64_t useful = 1 + (data.offsets.back() - data.offsets.front()) / 20000;
  const auto cuts = balanced_cuts(data.offsets, static_cast<int>(std::min<std::int64_t>(threads, useful)));
  run_shares(static_cast<int>(cuts.size()) - 1, [&](int p) {
    // Symbols are numbered by first occurrence in each sequence: an alphabet larger than the sequence costs nothing.
    std::vector<std::int32_t> number(static_cast<std::size_t>(alphabet_size)), symbols;
    std::vector<std::size_t> known_in(static_cast<std::size_t>(alphabet_size), data.size());
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) {
      symbols.clear();
      std::int32_t n_distinct = 0;
      for (const std::int32_t symbol : data[i]) {
        const auto s = static_cast<std::size_t>(symbol);
        if (known_in[s] != i) number[s] = n_distinct++;
        known_in[s] = i;
        symbols.push_back(number[s]);
      }
      const std::vector<std::int64_t> offsets{0, static_cast<std::int64_t>(symbols.size())};
      const Sequences alone{symbols, offsets};
      out[i] = SubstringTree::build(alone, n_distinct, weights, 1, 1).own(0);
    }
  });
  return out;
}

}  // namespace treille
