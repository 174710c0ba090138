"""Equality with OpenFst's log64 semiring, through pynini, on random machines with empty labels.

Weights are exchanged as text of nine digits, so that equality is to 1e-8; the input weights are multiples of 1/64.
"""

import random

import numpy as np
import pytest

from treille import Fst

pywrapfst = pytest.importorskip("pywrapfst")


def random_machine(seed, acyclic):
    draw = random.Random(seed)
    n = draw.randint(1, 8)
    arcs = []
    for _ in range(draw.randint(0, 16)):
        source, target = draw.randrange(n), draw.randrange(n)
        if acyclic:
            source, target = sorted((source, target))
            if source == target:
                continue
        arcs.append((source, draw.randint(0, 3), draw.randint(0, 3), draw.randint(160, 400) / 64, target))
    finals = {draw.randrange(n): draw.randint(-64, 128) / 64 for _ in range(2)}
    return Fst.from_arcs(arcs, finals, semiring="log")


def to_openfst(fst):
    out = pywrapfst.VectorFst("log64")
    states = [out.add_state() for _ in range(fst.n_states)]
    if states:
        out.set_start(fst.start)
    for source, read, written, weight, target in fst.arcs():
        out.add_arc(source, pywrapfst.Arc(read, written, pywrapfst.Weight("log64", weight), target))
    for state, weight in fst.finals.items():
        out.set_final(state, pywrapfst.Weight("log64", weight))
    return out


def openfst_total(fst):
    if fst.start() == -1:
        return np.inf
    distances = pywrapfst.shortestdistance(fst, reverse=True, delta=1e-13)
    return (
        float(distances[fst.start()]) if fst.start() < len(distances) else np.inf
    )  # trailing states that reach no end are left out


def arcs_of(fst):
    """The arcs of an OpenFst machine whose states are numbered as ours are."""
    return sorted(
        (state, arc.ilabel, arc.olabel, float(arc.weight), arc.nextstate)
        for state in fst.states()
        for arc in fst.arcs(state)
    )


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.parametrize("acyclic", [True, False])
def test_totals_equal_those_of_openfst(seed, acyclic):
    A, B = random_machine(seed, acyclic), random_machine(1000 + seed, acyclic)
    a, b = to_openfst(A), to_openfst(B)
    results = [
        (A, a),
        (A.connect(), a.copy().connect()),
        (A + B, a.copy().union(b)),
        (A * B, a.copy().concat(b)),
        (A.reverse(), pywrapfst.reverse(a)),
        (~A, a.copy().invert()),
        (A.project("output"), a.copy().project("output")),
    ]
    for ours, theirs in results:
        np.testing.assert_allclose(ours.total(), openfst_total(theirs), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("seed", range(50))
def test_trimmed_and_reversed_machines_equal_those_of_openfst_arc_by_arc(seed):
    A = random_machine(seed, acyclic=False)
    assert sorted(A.connect().arcs()) == arcs_of(to_openfst(A).connect())
    assert sorted(A.reverse().arcs()) == arcs_of(pywrapfst.reverse(to_openfst(A)))


@pytest.mark.parametrize("seed", range(50))
def test_weights_of_pairs_are_those_of_openfst_s_compositions(seed):
    T = random_machine(seed, acyclic=True).connect()
    for x, y, _ in T.paths(5):
        sides = [to_openfst(Fst.from_string(list(string)).astype("log")).arcsort("olabel") for string in (x, y)]
        first = pywrapfst.compose(sides[0], to_openfst(T).arcsort("ilabel")).arcsort("olabel")
        both = pywrapfst.compose(first, sides[1].arcsort("ilabel"))
        np.testing.assert_allclose(T(x, y), openfst_total(both), rtol=1e-8, atol=1e-8)
