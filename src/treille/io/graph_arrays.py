"""Graphs as arrays of other libraries: adjacency matrices of numpy and scipy, edge_index of PyTorch Geometric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from .errors import InputError
from .graph_parts import PlainGraph


def is_matrix(item: Any) -> bool:
    """Whether this is a square matrix of numbers, an array or a list of lists."""
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
    """Whether nodes or edges have several features each, so that these may be one-hot."""
    found = [field(item, name) for name in (_features(item), "edge_attr")]
    return any(isinstance(rows, list) and rows and isinstance(rows[0], list) and len(rows[0]) > 1 for rows in found)


def edge_index_graph(item: Any, place: str, one_hot: bool = False) -> PlainGraph:
    """The graph of an object or a dict with `edge_index`, as in PyTorch Geometric. Arcs in both directions are undirected edges.

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
    weights = None if weights is None else weights.reshape(-1)
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
