"""Graphs as files hold them: a single graph, and many graphs in flat arrays."""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from treille import _core

from .errors import InputError
from .packed import PackedExamples, are_offsets, joined_offsets, over_one_alphabet, running_sum, selection

NO_CODES, NO_WEIGHTS = np.empty(0, np.int32), np.empty(0)
LIMIT = 2**31  # of the nodes of one graph


class PlainGraph(NamedTuple):
    """One graph as readers make it: the fields of `treille.data.Graph`, which describes them."""

    nodes: Any
    edges: Any
    edge_labels: Any = None
    weights: Any = None
    attributes: Any = None
    directed: bool = False

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return int(self.nodes) if isinstance(self.nodes, (int, np.integer)) else len(self.nodes)


@dataclass(frozen=True, repr=False, eq=False)
class GraphArrays:
    """The attributes of graphs in flat arrays; `treille.Graphs` describes them."""

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


class PackedGraphs(GraphArrays, PackedExamples):
    """Graphs in flat arrays, as a file holds them; `treille.Graphs` is made of them."""

    title = "graphs"

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: Any) -> "PackedGraphs":
        nodes, offsets = selection(self.offsets, rows)
        arcs, ends = selection(self.arcs, nodes)
        edge_labels = self.edge_labels[arcs] if len(self.edge_labels) else self.edge_labels
        weights = self.weights[arcs] if len(self.weights) else self.weights
        parts = (self.labels[nodes], offsets, ends, self.targets[arcs], edge_labels, weights, self.attributes[nodes])
        return PackedGraphs(*parts, self.alphabet, self.edge_alphabet, self.directed)

    @classmethod
    def join(cls, each: Sequence["PackedGraphs"]) -> "PackedGraphs":
        """The graphs of several files that have the same `traits`, over one alphabet.

        >>> one, two = (pack([PlainGraph([label, "b"], [(0, 1)])]) for label in "ca")
        >>> PackedGraphs.join([one, two]).alphabet
        ['a', 'b', 'c']
        """
        labels, alphabet = over_one_alphabet([(part.labels, part.alphabet) for part in each], in_order)
        coded = [(part.edge_labels, part.edge_alphabet) for part in each]
        edge_labels, edge_alphabet = over_one_alphabet(coded, in_order)
        weights = [part.weights if len(part.weights) else np.ones(len(part.targets)) for part in each]
        width = max(part.attributes.shape[1] for part in each)
        rows = [part.attributes.reshape(len(part.labels), -1) for part in each if len(part.labels)]
        return cls(
            labels,
            joined_offsets(part.offsets for part in each),
            joined_offsets(part.arcs for part in each),
            np.concatenate([part.targets for part in each]),
            edge_labels,
            np.concatenate(weights) if any(len(part.weights) for part in each) else NO_WEIGHTS,
            np.concatenate([np.empty((0, width)), *rows]),
            alphabet,
            edge_alphabet,
            any(part.directed for part in each),  # undirected edges are two arcs already
        )

    @property
    def volume(self) -> int:
        return 8 * (len(self.labels) + len(self.targets))

    def traits(self) -> dict[str, str]:
        """Returns whether nodes and edges have labels, and their numbers of attributes, unknown without nodes, or without edges."""
        nodes = {"labels": f"{'' if self.alphabet else 'no '}labels of nodes"}
        nodes["attributes"] = f"{self.attributes.shape[1] or 'no'} attributes"
        edges = {"edge labels": f"{'' if self.edge_alphabet else 'no '}labels of edges"}
        return (nodes if len(self.labels) else {}) | (edges if len(self.targets) else {})


