"""Weights at the limits of floats: over the reals every operation keeps the weight of each string and the total, or raises."""

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

from treille import Fst, Lattices
from treille.io.errors import InputError
from treille.kernels import NGram

LEAST = Fraction(2.0**-1022)  # below it floats have fewer digits


def line(weights, final=1.0):
    return Fst.from_arcs([(k, "a", "a", weight, k + 1) for k, weight in enumerate(weights)], {len(weights): final})


def alternatives(n, weights):
    arcs = [(k, symbol, symbol, weight, k + 1) for k in range(n) for symbol, weight in zip("ab", weights, strict=True)]
    return Fst.from_arcs(arcs, {n: 1.0})


OPERATIONS = {
    "minimize": lambda T: T.minimize(),
    "push": lambda T: T.push(),
    "determinize": lambda T: T.determinize(),
    "remove_epsilon": lambda T: T.remove_epsilon(),
    "remove_new_epsilons": lambda T: (T * Fst.from_string("")).remove_epsilon(),
    "compose": lambda T: T @ Fst.from_arcs([(0, s, s, 1.0, 0) for s in "ab"], {0: 1.0}),
    "reverse": lambda T: T.reverse().reverse(),
    "scaling": lambda T: 1e-300 * (1e300 * T),
    "push_and_minimize": lambda T: T.push().minimize().push(),
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("n", [1_074, 1_075, 1_076, 5_000])
def test_light_paths_of_a_long_chain_keep_their_share(name, n):
    T = OPERATIONS[name](alternatives(n, [0.5, 0.5]))
    assert T.total() == pytest.approx(1.0, rel=1e-11)
    assert (T @ alternatives(n, [0.9, 1.1])).total() == pytest.approx(1.0, rel=1e-11)
    assert T.equivalent(alternatives(n, [0.5, 0.5]))


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize(
    "weights",
    [
        [1e200, 1e200, 1e-200, 1e-200],
        [1e-200, 1e-200, 1e200, 1e200],
        [1e308, 1e308, 1e-308, 1e-308],
        [5e-324, 1e-300, 2.0**1000, 2.0**1000],
        [1e200, -1e200, 1e-200, 1e-200],
        [0.5] * 3_000 + [2.0] * 3_000,
        [1e-308, 1e-15],
    ],
)
def test_intermediate_numbers_out_of_range_lose_no_digits(name, weights):
    T = OPERATIONS[name](line(weights))
    exact = math.prod(map(Fraction, weights))
    tolerance = {"rel": 1e-11, "abs": 5e-324}
    assert T.total() == pytest.approx(float(exact), **tolerance)
    assert T("a" * len(weights)) == pytest.approx(float(exact), **tolerance)
    assert [weight for *_, weight in T.paths()] == pytest.approx([float(exact)], **tolerance)


def test_weights_on_a_cycle_may_be_of_any_size_if_the_cycle_converges():
    T = Fst.from_arcs(
        [(0, "a", "a", 1e200, 1), (1, "a", "a", 1e200, 2), (2, "", "", 1e-200, 3), (3, "", "", 0.5e-200, 0)], {0: 1.0}
    )
    for operation in (lambda T: T, Fst.push, Fst.remove_epsilon):
        assert operation(T).total() == pytest.approx(2.0, rel=1e-14)
        assert operation(T)("aaaa") == pytest.approx(0.25, rel=1e-14)
    T = Fst.from_arcs([(0, "", "", 1e200, 1), (1, "", "", 1e-200, 0)], {0: 1.0})
    for operation in (Fst.total, Fst.push, Fst.remove_epsilon):
        with pytest.raises(InputError, match="diverges"):
            operation(T)


def test_a_result_too_large_for_a_number_is_refused():
    T = line([1e200, 1e200])
    for value in (T.total, lambda: T("aa"), lambda: list(T.paths()), lambda: NGram(1)(Lattices([T], normalize=False))):
        with pytest.raises(ValueError, match=r"about 10\^400, too large for a number"):
            value()


def random_machine(rng, signed):
    """An acyclic machine with epsilon arcs and weights from 1e-300 to 1e300."""
    n = int(rng.integers(2, 6))
    weights = 10.0 ** rng.uniform(-300, 300, 12) * rng.uniform(1, 2, 12)
    if signed:
        weights *= rng.choice([-1, 1], 12)
    ends = np.sort(rng.choice(n, (12, 2)), 1)
    arcs = [
        (int(s), str(symbol), str(symbol), float(weight), int(t))
        for (s, t), symbol, weight in zip(ends, rng.choice(["a", "b", ""], 12), weights, strict=True)
        if s < t
    ]
    finals = {n - 1: 1.0} | {int(rng.integers(n)): float(10.0 ** rng.uniform(-300, 300))}
    return Fst.from_arcs([*arcs, (0, "a", "a", 1.0, n - 1)], finals, input_symbols="ab")


def exact_weights(T):
    """The weight of each string, and the sum of the sizes of its paths."""
    found = {}
    parts = T.parts()
    names, finals = T.input_symbols, T.finals
    arcs = {}
    columns = (parts.sources, parts.inputs, parts.weights, parts.targets)
    for source, label, weight, target in zip(*(column.tolist() for column in columns), strict=True):
        arcs.setdefault(source, []).append((label, weight, target))
    stack = [(T.start, "", Fraction(1))] if T.start >= 0 else []
    while stack:
        state, string, weight = stack.pop()
        if state in finals:
            value, size = found.get(string, (0, 0))
            whole = weight * Fraction(finals[state])
            found[string] = value + whole, size + abs(whole)
        for label, own, target in arcs.get(state, []):
            stack.append((target, string + (names[label] if label else ""), weight * Fraction(own)))
    return found


def test_random_machines_over_600_decades_agree_with_exact_arithmetic():
    rng, refused, compared = np.random.default_rng(5), 0, 0
    for trial in range(400):
        T = random_machine(rng, signed=trial % 2 == 1)
        exact = exact_weights(T)
        results = {"itself": lambda T=T: T, "remove_epsilon": T.remove_epsilon, "push": T.push}
        results["determinize"] = lambda T=T: T.remove_epsilon().determinize()
        results["minimize"] = lambda T=T: T.remove_epsilon().determinize().minimize()
        results["scaling"] = lambda T=T: 2.0**-500 * (2.0**500 * T)
        for make in results.values():
            compared += 1
            try:
                machine = make()
                seen = {string: machine(string) for string in exact if exact[string][1] < Fraction(1e300)}
            except InputError:
                refused += 1
                continue
            for string, weight in seen.items():
                value, size = exact[string]
                assert abs(Fraction(weight) - value) <= Fraction(1e-12) * size + LEAST
        total, size = sum(value for value, _ in exact.values()), sum(size for _, size in exact.values())
        if abs(total) < Fraction(1e308):
            assert abs(Fraction(T.total()) - total) <= Fraction(1e-13) * size + LEAST
        else:
            with pytest.raises(InputError, match="too large"):
                T.total()
    assert refused < 0.25 * compared  # a machine of floats cannot hold all of them


def test_composition_of_random_machines_over_600_decades_agrees_with_exact_arithmetic():
    rng, refused = np.random.default_rng(6), 0
    for _ in range(200):
        A, B = random_machine(rng, True), random_machine(rng, True)
        first, second = exact_weights(A), exact_weights(B)
        both = first.keys() & second.keys()
        try:
            C = A @ B
            seen = {string: C(string) for string in both if first[string][1] * second[string][1] < Fraction(1e300)}
        except InputError:
            refused += 1
            continue
        for string, weight in seen.items():
            value, size = first[string][0] * second[string][0], first[string][1] * second[string][1]
            assert abs(Fraction(weight) - value) <= Fraction(1e-12) * size + LEAST
    assert refused < 60


@pytest.mark.parametrize("semiring", ["real", "log"])
def test_posteriors_of_a_lattice_of_100_000_slots_keep_their_digits(semiring):
    n = 100_000
    rng = np.random.default_rng(0)
    shares, scales = rng.uniform(0.1, 0.9, n), 10.0 ** rng.uniform(-3, 3, n)
    both = np.ravel(np.column_stack([shares * scales, (1 - shares) * scales]))
    slots = np.repeat(np.arange(n), 2).tolist()
    arcs = [(k, s, s, float(w), k + 1) for k, s, w in zip(slots, itertools.cycle("ab"), both, strict=False)]
    T = Fst.from_arcs(arcs, {n: 1.0})
    batch = Lattices([T.astype(semiring)])
    np.testing.assert_allclose(batch.weights[::2], shares, rtol=1e-13 if semiring == "real" else 2e-14 * 10)
    assert batch.log_totals[0] == pytest.approx(np.log(scales).sum(), rel=1e-12)
    counts = NGram(1, unit="word").fit_features(batch)[1].to_csr().toarray()[0]
    assert sorted(counts) == pytest.approx(sorted([shares.sum(), n - shares.sum()]), rel=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e5, 1e12, 1e30, 1e299])
def test_costs_of_any_size_become_probabilities(scale):
    arcs = [
        (0, "a", "a", scale, 1),
        (0, "b", "b", scale, 1),
        (1, "a", "a", 5.0 - scale, 2),
        (1, "c", "c", 3 * scale, 2),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batch = Lattices([Fst.from_arcs(arcs, {2: -scale}, semiring="log")])
    share = 1 / (1 + math.exp(min(5.0 - 4 * scale, 700))) if scale < 1e15 else 1.0
    assert batch.weights.tolist() == pytest.approx([0.5, 0.5, share, 1 - share], rel=1e-12, abs=1e-300)


def test_expected_counts_are_kept_where_weights_leave_the_range_on_the_way():
    for weights in ([1e200, 1e200, 1e-200, 1e-200], [1e-200, 1e-200, 1e200, 1e200]):
        batch = Lattices([line(weights)], normalize=False)
        assert NGram(2)(batch)[0, 0] == pytest.approx(9.0, rel=1e-14)  # 3 occurrences of aa
        assert batch.log_totals[0] == pytest.approx(0.0, abs=1e-12)
        assert batch.n_best(1)[0][0][1] == pytest.approx(1.0, rel=1e-15)
        assert len(batch.prune(0.5).weights) == 4
