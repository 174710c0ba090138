"""Slow twins of lattices: sums over paths, and machines to compare them on."""

from collections import Counter

import pytest
from hypothesis import strategies as st

from machine_twins import slow_paths
from treille import Fst
from treille.io.machine import EPSILON, MachineParts

DIAMONDS = Fst.from_arcs(  # parallel arcs, one of them empty, and two final states
    [
        (0, "a", "a", 0.3, 1),
        (0, "b", "b", 0.7, 1),
        (1, "", "", 0.5, 2),
        (1, "a", "a", 0.5, 2),
        (2, "b", "b", 1, 3),
    ],
    {3: 1.0, 2: 0.5},
)


def between_distributions(k):
    """k(X, Y) = sum over x, y of X(x) k(x, y) Y(y), from a kernel k of sequences: every pair of paths is tried."""

    def K(X, Y):
        return sum(u * v * k(list(x), list(y)) for x, _, u in slow_paths(X) for y, _, v in slow_paths(Y))

    return K


def expected_features(kernel, machine):
    """The expected features of the sequences of a machine, by name; `kernel` is a kernel of sequences that has other tests."""
    sums = Counter()
    for symbols, _, weight in slow_paths(machine):
        if symbols:
            for name, value in by_name(kernel, [list(symbols)])[0].items():
                sums[name] += weight * value
    return sums


def outputs(T, machine):
    """The features of a machine by a transducer: all pairs of a path of each that read the same. Both must be acyclic."""
    sums = Counter()
    for x, _, weight in slow_paths(machine):
        for read, written, more in slow_paths(T):
            if read == x:
                sums[" ".join(written) or EPSILON] += weight * more
    return sums


def by_name(kernel, X, fitted_on=None):
    """The features of each example, by name."""
    features, rows = kernel.fit_features(kernel.batch(X if fitted_on is None else fitted_on))
    if fitted_on is not None:
        rows = features.transform(kernel.batch(X))
    csr = rows.to_csr()
    return [
        {features.name(id): value for id, value in zip(row.indices, row.data, strict=True)}
        for row in (csr[i] for i in range(len(rows)))
    ]


def assert_same_features(found, slow):
    """Asserts that two counts by name agree; a missing name counts 0."""
    for name in slow.keys() | found.keys():
        assert found.get(name, 0.0) == pytest.approx(slow[name], rel=1e-9, abs=1e-9), name


def sausage(slots):
    """One symbol of each slot, all of a slot with the same weight."""
    arcs = [(i, symbol, symbol, 1 / len(slot), i + 1) for i, slot in enumerate(slots) for symbol in slot]
    return Fst.from_arcs(arcs, {len(slots): 1.0})


@st.composite
def machines(draw, alphabet="abc", most_states=5, signed=False, cost=False):
    """A small acyclic acceptor with epsilons, parallel arcs, useless states, states in any order."""
    n = draw(st.integers(1, most_states))
    number = draw(st.permutations(range(n)))
    weight = st.floats(0.1, 2.0) if not signed else st.floats(-2.0, 2.0)
    arcs = []
    for _ in range(draw(st.integers(0, 2 * n)) if n > 1 else 0):
        source = draw(st.integers(0, n - 2))
        target = draw(st.integers(source + 1, n - 1))
        label = draw(st.integers(0, len(alphabet)))
        arcs.append((number[source], label, label, draw(weight), number[target]))
    finals = draw(st.dictionaries(st.sampled_from(number), weight, max_size=2))
    semiring, symbols = "log" if cost else "real", ["<eps>", *alphabet]
    return Fst.from_parts(MachineParts.of(arcs, finals, number[0], semiring, symbols))