def pack(graphs: Iterable[PlainGraph], place: Callable[[int], str] = "item {}".format) -> PackedGraphs:
    """Graphs as flat arrays; `place(i)` names graph i in messages.

    Edges may be listed twice, in undirected graphs in either direction: they count once. If one graph is directed, all
    are, and an undirected edge is two arcs.

    >>> parts = pack([PlainGraph(["O", "H", "H"], [(0, 1), (0, 2)])])
    >>> parts.alphabet, parts.labels.tolist(), parts.arcs.tolist(), parts.targets.tolist()
    (['H', 'O'], [1, 0, 0], [0, 2, 3, 4], [1, 2, 0, 0])
    """
    items = list(graphs)
    sizes = [_n_nodes(graph, i, place) for i, graph in enumerate(items)]
    offsets, (edges, n_edges) = running_sum(sizes), _edges(items, place)
    named = [None if isinstance(graph.nodes, (int, np.integer)) else graph.nodes for graph in items]
    labels, alphabet = _coded(named, sizes, "node", place)
    edge_labels, edge_alphabet = _coded([graph.edge_labels for graph in items], n_edges, "edge", place)
    weights, attributes = _weights(items, n_edges, place), _attributes(items, sizes, place)
    directed = np.array([bool(graph.directed) for graph in items], bool)
    origin = np.arange(len(edges))
    if directed.any() and not directed.all():  # edges of the undirected graphs are two arcs
        of_graph = np.repeat(np.arange(len(items)), n_edges)
        back = origin[~directed[of_graph]]
        order = np.argsort(np.concatenate([of_graph, of_graph[back]]), kind="stable")
        origin = np.concatenate([origin, back])[order]
        edges = np.concatenate([edges, edges[back, ::-1]])[order]
        edge_labels, weights = (array[origin] if len(array) else array for array in (edge_labels, weights))
    starts = running_sum(np.asarray(n_edges, np.int64) * np.where(directed.any() & ~directed, 2, 1))
    sources, ends = (np.ascontiguousarray(column) for column in edges.T)
    arcs, targets, arc_labels, arc_weights, fault = _core.adjacency(
        offsets, starts, sources, ends, edge_labels, weights, bool(directed.any())
    )
    if fault is not None:
        g, edge, other = fault
        given = running_sum(n_edges)[g]
        first, second = (int(origin[starts[g] + e] - given) if e >= 0 else -1 for e in (edge, other))
        raise InputError(f"{place(g)}, edge {first}: {_explained(items[g], first, second)}")
    codes = labels if alphabet else np.zeros(offsets[-1], np.int32)
    shared = (attributes, alphabet, edge_alphabet, bool(directed.any()))
    return PackedGraphs(codes, offsets, arcs, targets, arc_labels, arc_weights, *shared)


def _n_nodes(graph: PlainGraph, i: int, place: Callable[[int], str]) -> int:
    try:
        n = graph.n_nodes
    except TypeError:
        n = -1
    if not 0 <= n < LIMIT or isinstance(graph.nodes, (bytes, dict, bool)):
        found = repr(graph.nodes)[:40]
        raise InputError(f"{place(i)}: its nodes are {found}, expected a list of labels or the number of nodes")
    return n


def _edges(items: Sequence[PlainGraph], place: Callable[[int], str]) -> tuple[np.ndarray, list[int]]:
    """The edges of all graphs, one row each, and how many each graph has."""
    lists = [graph.edges for graph in items]
    with contextlib.suppress(TypeError, ValueError, OverflowError):  # found again below, with its place
        if all(type(own) is list for own in lists):
            pairs = list(chain.from_iterable(lists))
            flat = np.array(list(chain.from_iterable(pairs))) if set(map(len, pairs)) <= {2} else np.empty(0)
            if flat.dtype.kind == "i" or not pairs:
                return flat.astype(np.int64, copy=False).reshape(-1, 2), [len(own) for own in lists]
    each = [_edges_of(graph.edges, i, place) for i, graph in enumerate(items)]
    return np.concatenate([np.empty((0, 2), np.int64), *each]), [len(own) for own in each]


def _edges_of(edges: Any, i: int, place: Callable[[int], str]) -> np.ndarray:
    if not isinstance(edges, (Sequence, np.ndarray)) or isinstance(edges, (str, bytes)):
        raise InputError(f"{place(i)}: its edges are {type(edges).__name__}, expected a list of pairs of nodes")
    try:
        array = np.asarray(edges)
        if array.size == 0 and len(edges) == 0:
            return np.empty((0, 2), np.int64)
        if array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind in "iu":
            return array.astype(np.int64, copy=False)
    except ValueError:  # rows of different lengths
        pass
    for e, edge in enumerate(edges):
        whole = isinstance(edge, (tuple, list, np.ndarray)) and all(isinstance(v, (int, np.integer)) for v in edge)
        if not whole or len(edge) != 2 or not all(-LIMIT < v < LIMIT for v in edge):
            raise InputError(f"{place(i)}, edge {e}: found {str(edge)[:40]}, expected the positions of two nodes")
    raise InputError(f"{place(i)}: its edges are not pairs of positions of nodes")


