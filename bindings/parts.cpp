// core/solve/part_cd.hpp for Python: problems whose examples are in several parts.

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "features/renumbering.hpp"
#include "parallel.hpp"
#include "solve/part_cd.hpp"
#include "solver_rows.hpp"
#include "targets.hpp"

using namespace nb::literals;

namespace treille {
namespace {

// work(k, loss) for every problem, with the GIL released and problems shared out among threads.
template <class Work>
void each_problem(const TargetsIn& targets, int threads, Work&& work) {
  targets.with_own_losses([&](auto&& loss_of) {
    unlocked([&] {
      const std::size_t K = targets.n_problems();
      const int shares = static_cast<int>(std::min<std::size_t>(K, static_cast<std::size_t>(threads)));
      run_shares(std::max(shares, 1), [&](int p) {
        for (std::size_t k = static_cast<std::size_t>(p); k < K; k += static_cast<std::size_t>(shares)) work(k, loss_of(k));
      });
    });
  });
}

void check(const PartRowsIn& rows, std::size_t K, std::size_t w, std::size_t b, std::size_t alpha) {
  if (w != K * rows.n_features || b != K || alpha != K * rows.size()) throw std::length_error("the weights do not fit the rows");
}

}  // namespace

void bind_parts(nb::module_& m) {
  nb::class_<PartRowsIn>(m, "PartRows", "Rows of one part of a data set: segments of coded rows, each of one or more terms.")
      .def(nb::init<std::vector<std::vector<CodedIn>>>(), "segments"_a);

  m.def(
      "improve_part",
      [](const PartRowsIn& in, const TargetsIn& targets, double bias, int sweeps, double enough, std::uint64_t seed, InOut<double> w,
         InOut<double> b, InOut<double> alpha, std::size_t n_counted, InOut<std::uint8_t> free, int threads) {
        const std::size_t K = targets.n_problems(), F = in.n_features, n = in.size();
        check(in, K, w.size(), b.size(), alpha.size());
        if (free.size() != K * n) throw std::length_error("the flags do not fit the rows");
        const PartRows rows = in.rows();
        auto gaps = Buffer<double>::zeros(K);
        each_problem(targets, threads, [&](std::size_t k, const auto& loss) {
          const PartOptions options{bias, sweeps, enough, seed + k};
          gaps[k] = improve_part(rows, loss, options, {w.data() + k * F, b.data() + k}, {alpha.data() + k * n, n}, n_counted,
                                 {free.data() + k * n, n});
        });
        return give(std::move(gaps));
      },
      "rows"_a, "targets"_a, "bias"_a, "sweeps"_a, "enough"_a, "seed"_a, "w"_a, "b"_a, "alpha"_a, "n_counted"_a, "free"_a, "threads"_a,
      "Dual coordinate descent on the free examples of one part; changes w, b and alpha, and leaves those free that are not held at a "
      "bound. Returns the terms of the gap that the first sweep met of the first n_counted examples, for each problem.");
  m.def(
      "measure_part",
      [](const PartRowsIn& in, const TargetsIn& targets, double bias, In<double> w, In<double> b, In<double> alpha, InOut<double> sum_w,
         InOut<double> sum_b, int threads) {
        const std::size_t K = targets.n_problems(), F = in.n_features, n = in.size();
        check(in, K, w.size(), b.size(), alpha.size());
        check(in, K, sum_w.size(), sum_b.size(), alpha.size());
        const PartRows rows = in.rows();
        auto losses = Buffer<double>::zeros(K), dual = Buffer<double>::zeros(K);
        each_problem(targets, threads, [&](std::size_t k, const auto& loss) {
          double* const from = const_cast<double*>(w.data()) + k * F;  // only read
          const SharedWeights own{from, const_cast<double*>(b.data()) + k}, sum{sum_w.data() + k * F, sum_b.data() + k};
          const PartValues values = measure_part(rows, loss, bias, own, view(alpha).subspan(k * n, n), sum);
          losses[k] = values.losses;
          dual[k] = values.dual;
        });
        return std::tuple(give(std::move(losses)), give(std::move(dual)));
      },
      "rows"_a, "targets"_a, "bias"_a, "w"_a, "b"_a, "alpha"_a, "sum_w"_a, "sum_b"_a, "threads"_a,
      "The losses of a part at w and b, and its alpha's term of the dual value besides |w|^2; adds its share of w(alpha) to the sums.");

  m.def(
      "take_rows",
      [](const CodedIn& rows, In<std::int64_t> which) {
        return with_words(rows, [&]<class Word>(const CodedRowsView<Word>& data) -> Words {
          std::size_t total = 0;
          for (const std::int64_t i : view(which)) total += data.row(static_cast<std::size_t>(i)).size();
          Buffer<Word> entries(total);
          Word* to = entries.data();
          for (const std::int64_t i : view(which)) to = std::copy(data.begin(i), data.end(i), to);
          return give(std::move(entries));
        });
      },
      "rows"_a, "which"_a, "The entries of some rows, one after another.");
  m.def(
      "renumber_rows",
      [](const CodedIn& rows, In<std::int64_t> ids, std::size_t n_features, int threads) {
        if (ids.size() != rows.n_features) throw std::length_error("expected an id for each feature");
        return give(unlocked_rows(rows, [&](const auto& data) { return renumbered(data, view(ids), n_features, threads); }));
      },
      "rows"_a, "ids"_a, "n_features"_a, "threads"_a,
      "indptr, entries, code_bits and codebook of the rows with column z as column ids[z] of n_features, left out where that is -1.");
}

}  // namespace treille
