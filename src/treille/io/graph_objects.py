"""Graphs as Python objects: dicts, arrays, and the graphs of GraKeL, PyTorch Geometric and other libraries."""

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from .errors import InputError
from .networkx_graphs import is_networkx, networkx_graph
from .packed_graphs import PlainGraph, all_or_none, is_label
from .unused import Unused

OF_GRAPHS = ("y", "label", "target", "id", "name", "graph")  # fields that describe a graph as a whole
READ = ("nodes", "edges", "links", "edge_labels", "weights", "node_attr", "directed", "multigraph", *OF_GRAPHS)


def is_matrix(item: Any) -> bool:
    """Returns whether this is a square matrix of numbers, an array or a list of lists."""
    if isinstance(item, np.ndarray):
        return item.ndim == 2 and item.shape[0] == item.shape[1] and item.dtype.kind in "fiub"
    if not isinstance(item, list) or not item or not all(isinstance(row, list) for row in item):
        return False
    return all(len(row) == len(item) and all(isinstance(v, (int, float)) for v in row) for row in item)


def adjacency_graph(matrix: Any, place: str, labels: Any = None, directed: bool | None = None) -> PlainGraph:
    """The graph of an adjacency matrix. It is undirected if the matrix is symmetric, weighted if a value is neither 0 nor 1.

    >>> graph = adjacency_graph([[0, 1], [1, 0]], "item 0")
    >>> graph.nodes, graph.edges.tolist()
    (2, [[0, 1]])
    """
    try:
        coo = sp.coo_matrix(matrix if sp.issparse(matrix) else np.asarray(matrix, np.float64), copy=True)
        coo.sum_duplicates()
        values = np.asarray(coo.data, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{place}: is not a matrix of numbers, expected an adjacency matrix") from None
    if coo.shape[0] != coo.shape[1]:
        raise InputError(f"{place}: is a matrix of shape {coo.shape}, expected a square one: a row and column per node")
    kept = values != 0
    ends, values = np.stack([coo.row[kept], coo.col[kept]], axis=1).astype(np.int64), values[kept]
    symmetric = _is_symmetric(ends, values)
    if directed is False and not symmetric:
        raise InputError(f"{place}: its adjacency matrix is not symmetric, as undirected graphs require")
    nodes = coo.shape[0] if labels is None else labels
    if not directed and symmetric:
        upper = ends[:, 0] <= ends[:, 1]
        ends, values = ends[upper], values[upper]
    weights = None if (values == 1).all() else values
    return PlainGraph(nodes, ends, None, weights, None, bool(directed or not symmetric))


def _is_symmetric(ends: np.ndarray, values: np.ndarray) -> bool:
    order, back = np.lexsort((ends[:, 1], ends[:, 0])), np.lexsort((ends[:, 0], ends[:, 1]))
    return np.array_equal(ends[order], ends[back, ::-1]) and np.array_equal(values[order], values[back])


def field(item: Any, name: str) -> Any:
    """A key of a dict or an attribute of an object; None if there is none."""
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def _numbers(item: Any, name: str, place: str) -> np.ndarray | None:
    """A field as an array; tensors are copied from where they are."""
    value = field(item, name)
    value = value.detach().cpu().numpy() if hasattr(value, "detach") else value
    if value is None:
        return None
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.empty(0, object)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{place}: {name} is not an array of numbers")
    return array


def _features(item: Any) -> str:
    return "x" if field(item, "x") is not None else "node_feat"  # which Hugging Face has


def has_columns(item: Any) -> bool:
    """Returns whether nodes or edges have several features each, so that these may be one-hot."""
    found = [field(item, name) for name in (_features(item), "edge_attr")]
    return any(isinstance(rows, list) and rows and isinstance(rows[0], list) and len(rows[0]) > 1 for rows in found)


def other_fields(item: Any) -> list[str]:
    """The fields of an object or a dict with `edge_index` that have a value and are not read."""
    keys = getattr(item, "keys", None)
    names = map(str, keys() if callable(keys) else keys or vars(item))
    read = {"edge_index", "edge_attr", "edge_weight", "num_nodes", _features(item), *OF_GRAPHS}
    return [name for name in names if name not in read and name[:1] != "_" and field(item, name) is not None]


def edge_index_graph(item: Any, place: str, one_hot: bool = False, unused: Unused | None = None) -> PlainGraph:
    """The graph of an object or a dict with `edge_index`, as in PyTorch Geometric. Arcs in both directions are undirected edges.

    `unused` collects the names of other fields.

    >>> graph = edge_index_graph({"edge_index": [[0, 1, 1, 2], [1, 0, 2, 1]], "x": [[6], [8], [6]]}, "item 0")
    >>> graph.nodes, graph.directed
    ([6, 8, 6], False)
    """
    index = _numbers(item, "edge_index", place)
    if index is None or index.shape != (2, index.size // 2) or (index.size and index.dtype.kind not in "iu"):
        shape = "missing" if index is None else f"of the shape {index.shape} and {index.dtype}"
        raise InputError(f"{place}: edge_index is {shape}, expected whole numbers of the shape (2, edges)")
    ends = index.T.astype(np.int64)
    x, edge_attr = (_numbers(item, name, place) for name in (_features(item), "edge_attr"))
    n = field(item, "num_nodes")
    if n is None:
        n = len(x) if x is not None and x.ndim else int(ends.max(initial=-1)) + 1
    if not isinstance(n, (int, np.integer)):
        raise InputError(f"{place}: num_nodes is {str(n)[:40]!r}, expected a whole number")
    labels, attributes = _labels(x, one_hot, f"{place}: x")
    edge_labels, weights = _labels(edge_attr, one_hot, f"{place}: edge_attr")
    if weights is not None and weights.ndim == 2 and weights.shape[1] != 1:
        raise InputError(
            f"{place}: edge_attr has {weights.shape[1]} columns, expected one, a weight or the number of a label: "
            "if it is one-hot, use Graphs.from_edge_index(graphs, one_hot=True); else leave it out"
        )
    edge_weight = _numbers(item, "edge_weight", place)
    if edge_weight is not None:
        if weights is not None:
            raise InputError(f"{place}: edge_weight and edge_attr are both weights of the edges: leave one out")
        weights = edge_weight.astype(np.float64)
    weights = None if weights is None else weights.reshape(-1)
    if unused is not None:
        unused.add(place, other_fields(item))
    codes = np.zeros(len(ends)) if edge_labels is None else np.asarray(edge_labels)
    values = np.ones(len(ends)) if weights is None else weights
    undirected = len(codes) == len(values) == len(ends) and _is_symmetric(ends, values) and _is_symmetric(ends, codes)
    return PlainGraph(int(n) if labels is None else labels, ends, edge_labels, weights, attributes, not undirected)


def _labels(array: np.ndarray | None, one_hot: bool, what: str) -> tuple[list[int] | None, np.ndarray | None]:
    """Whole numbers in one column are labels, other numbers are not."""
    if array is None or array.size == 0:
        return None, None
    if one_hot:
        if array.ndim != 2 or not (((array == 0) | (array == 1)).all() and (array.sum(axis=1) == 1).all()):
            raise InputError(f"{what} is not one-hot: expected one 1 in every row, and 0 elsewhere")
        return array.argmax(axis=1).tolist(), None
    if array.dtype.kind in "iu" and (array.ndim == 1 or array.shape[1:] == (1,)):
        return array.reshape(-1).tolist(), None
    return None, array.astype(np.float64)


Arc = tuple[Hashable, Hashable]
NEIGHBOUR_TYPES = (Mapping, list, tuple, set, frozenset)


def is_grakel(item: Any) -> bool:
    """Returns whether this is a graph of GraKeL."""
    return callable(getattr(item, "get_edge_dictionary", None)) and callable(getattr(item, "get_labels", None))


def is_tuple(item: Any) -> bool:
    """Returns whether this is a graph as GraKeL writes it: edges or a matrix, labels of nodes, labels of edges."""
    if not isinstance(item, (tuple, list)) or not 1 <= len(item) <= 3:
        return False
    edges, *labels = item
    if not all(label is None or isinstance(label, (dict, list, tuple, np.ndarray)) for label in labels):
        return False
    if isinstance(edges, (dict, set, frozenset)):
        values = edges.values() if isinstance(edges, dict) else ()
        pairs = len(edges) > 0 and all(isinstance(edge, tuple) for edge in edges)
        return bool(labels) or pairs or any(isinstance(near, NEIGHBOUR_TYPES) for near in values)
    if is_matrix(edges) or sp.issparse(edges):
        return True
    return isinstance(edges, list) and len(edges) > 0 and all(isinstance(e, tuple) and len(e) in (2, 3) for e in edges)


def _parts(item: Any) -> tuple[Any, Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it changes its own format, and says so
        read = [item.get_labels(purpose="dictionary", label_type=of, return_none=True) for of in ("vertex", "edge")]
        return item.get_edge_dictionary(), *read


def grakel_graph(item: Any, place: str) -> PlainGraph:
    """Edges and labels as GraKeL has them. Edges in both directions are undirected, if one is not, all are directed."""
    edges, labels, edge_labels = _parts(item) if is_grakel(item) else (*item, None, None)[:3]
    if is_matrix(edges) or sp.issparse(edges):
        graph = adjacency_graph(edges, place)
        arcs: list[Arc] = [(int(u), int(v)) for u, v in graph.edges]
        weights = None if graph.weights is None else list(graph.weights)
        names: list[Any] = list(range(graph.n_nodes))
        directed = graph.directed
    else:
        given = _arcs(edges, place)
        directed = any(given.get((v, u)) != weight for (u, v), weight in given.items())
        arcs = list(given)
        weights = None if all(weight == 1 for weight in given.values()) else list(given.values())
        names = _names(arcs, labels, edges if _by_node(edges) else ())
    position = {name: k for k, name in enumerate(names)}
    own = _edge_labels(arcs, edge_labels, place)
    if own is not None and not directed:
        found = dict(zip(arcs, own, strict=True))
        directed = any(found.get((v, u), label) != label for (u, v), label in found.items())
    nodes, attributes = _node_labels(names, labels, place)
    for u, v in arcs:
        if u not in position or v not in position:
            missing = u if u not in position else v
            raise InputError(f"{place}, edge {(u, v)}: there is no node {missing!r}: label every node, or none")
    pairs = [(position[u], position[v]) for u, v in arcs]
    return PlainGraph(nodes, pairs, own, weights, attributes, directed)


def _arcs(edges: Any, place: str) -> dict[Arc, float]:
    """The arcs with their weights: from a dict by pair, a dict of dicts or lists by node, or pairs with or without weights."""
    if isinstance(edges, Mapping):
        rows: Iterable[Any] = ((*key, weight) for key, weight in edges.items())
        if _by_node(edges):
            rows = (
                (u, v, near[v] if isinstance(near, Mapping) else 1.0)
                for u, near in edges.items()
                for v in (near if isinstance(near, NEIGHBOUR_TYPES) else [near])
            )
    else:
        rows = edges
    found = dict[Arc, float]()
    for e, row in enumerate(rows):
        u, v, weight = (*row, 1.0)[:3]
        if not isinstance(weight, (int, float, np.number)):
            raise InputError(f"{place}, edge {e}, {u!r} to {v!r}: its weight is {weight!r}, expected a number")
        found[u, v] = float(weight)
    return found


def _by_node(edges: Any) -> bool:
    """Returns whether edges are given by node, with its neighbours, rather than by pair."""
    if not isinstance(edges, Mapping):
        return False
    pairs = all(isinstance(key, tuple) and len(key) == 2 for key in edges)
    return not pairs or any(isinstance(near, NEIGHBOUR_TYPES) for near in edges.values())


def _names(arcs: Sequence[Arc], labels: Any, nodes: Iterable[Any]) -> list[Any]:
    """The nodes with labels and the ends of edges, sorted where Python can sort them."""
    if labels is not None and not isinstance(labels, Mapping):
        return list(range(len(labels)))
    names = dict.fromkeys(labels or [*nodes, *(node for arc in arcs for node in arc)])
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=lambda name: (type(name).__name__, repr(name)))


def _node_labels(names: Sequence[Any], labels: Any, place: str) -> tuple[Any, Any]:
    """Labels of nodes, or rows of numbers as their attributes."""
    if labels is None or len(labels) == 0:
        return len(names), None
    if isinstance(labels, Mapping):
        given = [labels.get(name) for name in names]
        labels = all_or_none(given, lambda k: f"node {names[k]!r}", "label", place, required=True) or ()
    rows = list(labels)
    if all(isinstance(row, (list, tuple, np.ndarray, float)) and not is_label(row) for row in rows):
        return len(names), rows
    return rows, None


def _edge_labels(arcs: Sequence[Arc], labels: Any, place: str) -> Sequence[Any] | None:
    if not labels:
        return None
    if not isinstance(labels, Mapping):
        raise InputError(f"{place}: labels of edges are {type(labels).__name__}, expected a dict by pair of nodes")
    given = [labels.get(arc) for arc in arcs]
    return all_or_none(given, lambda k: f"edge {arcs[k]}", "label", place, required=True)


EXPECTED = "expected a graph: treille.data.Graph, a networkx graph, an adjacency matrix, a tuple of edges and labels"


def graph_of(item: Any, place: str, unused: Unused | None = None) -> PlainGraph:
    """Converts an object of any supported type to one graph; `place` names it in messages, `unused` collects what is not read.

    >>> graph = graph_of(([(0, 1), (1, 0)], {0: "C", 1: "O"}), "item 0")
    >>> graph.nodes, graph.directed
    (['C', 'O'], False)
    """
    if isinstance(item, PlainGraph):
        return item
    if is_networkx(item):
        return networkx_graph(item, place, unused=unused)
    if sp.issparse(item) or is_matrix(item):
        return adjacency_graph(item, place)
    if field(item, "edge_index") is not None:
        return edge_index_graph(item, place, unused=unused)
    if isinstance(item, Mapping) and ("edges" in item or "links" in item):
        return dict_graph(item, place, unused)
    if is_tuple(item) or is_grakel(item):
        return grakel_graph(item, place)
    raise InputError(f"{place} is {type(item).__name__}, {EXPECTED}")


def is_graph(item: Any) -> bool:
    """Returns whether an item can only be a graph: a list of pairs may be anything else.

    >>> is_graph(np.eye(3)), is_graph(({(0, 1): 1}, {0: "a", 1: "b"})), is_graph({"nodes": 2, "edges": []}), is_graph([(0, 1)])
    (True, True, True, False)
    """
    if isinstance(item, PlainGraph) or is_networkx(item) or sp.issparse(item):
        return True
    if isinstance(item, np.ndarray):
        return is_matrix(item)
    if isinstance(item, Mapping):
        found = (item.get(name) for name in ("edges", "links", "edge_index"))
        return any(isinstance(value, (list, tuple, np.ndarray)) or hasattr(value, "detach") for value in found)
    has_index = getattr(item, "edge_index", None) is not None
    return has_index or is_matrix(item) or is_tuple(item) or is_grakel(item)


def dict_graph(record: Mapping[str, Any], place: str, unused: Unused | None = None) -> PlainGraph:
    """The graph of a dict, as in JSON lines: edges, and perhaps nodes, edge_labels, weights, node_attr, directed.

    Nodes are labels, or their number; or dicts with an id, as networkx and D3 write them. `unused` collects the names of other
    fields.

    >>> dict_graph({"nodes": ["C", "O"], "edges": [[0, 1]], "edge_labels": [2]}, "item 0")[:3]
    (['C', 'O'], [[0, 1]], [2])
    """
    nodes, edges = record.get("nodes"), record.get("edges", record.get("links"))
    directed = record.get("directed", False)
    if not isinstance(directed, bool):
        raise InputError(f"{place}: the field 'directed' is {directed!r}, expected true or false")
    if unused is not None:
        unused.add(place, [name for name, value in record.items() if name not in READ and value is not None])
    if isinstance(nodes, Sequence) and not isinstance(nodes, str) and nodes and isinstance(nodes[0], Mapping):
        return _node_link(nodes, edges, directed, place, unused)
    if isinstance(nodes, str):
        raise InputError(f"{place}: the field 'nodes' is {nodes[:40]!r}, expected a list of labels or their number")
    if nodes is None:
        flat = [v for edge in edges if isinstance(edge, Sequence) for v in edge] if isinstance(edges, Sequence) else []
        nodes = 1 + max((v for v in flat if isinstance(v, int)), default=-1)
    labels, weights, attributes = (record.get(name) for name in ("edge_labels", "weights", "node_attr"))
    if not (labels is None or isinstance(labels, (Sequence, np.ndarray))) or isinstance(labels, str):
        raise InputError(f"{place}: the field 'edge_labels' is {labels!r}, expected a list")
    return PlainGraph(nodes, edges, labels, weights, attributes, directed)


def _node_link(nodes: Sequence[Any], edges: Any, directed: bool, place: str, unused: Unused | None) -> PlainGraph:
    for k, node in enumerate(nodes):
        if not isinstance(node, Mapping) or not isinstance(node.get("id"), Hashable) or node.get("id") is None:
            raise InputError(f"{place}, node {k}: found {str(node)[:40]}, expected an object with an id")
    position = {node["id"]: k for k, node in enumerate(nodes)}
    if len(position) < len(nodes):
        raise InputError(f"{place}: two nodes have the same id")
    pairs, labels, weights = [], list[Any](), list[Any]()
    for e, edge in enumerate(edges if isinstance(edges, Sequence) else [edges]):
        ends = [edge.get(name) for name in ("source", "target")] if isinstance(edge, Mapping) else []
        missing = [end for end in ends if not isinstance(end, Hashable) or end not in position]
        if missing or not ends:
            what = f"there is no node {str(missing[0])[:40]!r}" if ends else f"found {str(edge)[:40]}"
            raise InputError(f"{place}, edge {e}: {what}, expected the ids of two nodes as source and target")
        pairs.append((position[ends[0]], position[ends[1]]))
        labels.append(edge.get("label"))
        weights.append(edge.get("weight"))
    if unused is not None:
        sides = ("nodes", nodes, ("id", "label")), ("edges", edges, ("source", "target", "label", "weight", "key"))
        for side, items, read in sides:
            unused.add(place, [name for name in dict.fromkeys(chain.from_iterable(items)) if name not in read], side)
    names = [node.get("label") for node in nodes]
    known = len(nodes) if all(name is None for name in names) else names
    edge_labels = None if all(label is None for label in labels) else labels
    of_edges = all_or_none(weights, "edge {}".format, "weight", place)
    return PlainGraph(known, pairs, edge_labels, of_edges, None, directed)
