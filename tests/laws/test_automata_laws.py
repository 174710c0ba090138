"""Laws of the operations on machines, on random machines."""

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from automata_twins import POSITIVE, assert_same_relation, dense, machines, relation, slow_total, strings
from machine_twins import slow_paths
from treille import Fst, InputError

SOME = settings(deadline=None, max_examples=60)
MIXED = machines() | machines(symbols="bc") | machines(symbols="cab")


def assert_close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@SOME
@given(machines())
def test_a_weight_is_the_sum_over_the_paths_of_a_pair(T):
    assert_same_relation(T, relation(T), more=[(("a",), ("b",)), ((), ()), (("z",), ())])


@SOME
@given(machines(acceptor=True))
def test_an_acceptor_weighs_strings(A):
    assert A.is_acceptor
    for x in strings("ab", 3):
        assert_close(A(x), relation(A).get((x, x), 0.0))
        assert_close(A(x), A(x, x))


@SOME
@given(MIXED, MIXED)
def test_sums_add_weights_and_totals(A, B):
    assert_same_relation(A + B, _added(relation(A), relation(B)))
    assert_close((A + B).total(), A.total() + B.total())
    assert (A + B).n_paths == A.n_paths + B.n_paths


@SOME
@given(MIXED, MIXED)
def test_concatenation_sums_over_all_ways_to_cut(A, B):
    expected = Counter()
    for (x1, y1), v in relation(A).items():
        for (x2, y2), w in relation(B).items():
            expected[x1 + x2, y1 + y2] += v * w
    assert_same_relation(A * B, expected)
    assert_close((A * B).total(), A.total() * B.total())


@SOME
@given(machines(), machines(), machines())
def test_concatenation_distributes_over_sums(A, B, C):
    expected = relation(A * B + A * C)
    assert_same_relation(A * (B + C), expected)
    assert_close((A * (B + C)).total(), sum(expected.values()))


@SOME
@given(machines(states=3, arcs=4))
def test_the_closure_sums_all_powers(A):
    once = relation(A)
    once_empty = once.pop(((), ()), 0.0)
    empty = [weight for x, y, weight in slow_paths(A) if not x and not y]
    if sum(map(abs, empty)) >= 1:
        if min(empty) > 0:
            with pytest.raises(InputError, match="diverges"):
                A.closure()((), ())
        return  # with signs, the order of the sum decides
    star = A.closure()
    assert_close(star((), ()), 1 / (1 - once_empty))
    scaled = 1 / (1 - once_empty)  # (u + e)* = (e* u)* e*, where e is the weight of the empty pair
    power, expected = Counter({((), ()): 1.0}), Counter()
    for _ in range(4):
        for pair, weight in power.items():
            expected[pair] += weight * scaled
        power = _times(power, {pair: weight * scaled for pair, weight in once.items()}, 2)
    for x in strings("ab", 1):
        for y in strings("ab", 1):
            assert_close(star(x, y), expected.get((x, y), 0.0))


@SOME
@given(machines(acyclic=False))
def test_the_inverse_swaps_and_twice_is_nothing(T):
    assert ~~T == T
    for x, y in {(x, y) for x, y, _ in slow_paths(T, 3)}:
        assert_close(or_infinite(~T, y, x), or_infinite(T, x, y))


def or_infinite(weigh, *strings):
    """The weight, or infinity where it diverges."""
    try:
        return weigh(*strings)
    except InputError:
        return np.inf


@SOME
@given(machines())
def test_projections_sum_over_the_other_side(T):
    for side, place in (("input", 0), ("output", 1)):
        sums = Counter()
        for pair, weight in relation(T).items():
            sums[pair[place]] += weight
        P = T.project(side)
        assert P.is_acceptor
        for x in {*sums, ("a", "b")}:
            assert_close(P(x), sums.get(x, 0.0))
        assert_close(P.total(), T.total())


@SOME
@given(machines())
def test_reversal_keeps_the_weights_of_strings_backwards(T):
    assert_same_relation(T.reverse(), {(x[::-1], y[::-1]): w for (x, y), w in relation(T).items()})
    assert_close(T.reverse().total(), T.total())


@SOME
@given(machines(), st.sampled_from([0.0, -1.5, 2.5]))
def test_scaling_scales(T, g):
    assert_same_relation(g * T, {pair: g * w for pair, w in relation(T).items()})
    assert T * g == g * T


