"""Graphs as files hold them: a single graph, and many graphs in flat arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from treille import _core

from .errors import InputError

NO_CODES, NO_WEIGHTS = np.empty(0, np.int32), np.empty(0)


class Graph(NamedTuple):
    """One graph: its nodes, given by their labels or by their number, and its edges as pairs of positions of nodes.

    `edge_labels` and `weights` have one value for each edge, `attributes` one row of numbers for each node. Labels are str or int.

    >>> water = Graph(["O", "H", "H"], [(0, 1), (0, 2)])
    >>> water.n_nodes, len(water.edges), str(water)
    (3, 2, '3 nodes O H H, 2 edges 0-1 0-2')
    """

    nodes: Any
    edges: Any
    edge_labels: Sequence[Any] | None = None
    weights: Sequence[float] | None = None
    attributes: Any = None
    directed: bool = False

    @property
    def n_nodes(self) -> int:
        """How many nodes there are."""
        return int(self.nodes) if isinstance(self.nodes, (int, np.integer)) else len(self.nodes)

    def __str__(self) -> str:
        labels = [] if isinstance(self.nodes, (int, np.integer)) else self.nodes
        arrow, names = ">" if self.directed else "-", self.edge_labels or [""] * len(self.edges)
        edges = [f"{u}{arrow}{v}{f':{name}' if name else ''}" for (u, v), name in zip(self.edges, names, strict=True)]
        counts = (f"{self.n_nodes} node{'s' * (self.n_nodes != 1)}", f"{len(edges)} edge{'s' * (len(edges) != 1)}")
        return ", ".join(
            " ".join([count, *map(str, what)]) for count, what in zip(counts, (labels, edges), strict=True)
        )


@dataclass(frozen=True, repr=False)
class GraphParts:
    """Graphs in flat arrays, as a file holds them; `treille.Graphs`, which describes the arrays, is made of them."""

    labels: np.ndarray
    offsets: np.ndarray
    arcs: np.ndarray
    targets: np.ndarray
    edge_labels: np.ndarray
    weights: np.ndarray
    attributes: np.ndarray
    alphabet: list[str]
    edge_alphabet: list[str]
    directed: bool

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"GraphParts({len(self):,} graphs, {len(self.labels):,} nodes)"

    def take(self, rows: Any) -> GraphParts:
        """The graphs at these positions."""
        nodes, offsets = _ranges(self.offsets, rows)
        arcs, ends = _ranges(self.arcs, nodes)
        edge_labels = self.edge_labels[arcs] if len(self.edge_labels) else self.edge_labels
        weights = self.weights[arcs] if len(self.weights) else self.weights
        parts = (self.labels[nodes], offsets, ends, self.targets[arcs], edge_labels, weights, self.attributes[nodes])
        return GraphParts(*parts, self.alphabet, self.edge_alphabet, self.directed)


def _ranges(offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The positions of what belongs to these rows, and their offsets after selection."""
    lengths = np.diff(offsets)[rows]
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return np.arange(ends[-1]) + np.repeat(offsets[:-1][rows] - ends[:-1], lengths), ends