def _coded(
    named: Sequence[Sequence[Any] | None], sizes: Sequence[int], what: str, place: Callable[[int], str]
) -> tuple[np.ndarray, list[str]]:
    """The codes of labels of nodes or edges, and their alphabet; both are empty if no graph has labels."""
    lists = [() if labels is None else labels for labels in named]
    having = next((i for i, labels in enumerate(lists) if len(labels)), None)
    if having is None:
        return NO_CODES, []
    for i, (labels, n) in enumerate(zip(lists, sizes, strict=True)):
        if len(labels) == n:
            continue
        if len(labels):
            raise InputError(f"{place(i)}: has {n} {what}s and {len(labels)} labels for them, expected one for each")
        raise InputError(
            f"{place(i)}: has {n} {what}s and no labels for them, but {place(having)} has: "
            f"label the {what}s of every graph or of none"
        )
    try:
        distinct = set(chain.from_iterable(lists))
        known = all(is_label(label) for label in distinct)
    except TypeError:  # not hashable
        known = False
    if not known:
        each = ((i, k, label) for i, own in enumerate(lists) for k, label in enumerate(own))
        i, k, label = next(one for one in each if not is_label(one[2]))
        found = "has no label" if label is None else f"has the label {repr(label)[:40]}"
        raise InputError(f"{place(i)}, {what} {k}: {found}, expected a str or a whole number for every {what}")
    alphabet = in_order({str(label) for label in distinct})
    position = {name: code for code, name in enumerate(alphabet)}
    codes = {label: position[str(label)] for label in distinct}
    return np.fromiter(map(codes.__getitem__, chain.from_iterable(lists)), np.int32), alphabet


def all_or_none(
    values: Sequence[Any], named: Callable[[int], str], what: str, place: str, required: bool = False
) -> Sequence[Any] | None:
    """The values if there is one for each node or edge, None if there are none and they are not `required`.

    `named(k)` is the name of node or edge k in messages, such as "edge 3".

    >>> all_or_none([1, 2], "edge {}".format, "weight", "item 0"), all_or_none([None], "edge {}".format, "weight", "item 0")
    ([1, 2], None)
    """
    missing = [k for k, value in enumerate(values) if value is None]
    if missing and (required or len(missing) < len(values)):
        name = named(missing[0])
        expected = f"one for every {name.split()[0]}{', or for none' * (not required)}"
        raise InputError(f"{place}, {name}: has no {what}, expected {expected}")
    return None if missing else values


def is_label(label: Any) -> bool:
    """Returns whether this may be the label of a node or an edge."""
    return isinstance(label, (str, int, np.integer)) and not isinstance(label, bool)


def in_order(names: Iterable[str]) -> list[str]:
    """Numbers by size, then words in alphabetical order.

    >>> in_order(["C", "10", "9", "Br"])
    ['9', '10', 'Br', 'C']
    """
    return sorted(names, key=_by_size)


def _by_size(name: str) -> tuple[bool, int, str]:
    number = name.removeprefix("-")
    is_number = number.isascii() and number.isdigit() and len(number) < 19
    return not is_number, int(name) if is_number else 0, name


