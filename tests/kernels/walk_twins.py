"""Slow twins of the kernels of walks, from the dense adjacency matrix of the product, and graphs to compare them on."""

import math
from collections import Counter

import numpy as np
from hypothesis import strategies as st
from scipy.linalg import expm

from treille.data import Graph


def node_labels(graph, labels):
    plain = isinstance(graph.nodes, int) or labels in ("edges", "none")
    return [""] * graph.n_nodes if plain else [str(label) for label in graph.nodes]


def arcs_of(graph, labels):
    """Source, target, label and weight of every arc, each once."""
    names = graph.edge_labels if graph.edge_labels and labels in ("all", "edges") else [""] * len(graph.edges)
    weights = [1.0] * len(graph.edges) if graph.weights is None else graph.weights
    found = {}
    for (u, v), name, weight in zip(graph.edges, names, weights, strict=True):
        for ends in {(u, v)} if graph.directed else {(u, v), (v, u)}:
            found[ends] = (str(name), weight)
    return [(u, v, name, weight) for (u, v), (name, weight) in found.items()]


def product_matrix(x, y, labels="all"):
    """The adjacency matrix of the direct product."""
    mine, theirs = node_labels(x, labels), node_labels(y, labels)
    nodes = [(u, v) for u, a in enumerate(mine) for v, b in enumerate(theirs) if a == b]
    place = {pair: k for k, pair in enumerate(nodes)}
    A = np.zeros((len(nodes), len(nodes)))
    for u, u2, name, weight in arcs_of(x, labels):
        for v, v2, name2, weight2 in arcs_of(y, labels):
            if name == name2 and (u, v) in place and (u2, v2) in place:
                A[place[u, v], place[u2, v2]] = weight * weight2
    return A


def random_walk_kernel(decay, series="exponential", labels="all", steps=None, start="matching"):
    def k(x, y):
        A = decay * product_matrix(x, y, labels)
        others = x.n_nodes * y.n_nodes - len(A) if start == "all" else 0
        if steps is not None:
            factors = [1.0 if series == "geometric" else 1 / math.factorial(n) for n in range(steps + 1)]
            S = sum(factor * np.linalg.matrix_power(A, n) for n, factor in enumerate(factors))
        else:
            S = expm(A) if series == "exponential" else np.linalg.inv(np.eye(len(A)) - A)
        return float(S.sum()) + others

    return k


def walks_of(graph, k, labels="all"):
    """The sequences of labels of the walks of k steps, and their weights, by enumeration."""
    names, arcs = node_labels(graph, labels), arcs_of(graph, labels)
    walks = [((name,), v, 1.0) for v, name in enumerate(names)]
    for _ in range(k):
        walks = [
            ((*sequence, edge, names[target]), target, total * weight)
            for sequence, end, total in walks
            for source, target, edge, weight in arcs
            if source == end
        ]
    found = Counter()
    for sequence, _, weight in walks:
        found[sequence] += weight
    return found


def walks_kernel(k, min_k=None, labels="all", counts="raw"):
    change = {"raw": lambda c: c, "log": lambda c: 1 + math.log(c), "binary": lambda c: 1.0}[counts]

    def value(x, y):
        total = 0.0
        for n in range(k if min_k is None else min_k, k + 1):
            mine, theirs = walks_of(x, n, labels), walks_of(y, n, labels)
            total += sum(change(mine[s]) * change(theirs[s]) for s in mine if s in theirs)
        return total

    return value


BENZENE = Graph("CCCCCC", [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)], "dsdsds")
PLAIN = [
    Graph("CCO", [(0, 1), (1, 2)], "ss"),
    BENZENE,
    Graph([], []),
    Graph("N", []),
    Graph("CCCCN", [(0, 1), (0, 2), (0, 3), (0, 4), (4, 4)], "sdsss"),
    Graph("COCOCNNNN", [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (5, 6), (6, 7)], "sdsdsss"),
    Graph("Xe", [(0, 1)], "t"),
    Graph("CCCCCCO", [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (5, 6)], "dsdsdsd"),
]
WEIGHTED = [
    graph._replace(weights=np.random.default_rng(g).uniform(0.1, 1.5, len(graph.edges)).tolist())
    for g, graph in enumerate(PLAIN)
]
DIRECTED = [graph._replace(directed=True) for graph in PLAIN]
BATCHES = {"plain": PLAIN, "weighted": WEIGHTED, "directed": DIRECTED}
FIVE = Graph("ABCDE", [(0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4)])  # the graph of the lecture


@st.composite
def random_graphs(draw, labelled=True, signed=False):
    n = draw(st.integers(0, 7))
    pairs = [(u, v) for u in range(n) for v in range(n)]
    edges = draw(st.lists(st.sampled_from(pairs), unique_by=lambda e: frozenset(e), max_size=10)) if pairs else []
    nodes = "".join(draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n))) if labelled else n
    names = draw(st.lists(st.sampled_from("st"), min_size=len(edges), max_size=len(edges))) if labelled else None
    span = st.floats(-1.0 if signed else 0.0, 1.0)
    weights = draw(st.lists(span, min_size=len(edges), max_size=len(edges)))
    return Graph(nodes, edges, names, weights if draw(st.booleans()) else None)