@SOME
@given(machines(acyclic=False))
def test_connecting_keeps_the_paths_and_the_states_on_them(T):
    trimmed = T.connect()
    assert sorted(slow_paths(trimmed, 4)) == sorted(slow_paths(T, 4))
    assert trimmed.connect() == trimmed
    M, f = dense(trimmed)
    reach = (
        np.linalg.matrix_power(np.eye(len(f)) + (M != 0), len(f)) > 0
    )  # a sum of arcs may be 0: then fewer are reached
    if (M != 0).sum() == len({(s, t) for s, _, _, _, t in trimmed.arcs()}) and trimmed.n_states:
        assert reach[trimmed.start].all()
        assert (reach @ (f != 0)).all()


@SOME
@given(machines())
def test_sorting_keeps_the_paths_and_every_arc_leads_up(T):
    ordered = T.topological_sort()
    assert all(source < target for source, _, _, _, target in ordered.arcs())
    assert sorted(slow_paths(ordered)) == sorted(slow_paths(T))
    assert ordered.topological_sort() == ordered


@SOME
@given(machines(), st.integers(0, 5))
def test_paths_are_all_there_and_counted(T, most):
    expected = sorted(slow_paths(T))
    assert sorted(T.paths()) == expected
    assert T.n_paths == len(expected)
    assert len(list(T.paths(most))) == min(most, len(expected))


@SOME
@given(machines(acyclic=False))
def test_paths_of_cyclic_machines_come_by_length(T):
    expected = list(slow_paths(T, 3))
    assert sorted(T.paths(len(expected))) == sorted(expected) or T.connect().is_acyclic


@settings(deadline=None, max_examples=150)
@given(machines(acyclic=False, weights=st.sampled_from([-0.6, -0.25, 0.125, 0.3, 0.5])))
def test_the_total_of_a_cyclic_machine_is_that_of_its_linear_system(T):
    trimmed = T.connect()
    M, _ = dense(trimmed)
    radius = max(np.abs(np.linalg.eigvals(M)), default=0.0) if trimmed.n_states else 0.0
    if radius < 0.99:
        assert_close(T.total(), slow_total(trimmed))
        assert_close(T.reverse().total(), T.total())
    elif radius > 1.01:
        with pytest.raises(InputError, match="diverges: the weights on cycles such as"):
            T.total()


@SOME
@given(machines(acyclic=False, weights=st.sampled_from([0.01, 0.125, 0.3])))
def test_totals_over_costs_are_those_over_the_reals(T):
    found, expected = or_infinite(T.astype("log").total), or_infinite(T.total)
    assert_close(np.exp(-found) if expected < np.inf else found, expected)


@SOME
@given(machines(weights=POSITIVE), machines(weights=POSITIVE))
def test_operations_over_costs_are_those_over_the_reals(A, B):
    a, b = A.astype("log"), B.astype("log")
    for real, log in (
        (A + B, a + b),
        (A * B, a * b),
        (A.reverse(), a.reverse()),
        (~A, ~a),
        (2.0 * A, -np.log(2.0) * a),
    ):
        assert log.semiring == "log"
        assert_same_relation(log.astype("real"), relation(real))
        assert_close(np.exp(-log.total()), real.total())
        if abs(real((), ())) < 1:
            assert_close(np.exp(-log.closure()((), ())), real.closure()((), ()))


@SOME
@given(machines(acyclic=False, weights=st.sampled_from([0.0, 0.5, 1.0, 2.5]).map(lambda c: np.exp(-c))))
def test_the_tropical_total_is_the_least_cost(T):
    costs = [weight for _, _, weight in slow_paths(T.astype("tropical"), T.n_states)]
    assert_close(T.astype("tropical").total(), min(costs, default=np.inf))


@SOME
@given(machines(acyclic=False))
def test_machines_survive_pickling_and_their_own_parts(T):
    assert pickle.loads(pickle.dumps(T)) == T
    assert hash(pickle.loads(pickle.dumps(T))) == hash(T)
    assert Fst.from_parts(T.parts()) == T


def _added(left, right):
    sums = Counter(left)
    for pair, weight in right.items():
        sums[pair] += weight
    return sums


def _times(left, right, longest):
    found = Counter()
    for (x1, y1), v in left.items():
        for (x2, y2), w in right.items():
            if len(x1 + x2) <= longest and len(y1 + y2) <= longest:
                found[x1 + x2, y1 + y2] += v * w
    return found