def _weights(items: Sequence[PlainGraph], sizes: Sequence[int], place: Callable[[int], str]) -> np.ndarray:
    if all(graph.weights is None for graph in items):
        return NO_WEIGHTS
    parts = [NO_WEIGHTS]
    for i, (graph, n) in enumerate(zip(items, sizes, strict=True)):
        try:
            own = np.ones(n) if graph.weights is None else np.asarray(graph.weights, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{place(i)}: its weights are not one number for each edge") from None
        if own.shape != (n,):
            raise InputError(f"{place(i)}: has {n} edges and {own.size} weights for them, expected one for each")
        if not np.isfinite(own).all():
            e = int(np.argmin(np.isfinite(own)))
            raise InputError(f"{place(i)}, edge {e}: its weight is {own[e]}, expected a finite number")
        parts.append(own)
    return np.concatenate(parts)


def _attributes(items: Sequence[PlainGraph], sizes: Sequence[int], place: Callable[[int], str]) -> np.ndarray:
    having = [i for i, graph in enumerate(items) if graph.attributes is not None and sizes[i]]
    if not having:
        return np.empty((sum(sizes), 0))
    parts, width = [], -1
    for i, (graph, n) in enumerate(zip(items, sizes, strict=True)):
        if n == 0:
            continue
        if graph.attributes is None:
            raise InputError(f"{place(i)}: has no attributes, but {place(having[0])} has: give them to all or none")
        try:
            own = np.asarray(graph.attributes, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{place(i)}: its attributes are not one row of numbers for each node") from None
        own = own.reshape(-1, 1) if own.ndim == 1 else own
        width = own.shape[-1] if width < 0 and own.ndim else width
        if own.shape != (n, width):
            raise InputError(
                f"{place(i)}: has {n} nodes, and attributes of the shape {own.shape}, "
                f"expected {(n, width)}" + f", like {place(having[0])}" * (i != having[0])
            )
        if not np.isfinite(own).all():
            node = int(np.argwhere(~np.isfinite(own))[0, 0])
            raise InputError(f"{place(i)}, node {node}: an attribute is not a finite number")
        parts.append(own)
    return np.ascontiguousarray(np.concatenate(parts))


def _explained(graph: PlainGraph, edge: int, other: int) -> str:
    u, v = (int(node) for node in graph.edges[edge])
    if other < 0:
        n = f"{graph.n_nodes} node{'s' * (graph.n_nodes != 1)}"
        return f"joins the nodes {u} and {v}, but the graph has {n}, counted from 0"
    return f"joins {u} and {v} like edge {other}, with another label or weight: a graph has one edge between two nodes"


def check_parts(parts: PackedGraphs) -> None:
    """Raises an `InputError` unless the arrays describe graphs as documented in `treille.Graphs`. O(arcs log arcs)."""
    fault = _fault(parts) or _fault_of_codes(parts) or _fault_of_arcs(parts)
    if fault:
        raise InputError(fault)


def _fault(parts: PackedGraphs) -> str:
    n_nodes, n_arcs = len(parts.labels), len(parts.targets)
    flat = (parts.labels, parts.offsets, parts.arcs, parts.targets, parts.edge_labels, parts.weights)
    if any(array.ndim != 1 for array in flat) or parts.attributes.ndim != 2 or len(parts.attributes) != n_nodes:
        return "the arrays of graphs must be flat, and attributes one row per node"
    if not np.isfinite(parts.attributes).all() or not np.isfinite(parts.weights).all():
        return "attributes and weights must be finite numbers"
    if not are_offsets(parts.offsets, n_nodes) or np.diff(parts.offsets).max(initial=0) >= LIMIT:
        return f"offsets do not rise from 0 to the number of nodes, {n_nodes:,}"
    if not are_offsets(parts.arcs, n_arcs) or len(parts.arcs) != n_nodes + 1:
        return f"arcs do not rise from 0 to the number of targets, {n_arcs:,}, with one for each node and the end"
    if len(parts.weights) not in (0, n_arcs):
        return f"there are {len(parts.weights):,} weights, expected one for each of {n_arcs:,} arcs, or none"
    return ""


def _fault_of_codes(parts: PackedGraphs) -> str:
    n_nodes, n_arcs = len(parts.labels), len(parts.targets)
    sides = (
        ("labels", parts.labels, parts.alphabet or [""], n_nodes),  # all 0 where there are none
        ("edge_labels", parts.edge_labels, parts.edge_alphabet, n_arcs if parts.edge_alphabet else 0),
    )
    for what, codes, names, n in sides:
        if len(codes) != n or (n and not 0 <= codes.min() <= codes.max() < len(names)):
            return f"{what} must be {n:,} numbers from 0 to {len(names) - 1}, the indices of the alphabet"
    return ""


def _fault_of_arcs(parts: PackedGraphs) -> str:
    sizes, degrees, targets = np.diff(parts.offsets), np.diff(parts.arcs), parts.targets
    sources = np.repeat(np.arange(len(parts.labels)), degrees)
    graphs = np.repeat(np.arange(len(sizes)), sizes)[sources]
    if not ((targets >= 0) & (targets < sizes[graphs])).all():
        return "an arc leads to a node that its graph does not have"
    if ((sources[1:] == sources[:-1]) & (targets[1:] <= targets[:-1])).any():
        return "the targets of a node must rise"
    if not parts.directed:
        ends = parts.offsets[graphs] + targets
        back = np.lexsort((sources, ends))
        pairs = ((sources, ends), (ends, sources), *((each, each) for each in (parts.edge_labels, parts.weights)))
        if not all(len(one) == 0 or np.array_equal(one, other[back]) for one, other in pairs):
            return "an undirected edge must be two arcs with the same label and weight"
    return ""
