"""Slow twins for machines, in plain Python from the definition, and random machines to compare them on."""

from collections import Counter
from itertools import product

import numpy as np
from hypothesis import strategies as st

from machine_twins import slow_paths
from treille import Fst

WEIGHTS = st.sampled_from([-2.0, -0.5, 0.25, 0.5, 1.0, 3.0])
POSITIVE = st.sampled_from([0.125, 0.5, 1.0, 3.0])


@st.composite
def machines(draw, acyclic=True, acceptor=False, weights=WEIGHTS, symbols="ab", states=5, arcs=7):
    """A random machine with symbols; some are empty, some have useless states, many have empty labels."""
    n = draw(st.integers(1, states))
    found = []
    for _ in range(draw(st.integers(0, arcs))):
        ends = draw(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))
        if acyclic and ends[0] == ends[1]:
            continue
        source, target = sorted(ends) if acyclic else ends
        read, written = (draw(st.sampled_from(["", *symbols])) for _ in range(2))
        found.append((source, read, read if acceptor else written, draw(weights), target))
    finals = draw(st.dictionaries(st.integers(0, n - 1), weights, max_size=2))
    return Fst.from_arcs([*found, (n - 1, "", "", 1.0, n)], finals, input_symbols=symbols)


def relation(fst):
    """T(x, y) by pair of strings, over the reals."""
    sums = Counter()
    for x, y, weight in slow_paths(fst):
        sums[x, y] += weight
    return sums


def dense(fst):
    """The weights of arcs as a matrix, and the final weights as a vector."""
    M, f = np.zeros((fst.n_states, fst.n_states)), np.zeros(fst.n_states)
    for source, _, _, weight, target in fst.arcs():
        M[source, target] += weight
    for state, weight in fst.finals.items():
        f[state] = weight
    return M, f


def slow_total(fst):
    """e_start (I - M)^-1 f, for a machine of which all states are useful."""
    M, f = dense(fst)
    return np.linalg.solve(np.eye(len(f)) - M, f)[fst.start] if len(f) else 0.0


def strings(symbols, longest):
    return [x for length in range(longest + 1) for x in product(symbols, repeat=length)]


def assert_same_relation(fst, expected, more=()):
    """T(x, y) is as expected for all pairs that either has, and for some more."""
    for x, y in {*expected, *relation(fst), *more}:
        np.testing.assert_allclose(fst(x, y), expected.get((x, y), 0.0), rtol=1e-9, atol=1e-9)