def pack(graphs: Iterable[Graph], place: Callable[[int], str] = "item {}".format) -> GraphParts:
    """Graphs as flat arrays; `place(i)` names graph i in messages.

    Edges may be listed twice, those of an undirected graph in either direction: they count once. If one graph is directed, all
    are, and an undirected edge is two arcs.

    >>> parts = pack([Graph(["O", "H", "H"], [(0, 1), (0, 2)])])
    >>> parts.alphabet, parts.labels.tolist(), parts.arcs.tolist(), parts.targets.tolist()
    (['H', 'O'], [1, 0, 0], [0, 2, 3, 4], [1, 2, 0, 0])
    """
    items = list(graphs)
    offsets, starts = np.zeros(len(items) + 1, np.int64), np.zeros(len(items) + 1, np.int64)
    np.cumsum([graph.n_nodes for graph in items], out=offsets[1:])
    directed = any(graph.directed for graph in items)
    both = [directed and not graph.directed for graph in items]
    ends = [_edges(graph, i, place) for i, graph in enumerate(items)]
    np.cumsum([len(own) * (1 + twice) for own, twice in zip(ends, both, strict=True)], out=starts[1:])
    ends = [np.concatenate([own, own[:, ::-1]]) if twice else own for own, twice in zip(ends, both, strict=True)]
    edges = np.concatenate([np.empty((0, 2), np.int64), *ends])
    named = [None if isinstance(graph.nodes, (int, np.integer)) else graph.nodes for graph in items]
    sizes = [len(own) // (1 + twice) for own, twice in zip(ends, both, strict=True)]
    labels, alphabet = _coded(named, [graph.n_nodes for graph in items], "node", place)
    edge_labels, edge_alphabet = _coded([graph.edge_labels for graph in items], sizes, "edge", place, both)
    weights = _weights(items, sizes, place, both)
    arcs, targets, arc_labels, arc_weights, fault = _core.adjacency(
        offsets, starts, edges[:, 0].copy(), edges[:, 1].copy(), edge_labels, weights, directed
    )
    if fault is not None:
        raise InputError(_explained(fault, items, sizes, place))
    codes = labels if alphabet else np.zeros(offsets[-1], np.int32)
    attributes = _attributes(items, place)
    return GraphParts(
        codes, offsets, arcs, targets, arc_labels, arc_weights, attributes, alphabet, edge_alphabet, directed
    )


def _edges(graph: Graph, i: int, place: Callable[[int], str]) -> np.ndarray:
    try:
        edges = np.asarray(graph.edges)
        if edges.size == 0:
            return np.empty((0, 2), np.int64)
        if edges.ndim == 2 and edges.shape[1] == 2 and edges.dtype.kind in "iu":
            return edges.astype(np.int64)
    except ValueError:  # rows of different lengths
        pass
    for e, edge in enumerate(graph.edges):
        whole = isinstance(edge, (tuple, list, np.ndarray)) and all(isinstance(v, (int, np.integer)) for v in edge)
        if not whole or len(edge) != 2:
            raise InputError(f"{place(i)}, edge {e}: found {edge!r}, expected the positions of two nodes")
    raise InputError(f"{place(i)}: its edges are not pairs of positions of nodes")


def _coded(
    named: Sequence[Sequence[Any] | None],
    sizes: Sequence[int],
    what: str,
    place: Callable[[int], str],
    twice: Sequence[bool] = (),
) -> tuple[np.ndarray, list[str]]:
    """The codes of labels of nodes or edges, and their alphabet; both are empty if no graph has labels."""
    having = [i for i, labels in enumerate(named) if labels is not None and len(labels)]
    if not having:
        return NO_CODES, []
    lists = [[] if labels is None else list(labels) for labels in named]
    for i, (labels, n) in enumerate(zip(lists, sizes, strict=True)):
        if len(labels) == n:
            continue
        if not labels:
            raise InputError(
                f"{place(i)}: has {n} {what}s and no labels for them, but {place(having[0])} has: "
                f"label the {what}s of every graph or of none"
            )
        raise InputError(f"{place(i)}: has {n} {what}s and {len(labels)} labels for them, expected one for each")
    distinct = set(chain.from_iterable(lists))
    for label in distinct:
        if not isinstance(label, (str, int, np.integer)) or isinstance(label, bool):
            i, k = next((i, labels.index(label)) for i, labels in enumerate(lists) if label in labels)
            found = "has no label" if label is None else f"has the label {label!r}"
            raise InputError(f"{place(i)}, {what} {k}: {found}, expected a str or a whole number for every {what}")
    alphabet = sorted({str(label) for label in distinct}, key=_in_order)
    position = {name: code for code, name in enumerate(alphabet)}
    codes = {label: position[str(label)] for label in distinct}
    times = twice or [False] * len(lists)
    every = chain.from_iterable(chain(own, own) if t else own for own, t in zip(lists, times, strict=True))
    return np.fromiter((codes[label] for label in every), np.int32), alphabet


def _in_order(name: str) -> tuple[bool, int, str]:
    """Numbers by size, before words."""
    number = name.removeprefix("-")
    is_number = number.isascii() and number.isdigit() and len(number) < 19
    return not is_number, int(name) if is_number else 0, name


def _weights(
    items: Sequence[Graph], sizes: Sequence[int], place: Callable[[int], str], both: Sequence[bool]
) -> np.ndarray:
    if all(graph.weights is None for graph in items):
        return NO_WEIGHTS
    parts = [NO_WEIGHTS]
    for i, (graph, n, twice) in enumerate(zip(items, sizes, both, strict=True)):
        own = np.ones(n) if graph.weights is None else np.asarray(graph.weights, np.float64)
        if own.shape != (n,):
            raise InputError(f"{place(i)}: has {n} edges and {len(own)} weights for them, expected one for each")
        if not np.isfinite(own).all():
            e = int(np.argmin(np.isfinite(own)))
            raise InputError(f"{place(i)}, edge {e}: its weight is {own[e]}, expected a finite number")
        parts += [own, own] if twice else [own]
    return np.concatenate(parts)


def _attributes(items: Sequence[Graph], place: Callable[[int], str]) -> np.ndarray:
    n_nodes = sum(graph.n_nodes for graph in items)
    having = [i for i, graph in enumerate(items) if graph.attributes is not None and graph.n_nodes]
    if not having:
        return np.empty((n_nodes, 0))
    parts, width = [], -1
    for i, graph in enumerate(items):
        if graph.n_nodes == 0:
            continue
        try:
            own = np.asarray([] if graph.attributes is None else graph.attributes, np.float64)
        except (TypeError, ValueError):
            raise InputError(f"{place(i)}: its attributes are not one row of numbers for each node") from None
        own = own.reshape(-1, 1) if own.ndim == 1 else own
        width = own.shape[1] if width < 0 else width
        if own.shape != (graph.n_nodes, width):
            raise InputError(
                f"{place(i)}: has {graph.n_nodes} nodes, and attributes of the shape {own.shape}, "
                f"expected {(graph.n_nodes, width)}, like {place(having[0])}"
            )
        if not np.isfinite(own).all():
            node = int(np.argwhere(~np.isfinite(own))[0, 0])
            raise InputError(f"{place(i)}, node {node}: an attribute is not a finite number")
        parts.append(own)
    return np.ascontiguousarray(np.concatenate(parts))


def _explained(
    fault: tuple[int, int, int], items: Sequence[Graph], sizes: Sequence[int], place: Callable[[int], str]
) -> str:
    g, edge, other = fault
    graph, edge = items[g], edge % max(1, sizes[g])
    u, v = (int(node) for node in graph.edges[edge])
    if other < 0:
        return (
            f"{place(g)}, edge {edge}: joins the nodes {u} and {v}, "
            f"but the graph has {graph.n_nodes} nodes, counted from 0"
        )
    return (
        f"{place(g)}, edge {edge}: joins {u} and {v} like edge {other % max(1, sizes[g])}, with another label or weight: "
        "a graph has one edge between two nodes"
    )
