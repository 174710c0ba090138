"""Slow twins of operations on machines: every path is walked. And random machines to try them on."""

import math
from collections import defaultdict

import numpy as np
from hypothesis import strategies as st

import treille

SIGNED = st.sampled_from([-2.0, -1.0, -0.5, 0.25, 0.5, 1.0, 3.0])
POSITIVE = st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0, 3.0])
ZERO = {"real": 0.0, "log": math.inf, "tropical": math.inf}


def plus(a, b, semiring="real"):
    if semiring == "real":
        return a + b
    return min(a, b) if semiring == "tropical" or math.inf in (a, b) else -math.log(math.exp(-a) + math.exp(-b))


def times(a, b, semiring="real"):
    return a * b if semiring == "real" else a + b


def arcs_of(fst):
    out = defaultdict(list)
    for source, *arc in fst.arcs():
        out[source].append(tuple(arc))
    return out


def all_paths(fst):
    """(input, output, weight) of every accepting path of a machine without cycles, labels without epsilons."""
    arcs, finals = arcs_of(fst), fst.finals

    def walk(state, x, y, weight):
        if state in finals:
            yield x, y, times(weight, finals[state], fst.semiring)
        for i, o, w, target in arcs[state]:
            yield from walk(target, x + (i,) * (i > 0), y + (o,) * (o > 0), times(weight, w, fst.semiring))

    return list(walk(fst.start, (), (), 1.0 if fst.semiring == "real" else 0.0)) if fst.start >= 0 else []


def weights_of(fst):
    """The weight of every pair of strings: a dictionary without zeros."""
    table = {}
    for x, y, weight in all_paths(fst):
        table[x, y] = plus(table.get((x, y), ZERO[fst.semiring]), weight, fst.semiring)
    return without_zeros(table, fst.semiring)


def without_zeros(table, semiring="real"):
    if semiring == "real":
        return {key: weight for key, weight in table.items() if abs(weight) > 1e-12}
    return {key: weight for key, weight in table.items() if weight < math.inf}


def composed(a, b, semiring="real"):
    """sum over z of a(x, z) b(z, y), from two dictionaries of weights."""
    table = {}
    for (x, z), u in a.items():
        for (other, y), v in b.items():
            if z == other:
                table[x, y] = plus(table.get((x, y), ZERO[semiring]), times(u, v, semiring), semiring)
    return without_zeros(table, semiring)


def acceptor_weight(fst, x):
    """The weight of string x by matrices, for acceptors over the reals with any cycles; epsilon paths sum to (I - E)^-1."""
    n = fst.n_states
    step = defaultdict(lambda: np.zeros((n, n)))
    for source, i, _, w, target in fst.arcs():
        step[i][source, target] += w
    closure = np.linalg.inv(np.eye(n) - step[0])
    row = np.eye(n)[fst.start] @ closure if fst.start >= 0 else np.zeros(n)
    for label in x:
        row = row @ step[label] @ closure
    final = np.zeros(n)
    for state, weight in fst.finals.items():
        final[state] = weight
    return row @ final


def same(a, b, semiring="real", tolerance=1e-9):
    """Whether two dictionaries of weights agree; a string that is not there has weight zero."""
    pairs = ((a.get(key, ZERO[semiring]), b.get(key, ZERO[semiring])) for key in a.keys() | b.keys())
    return all(math.isclose(u, v, rel_tol=tolerance, abs_tol=tolerance) for u, v in pairs)


@st.composite
def machines(draw, labels=(0, 1, 2), weights=SIGNED, acceptor=False, semiring="real", states=5, arcs=9):
    """A machine without cycles."""
    n = draw(st.integers(1, states))
    label = st.sampled_from(labels)
    found = []
    for _ in range(draw(st.integers(0, arcs)) if n > 1 else 0):
        source = draw(st.integers(0, n - 2))
        i = draw(label)
        o = i if acceptor else draw(label)
        found.append((source, i, o, draw(weights), draw(st.integers(source + 1, n - 1))))
    finals = {draw(st.integers(0, n - 1)): draw(weights) for _ in range(draw(st.integers(1, 2)))}
    order = draw(st.permutations(range(n)))  # arcs need not lead to higher numbers
    found = [(order[s], i, o, w, order[t]) for s, i, o, w, t in found]
    found.append((n, 1, 1, 1.0, 0))  # and a state that nothing leads to
    return treille.Fst.from_arcs(found, {order[s]: w for s, w in finals.items()}, order[0], semiring)
