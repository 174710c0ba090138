#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "automata/algorithms.hpp"
#include "automata/components.hpp"
#include "automata/in_range.hpp"
#include "automata/operations.hpp"
#include "automata/rounding.hpp"
#include "automata/semiring.hpp"
#include "automata/subsets.hpp"

namespace treille {
namespace {

template <class S>
bool agree(const TermSum<S>& a, const TermSum<S>& b, double tolerance) {
  using std::abs;
  if constexpr (kIsReal<S>)
    return !(abs(a.value() - b.value()) > tolerance * (a.size() + b.size()));
  else
    return a.value() == b.value() ||
           std::abs(a.value() - b.value()) <= tolerance * std::max({1.0, std::abs(a.value()), std::abs(b.value())});
}

template <class S>
bool same_without_cycles(const MachineOf<S>& both, State first_of_b, std::span<const State> starts, double tolerance) {
  // Cells of a quarter of the tolerance: finer ones would separate weights that differ by noise, and follow them string by string.
  const int bits = tolerance > 0 ? static_cast<int>(std::clamp(2 - std::log2(tolerance), 8.0, double{kCellBits})) : kCellBits;
  Subsets<S> subsets(both, bits);
  subsets.enter(starts);
  for (State q = 0; q < subsets.size(); ++q) {
    TermSum<S> sums[2];
    for (const auto& item : subsets[q]) sums[item.state >= first_of_b].add(S::times(item.residual, both.final_weight(item.state)));
    if (!agree(sums[0], sums[1], tolerance)) return false;
    subsets.expand(q, [](Label, const auto&, State) {});
  }
  return true;
}

// Orthonormal vectors that span all vectors so far.
class Basis {
 public:
  // Returns whether v, of norm one, lies outside the span; if so, adds it to the span. Residuals below 1e-7 count as rounding.
  bool grows_with(std::span<const double> v) {
    std::vector<double> rest(v.begin(), v.end());
    for (int twice = 0; twice < 2; ++twice)  // one pass is inexact if it removes most of the vector
      for (const auto& q : vectors_) {
        double dot = 0;
        for (std::size_t i = 0; i < rest.size(); ++i) dot += q[i] * rest[i];
        for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= dot * q[i];
      }
    const double norm = normalize(rest);
    if (norm > 1e-7) vectors_.push_back(std::move(rest));
    return norm > 1e-7;
  }

  static double normalize(std::vector<double>& v) {
    double norm = 0;
    for (const double x : v) norm = std::hypot(norm, x);
    if (norm > 0)
      for (double& x : v) x /= norm;
    return norm;
  }

 private:
  std::vector<std::vector<double>> vectors_;
};

bool same_over_the_reals(const Machine& both, State first_of_b, std::span<const State> starts, double tolerance) {
  struct Move {
    Label code;
    State source, target;
    double weight;
  };
  const PairCodes codes(both);
  std::vector<Move> moves;
  for (State s = 0; s < both.size(); ++s)
    for (const Arc& arc : both.arcs(s)) moves.push_back({codes.code(arc), s, arc.target, arc.weight});
  std::stable_sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.code < b.code; });

  Basis basis;
  std::vector<std::vector<double>> strings;  // v(x), of norm one, for each x that is followed
  auto see = [&](std::vector<double> v) {
    TermSum<Real> sums[2];
    for (State s = 0; s < both.size(); ++s) sums[s >= first_of_b].add(v[s] * both.final_weight(s));
    if (!agree(sums[0], sums[1], tolerance)) return false;
    const double norm = Basis::normalize(v);
    if (!std::isfinite(norm))
      throw std::invalid_argument("equivalent: the weights of machines with cycles are too large to be compared: push() them first");
    if (norm > 0 && basis.grows_with(v)) strings.push_back(std::move(v));
    return true;
  };
  std::vector<double> v(both.size(), 0.0);
  for (const State s : starts) v[s] = 1;
  if (!see(v)) return false;
  for (std::size_t x = 0; x < strings.size(); ++x)
    for (std::size_t k = 0; k < moves.size();) {
      std::fill(v.begin(), v.end(), 0.0);
      for (const Label code = moves[k].code; k < moves.size() && moves[k].code == code; ++k)
        v[moves[k].target] += strings[x][moves[k].source] * moves[k].weight;
      if (!see(v)) return false;
    }
  return true;
}

}  // namespace

template <class S>
bool equivalent(const Machine& given_a, const Machine& given_b, double tolerance) {
  const Machine a = remove_epsilon<S>(given_a), b = remove_epsilon<S>(given_b);  // trimmed, too
  std::vector<State> starts;
  if (a.start() != kNoState) starts.push_back(a.start());
  if (b.start() != kNoState) starts.push_back(a.size() + b.start());
  if (starts.empty()) return true;
  Assembly out(std::int64_t{a.size()} + b.size(), a.n_arcs() + b.n_arcs());
  out.append(a, 0);
  out.append(b, a.size());
  const Machine both = out.finish(kNoState);
  bool same = false;
  if (Components(both).acyclic()) {
    if constexpr (!std::is_same_v<S, Real>) return same_without_cycles<S>(both, a.size(), starts, tolerance);
    if (in_range([&] { same = same_without_cycles<S>(both, a.size(), starts, tolerance); })) return same;
    return same_without_cycles<ScaledReal>(scaled(both), a.size(), starts, tolerance);
  }
  if constexpr (std::is_same_v<S, Real>) return same_over_the_reals(both, a.size(), starts, tolerance);
  if constexpr (std::is_same_v<S, Log>)
    return same_over_the_reals(
        reweighted(
            both, [](State, const Arc& arc) { return std::exp(-arc.weight); }, [](State, double weight) { return std::exp(-weight); }),
        a.size(), starts, tolerance);
  throw std::invalid_argument("equivalence of tropical machines with cycles is undecidable: compare machines without cycles");
}

template bool equivalent<Real>(const Machine&, const Machine&, double);
template bool equivalent<Log>(const Machine&, const Machine&, double);
template bool equivalent<Tropical>(const Machine&, const Machine&, double);

}  // namespace treille
