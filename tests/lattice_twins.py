"""Lattices by their definition: sums over paths, and machines to try."""

from collections import Counter

from hypothesis import strategies as st

from machine_twins import slow_paths
from treille import Fst
from treille.io.machine import MachineParts


def between_distributions(k):
    """k(X, Y) = sum over x, y of X(x) k(x, y) Y(y), from a kernel k of sequences: every pair of paths is tried."""

    def K(X, Y):
        return sum(u * v * k(list(x), list(y)) for x, _, u in slow_paths(X) for y, _, v in slow_paths(Y))

    return K


def expected_features(kernel, machine):
    """The expected features of the sequences of a machine, by name; `kernel` is one of sequences, known to be right."""
    sums = Counter()
    for symbols, _, weight in slow_paths(machine):
        if symbols:
            features, rows = kernel.fit_features(kernel.batch([list(symbols)]))
            for id, value in zip(*(getattr(rows.to_csr(), part) for part in ("indices", "data")), strict=True):
                sums[features.name(id)] += weight * value
    return sums


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
