#include <algorithm>
#include <cmath>
#include <vector>

#include "automata/components.hpp"
#include "automata/in_range.hpp"
#include "automata/rational.hpp"
#include "automata/rational_propagator.hpp"
#include "parallel.hpp"

namespace treille {

void RationalFeatures::contributions(const Machine& T, const Lattices& data, std::span<const std::int32_t> recode,
                                     std::span<const double> weights, std::size_t n_functions, int threads, double* out,
                                     double* base) const {
  const Components components(T, reads_nothing);
  const auto cuts = shares(data, threads);
  run_shares(static_cast<int>(cuts.size()) - 1, [&](int p) {
    Propagator<double> plain(T, components.order());
    Propagator<Scaled> exact(T, components.order());
    std::vector<double> shared, rest;
    std::vector<Scaled> exact_shared, exact_rest;
    for (std::size_t i = cuts[at(p)]; i < cuts[at(p) + 1]; ++i) {
      poll();
      const Lattice x = data[i];
      const auto run = [&]<class W>(Propagator<W>& propagator, std::vector<W>& to, std::vector<W>& rest_to) {
        propagator.propagate(x, recode, true);
        const InternedStrings& strings = propagator.strings();
        std::vector<std::uint32_t> known(strings.size(), 0);  // nodes of trie_; a string comes after its prefixes
        std::vector<W> prices(strings.size() * n_functions, W{});
        for (std::uint32_t node = 0; node < strings.size(); ++node) {
          const std::uint32_t prefix = known[strings.parent(node)];
          if (node > 0) known[node] = prefix == InternedStrings::kAbsent ? prefix : trie_.find_child(prefix, strings.symbol(node));
          if (known[node] == InternedStrings::kAbsent || ids_[known[node]] == InternedStrings::kAbsent) continue;
          for (std::size_t f = 0; f < n_functions; ++f)
            prices[node * n_functions + f] = weights[std::size_t{ids_[known[node]]} * n_functions + f];
        }
        to.assign(x.sources.size() * n_functions, W{});
        rest_to.assign(n_functions, W{});
        propagator.share(n_functions, prices, to, rest_to);
      };
      double* const own = out + at(data.arcs[i]) * n_functions;
      double* const own_base = base + i * n_functions;
      const auto finite = [](const std::vector<double>& values) {
        return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
      };
      const bool held = in_range([&] { run(plain, shared, rest); }) || plain.only_loses_the_lightest();
      if (held && finite(shared) && finite(rest)) {
        std::ranges::copy(shared, own);
        std::ranges::copy(rest, own_base);
        continue;
      }
      run(exact, exact_shared, exact_rest);
      const auto value = [](const Scaled& number) { return representable(number, "a contribution"); };
      std::ranges::transform(exact_shared, own, value);
      std::ranges::transform(exact_rest, own_base, value);
    }
  });
}

}  // namespace treille
