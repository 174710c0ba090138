// Machines, operations and algorithms on them against their laws and against sums over all paths; and lattices.

#include <cmath>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

#include "automata/algorithms.hpp"
#include "automata/components.hpp"
#include "automata/connect.hpp"
#include "automata/matching.hpp"
#include "automata/operations.hpp"
#include "automata/semiring.hpp"
#include "automata/total.hpp"
#include "check.hpp"
#include "lattices.hpp"

namespace treille::tests {
namespace {

// Arcs lead to higher states only, or anywhere: then few and light enough for sums to converge.
template <class S>
Machine random_machine(std::mt19937& random, bool acyclic) {
  const auto below = [&](int n) { return static_cast<std::int32_t>(random() % static_cast<unsigned>(n)); };
  const State n = 1 + below(8);
  std::vector<LabelledArc> arcs;
  for (int a = below(16); a > 0; --a) {
    State source = below(n), target = below(n);
    if (acyclic && source > target) std::swap(source, target);
    if (acyclic && source == target) continue;
    const double weight = 0.01 + 0.01 * below(5);
    arcs.push_back({source, {below(3), below(3), target, S::one() == 0 ? -std::log(weight) : weight}});
  }
  std::vector<double> finals(static_cast<std::size_t>(n), S::zero());
  finals[static_cast<std::size_t>(below(n))] = 0.5;
  return build_machine(0, arcs, finals);
}

// The sum over all paths of at most `most` arcs, each followed on its own.
template <class S>
double slow_total(const Machine& machine, State s, int most) {
  double sum = machine.final_weight(s);
  if (most > 0)
    for (const Arc& arc : machine.arcs(s)) sum = S::plus(sum, S::times(arc.weight, slow_total<S>(machine, arc.target, most - 1)));
  return sum;
}

template <class S>
void operations_obey_their_laws(unsigned seed, bool acyclic) {
  std::mt19937 random(seed);
  const Machine a = random_machine<S>(random, acyclic), b = random_machine<S>(random, acyclic);
  const auto D = [&](const Machine& machine) {
    const Total found = total<S>(machine);
    check(found.cycle.empty());
    return found.weight;
  };
  const auto same = [&](double x, double y) { check(x == y || std::abs(x - y) <= 1e-9 * (1 + std::abs(x))); };
  const double da = D(a), db = D(b);
  if (acyclic) same(da, slow_total<S>(a, 0, 8));
  same(D(sum<S>(a, b)), S::plus(da, db));
  same(D(concatenation<S>(a, b)), S::times(da, db));
  same(D(reversal<S>(a)), da);
  same(D(inverse(a)), da);
  same(D(output_projection(a)), D(input_projection(a)));
  same(D(scaling<S>(0.5, a)), S::times(0.5, da));
  same(D(connect<S>(a)), da);
  const std::vector<Label> identity{0, 1, 2};
  check(std::ranges::equal(recoded(a, identity, {}).all_arcs(), a.all_arcs()));
  check(std::ranges::equal(inverse(inverse(a)).all_arcs(), a.all_arcs()));
  if (acyclic) {
    const Machine ordered = topological_sort(a);
    same(D(ordered), da);
    for (State s = 0; s < ordered.size(); ++s)
      for (const Arc& arc : ordered.arcs(s)) check(arc.target > s);
    // All pairs of strings that a path of so few arcs can read and write: their weights add up to all there is.
    std::vector<std::vector<Label>> strings{{}};
    for (std::size_t first = 0; strings.size() < 15; ++first)
      for (Label label = 1; label <= 2; ++label) {
        strings.push_back(strings[first]);
        strings.back().push_back(label);
      }
    double known = S::zero();
    for (const auto& x : strings) {
      double row = S::zero();
      for (const auto& y : strings) row = S::plus(row, D(matching<S>(a, x, y, true)));
      known = S::plus(known, row);
      check(std::isnan(row) == false);
    }
    if (a.size() <= 4) same(known, da);
  }
  check(find_cycle(closure<S>(connect<S>(a))).empty() == (connect<S>(a).size() == 0));
}

void machines_at_the_edges() {
  const Machine nothing;
  for (const Machine& made : {sum<Real>(nothing, nothing), concatenation<Real>(nothing, nothing), reversal<Real>(nothing),
                              connect<Real>(nothing), topological_sort(nothing), inverse(nothing), matching<Real>(nothing, {}, {}, true)})
    check(total<Real>(made).weight == 0 && total<Real>(made).cycle.empty());
  check(total<Real>(closure<Real>(nothing)).weight == 1);

  std::vector<LabelledArc> arcs;
  const State n = 300'000;  // deeper than any stack
  for (State s = 0; s + 1 < n; ++s) arcs.push_back({s, {1, 1, s + 1, 1.0}});
  std::vector<double> finals(static_cast<std::size_t>(n), 0.0);
  finals.back() = 3;
  const Machine chain = build_machine(0, arcs, finals);
  check(total<Real>(reversal<Real>(chain)).weight == 3);
  check(find_cycle(chain).empty());
  arcs.push_back({n - 1, {1, 1, 0, 1.0}});
  check(find_cycle(build_machine(0, arcs, finals)).size() == static_cast<std::size_t>(n));

  const auto loop = [](double weight, double final_weight) {
    return build_machine(0, std::vector<LabelledArc>{{0, {1, 1, 0, weight}}}, std::vector{final_weight});
  };
  check(total<Real>(loop(0.5, 1)).weight == 2 && total<Real>(loop(-0.5, 3)).weight == 2);
  check(total<Real>(loop(1, 1)).cycle == std::vector<State>{0} && !total<Real>(loop(-1, 1)).cycle.empty());
  check(std::abs(total<Log>(loop(std::log(2), 900)).weight - (900 - std::log(2))) < 1e-9 && !total<Log>(loop(0, 0)).cycle.empty());
  check(total<Tropical>(loop(0, 2)).weight == 2 && !total<Tropical>(loop(-1, 2)).cycle.empty());
  // Radius 0.85, though that of the magnitudes is 1.2.
  const std::vector<LabelledArc> turns{{0, {1, 1, 0, 0.6}}, {0, {1, 1, 1, 0.6}}, {1, {1, 1, 0, -0.6}}, {1, {1, 1, 1, 0.6}}};
  const Machine turning = build_machine(0, turns, std::vector{0.0, 1.0});
  check(total<Real>(turning).cycle.empty() && std::abs(total<Real>(turning).weight - 0.6 / 0.52) < 1e-12);
}

// Real weights of both signs, few states and many paths: arcs lead to higher numbers, a third of the labels are epsilons.
Machine random_dag(std::mt19937& random, State n, int arcs, bool acceptor) {
  std::vector<LabelledArc> found;
  for (int k = 0; k < arcs; ++k) {
    const auto source = static_cast<State>(random() % static_cast<unsigned>(n - 1));
    const auto target = source + 1 + static_cast<State>(random() % static_cast<unsigned>(n - 1 - source));
    const auto input = static_cast<Label>(random() % 3), output = acceptor ? input : static_cast<Label>(random() % 3);
    found.push_back({source, {input, output, target, static_cast<double>(random() % 7) - 3}});
  }
  std::vector<double> finals(static_cast<std::size_t>(n), 0.0);
  finals.back() = 2;
  finals[random() % finals.size()] = -1;
  return build_machine(0, found, finals);
}

using Strings = std::pair<std::vector<Label>, std::vector<Label>>;

void walk(const Machine& machine, State s, Strings& strings, double weight, std::map<Strings, double>& sums) {
  if (machine.final_weight(s) != 0) sums[strings] += weight * machine.final_weight(s);
  for (const Arc& arc : machine.arcs(s)) {
    if (arc.input != kEpsilon) strings.first.push_back(arc.input);
    if (arc.output != kEpsilon) strings.second.push_back(arc.output);
    walk(machine, arc.target, strings, weight * arc.weight, sums);
    if (arc.input != kEpsilon) strings.first.pop_back();
    if (arc.output != kEpsilon) strings.second.pop_back();
  }
}

std::map<Strings, double> sums_of(const Machine& machine) {
  std::map<Strings, double> sums;
  Strings none;
  if (machine.start() != kNoState) walk(machine, machine.start(), none, 1, sums);
  return sums;
}

void algorithms_keep_every_weight() {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const Machine a = random_dag(random, 6, 9, round % 2 == 0), b = random_dag(random, 5, 8, false);
    const auto sums = sums_of(a);
    std::map<Strings, double> product;
    for (const auto& [x, u] : sums)
      for (const auto& [y, v] : sums_of(b))
        if (x.second == y.first) product[{x.first, y.second}] += u * v;
    check(same(sums_of(compose<Real>(a, b)), product));
    const Machine plain = remove_epsilon<Real>(a), one = determinize<Real>(plain), least = minimize<Real>(one), pushed = push<Real>(a);
    for (const Machine* machine : {&plain, &one, &least, &pushed})
      check(same(sums_of(*machine), sums) && equivalent<Real>(a, *machine, 1e-9));
  }
}

void algorithms_at_the_edges() {
  const Machine empty, single = build_machine(0, {}, std::vector{3.0});
  for (const Machine* machine : {&empty, &single})
    check(remove_epsilon<Log>(*machine).size() <= 1 && minimize<Real>(determinize<Real>(*machine)).size() <= 1 &&
          compose<Real>(*machine, *machine).size() <= 1 && push<Real>(*machine).size() <= 1 && equivalent<Real>(*machine, *machine, 0));
  std::vector<LabelledArc> chain;
  constexpr State n = 100000;
  for (State s = n; s > 0; --s) chain.push_back({n - s, {s % 2, s % 2, n - s + 1, 1.0}});
  std::vector<double> finals(n + 1, 0.0);
  finals.back() = 1;
  check(remove_epsilon<Tropical>(build_machine(0, chain, std::vector(n + 1, Tropical::zero()))).size() == 0);
  check(minimize<Real>(determinize<Real>(remove_epsilon<Real>(build_machine(0, chain, finals)))).size() == n / 2 + 1);
  bool refused = false;
  try {
    remove_epsilon<Real>(build_machine(0, std::vector<LabelledArc>{{0, {0, 0, 0, 1.0}}}, std::vector{1.0}));
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  check(refused);
}

// Products, quotients and sums equal those of doubles where doubles suffice; elsewhere they are correct, too.
void scaled_numbers_compute_as_doubles_do() {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> mantissas(-2, 2);
  std::uniform_int_distribution<int> exponents(-400, 400);
  const auto draw = [&] { return std::ldexp(mantissas(random), exponents(random)); };
  for (int trial = 0; trial < 1000; ++trial) {
    const double a = draw(), b = draw(), c = std::ldexp(mantissas(random), std::ilogb(a));
    check((Scaled(a) * b).value() == a * b && (Scaled(a) / b).value() == a / b);
    check((Scaled(a) + c).value() == a + c && (Scaled(a) - c).value() == a - c && (Scaled(a) < Scaled(c)) == (a < c));
    const Scaled far(1.0, 5000);
    check((a * far * b / far).value() == a * b && Scaled(a).fits() && !(a * far).fits());
    check(std::abs(Scaled::exponential(std::log(std::abs(a))).value() / std::abs(a) - 1) < 1e-13);
  }
  check(Scaled(5e-324).value() == 5e-324 && Scaled(0.0) == Scaled() && (Scaled(1.5) - 1.5) == Scaled());
  check(std::abs((Scaled::exponential(-1e6) * Scaled::exponential(1e6 + 1)).value() / std::exp(1.0) - 1) < 1e-15 * 4);
}

void weights_of_any_size_are_kept() {
  std::vector<LabelledArc> arcs;
  constexpr State n = 3000;
  for (State s = 0; s < n; ++s)
    for (Label label = 1; label <= 2; ++label) arcs.push_back({s, {label, label, s + 1, 0.5}});
  std::vector<double> finals(n + 1, 0.0);
  finals[n] = 1;
  const Machine chain = build_machine(0, arcs, finals);
  for (const Machine& same :
       {minimize<Real>(chain), push<Real>(chain), determinize<Real>(chain), scaling<Real>(1e-300, scaling<Real>(1e300, chain))})
    check(same.size() == n + 1 && std::abs(total<Real>(same).weight - 1) < 1e-11);
}

}  // namespace

void automata() {
  scaled_numbers_compute_as_doubles_do();
  weights_of_any_size_are_kept();
  algorithms_keep_every_weight();
  algorithms_at_the_edges();
  machines_at_the_edges();
  for (unsigned seed = 0; seed < 100; ++seed)
    for (const bool acyclic : {true, false}) {
      operations_obey_their_laws<Real>(seed, acyclic);
      operations_obey_their_laws<Log>(seed, acyclic);
      operations_obey_their_laws<Tropical>(seed, acyclic);
    }
  for (const int threads : {1, 3}) lattices_equal_their_paths(threads);
}

}  // namespace treille::tests
