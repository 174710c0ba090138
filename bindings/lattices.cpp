// core/automata for Python: lattices, and kernels of them.

#include "automata/lattices.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "automata/rational.hpp"
#include "lattices.hpp"
#include "native.hpp"
#include "rows.hpp"

using namespace nb::literals;

namespace treille {

// states, arcs, sources, symbols, targets, weights, finals
using ArraysOut =
    std::tuple<Out<std::int64_t>, Out<std::int64_t>, Out<std::int32_t>, Out<std::int32_t>, Out<std::int32_t>, Out<double>, Out<double>>;

static ArraysOut give(const LatticeArrays& x) {
  return {give(x.states), give(x.arcs), give(x.sources), give(x.symbols), give(x.targets), give(x.weights), give(x.finals)};
}

void bind_lattices(nb::module_& m) {
  nb::class_<LatticesIn>(m, "Lattices", "Lattices as the core takes them.")
      .def(nb::init<In<std::int64_t>, In<std::int64_t>, In<std::int32_t>, In<std::int32_t>, In<std::int32_t>, In<double>, In<double>>(),
           "states"_a, "arcs"_a, "sources"_a, "symbols"_a, "targets"_a, "weights"_a, "finals"_a);

  m.def(
      "build_lattices",
      [](const LatticesIn& raw, In<std::int32_t> starts, In<std::uint8_t> costs, bool normalize, int threads) {
        auto built = unlocked([&] { return build_lattices({raw.view(), view(starts), view(costs)}, normalize, threads); });
        return std::tuple(give(built.lattices), give(built.log_totals), built.cyclic, built.cycle);
      },
      "raw"_a, "starts"_a, "costs"_a, "normalize"_a, "threads"_a,
      "Arrays, logs of totals, the first machine with a cycle or -1, and the arcs of one cycle.");
  m.def("best_paths", native(&best_paths), "data"_a, "threads"_a);
  m.def(
      "n_best_paths",
      [](const LatticesIn& data, std::size_t i, std::size_t n) {
        auto list = unlocked([&] { return n_best_paths(data.view()[i], n); });
        return std::tuple(give(list.arcs), give(list.offsets), give(list.weights));
      },
      "data"_a, "i"_a, "n"_a);
  m.def("pruned_weights", native(&pruned_weights), "data"_a, "least"_a, "threads"_a);
  m.def("without_epsilon", native(&without_epsilon), "data"_a, "threads"_a);

  m.def(
      "epsilon_cycle",
      [](const Machine& machine, bool writing) {
        std::vector<std::tuple<State, Label, Label, State>> arcs;
        for (const auto& [source, arc] : epsilon_cycle(machine, writing)) arcs.emplace_back(source, arc.input, arc.output, arc.target);
        return arcs;
      },
      "machine"_a, "writing"_a,
      "Source, input, output and target of the arcs of a cycle that reads nothing and, without `writing`, writes nothing.");

  nb::class_<RationalFeatures>(m, "RationalFeatures", "Output strings with their ids: fitted, then frozen.")
      .def_static(
          "fit",
          [](const Machine& machine, const LatticesIn& data, In<std::int32_t> recode, int threads) {
            return give_fit([&](RowsWithNorms& rows) { return RationalFeatures::fit(machine, data.view(), view(recode), threads, rows); });
          },
          "machine"_a, "data"_a, "recode"_a, "threads"_a)
      .def_static("from_strings", native(&RationalFeatures::from_strings), "labels"_a, "offsets"_a)
      .def("transform", native(&RationalFeatures::transform), "machine"_a, "data"_a, "recode"_a, "threads"_a)
      .def(
          "contributions",
          [](const RationalFeatures& self, const Machine& machine, const LatticesIn& data, In<std::int32_t> recode, Matrix weights,
             int threads) {
            const Lattices lattices = data.view();
            const std::size_t n = lattices.symbols.size(), n_functions = weights.shape(1);
            Buffer<double> out(n * n_functions), base(lattices.size() * n_functions);
            unlocked([&] {
              self.contributions(machine, lattices, view(recode), {weights.data(), weights.size()}, n_functions, threads, out.data(),
                                 base.data());
            });
            return std::tuple(give_matrix(std::move(out), n, n_functions), give_matrix(std::move(base), lattices.size(), n_functions));
          },
          "machine"_a, "data"_a, "recode"_a, "weights"_a, "threads"_a,
          "The contribution of each arc to functions of the rows, and the part of no arc, by lattice.")
      .def("__len__", &RationalFeatures::size)
      .def("string", &RationalFeatures::string, "id"_a)
      .def("strings", native(&RationalFeatures::strings));

  const auto bind_values = [&m](const char* name, auto* values) {
    m.def(
        name,
        [values](const Machine& machine, const LatticesIn& left, In<std::int32_t> recode_left, const LatticesIn& right,
                 In<std::int32_t> recode_right, int threads) {
          return give(
              unlocked([&] { return values(machine, {left.view(), view(recode_left)}, {right.view(), view(recode_right)}, threads); }));
        },
        "machine"_a, "left"_a, "recode_left"_a, "right"_a, "recode_right"_a, "threads"_a);
  };
  bind_values("rational_gram", &rational_gram);
  bind_values("rational_diagonal", &rational_diagonal);
}

}  // namespace treille
