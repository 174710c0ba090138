// The XBW index of core/trees for Python.

#include "trees/xbw.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "forest.hpp"
#include "native.hpp"

using namespace nb::literals;

namespace treille {
namespace {

using Ints = In<std::int32_t>;

BitVector bits(const std::uint64_t* words, std::size_t n_bits) {
  return BitVector(Array<std::uint64_t>(words, words + (n_bits + 63) / 64), n_bits);
}

}  // namespace

void bind_xbw(nb::module_& m) {
  nb::class_<Xbw>(m, "Xbw", "The XBW index of a forest.")
      .def_static(
          "of", [](const ForestIn& forest) { return unlocked([&] { return Xbw(read(forest)); }); }, "forest"_a)
      .def_static(
          "from_parts",
          [](In<std::uint64_t> last, std::size_t n_nodes, Ints symbols, In<std::uint8_t> lengths, In<std::uint64_t> words,
             In<std::int64_t> sizes) {
            std::vector<BitVector> levels;
            std::size_t at = 0;
            for (const std::int64_t size : view(sizes)) {
              const auto n_bits = static_cast<std::size_t>(size);
              levels.push_back(bits(words.data() + at, n_bits));
              at += (n_bits + 63) / 64;
            }
            WaveletTree sequence(std::vector<std::uint8_t>(lengths.data(), lengths.data() + lengths.size()), std::move(levels));
            return Xbw(bits(last.data(), n_nodes), view(symbols), std::move(sequence));
          },
          "last"_a, "n_nodes"_a, "symbols"_a, "lengths"_a, "words"_a, "sizes"_a,
          "From arrays as `parts` gives them; they hold as many words as the sizes ask for.")
      .def("parts",
           [](const Xbw& self) {
             std::vector<std::uint64_t> words;
             std::vector<std::int64_t> sizes;
             for (const BitVector& level : self.sequence().levels()) {
               words.insert(words.end(), level.words().begin(), level.words().end());
               sizes.push_back(static_cast<std::int64_t>(level.size()));
             }
             return std::tuple(copied(self.last().words()), self.n_nodes(), give(self.symbols()), copied(self.sequence().lengths()),
                               give(words), give(sizes));
           })
      .def("label", &Xbw::label, "place"_a)
      .def("is_leaf", &Xbw::is_leaf, "place"_a)
      .def("children", &Xbw::children, "place"_a)
      .def("parent", &Xbw::parent, "place"_a)
      .def("root", &Xbw::root, "place"_a)
      .def("count", native(&Xbw::count), "path"_a)
      .def("find", native(&Xbw::find), "path"_a)
      .def(
          "subtrees",
          [](const Xbw& self, In<std::int64_t> places, int threads) {
            auto found = unlocked([&] { return self.subtrees(view(places), threads); });
            return std::tuple(give(std::move(found.labels)), give(std::move(found.parents)), give(std::move(found.offsets)));
          },
          "places"_a, "threads"_a, "The subtrees of these nodes, as a forest.")
      .def_prop_ro("n_nodes", &Xbw::n_nodes)
      .def_prop_ro("nbytes", &Xbw::n_bytes)
      .def("__len__", &Xbw::size);
}

}  // namespace treille
