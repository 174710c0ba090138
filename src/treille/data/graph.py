"""One graph: its nodes and edges, written in a line, and its drawing."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from treille.drawing.graph_layout import Graph as Drawn
from treille.drawing.graph_layout import draw_graph
from treille.drawing.svg import Shares
from treille.io.packed_graphs import PlainGraph


class Graph(PlainGraph):
    """One graph: its nodes, given by their labels or by their number, and its edges as pairs of positions of nodes.

    A str is a list of labels of one character. `edge_labels` and `weights` have one value for each edge, `attributes` one row of
    numbers for each node. Labels are str or int.

    >>> from treille.data import Graph
    >>> water = Graph(["O", "H", "H"], [(0, 1), (0, 2)])
    >>> water.n_nodes, len(water.edges), str(water)
    (3, 2, '3 nodes O H H, 2 edges 0-1 0-2')
    """

    __slots__ = ()

    def __str__(self) -> str:
        labels = [] if isinstance(self.nodes, (int, np.integer)) else self.nodes
        arrow, names = ">" if self.directed else "-", self.edge_labels
        colons = [""] * len(self.edges) if names is None else [f":{name}" for name in names]
        edges = [f"{u}{arrow}{v}{colon}" for (u, v), colon in zip(self.edges, colons, strict=True)]
        counts = (f"{self.n_nodes} node{'s' * (self.n_nodes != 1)}", f"{len(edges)} edge{'s' * (len(edges) != 1)}")
        lists = zip(counts, (labels, edges), strict=True)
        return ", ".join(" ".join([count, *map(str, what)]) for count, what in lists)

    def _repr_svg_(self) -> str:
        return graph_picture(self, alone=True)


def graph_picture(graph: Graph, shares: Any = None, hints: Sequence[str] | None = None, alone: bool = False) -> str:
    """A drawing of a graph as SVG, with shares of its nodes, then of its edges, from -1 to 1, and a hint for each."""
    names = range(graph.n_nodes) if isinstance(graph.nodes, (int, np.integer)) else graph.nodes
    nodes = [str(name) for name in names]
    edges = [(int(u), int(v)) for u, v in graph.edges]
    labels = [] if graph.edge_labels is None else [str(label) for label in graph.edge_labels]
    return draw_graph(Drawn(nodes, edges, labels, bool(graph.directed)), Shares(shares, hints), alone)
