"""Graphs as Python objects: dicts, and the graphs of other libraries."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .errors import InputError
from .grakel_graphs import grakel_graph, is_grakel, is_tuple
from .graph_arrays import adjacency_graph, edge_index_graph, field, is_matrix
from .graph_parts import PlainGraph, all_or_none
from .networkx_graphs import is_networkx, networkx_graph

EXPECTED = "expected a graph: treille.data.Graph, a networkx graph, an adjacency matrix, a tuple of edges and labels"


def graph_of(item: Any, place: str) -> PlainGraph:
    """One graph, from whatever holds one; `place` names it in messages.

    >>> graph = graph_of(([(0, 1), (1, 0)], {0: "C", 1: "O"}), "item 0")
    >>> graph.nodes, graph.directed
    (['C', 'O'], False)
    """
    if isinstance(item, PlainGraph):
        return item
    if is_networkx(item):
        return networkx_graph(item, place)
    if sp.issparse(item) or is_matrix(item):
        return adjacency_graph(item, place)
    if field(item, "edge_index") is not None:
        return edge_index_graph(item, place)
    if isinstance(item, Mapping) and ("edges" in item or "links" in item):
        return dict_graph(item, place)
    if is_tuple(item) or is_grakel(item):
        return grakel_graph(item, place)
    raise InputError(f"{place} is {type(item).__name__}, {EXPECTED}")


def is_graph(item: Any) -> bool:
    """Whether an item can only be a graph: a list of pairs may be anything else.

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


def dict_graph(record: Mapping[str, Any], place: str) -> PlainGraph:
    """The graph of a dict, as in JSON lines: edges, and perhaps nodes, edge_labels, weights, node_attr, directed.

    Nodes are labels, or their number; or dicts with an id, as networkx and D3 write them.

    >>> dict_graph({"nodes": ["C", "O"], "edges": [[0, 1]], "edge_labels": [2]}, "item 0")[:3]
    (['C', 'O'], [[0, 1]], [2])
    """
    nodes, edges = record.get("nodes"), record.get("edges", record.get("links"))
    directed = record.get("directed", False)
    if not isinstance(directed, bool):
        raise InputError(f"{place}: the field 'directed' is {directed!r}, expected true or false")
    if isinstance(nodes, Sequence) and not isinstance(nodes, str) and nodes and isinstance(nodes[0], Mapping):
        return _node_link(nodes, edges, directed, place)
    if isinstance(nodes, str):
        raise InputError(f"{place}: the field 'nodes' is {nodes[:40]!r}, expected a list of labels or their number")
    if nodes is None:
        flat = [v for edge in edges if isinstance(edge, Sequence) for v in edge] if isinstance(edges, Sequence) else []
        nodes = 1 + max((v for v in flat if isinstance(v, int)), default=-1)
    labels, weights, attributes = (record.get(name) for name in ("edge_labels", "weights", "node_attr"))
    if not (labels is None or isinstance(labels, (Sequence, np.ndarray))) or isinstance(labels, str):
        raise InputError(f"{place}: the field 'edge_labels' is {labels!r}, expected a list")
    return PlainGraph(nodes, edges, labels, weights, attributes, directed)


def _node_link(nodes: Sequence[Any], edges: Any, directed: bool, place: str) -> PlainGraph:
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
    names = [node.get("label") for node in nodes]
    known = len(nodes) if all(name is None for name in names) else names
    edge_labels = None if all(label is None for label in labels) else labels
    of_edges = all_or_none(weights, "edge {}".format, "weight", place)
    return PlainGraph(known, pairs, edge_labels, of_edges, None, directed)
