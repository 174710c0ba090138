"""Laws of composition and invariants of other algorithms, on random machines with epsilons and signed weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from machine_twins import POSITIVE, SIGNED, acceptor_weight, composed, machines, same, weights_of

FEW = settings(max_examples=150, deadline=None)
SEMIRINGS = pytest.mark.parametrize("semiring", ["real", "log", "tropical"])


@FEW
@given(machines(), machines())
def test_composition_sums_over_the_strings_in_between(a, b):
    assert same(weights_of(a @ b), composed(weights_of(a), weights_of(b)))


@SEMIRINGS
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_composition_is_right_over_every_semiring(semiring, data):
    a, b = (data.draw(machines(weights=POSITIVE, semiring=semiring)) for _ in range(2))
    assert same(weights_of(a @ b), composed(weights_of(a), weights_of(b), semiring), semiring)


@FEW
@given(machines(states=4, arcs=6), machines(states=4, arcs=6), machines(states=4, arcs=6))
def test_composition_is_associative(a, b, c):
    assert same(weights_of((a @ b) @ c), weights_of(a @ (b @ c)))


@FEW
@given(machines())
def test_a_machine_with_its_inverse_is_symmetric_and_positive_semidefinite(t):
    table = weights_of(t @ ~t)
    strings = sorted({x for x, _ in table} | {y for _, y in table})
    gram = np.array([[table.get((x, y), 0.0) for y in strings] for x in strings]).reshape(len(strings), len(strings))
    assert np.allclose(gram, gram.T, rtol=1e-12, atol=0)
    assert len(gram) == 0 or np.linalg.eigvalsh(gram)[0] >= -1e-9 * np.abs(gram).max()


@SEMIRINGS
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_every_operation_keeps_the_weight_of_every_string(semiring, data):
    t = data.draw(machines(weights=SIGNED if semiring == "real" else POSITIVE, semiring=semiring))
    expected = weights_of(t)

    def keeps(changed):
        return same(weights_of(changed), expected, semiring) and t.equivalent(changed)

    plain = t.remove_epsilon()
    assert all(i > 0 or o > 0 for _, i, o, _, _ in plain.arcs())
    assert keeps(plain)
    assert keeps(t.push())
    deterministic = plain.determinize()
    assert keeps(deterministic)
    minimal = deterministic.minimize()
    assert keeps(minimal)
    assert minimal.n_states <= deterministic.n_states


@FEW
@given(machines(acceptor=True, labels=(1, 2)), machines(acceptor=True, labels=(1, 2)))
def test_machines_are_equivalent_when_all_their_strings_have_the_same_weight(a, b):
    assert a.equivalent(b) == same(weights_of(a), weights_of(b))


@FEW
@given(machines(labels=(1, 2), states=7, arcs=14))
def test_deterministic_machines_have_one_arc_for_a_pair_of_labels_and_minimal_ones_distinct_futures(t):
    deterministic = t.determinize()
    keys = [(s, i, o) for s, i, o, _, _ in deterministic.arcs()]
    assert len(keys) == len(set(keys))
    minimal = deterministic.minimize()
    futures = set()
    for state in range(minimal.n_states):
        table = weights_of(treille.Fst.from_arcs(minimal.arcs(), minimal.finals, state))
        first = table[min(table)]
        futures.add(tuple(sorted((key, round(weight / first, 9)) for key, weight in table.items())))
    assert len(futures) == minimal.n_states


@FEW
@given(machines(acceptor=True), st.data())
def test_epsilon_cycles_are_summed(t, data):
    loops = st.tuples(st.integers(0, t.n_states - 1), st.sampled_from([-0.3, 0.1, 0.2]), st.integers(0, t.n_states - 1))
    added = [(s, 0, 0, w, to) for s, w, to in data.draw(st.lists(loops, min_size=1, max_size=3))]
    arcs = [(s, i, o, w / 8, to) for s, i, o, w, to in t.arcs()]
    cyclic = treille.Fst.from_arcs([*arcs, *added], t.finals, t.start)
    epsilon = np.zeros((cyclic.n_states, cyclic.n_states))
    for s, i, _, w, to in cyclic.arcs():
        epsilon[s, to] += abs(w) * (i == 0)
    if max(abs(np.linalg.eigvals(epsilon))) >= 0.99:
        return
    plain = cyclic.remove_epsilon()
    for x in [(), (1,), (2,), (1, 2), (2, 1), (1, 1, 2)]:
        assert acceptor_weight(plain, x) == pytest.approx(acceptor_weight(cyclic, x), rel=1e-9, abs=1e-12)
    assert cyclic.equivalent(plain)
    assert cyclic.equivalent(cyclic.push())
