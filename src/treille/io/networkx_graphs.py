"""Graphs of networkx, and the files that networkx reads: GML and GraphML."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .errors import InputError
from .packed_graphs import PlainGraph, all_or_none
from .unused import Unused

TITLES = {"gml": "GML", "graphml": "GraphML"}


def networkx() -> Any:
    """The module networkx, or an `InputError` that says how to install it."""
    try:
        import networkx
    except ImportError:
        raise InputError("networkx is not installed: pip install networkx, or pip install 'treille[formats]'") from None
    return networkx


def is_networkx(item: Any) -> bool:
    """Returns whether this is a graph of networkx, which need not be installed."""
    return all(callable(getattr(item, name, None)) for name in ("is_directed", "is_multigraph", "adjacency"))


def networkx_graph(
    graph: Any,
    place: str,
    label: str | None = "label",
    edge_label: str | None = "label",
    weight: str | None = "weight",
    attributes: str | Sequence[str] | None = None,
    unused: Unused | None = None,
) -> PlainGraph:
    """The nodes in their order, with labels, weights and numbers from the data of nodes and edges, where these have them.

    `unused` collects the names of other data.

    >>> import networkx as nx
    >>> water = nx.Graph([("o", "h1"), ("o", "h2")])
    >>> nx.set_node_attributes(water, {"o": "O", "h1": "H", "h2": "H"}, "label")
    >>> networkx_graph(water, "item 0")[:2]
    (['O', 'H', 'H'], [(0, 1), (0, 2)])
    """
    if not is_networkx(graph):
        raise InputError(f"{place} is {type(graph).__name__}, expected a graph of networkx")
    nodes, edges = list(graph.nodes(data=True)), list(graph.edges(data=True))
    position = {node: k for k, (node, _) in enumerate(nodes)}
    pairs = [(position[u], position[v]) for u, v, _ in edges]
    of_nodes = [(f"node {node!r}", data) for node, data in nodes]
    of_edges = [(f"edge {u!r} to {v!r}", data) for u, v, data in edges]
    labels, edge_labels = _values(of_nodes, label, place), _values(of_edges, edge_label, place)
    weights = _values(of_edges, weight, place)
    rows, names = None, [attributes] if isinstance(attributes, str) else list(attributes or ())
    if unused is not None:
        unused.add(place, _other_names(of_nodes, [label or "label", *names]), "nodes")
        unused.add(place, _other_names(of_edges, [edge_label or "label", weight or "weight"]), "edges")
    if attributes is not None:
        columns = [_values(of_nodes, name, place, required=True) or [] for name in names]
        rows = _rows(columns, of_nodes, place)
    if weights is not None:
        for (what, _), value in zip(of_edges, weights, strict=True):
            if not isinstance(value, (int, float, np.number)):
                raise InputError(f"{place}, {what}: its {weight} is {value!r}, expected a number")
    return PlainGraph(
        len(nodes) if labels is None else labels,
        pairs,
        edge_labels,
        None if weights is None or all(value == 1 for value in weights) else weights,
        rows,
        bool(graph.is_directed()),
    )


def _values(
    items: Sequence[tuple[str, dict[str, Any]]], name: str | None, place: str, required: bool = False
) -> Sequence[Any] | None:
    """One value of each node or edge; None if none has it."""
    if name is None:
        return None
    return all_or_none([data.get(name) for _, data in items], lambda k: items[k][0], repr(name), place, required)


def _other_names(items: Sequence[tuple[str, dict[str, Any]]], known: Sequence[str | None]) -> list[str]:
    """The names of the data of nodes or edges, except those known."""
    return [name for name in dict.fromkeys(name for _, data in items for name in data) if name not in known]


def _rows(columns: Sequence[Sequence[Any]], items: Sequence[tuple[str, Any]], place: str) -> np.ndarray:
    rows = []
    for (what, _), *values in zip(items, *columns, strict=True):
        try:
            rows.append(np.concatenate([np.atleast_1d(np.asarray(value, np.float64)) for value in values]))
        except (TypeError, ValueError):
            raise InputError(f"{place}, {what}: its attributes are {values!r:.40}, expected numbers") from None
        if len(rows[-1]) != len(rows[0]):
            raise InputError(f"{place}, {what}: has {len(rows[-1])} attributes, and the first node {len(rows[0])}")
    return np.array(rows).reshape(len(rows), -1) if rows else np.empty((0, 0))


def to_networkx(graphs: Iterable[PlainGraph]) -> list[Any]:
    """Graphs of networkx, with `label`, `weight` and `attributes` as the data of nodes and edges."""
    nx = networkx()
    made = []
    for graph in graphs:
        new = nx.DiGraph() if graph.directed else nx.Graph()
        new.add_nodes_from(range(graph.n_nodes))
        new.add_edges_from(graph.edges)
        if not isinstance(graph.nodes, int):
            nx.set_node_attributes(new, dict(enumerate(graph.nodes)), "label")
        if graph.attributes is not None:
            nx.set_node_attributes(new, dict(enumerate(graph.attributes)), "attributes")
        for name, values in (("label", graph.edge_labels), ("weight", graph.weights)):
            if values is not None:
                pairs = (tuple(edge) for edge in graph.edges)
                nx.set_edge_attributes(new, dict(zip(pairs, values, strict=True)), name)
        made.append(new)
    return made


def parse(text: str, format: str, source: str, label: str | None = None, unused: Unused | None = None) -> PlainGraph:
    """The graph of a file; the data of nodes called `label` are the labels.

    The field `label` of GML, which networkx writes for every node, holds labels if it is not the id of each.

    >>> parse('graph [ node [ id 1 label "C" ] node [ id 5 label "O" ] edge [ source 1 target 5 ] ]', "gml", "a.gml")[:2]
    (['C', 'O'], [(0, 1)])
    """
    nx = networkx()
    try:
        graph = nx.parse_gml(text, label="id") if format == "gml" else nx.parse_graphml(text)
    except Exception as error:  # networkx and its parsers raise exceptions of any type
        reason = str(error).strip().split("\n")[0] or type(error).__name__
        raise InputError(f"{source}: networkx cannot read it as {TITLES[format]}: {reason[:200]}") from None
    if label is not None and len(graph) and not any(label in data for _, data in graph.nodes(data=True)):
        known = sorted({str(name) for _, data in graph.nodes(data=True) for name in data})
        raise InputError(f"{source}: no node has a field {label!r}, expected its label; there are: {', '.join(known)}")
    are_ids = format == "gml" and all(str(data.get("label")) == str(n) for n, data in graph.nodes(data=True))
    return networkx_graph(graph, source, label or (None if are_ids else "label"), unused=unused)
