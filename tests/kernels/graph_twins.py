"""Slow twins of the kernels of graphs that count patterns, from the definition, and graphs to compare them on."""

from collections import Counter
from math import log

import numpy as np
from hypothesis import strategies as st

from treille.data import Graph

VALUES = {"raw": lambda c: c, "log": lambda c: 1 + log(c) if c > 0 else 0, "binary": lambda c: c > 0}


def counting_kernel(patterns, counts="raw"):
    """k(x, y) = the sum over patterns z of t(count_x(z)) t(count_y(z))."""
    value = VALUES[counts]

    def k(x, y):
        mine, theirs = Counter(patterns(x)), Counter(patterns(y))
        return sum(value(mine[z]) * value(theirs[z]) for z in mine.keys() & theirs.keys())

    return k


def node_labels(graph, labels="all"):
    named = labels in ("all", "nodes") and not isinstance(graph.nodes, int)
    return list(graph.nodes) if named else [""] * graph.n_nodes


def arcs_of(graph, labels="all"):
    """(source, target, label of the edge) of every arc: an undirected edge is two."""
    names = graph.edge_labels if graph.edge_labels and labels in ("all", "edges") else [""] * len(graph.edges)
    arcs = set()
    for (u, v), name in zip(graph.edges, names, strict=True):
        arcs.add((u, v, name))
        if not graph.directed:
            arcs.add((v, u, name))
    return sorted(arcs)


def refined(graph, h, labels="all"):
    """The labels of the nodes after each round, as nested tuples."""
    own = node_labels(graph, labels)
    rounds, arcs = [own], arcs_of(graph, labels)
    for _ in range(h):
        own = [
            (label, tuple(sorted((name, repr(own[t]), own[t]) for s, t, name in arcs if s == v)))
            for v, label in enumerate(own)
        ]
        own = [(label, tuple((name, target) for name, _, target in around)) for label, around in own]
        rounds.append(own)
    return rounds


def refined_labels(h, labels="all"):
    return lambda graph: [(r, label) for r, own in enumerate(refined(graph, h, labels)) for label in own]


def edge_labels(ends=False):
    def patterns(graph):
        nodes = node_labels(graph)
        for u, v, name in arcs_of(graph):
            if graph.directed or u <= v:
                pair = [nodes[u], nodes[v]] if graph.directed else sorted([nodes[u], nodes[v]])
                yield (name, *pair) if ends else name

    return patterns


def distances(graph, use_weights=False):
    """By relaxing all arcs until nothing changes."""
    n = graph.n_nodes
    lengths = np.full((n, n), np.inf)
    weights = graph.weights if use_weights and graph.weights is not None else [1.0] * len(graph.edges)
    for (u, v), weight in zip(graph.edges, weights, strict=True):
        lengths[u, v] = min(lengths[u, v], weight)
        if not graph.directed:
            lengths[v, u] = min(lengths[v, u], weight)
    np.fill_diagonal(lengths, 0.0)
    for middle in range(n):
        lengths = np.minimum(lengths, lengths[:, middle, None] + lengths[None, middle, :])
    return lengths


def shortest_paths(labels="nodes", max_length=np.inf, use_weights=False):
    def patterns(graph):
        nodes, lengths = node_labels(graph, labels), distances(graph, use_weights)
        for u in range(graph.n_nodes):
            for v in range(graph.n_nodes):
                if u != v and lengths[u, v] < np.inf and lengths[u, v] <= max_length:
                    yield nodes[u], float(f"{lengths[u, v]:.9g}"), nodes[v]

    return patterns


@st.composite
def graph_sets(draw, directed=None, weighted=False):
    """A few small graphs with loops, isolated nodes, empty graphs; labelled or not."""
    directed = draw(st.booleans()) if directed is None else directed
    by_node, by_edge = draw(st.booleans()), draw(st.booleans())
    graphs = []
    for _ in range(draw(st.integers(2, 5))):
        n = draw(st.integers(0, 6))
        pairs = [(u, v) for u in range(n) for v in range(n) if directed or u <= v]
        edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=9)) if pairs else []
        graphs.append(
            Graph(
                [draw(st.sampled_from("abc")) for _ in range(n)] if by_node else n,
                edges,
                [draw(st.sampled_from(["-", "=", "long name"])) for _ in edges] if by_edge else None,
                [draw(st.sampled_from([0.0, 0.1, 0.2, 0.5, 1.5])) for _ in edges] if weighted else None,
                directed=directed,
            )
        )
    return graphs


def random_graphs(count, seed=0, n=8, labels="abc", edge_labels="xy", directed=False, weights=False):
    random = np.random.default_rng(seed)
    graphs = []
    for _ in range(count):
        size = int(random.integers(0, n + 1))
        pairs = [(u, v) for u in range(size) for v in range(size) if (directed or u <= v) and random.random() < 0.3]
        graphs.append(
            Graph(
                list(random.choice(list(labels), size)) if labels else size,
                pairs,
                list(random.choice(list(edge_labels), len(pairs))) if edge_labels else None,
                list(random.integers(1, 5, len(pairs)) / 10) if weights else None,
                directed=directed,
            )
        )
    return graphs


def renumbered(graph, seed=0):
    """The same graph with its nodes in another order, and its edges in another order and direction."""
    random = np.random.default_rng(seed)
    place = random.permutation(graph.n_nodes)
    nodes = graph.nodes if isinstance(graph.nodes, int) else [graph.nodes[v] for v in np.argsort(place)]
    order = random.permutation(len(graph.edges))
    edges = [tuple(int(place[v]) for v in graph.edges[e]) for e in order]
    edges = edges if graph.directed else [(v, u) for u, v in edges]
    pick = lambda values: None if values is None else [values[e] for e in order]  # noqa: E731
    return Graph(nodes, edges, pick(graph.edge_labels), pick(graph.weights), None, graph.directed)
