"""Graphs as GraKeL takes them: tuples of edges, labels of nodes and labels of edges, or its own class."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .errors import InputError
from .graph_arrays import adjacency_graph, is_matrix
from .graph_parts import PlainGraph, all_or_none, is_label

Arc = tuple[Hashable, Hashable]
NEAR = (Mapping, list, tuple, set, frozenset)


def is_grakel(item: Any) -> bool:
    """Whether this is a graph of GraKeL."""
    return callable(getattr(item, "get_edge_dictionary", None)) and callable(getattr(item, "get_labels", None))


def is_tuple(item: Any) -> bool:
    """Whether this is how GraKeL writes a graph: edges or a matrix, labels of nodes, labels of edges."""
    if not isinstance(item, (tuple, list)) or not 1 <= len(item) <= 3:
        return False
    edges, *labels = item
    if not all(label is None or isinstance(label, (dict, list, tuple, np.ndarray)) for label in labels):
        return False
    if isinstance(edges, (dict, set, frozenset)):
        values = edges.values() if isinstance(edges, dict) else ()
        pairs = len(edges) > 0 and all(isinstance(edge, tuple) for edge in edges)
        return bool(labels) or pairs or any(isinstance(near, NEAR) for near in values)
    return is_matrix(edges) or sp.issparse(edges) or _are_pairs(edges)


def _are_pairs(edges: Any) -> bool:
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
                for v in (near if isinstance(near, NEAR) else [near])
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
    """Whether edges are given by node, with its neighbours, rather than by pair."""
    if not isinstance(edges, Mapping):
        return False
    pairs = all(isinstance(key, tuple) and len(key) == 2 for key in edges)
    return not pairs or any(isinstance(near, NEAR) for near in edges.values())


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
