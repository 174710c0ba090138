"""Random machines for the tests of formats, and their strings and weights, path by path, from the definition."""

import math
from collections import defaultdict

import numpy as np
from hypothesis import strategies as st

from machine_twins import slow_paths
from treille.io import confusion, kaldi
from treille.io.machine import MachineParts

WORDS = ["vine", "wine", "it's", 'say "so"', "été", "葡萄", "a\\b", "-", "!", "x=y", "#", "0.5", "'em", "\\'"]


def parsed_kaldi(text, source, symbols=None):
    """The lattices of an archive."""
    return [parts for block in kaldi.blocks(text.split("\n"), source, symbols, None) for parts in block]


def parsed_mesh(text, source):
    """The networks of a file of SRILM."""
    return [parts for block in confusion.blocks(text.split("\n"), source, "prob", True, None) for parts in block]


def parsed_columns(text, source, kind="prob"):
    """The networks of a file of Moses."""
    return [parts for block in confusion.blocks(text.split("\n"), source, kind, False, None) for parts in block]


def strings(parts):
    """Every pair of strings that a machine without cycles reads and writes, with the sum over its paths."""
    said = defaultdict(float)
    for x, y, weight in slow_paths(parts):
        said[tuple(map(str, x)), tuple(map(str, y))] += weight if parts.semiring == "real" else math.exp(-weight)
    return {pair: weight for pair, weight in said.items() if weight}


def assert_same(one, other):
    left, right = strings(one), strings(other)
    assert left.keys() == right.keys()
    for pair, weight in left.items():
        assert math.isclose(weight, right[pair], rel_tol=1e-9)


@st.composite
def machines(draw, semirings=("real", "log", "tropical"), acceptor=None, words=WORDS, named=None, sausage=False):
    """Machines without cycles, states in any order, weights positive, with a table or without, now and then empty."""
    n = draw(st.integers(0 if not sausage else 1, 5))
    semiring = draw(st.sampled_from(semirings))
    weight = st.floats(1e-3, 4.0) if semiring == "real" else st.floats(-3.0, 8.0)
    if n == 0:
        return MachineParts.nothing()
    symbols = ["<eps>", *words] if (draw(st.booleans()) if named is None else named) else None
    labels = st.integers(0, len(words))
    order = list(range(n)) if sausage else draw(st.permutations(range(n)))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n if not sausage else min(i + 2, n))]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=8)) if pairs else []
    chosen += pairs if sausage else []
    one_side = draw(st.booleans()) if acceptor is None else acceptor
    arcs = []
    for i, j in chosen:
        read = draw(labels)
        arcs.append((order[i], read, read if one_side else draw(labels), draw(weight), order[j]))
    ends = [n - 1] if sausage else draw(st.lists(st.integers(0, n - 1), unique=True, max_size=n))
    finals = {s: draw(weight) for s in ends}
    parts = MachineParts.of(arcs, finals, order[0], semiring, symbols)
    return parts if parts.n_states > order[0] else MachineParts.nothing()


def tiny(words=("vine",), weights=(0.5,), semiring="real"):
    """A chain of words."""
    symbols = ["<eps>", *dict.fromkeys(words)]
    arcs = [
        (i, symbols.index(w), symbols.index(w), p, i + 1) for i, (w, p) in enumerate(zip(words, weights, strict=True))
    ]
    one = 1.0 if semiring == "real" else 0.0
    return MachineParts.of(arcs, {len(words): one}, semiring=semiring, symbols=symbols)


def assert_equal_parts(one, other):
    for name in ("start", "n_states", "semiring"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("sources", "inputs", "outputs", "weights", "targets", "final_states", "final_weights"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def assert_sound(parts):
    """States, labels and weights are such as a machine can have."""
    n, arcs = parts.n_states, len(parts.sources)
    assert 0 <= parts.start < n or (parts.start, n) == (-1, 0)
    for states in (parts.sources, parts.targets, parts.final_states):
        assert ((states >= 0) & (states < n)).all()
    assert len(parts.targets) == len(parts.weights) == len(parts.words("inputs")) == len(parts.words("outputs")) == arcs
    assert (parts.inputs >= 0).all()
    assert (parts.outputs >= 0).all()
    assert len(set(parts.final_states.tolist())) == len(parts.final_states) == len(parts.final_weights)
    assert np.isfinite(parts.weights).all()
    assert np.isfinite(parts.final_weights).all()
