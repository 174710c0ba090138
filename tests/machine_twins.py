"""Slow twins of operations on machines, by enumeration of paths, and random machines to compare them on."""

import math
from collections import defaultdict

import numpy as np
from hypothesis import strategies as st

import treille
from treille.io.machine import MachineParts

SIGNED = st.sampled_from([-2.0, -1.0, -0.5, 0.25, 0.5, 1.0, 3.0])
POSITIVE = st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0, 3.0])
ZERO = {"real": 0.0, "log": math.inf, "tropical": math.inf}
ONE = {"real": 1.0, "log": 0.0, "tropical": 0.0}


def plus(a, b, semiring="real"):
    if semiring == "real":
        return a + b
    return min(a, b) if semiring == "tropical" or math.inf in (a, b) else -math.log(math.exp(-a) + math.exp(-b))


def times(a, b, semiring="real"):
    return a * b if semiring == "real" else a + b


def slow_paths(machine, longest=None):
    """(input, output, weight) of every accepting path, of at most `longest` arcs: without it, a machine must have no cycle.

    Strings are tuples of symbols, or of labels where there is no table, without the empty string.
    """
    parts = machine if isinstance(machine, MachineParts) else machine.parts()
    finals = dict(zip(parts.final_states.tolist(), parts.final_weights.tolist(), strict=True))
    leaving = defaultdict(list)
    columns = (parts.sources, parts.inputs, parts.outputs, parts.weights, parts.targets)
    for source, *arc in zip(*(column.tolist() for column in columns), strict=True):
        leaving[source].append(arc)

    def written_out(label, table):
        return () if label == 0 else (label if table is None else table[label],)

    waiting = [(parts.start, (), (), ONE[parts.semiring], 0)] if parts.start >= 0 else []
    while waiting:
        state, x, y, weight, length = waiting.pop()
        if state in finals:
            yield x, y, times(weight, finals[state], parts.semiring)
        if length == longest:
            continue
        for read, written, more, target in leaving[state]:
            longer = x + written_out(read, parts.input_symbols), y + written_out(written, parts.output_symbols)
            waiting.append((target, *longer, times(weight, more, parts.semiring), length + 1))


def weights_of(fst):
    """The weight of every pair of strings: a dictionary without zeros."""
    table = {}
    for x, y, weight in slow_paths(fst):
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
    """Returns whether two dictionaries of weights agree; a string that is not there has weight zero."""
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
