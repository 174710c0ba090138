"""Graphs: nodes and edges, labelled or not, directed or not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from treille import _core
from treille.data.base import Batch, PackedBatch, Summary, align, first_item, read_each, running_sum
from treille.data.format import count, listed, short_json, span, visible
from treille.data.graph import Graph, graph_picture
from treille.io import stored
from treille.io.errors import InputError
from treille.io.graph_objects import adjacency_graph, dict_graph, edge_index_graph, graph_of, is_graph
from treille.io.graphs import check_sizes, format_graph, smiles_graph
from treille.io.networkx_graphs import networkx_graph, to_networkx
from treille.io.packed_graphs import NO_CODES, NO_WEIGHTS, GraphArrays, PackedGraphs, check_parts, pack
from treille.io.parameters import check_flag
from treille.io.unused import Unused

# The default kernel has shortest paths where a node has at most MOST_PARTNERS others on average, in the first SIZED graphs.
MOST_PARTNERS, SIZED = 200, 1000
NUMBERS = {"type": "array", "items": {"type": "number"}}
JSON_GRAPH = {
    "type": "object",
    "properties": {
        "nodes": {"description": "The labels of the nodes, or their number.", "type": ["array", "integer"]},
        "edges": {
            "type": "array",
            "items": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
        },
        "edge_labels": {"type": "array"},
        "weights": NUMBERS,
        "node_attr": {"type": "array", "items": NUMBERS},
        "directed": {"type": "boolean"},
    },
    "required": ["edges"],
}
Labels = Literal["all", "nodes", "edges", "none"]
CoreArrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class Graphs(PackedBatch, GraphArrays):
    """Many graphs in flat arrays: nodes of graph i are those from ``offsets[i]`` to ``offsets[i + 1]``.

    ``batch[i]`` is a `Graph`. Nodes of a graph are counted from 0. An undirected edge is stored as two arcs, a loop as one. Either
    all graphs of a batch are directed or none is.

    Parameters
    ----------
    data : list of graphs
        Each is a `Graph`, a graph of networkx, an adjacency matrix (of numpy or scipy, symmetric if undirected), a tuple of edges,
        labels of nodes and labels of edges as in GraKeL, an object or dict with `edge_index` as in PyTorch Geometric, or a dict
        with `nodes` and `edges` as in JSON lines. Labels are str or int; an int is kept as the str of its digits.

    Attributes
    ----------
    labels : int32 array
        The label of every node, an index into `alphabet`; all 0 if there are none.
    offsets : int64 array
        Where the nodes of each graph begin, and one more for the end of the last.
    arcs : int64 array
        Where the arcs of each node begin, and one more for the end of the last.
    targets : int32 array
        The node at the end of each arc, counted from the first node of its graph, in increasing order.
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
    >>> Graphs([([(0, 1), (1, 0)], {0: "C", 1: "O"}), {"nodes": ["C", "C"], "edges": [[0, 1]]}])
    Graphs(2 graphs, 4 nodes, 2 edges, 2 labels)
    """

    title = "graphs"
    packed = PackedGraphs
    stored = ("labels", "offsets", "arcs", "targets", "edge_labels", "weights", "attributes")

    def __init__(self, data: Any, n_jobs: int | None = None):
        self._hold(**vars(data if isinstance(data, PackedGraphs) else _read(data)))

    @classmethod
    def recognises(cls, data: Any) -> bool:
        """Returns whether data are graphs, and nothing else.

        >>> Graphs.recognises([Graph(2, [(0, 1)])]), Graphs.recognises([np.eye(2)]), Graphs.recognises(np.eye(2))
        (True, True, False)
        """
        return isinstance(data, (Graphs, PackedGraphs)) or is_graph(first_item(data))

    @classmethod
    def json_schema(cls, units: Sequence[Any] = ()) -> dict[str, Any]:
        example = {"nodes": ["C", "O"], "edges": [[0, 1]]}
        words = {"title": "graphs", "description": f"an object with nodes and edges, such as {example}"}
        words["$comment"] = f"{json.dumps(example)}, or SMILES"
        return words | {"anyOf": [JSON_GRAPH, {"type": "string", "description": "SMILES"}]}

    @classmethod
    def read_json(cls, values: list[Any], reading: Mapping[str, Any]) -> list[Graph]:
        graphs = []
        for i, value in enumerate(values):
            if isinstance(value, str):
                made = smiles_graph(value, f"item {i}")
            elif isinstance(value, dict) and is_graph(value):
                made = (edge_index_graph if "edge_index" in value else dict_graph)(value, f"item {i}")
            else:
                expected = f"{cls.json_schema()['description']}, or SMILES as a text"
                raise InputError(f"item {i} is {short_json(value)}, expected {expected}")
            graphs.append(Graph(*made))
        check_sizes(graphs, "item {}".format)
        return graphs

    @classmethod
    def write_json(cls, example: Any) -> Any:
        return json.loads(format_graph(example))

    @classmethod
    def default_kernels(cls, data: Any) -> tuple[tuple[str, str], ...]:
        """Neighbourhoods that occur, plus shortest paths, or plus counted neighbourhoods where pairs of nodes are too many."""
        some = data if isinstance(data, (Graphs, PackedGraphs)) else pack(read_each(data[:SIZED], graph_of))
        sizes = np.diff(some.offsets[: SIZED + 1]).astype(float)
        paths = (sizes**2).sum() <= MOST_PARTNERS * sizes.sum()
        other, why = (
            ("shortestpath()", "with shortest paths were the most accurate on ten sets of graphs")
            if paths
            else ("weisfeilerlehman(3)", "and their counts suit large graphs, in linear time")
        )
        expression = f"2*(3*weisfeilerlehman(3, counts=binary).normalized() + {other}.normalized()).normalized()"
        return ((expression, f"neighbourhoods of up to three steps that occur, {why}"),)

    @classmethod
    def summarise(cls, data: Any, n_samples: int, width: int) -> Summary:
        batch = data if isinstance(data, Graphs) else cls(data)
        sizes, edges = np.diff(batch.offsets), batch.n_edges
        named = [("nodes", batch.alphabet), ("edges", batch.edge_alphabet)]
        labels = [f"{len(names):,} of {what}: {listed(names, 10)}" for what, names in named if names]
        weighted = f", weights from {batch.weights.min():g} to {batch.weights.max():g}" if len(batch.weights) else ""
        fields = {
            "nodes": span(sizes),
            "edges": f"{span(edges)}, {'directed' if batch.directed else 'undirected'}{weighted}",
            "labels": "; ".join(labels) or "none",
        }
        if batch.attributes.shape[1]:
            fields["numbers"] = f"{batch.attributes.shape[1]:,} for each node"
        values = {"nodes": int(sizes.sum()), "edges": int(edges.sum()), "labels": len(batch.alphabet)}
        return Summary(fields, values, [visible(str(graph)[:width], blanks=False) for graph in batch[:n_samples]])

    @classmethod
    def from_networkx(
        cls,
        graphs: Iterable[Any],
        label: str | None = "label",
        edge_label: str | None = "label",
        weight: str | None = "weight",
        attributes: str | Sequence[str] | None = None,
    ) -> Graphs:
        """Converts graphs of networkx. Labels, weights and attributes have these names in the data of nodes and edges.

        If no node or edge has a label or weight, there are none, with a warning if there are other data; a label called other than
        "label" must exist. None: no labels. `attributes` may be several names.

        >>> import networkx as nx
        >>> path = nx.path_graph(3)
        >>> nx.set_node_attributes(path, {0: "C", 1: "C", 2: "O"}, "element")
        >>> str(Graphs.from_networkx([path], label="element")[0])
        '3 nodes C C O, 2 edges 0-1 1-2'
        """
        names: dict[str, Any] = {"label": label, "edge_label": edge_label, "weight": weight, "attributes": attributes}
        unused = Unused()
        parts = pack(read_each(graphs, partial(networkx_graph, **names, unused=unused)))
        sides = (
            ("nodes", label, parts.alphabet, len(parts.labels)),
            ("edges", edge_label, parts.edge_alphabet, len(parts.targets)),
        )
        for side, name, alphabet, n in sides:
            if name not in (None, "label") and n and not alphabet:
                there = f"there are: {', '.join(unused.names(side))}" if unused.names(side) else "there are no data"
                raise InputError(f"none of the {side} has {name!r} in its data, expected its label; {there}")
            if name is None or (side == "nodes" and attributes is not None):
                unused.leave_out(side)
        _warn(unused, parts)
        return cls(parts)

    @classmethod
    def from_adjacency(
        cls, matrices: Iterable[Any], labels: Iterable[Any] | None = None, directed: bool | None = None
    ) -> Graphs:
        """Reads adjacency matrices, of numpy or scipy, with labels for the nodes of each graph.

        Values other than 0 and 1 are weights. Without `directed`, the graph of a symmetric matrix is undirected.

        >>> str(Graphs.from_adjacency([[[0, 2.5], [2.5, 0]]], labels=[["C", "O"]])[0])
        '2 nodes C O, 1 edge 0-1'
        """
        items, names = list(matrices), None if labels is None else list(labels)
        if names is not None and len(names) != len(items):
            raise InputError(f"there are {len(items)} matrices and labels for {len(names)}, expected some for each")
        rows = [None] * len(items) if names is None else names
        made = (adjacency_graph(x, f"item {i}", rows[i], directed) for i, x in enumerate(items))
        return cls(pack(made))

    @classmethod
    def from_edge_index(cls, graphs: Iterable[Any], one_hot: bool = False) -> Graphs:
        """Reads objects or dicts with `edge_index`, of shape (2, edges), as in PyTorch Geometric, with `num_nodes` or `x`.

        Edges listed in both directions are undirected. Whole numbers in one column of `x` are labels, other numbers attributes; one
        column of `edge_attr` holds labels or weights alike. With `one_hot`, the rows of both have a 1 at the position of the label.

        >>> graph = {"edge_index": [[0, 1], [1, 0]], "x": [[1.0, 0.0], [0.0, 1.0]]}
        >>> str(Graphs.from_edge_index([graph], one_hot=True)[0])
        '2 nodes 0 1, 1 edge 0-1'
        """
        unused = Unused()
        parts = pack(read_each(graphs, partial(edge_index_graph, one_hot=one_hot, unused=unused)))
        _warn(unused, parts)
        return cls(parts)

    @classmethod
    def from_smiles(cls, texts: Iterable[str], hydrogens: bool = False) -> Graphs:
        """Reads molecules as SMILES; rdkit must be installed. Labels are atoms, with charge and isotope, and the types of bonds.

        With `hydrogens`, labels of atoms contain their hydrogen atoms, such as CH3 and OH. A warning says what is not part of the
        graphs: stereochemistry, atom maps, and without `hydrogens` radicals.

        >>> str(Graphs.from_smiles(["CC([O-])=O"])[0])  # doctest: +SKIP
        '4 nodes C C O- O, 3 edges 0-1:single 1-2:single 1-3:double'
        """
        check_flag("hydrogens", hydrogens)
        unused = Unused()
        parts = pack(read_each(texts, partial(smiles_graph, hydrogens=bool(hydrogens), unused=unused)))
        unused.warn()
        return cls(parts)

    @classmethod
    def from_arrays(
        cls,
        labels: Any,
        offsets: Any,
        arcs: Any,
        targets: Any,
        edge_labels: Any = NO_CODES,
        weights: Any = NO_WEIGHTS,
        attributes: Any = None,
        *,
        alphabet: Sequence[str] = (),
        edge_alphabet: Sequence[str] = (),
        directed: bool = False,
    ) -> Graphs:
        """A batch from its arrays, checked.

        >>> Graphs.from_arrays([0, 1], [0, 2], [0, 1, 2], [1, 0], alphabet=["C", "O"])
        Graphs(1 graph, 2 nodes, 1 edge, 2 labels)
        """
        try:
            codes, ends, heads = np.array(labels, np.int32), np.array(offsets, np.int64), np.array(arcs, np.int64)
            of_arcs = np.array(targets, np.int32), np.array(edge_labels, np.int32), np.array(weights, np.float64)
            wide = np.empty((codes.size, 0)) if attributes is None else np.array(attributes, np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"an array of graphs does not hold numbers of its type: {error}") from None
        parts = PackedGraphs(codes, ends, heads, *of_arcs, wide, list(alphabet), list(edge_alphabet), bool(directed))
        check_parts(parts)
        return cls(parts)

    @property
    def n_edges(self) -> np.ndarray:
        """The number of edges of each graph.

        >>> Graphs([Graph(3, [(0, 1), (1, 1)])]).n_edges.tolist()
        [2]
        """
        return np.diff(np.concatenate([[0], np.cumsum(self.is_edge)])[self.arcs[self.offsets]])

    @property
    def sources(self) -> np.ndarray:
        """The node at the beginning of each arc, counted from the first node of its graph."""
        return np.repeat(self.positions, np.diff(self.arcs)).astype(np.int32)

    @property
    def is_edge(self) -> np.ndarray:
        """Whether each arc is an edge of `Graph.edges`, in this order: of an undirected edge, the arc from the smaller node."""
        return np.ones(len(self.targets), bool) if self.directed else self.sources <= self.targets

    def core_arrays(self, labels: Labels = "all") -> CoreArrays:
        """The arrays for the core; `labels` selects the labels of nodes, of edges, of both or none."""
        nodes = self.labels if labels in ("all", "nodes") else np.zeros_like(self.labels)
        edges = self.edge_labels if labels in ("all", "edges") else NO_CODES
        return nodes, self.offsets, self.arcs, self.targets, edges, self.weights

    def core_arrays_over(self, alphabet: list[str], edge_alphabet: list[str], labels: Labels = "all") -> CoreArrays:
        """The arrays with labels as indices into other alphabets; a label that is not in them gets a new code.

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
        """Returns the graphs with other labels of nodes.

        >>> str(Graphs([Graph(2, [(0, 1)])]).relabelled(np.array([0, 1], np.int32), ["a", "b"])[0])
        '2 nodes a b, 1 edge 0-1'
        """
        return Graphs(replace(self.as_packed(), labels=labels, alphabet=alphabet))

    def undirected(self) -> Graphs:
        """Makes every arc an undirected edge. Drops labels and weights of edges, which may depend on the direction.

        >>> str(Graphs([Graph(2, [(0, 1), (1, 0)], directed=True)]).undirected()[0])
        '2 nodes, 1 edge 0-1'
        """
        edges = self.sources.astype(np.int64), self.targets.astype(np.int64), NO_CODES, NO_WEIGHTS
        arcs, targets, *_ = _core.adjacency(self.offsets, self.arcs[self.offsets], *edges, False)
        bare = replace(self.as_packed(), edge_labels=NO_CODES, weights=NO_WEIGHTS, edge_alphabet=[], directed=False)
        return Graphs(replace(bare, arcs=arcs, targets=targets))

    def _item(self, i: int) -> Graph:
        return next(self[i : i + 1]._graphs())

    def __iter__(self) -> Iterator[Graph]:
        return (graph for run in self.chunks(1 << 16) for graph in run._graphs())

    def _graphs(self) -> Iterator[Graph]:
        kept = self.is_edge
        edges = list(zip(self.sources[kept].tolist(), self.targets[kept].tolist(), strict=True))
        nodes = [self.alphabet[code] for code in self.labels.tolist()] if self.alphabet else None
        coded = len(self.edge_labels) > 0
        labels = [self.edge_alphabet[code] for code in self.edge_labels[kept].tolist()] if coded else None
        weights = self.weights[kept].tolist() if len(self.weights) else None
        starts = running_sum(self.n_edges).tolist()
        for i, (first, last) in enumerate(pairwise(self.offsets.tolist())):
            own, of_edges = slice(first, last), slice(starts[i], starts[i + 1])
            yield Graph(
                last - first if nodes is None else nodes[own],
                edges[of_edges],
                None if labels is None else labels[of_edges],
                None if weights is None else weights[of_edges],
                self.attributes[own] if self.attributes.shape[1] else None,
                self.directed,
            )

    @property
    def part_offsets(self) -> np.ndarray:
        return self.offsets + np.concatenate([[0], np.cumsum(self.n_edges)])

    def part_names(self, i: int) -> list[str]:
        """The nodes of graph i, then its edges."""
        graph = self[i]
        labels = [""] * graph.n_nodes if isinstance(graph.nodes, int) else graph.nodes
        nodes = [f"{node} {label}".rstrip() for node, label in enumerate(labels)]
        return [*nodes, *(f"{nodes[u]} - {nodes[v]}" for u, v in graph.edges)]

    def svg(self, i: int, shares: Any = None, hints: Sequence[str] | None = None) -> str:
        """A drawing of graph i, with shares of its nodes, then of its edges.

        >>> Graphs([Graph(["O", "H", "H"], [(0, 1), (0, 2)])]).svg(0).count("<path")
        2
        """
        return graph_picture(self[i], shares, hints)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        spec = {"alphabet": self.alphabet, "edge_alphabet": self.edge_alphabet, "directed": self.directed}
        return spec, self._stored_arrays()

    @classmethod
    def _read_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> Graphs:
        names, edge_names = stored.names(spec), stored.names(spec, "edge_alphabet")
        targets = stored.array(arrays, "targets", np.int32)
        attributes = stored.array(arrays, "attributes", np.float64, ndim=2)
        labels = stored.indices(arrays, "labels", max(1, len(names)))
        return cls.from_arrays(
            labels,
            stored.offsets(arrays, "offsets", len(labels)),
            stored.offsets(arrays, "arcs", len(targets)),
            targets,
            stored.indices(arrays, "edge_labels", len(edge_names)),
            stored.array(arrays, "weights", np.float64),
            attributes,
            alphabet=names,
            edge_alphabet=edge_names,
            directed=stored.value(spec, "directed", bool),
        )

    def to_networkx(self) -> list[Any]:
        """One graph of networkx each, with `label`, `weight` and `attributes` in the data of nodes and edges.

        >>> Graphs([Graph(["C", "O"], [(0, 1)])]).to_networkx()[0].nodes[1]
        {'label': 'O'}
        """
        return to_networkx(self)

    def __repr__(self) -> str:
        counts = f"{count(len(self.labels), 'node')}, {count(self.n_edges.sum(), 'edge')}, {count(len(self.alphabet), 'label')}"
        return f"Graphs({count(len(self), 'graph')}, {counts}{', directed' * self.directed})"


def _read(data: Any) -> PackedGraphs:
    if isinstance(data, Batch):
        raise InputError(f"found {data!r}, expected graphs: treille.Graphs, or what makes one")
    one = isinstance(data, (str, bytes, dict, Graph)) or (not isinstance(data, (list, tuple)) and is_graph(data))
    if one or not isinstance(data, Iterable):
        hint = "" if isinstance(data, (str, bytes)) or not one else ": write [graph]"
        raise InputError(f"found {type(data).__name__}, expected a list of graphs{hint}")
    unused = Unused()
    parts = pack(read_each(data, partial(graph_of, unused=unused)))
    _warn(unused, parts)
    return parts


def _warn(unused: Unused, parts: PackedGraphs) -> None:
    """Warns of fields, and of data of nodes or edges that have no labels, which other data may be."""
    for side, alphabet in (("nodes", parts.alphabet), ("edges", parts.edge_alphabet)):
        if alphabet:
            unused.leave_out(side)
    options = (("label", "nodes"), ("edge_label", "edges"))
    chosen = ", ".join(f"{option}={names[0]!r}" for option, side in options if (names := unused.names(side)))
    unused.warn(f"labels are called 'label', and Graphs.from_networkx(graphs, {chosen}) reads others" if chosen else "")
