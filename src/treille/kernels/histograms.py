"""Histograms of the labels of nodes and of edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from treille import _core
from treille.data.graphs import Labels
from treille.io.parameters import check_flag
from treille.kernels.counts import Counts, check_counts
from treille.kernels.graph_features import GraphPatternKernel, GraphPatternMap, edges_of_arcs


class VertexHistogramMap(GraphPatternMap):
    """Labels of nodes and their ids."""

    def pattern_name(self, pattern: int) -> str:
        (code,) = self.features.key(pattern)
        return self.alphabet[code] if self.alphabet else "node"

    def covered(self, batch: Any, arrays: Any, owners: Any, examples: Any, first: Any, second: Any) -> Any:
        return np.arange(len(first) + 1), first.astype(np.int64)


class VertexHistogram(GraphPatternKernel):
    """Common labels of nodes: k(x, y) = sum over labels of count_x(label) count_y(label).

    Graphs without labels are compared by their numbers of nodes.

    Parameters
    ----------
    counts : {"raw", "log", "binary"}
        In place of a count c of a label: c, 1 + log(c), or 1 if c > 0; see `NGram`.

    Examples
    --------
    >>> from treille.data import Graph
    >>> from treille.kernels import VertexHistogram
    >>> VertexHistogram()([Graph(["C", "C", "O"], [(0, 1), (1, 2)]), Graph(["C", "N"], [(0, 1)])]).tolist()
    [[5.0, 2.0], [2.0, 2.0]]
    """

    core = _core.NodeLabelFeatures
    map = VertexHistogramMap
    counted_labels: Labels = "nodes"

    def __init__(self, counts: Counts = "raw"):
        self.counts = counts

    def options(self, directed: bool, edge_labelled: bool) -> tuple[Any, ...]:
        return _core.NodeLabels(), check_counts(self.counts)


class EdgeHistogramMap(GraphPatternMap):
    """Labels of edges and their ids."""

    def pattern_name(self, pattern: int) -> str:
        edge, *ends = self.features.key(pattern)
        if not ends:
            return self.edge_alphabet[edge] if self.edge_alphabet else "edge"
        arrow = ">" if self.directed else ""
        source, target = map(self.label, ends) if self.directed else sorted(map(self.label, ends))
        return f"{source} {self.edge_label(edge)}{arrow} {target}"

    def covered(self, batch: Any, arrays: Any, owners: Any, examples: Any, first: Any, second: Any) -> Any:
        arcs = first + batch.arcs[batch.offsets][owners]
        edges = np.diff(batch.offsets)[owners] + edges_of_arcs(batch)[arcs]
        if not self.kernel.ends:
            return np.arange(len(edges) + 1), edges
        sources, targets = batch.sources[arcs].astype(np.int64), batch.targets[arcs].astype(np.int64)
        kept = np.column_stack([np.ones(len(edges), bool), sources != targets, np.ones(len(edges), bool)])
        parts = np.column_stack([sources, targets, edges])
        return np.concatenate([[0], np.cumsum(kept.sum(axis=1))]), parts[kept]


class EdgeHistogram(GraphPatternKernel):
    """Common labels of edges: k(x, y) = sum over labels of count_x(label) count_y(label).

    Each edge counts once. Graphs without labels of edges are compared by their numbers of edges.

    Parameters
    ----------
    ends : bool
        Whether to count edges by (label of one end, label of the edge, label of the other end).
    counts : {"raw", "log", "binary"}
        In place of a count c of a label: c, 1 + log(c), or 1 if c > 0; see `NGram`.

    Examples
    --------
    >>> from treille.data import Graph
    >>> from treille.kernels import EdgeHistogram
    >>> X = [Graph(["C", "C", "O"], [(0, 1), (1, 2)], [1, 2]), Graph(["C", "N"], [(0, 1)], [1])]
    >>> EdgeHistogram()(X).tolist(), EdgeHistogram(ends=True)(X).tolist()
    ([[2.0, 1.0], [1.0, 1.0]], [[2.0, 0.0], [0.0, 1.0]])
    """

    core = _core.EdgeLabelFeatures
    map = EdgeHistogramMap

    def __init__(self, ends: bool = False, counts: Counts = "raw"):
        self.ends = ends
        self.counts = counts

    @property
    def counted_labels(self) -> Labels:
        return "all" if self.ends else "edges"

    def check(self) -> None:
        check_counts(self.counts)
        check_flag("ends", self.ends)

    def options(self, directed: bool, edge_labelled: bool) -> tuple[Any, ...]:
        return _core.EdgeLabels(bool(self.ends), directed), check_counts(self.counts)
