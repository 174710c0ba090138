// core/representations, and the automata of weights, for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include "automata/packed_weights.hpp"
#include "features/column_classes.hpp"
#include "representations/automaton_rows.hpp"
#include "representations/naive_rows.hpp"
#include "representations/trie_rows.hpp"
#include "rows.hpp"

using namespace nb::literals;

namespace treille {
namespace {

using Bytes = In<std::uint8_t>;

Sequences strings(const In<std::int32_t>& symbols, const In<std::int64_t>& offsets) { return {view(symbols), view(offsets)}; }

using ArcsOut = std::tuple<std::uint32_t, Out<std::int32_t>, Out<std::int32_t>, Out<double>, Out<std::int32_t>, Out<double>>;

// The arcs of the automaton of one class, as arrays of numbers.
ArcsOut arcs(const WeightAutomaton& automaton) {
  const std::size_t n = automaton.n_arcs();
  Buffer<std::int32_t> sources(n), labels(n), targets(n);
  Buffer<double> weights(n), finals(automaton.size());
  std::size_t at = 0;
  for (std::uint32_t s = 0; s < automaton.size(); ++s) {
    const double before = s == automaton.start() ? automaton.entry().weight : 1.0;  // no arc leads to the start
    for (const WeightArc& arc : automaton.arcs(s)) {
      sources[at] = static_cast<std::int32_t>(s);
      labels[at] = arc.label;
      targets[at] = static_cast<std::int32_t>(arc.target);
      weights[at++] = before * arc.weight;
    }
    finals[s] = before * automaton.final(s).weight;
  }
  return {automaton.start(),        give(std::move(sources)), give(std::move(labels)),
          give(std::move(weights)), give(std::move(targets)), give(std::move(finals))};
}

using PackedOut = std::tuple<Out<std::uint8_t>, Out<std::uint8_t>, Out<std::uint8_t>, Out<std::int32_t>, Out<double>>;

}  // namespace

void bind_representations(nb::module_& m) {
  nb::class_<NaiveRows>(m, "NaiveRows", "Rows with W' as the alphas alone.")
      .def_static(
          "of", [](const CodedIn& rows) { return unlocked_rows(rows, [](const auto& data) { return NaiveRows(data); }); }, "rows"_a)
      .def_prop_ro("nbytes", &NaiveRows::nbytes, "Bytes of W'.");

  nb::class_<TrieRows>(m, "TrieRows", "Rows with W' as a weighted trie.")
      .def_static(
          "of",
          [](const CodedIn& rows, In<std::int32_t> symbols, In<std::int64_t> offsets) {
            return unlocked_rows(rows, [&](const auto& data) { return TrieRows(data, strings(symbols, offsets)); });
          },
          "rows"_a, "symbols"_a, "offsets"_a)
      .def_prop_ro("n_arcs", &TrieRows::n_arcs)
      .def_prop_ro("nbytes", &TrieRows::nbytes, "Bytes of W'.");

  nb::class_<AutomatonRows>(m, "AutomatonRows", "Rows with W' as an automaton minimal for every alpha.")
      .def_static(
          "of",
          [](const CodedIn& rows, In<std::int32_t> symbols, In<std::int64_t> offsets, int threads) {
            return unlocked_rows(rows, [&](const auto& data) { return AutomatonRows(data, strings(symbols, offsets), threads); });
          },
          "rows"_a, "symbols"_a, "offsets"_a, "threads"_a)
      .def_prop_ro("n_states", &AutomatonRows::n_states)
      .def_prop_ro("n_arcs", &AutomatonRows::n_arcs)
      .def_prop_ro("n_cells", &AutomatonRows::n_cells)
      .def_prop_ro("nbytes", &AutomatonRows::nbytes, "Bytes of W'.");

  nb::class_<WeightAutomaton>(m, "WeightAutomaton", "The minimal automaton of strings with weights, known up to a factor a class.")
      .def_static(
          "minimal",
          [](In<std::int32_t> symbols, In<std::int64_t> offsets, In<std::int32_t> classes, In<double> weights) {
            return unlocked([&] {
              const Sequences all = strings(symbols, offsets);
              return WeightMinimizer::minimize(StringTrie(all, sorted_strings(all)), view(classes), view(weights));
            });
          },
          "symbols"_a, "offsets"_a, "classes"_a, "weights"_a)
      .def_prop_ro("n_states", &WeightAutomaton::size)
      .def_prop_ro("n_arcs", &WeightAutomaton::n_arcs)
      .def("arcs", &arcs, "Start, sources, labels, weights and targets of the arcs, and finals, of an automaton of one class.")
      .def(
          "pack",
          [](const WeightAutomaton& self) {
            const PackedWeights p = unlocked([&] { return pack(self); });
            return PackedOut{give(p.states), give(p.targets), give(p.classes), give(p.labels), give(p.weights)};
          },
          "States, targets, classes, labels and weights.");

  m.def(
      "unpack_weights",
      [](Bytes states, Bytes targets, Bytes classes, In<std::int32_t> labels, In<double> weights, std::int32_t n_labels,
         std::int32_t n_classes, std::int64_t n_strings) {
        const WeightedStrings out = unlocked([&] {
          return Unpacker(view(states), view(targets), view(classes), view(labels), view(weights), n_labels, n_classes).strings(n_strings);
        });
        return std::tuple(give(out.symbols), give(out.offsets), give(out.cls), give(out.weight));
      },
      "states"_a, "targets"_a, "classes"_a, "labels"_a, "weights"_a, "n_labels"_a, "n_classes"_a, "n_strings"_a,
      "The strings of a packed automaton in order: symbols, offsets, and each one's class and weight.");
}

}  // namespace treille
