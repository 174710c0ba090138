"""Checks of the arrays of graphs that come from a user or a model file: past these, the core asserts nothing."""

from __future__ import annotations

import numpy as np

from .errors import InputError
from .flat import are_offsets
from .graph_parts import LIMIT, GraphParts


def check_parts(parts: GraphParts) -> None:
    """Raises an `InputError` if the arrays are not those of graphs, as `treille.Graphs` describes them. O(arcs log arcs)."""
    fault = _fault(parts) or _fault_of_codes(parts) or _fault_of_arcs(parts)
    if fault:
        raise InputError(fault)


def _fault(parts: GraphParts) -> str:
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


def _fault_of_codes(parts: GraphParts) -> str:
    n_nodes, n_arcs = len(parts.labels), len(parts.targets)
    sides = (
        ("labels", parts.labels, parts.alphabet or [""], n_nodes),  # all 0 where there are none
        ("edge_labels", parts.edge_labels, parts.edge_alphabet, n_arcs if parts.edge_alphabet else 0),
    )
    for what, codes, names, n in sides:
        if len(codes) != n or (n and not 0 <= codes.min() <= codes.max() < len(names)):
            return f"{what} must be {n:,} numbers from 0 to {len(names) - 1}, the indices of the alphabet"
    return ""


def _fault_of_arcs(parts: GraphParts) -> str:
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
