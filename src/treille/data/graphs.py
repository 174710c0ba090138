"""Graphs: nodes and edges, labelled or not, directed or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Literal, TypeVar

import numpy as np

from treille import _core
from treille.data.alphabet import align
from treille.data.base import Batch, FlatBatch, Summary, as_index, first_item
from treille.data.format import listed, visible
from treille.io.errors import InputError
from treille.io.graph_parts import NO_CODES, NO_WEIGHTS, Graph, GraphParts, pack

T = TypeVar("T")
Labels = Literal["all", "nodes", "edges", "none"]
CoreArrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class Graphs(FlatBatch):
    """Many graphs in flat arrays: nodes of graph i are those from ``offsets[i]`` to ``offsets[i + 1]``.

    ``batch[i]`` is a `Graph`. Nodes of a graph are counted from 0. An undirected edge is stored as two arcs, a loop as one. Either
    all graphs of a batch are directed or none is.

    Parameters
    ----------
    data : list of `Graph`
        Labels are str or int; an int is kept as the str of its digits.

    Attributes
    ----------
    labels : int32 array
        The label of every node, an index into `alphabet`; all 0 if there are none.
    offsets : int64 array
        Where the nodes of each graph begin, and one more for the end of the last.
    arcs : int64 array
        Where the arcs of each node begin, and one more for the end of the last.
    targets : int32 array
        The node at the end of each arc, counted from the first node of its graph; those of a node rise.
    edge_labels : int32 array
        The label of each arc, an index into `edge_alphabet`; empty if there are none.
    weights : float64 array
        The weight of each arc; empty if all are 1.
    attributes : float64 array of shape (nodes, d)
        Numbers for each node; d is 0 if there are none.
    alphabet, edge_alphabet : list of str
        The distinct labels, numbers by size, then words in alphabetical order; empty if there are none.
    directed : bool

    Examples
    --------
    >>> from treille.data import Graph, Graphs
    >>> batch = Graphs([Graph(["O", "H", "H"], [(0, 1), (0, 2)]), Graph([], [])])
    >>> batch, batch.alphabet, batch.labels.tolist(), batch.targets.tolist()
    (Graphs(2 graphs, 3 nodes, 2 edges, 2 labels), ['H', 'O'], [1, 0, 0], [1, 2, 0, 0])
    >>> str(batch[0])
    '3 nodes O H H, 2 edges 0-1 0-2'
    """

    title = "graphs"
    parts = GraphParts
    formats = ()
    stored = ("labels", "offsets", "arcs", "targets", "edge_labels", "weights", "attributes")
    labels: np.ndarray
    arcs: np.ndarray
    targets: np.ndarray
    edge_labels: np.ndarray
    weights: np.ndarray
    attributes: np.ndarray

    def __init__(self, data: Any, n_jobs: int | None = None):
        self._set(data if isinstance(data, GraphParts) else _read(data))

    @classmethod
    def recognises(cls, data: Any) -> bool:
        """Whether data are graphs, and nothing else.

        >>> Graphs.recognises([Graph(2, [(0, 1)])]), Graphs.recognises(["0-1"])
        (True, False)
        """
        return isinstance(data, (Graphs, GraphParts)) or isinstance(first_item(data), Graph)

    @classmethod
    def default_kernels(cls, data: Any) -> tuple[tuple[str, str], ...]:
        return (
            ("weisfeilerlehman(3).normalized()", "neighbourhoods of nodes, with sizes normalised, suit most graphs"),
        )

    @classmethod
    def summarise(cls, data: Any, n_samples: int, width: int) -> Summary:
        batch = data if isinstance(data, Graphs) else cls(data)
        sizes, edges = np.diff(batch.offsets), batch.n_edges
        span = f"{sizes.min():,} to {sizes.max():,}, median {np.median(sizes):,.0f}, {sizes.sum():,} in all"
        fields = {
            "nodes": span,
            "edges": f"{edges.sum():,}, {'directed' if batch.directed else 'undirected'}",
            "node labels": f"{len(batch.alphabet):,}, {listed(batch.alphabet)}" if batch.alphabet else "none",
            "edge labels": f"{len(batch.edge_alphabet):,}, {listed(batch.edge_alphabet)}"
            if batch.edge_alphabet
            else "none",
        }
        values = {"nodes": int(sizes.sum()), "edges": int(edges.sum()), "labels": len(batch.alphabet)}
        return Summary(fields, values, [visible(str(graph)[:width], blanks=False) for graph in batch[:n_samples]])

    def _set(self, parts: GraphParts) -> None:
        for name in self.stored:
            array = np.ascontiguousarray(getattr(parts, name))
            array.flags.writeable = False
            setattr(self, name, array)
        self.alphabet, self.edge_alphabet, self.directed = parts.alphabet, parts.edge_alphabet, parts.directed
        self._derived: dict[Any, Any] = {}

    def as_parts(self) -> GraphParts:
        """The arrays and alphabets."""
        names = (*self.stored, "alphabet", "edge_alphabet", "directed")
        return GraphParts(**{name: getattr(self, name) for name in names})

    def __getstate__(self) -> GraphParts:
        return self.as_parts()  # the cache is not pickled

    def __setstate__(self, state: GraphParts) -> None:
        self._set(state)

    @property
    def n_edges(self) -> np.ndarray:
        """How many edges each graph has.

        >>> Graphs([Graph(3, [(0, 1), (1, 1)])]).n_edges.tolist()
        [2]
        """
        return np.diff(np.concatenate([[0], np.cumsum(self.is_edge)])[self.arcs[self.offsets]])

    @property
    def sources(self) -> np.ndarray:
        """The node at the beginning of each arc, counted from the first node of its graph."""
        places = np.arange(len(self.labels)) - np.repeat(self.offsets[:-1], np.diff(self.offsets))
        return np.repeat(places, np.diff(self.arcs)).astype(np.int32)

    @property
    def is_edge(self) -> np.ndarray:
        """The arcs that are the edges of `Graph.edges`, in their order: of an undirected edge, that from the smaller node."""
        return np.ones(len(self.targets), bool) if self.directed else self.sources <= self.targets

    def core_arrays(self, labels: Labels = "all") -> CoreArrays:
        """The arrays as the core takes them, with the labels of nodes and edges, or of either, or none."""
        nodes = self.labels if labels in ("all", "nodes") else np.zeros_like(self.labels)
        edges = self.edge_labels if labels in ("all", "edges") else NO_CODES
        return nodes, self.offsets, self.arcs, self.targets, edges, self.weights

    def core_arrays_over(self, alphabet: list[str], edge_alphabet: list[str], labels: Labels = "all") -> CoreArrays:
        """The same with labels as indices into other alphabets; a label that is not in them gets a code of its own.

        Refuses graphs that have no labels if the others have, and the reverse.
        """
        sides = (
            ("nodes", "node", self.alphabet, alphabet, len(self.labels)),
            ("edges", "edge", self.edge_alphabet, edge_alphabet, len(self.targets)),
        )
        for side, what, own, other, n in sides:
            if labels in ("all", side) and bool(own) != bool(other) and n:
                missing = "these graphs have" if other else "the graphs it was fitted on have"
                raise InputError(
                    f"{missing} no {what} labels, but {'the graphs it was fitted on' if other else 'these'} have: "
                    "label all, or give the kernel labels='none'"
                )
        nodes, offsets, arcs, targets, edges, weights = self.core_arrays(labels)
        if labels in ("all", "nodes") and self.alphabet and self.alphabet != alphabet:
            nodes = align(self.alphabet, alphabet)[nodes]
        if len(edges) and self.edge_alphabet != edge_alphabet:
            edges = align(self.edge_alphabet, edge_alphabet)[edges]
        return nodes, offsets, arcs, targets, edges, weights

    def relabelled(self, labels: np.ndarray, alphabet: list[str]) -> Graphs:
        """The same graphs with other labels of nodes.

        >>> str(Graphs([Graph(2, [(0, 1)])]).relabelled(np.array([0, 1], np.int32), ["a", "b"])[0])
        '2 nodes a b, 1 edge 0-1'
        """
        return Graphs(replace(self.as_parts(), labels=labels, alphabet=alphabet))

    def undirected(self) -> Graphs:
        """The same graphs with every arc an edge, without labels and weights of edges, which may depend on the direction.

        >>> str(Graphs([Graph(2, [(0, 1), (1, 0)], directed=True)]).undirected()[0])
        '2 nodes, 1 edge 0-1'
        """
        edges = self.sources.astype(np.int64), self.targets.astype(np.int64), NO_CODES, NO_WEIGHTS
        arcs, targets, *_ = _core.adjacency(self.offsets, self.arcs[self.offsets], *edges, False)
        bare = replace(self.as_parts(), edge_labels=NO_CODES, weights=NO_WEIGHTS, edge_alphabet=[], directed=False)
        return Graphs(replace(bare, arcs=arcs, targets=targets))

    def derived(self, key: Any, make: Callable[[], T]) -> T:
        """The result of `make`, computed once and cached in this batch under `key`."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    def __getitem__(self, key: Any) -> Any:
        key = as_index(key, len(self))
        if not isinstance(key, int):
            return Graphs(self.as_parts().take(np.arange(len(self))[key]))
        one = self[key : key + 1]
        kept, n = one.is_edge, len(one.labels)
        nodes = [self.alphabet[code] for code in one.labels] if self.alphabet else n
        edges = list(zip(one.sources[kept].tolist(), one.targets[kept].tolist(), strict=True))
        labels = [self.edge_alphabet[code] for code in one.edge_labels[kept]] if len(one.edge_labels) else None
        weights = one.weights[kept].tolist() if len(one.weights) else None
        return Graph(nodes, edges, labels, weights, one.attributes if one.attributes.shape[1] else None, self.directed)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        spec = {"alphabet": self.alphabet, "edge_alphabet": self.edge_alphabet, "directed": self.directed}
        return spec, self._stored_arrays()

    @classmethod
    def _read_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> Graphs:
        raise NotImplementedError

    def __repr__(self) -> str:
        counts = f"{len(self.labels):,} nodes, {self.n_edges.sum():,} edges, {len(self.alphabet):,} labels"
        return f"Graphs({len(self):,} graphs, {counts}{', directed' * self.directed})"


def _read(data: Any) -> GraphParts:
    if isinstance(data, Batch):
        raise InputError(f"found {data!r}, expected graphs: treille.Graphs, or what makes one")
    if not isinstance(data, Iterable) or isinstance(data, (str, bytes, dict, Graph)):
        raise InputError(f"found {type(data).__name__}, expected a list of graphs")
    items = list(data)
    for i, item in enumerate(items):
        if not isinstance(item, Graph):
            raise InputError(f"item {i} is {type(item).__name__}, expected a treille.data.Graph")
    return pack(items)
