"""Histograms of the labels of nodes and of edges, and sums of the attributes of nodes."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from treille import _core
from treille.data import Graphs
from treille.data.base import running_sum, united
from treille.data.graphs import Labels
from treille.features import FeatureMap, LocatingMap, MergingMap, Occurrences, Rows
from treille.features.feature_map import check_id
from treille.features.merging import Merged, alike, merged_ids
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import check_choice, check_flag, effective_n_jobs
from treille.kernels.base import Fitted
from treille.kernels.counts import Counts, check_counts
from treille.kernels.graph_features import (
    GraphKernel,
    GraphPatternKernel,
    GraphPatternMap,
    NodeLabelledMap,
    edges_of_arcs,
    shown,
)


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


class NodeAttributes(GraphKernel):
    """Inner products of the attributes of nodes: k(x, y) = sum over nodes u of x and v of y with equal labels of <a_u, a_v>.

    Has explicit features (label, attribute): the sum of an attribute over the nodes with a label.

    Parameters
    ----------
    labels : {"nodes", "none"}
        Whether only nodes with equal labels are compared, if the graphs have labels, or all nodes.
    mean : bool
        Whether to divide by the numbers of nodes of x and of y: sums become means.

    Examples
    --------
    >>> from treille.data import Graph
    >>> from treille.kernels import NodeAttributes
    >>> X = [Graph(["a", "b"], [(0, 1)], attributes=[[1.0, 2.0], [3.0, 4.0]]), Graph(["a"], [], attributes=[[1.0, 1.0]])]
    >>> NodeAttributes()(X).tolist(), NodeAttributes(labels="none")(X).tolist()
    ([[30.0, 3.0], [3.0, 2.0]], [[52.0, 10.0], [10.0, 2.0]])
    """

    def __init__(self, labels: Literal["nodes", "none"] = "nodes", mean: bool = False):
        self.labels = labels
        self.mean = mean

    def check(self) -> None:
        check_choice("labels", self.labels, "nodes", "none")
        check_flag("mean", self.mean)

    def fit_features(self, batch: Graphs, n_jobs: int | None = None) -> Fitted:
        self.check()
        width = batch.attributes.shape[1]
        if width == 0 and len(batch.labels):
            raise InputError(
                "these graphs have no attributes of nodes: use a kernel of labels, such as VertexHistogram"
            )
        alphabet = batch.alphabet if self.labels == "nodes" else []
        features = NodeAttributesMap(self, alphabet, width, np.arange(max(1, len(alphabet)) * width))
        return features, features.transform(batch, n_jobs)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        alphabet = stored.names(spec)
        width = stored.size(spec, "width", arrays, 8 * max(1, len(alphabet)))
        ids = stored.array(arrays, "ids", np.int64)
        inside = ids.min(initial=0) >= 0 and ids.max(initial=-1) < max(1, len(alphabet)) * width
        if not inside or len(np.unique(ids)) != len(ids):
            raise InputError("the attributes in the file do not fit its alphabet")
        return NodeAttributesMap(self, alphabet, width, ids)


@dataclass(eq=False, repr=False)
class NodeAttributesMap(LocatingMap, MergingMap, NodeLabelledMap):
    """Pairs (label, attribute): number ``label * width + attribute``; `ids` are those kept."""

    kernel: NodeAttributes
    alphabet: list[str]
    width: int
    ids: np.ndarray

    @property
    def n_features(self) -> int:
        return len(self.ids)

    def transform(self, batch: Graphs, n_jobs: int | None = None) -> Rows:
        pairs, values, kept = self._pairs(batch)
        indptr = self.width * batch.offsets if len(batch.labels) else np.zeros(len(batch) + 1)
        matrix = sp.csr_matrix((values.ravel(), pairs.ravel(), indptr), shape=(len(batch), len(kept)))
        matrix.sum_duplicates()
        return Rows.from_csr(matrix, ids=kept, n_features=self.n_features, threads=effective_n_jobs(n_jobs))

    def occurrences(self, batch: Graphs) -> Occurrences:
        pairs, values, kept = self._pairs(batch)
        nodes, attributes = np.nonzero(kept[pairs] >= 0)
        owners = np.searchsorted(batch.offsets, nodes, side="right") - 1
        return Occurrences(
            kept[pairs[nodes, attributes]],
            values[nodes, attributes],
            np.arange(len(nodes) + 1),
            nodes - batch.offsets[owners],
            running_sum(np.bincount(owners, minlength=len(batch))),
        )

    def _pairs(self, batch: Graphs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The pairs of each node and their values, one row each; and the feature of each pair, -1 for none."""
        width = batch.attributes.shape[1]
        if len(batch.labels) and width != self.width:
            raise InputError(f"the nodes have {width} attributes, expected {self.width}, as in fitting")
        sizes = np.diff(batch.offsets)
        codes = batch.core_arrays_over(self.alphabet, batch.edge_alphabet, self.kernel.labels)[0].astype(np.int64)
        values = batch.attributes / (np.repeat(sizes, sizes)[:, None] if self.kernel.mean else 1)  # a copy
        kept = np.full(max(1, len(self.alphabet), codes.max(initial=0) + 1) * self.width, -1)
        kept[self.ids] = np.arange(self.n_features)
        return codes[:, None] * self.width + np.arange(self.width), values, kept

    def name(self, id: int) -> str:
        check_id(id, self.n_features)
        label, attribute = divmod(int(self.ids[id]), self.width)
        return f"{shown(self.alphabet[label])} {attribute}" if self.alphabet else f"{attribute}"

    def restrict(self, ids: np.ndarray) -> FeatureMap:
        return replace(self, ids=self.ids[ids])

    def merge(self, other: FeatureMap) -> Merged:
        other = alike(NodeAttributesMap, self, other, "kernel")
        mine, theirs = np.arange(self.n_features), np.arange(other.n_features)
        if not (self.n_features and other.n_features):
            return (self, mine, theirs) if self.n_features else (other, mine, theirs)
        if self.width != other.width:
            raise InputError(
                f"the features are of nodes with {self.width} attributes and with {other.width}: give all nodes the same"
            )
        if bool(self.alphabet) != bool(other.alphabet):
            raise InputError(
                "the features are of graphs with and without labels of nodes: label all, or use labels='none'"
            )
        alphabet, codes = united(self.alphabet, other.alphabet)
        pairs = other.ids
        if alphabet:
            pairs = codes.astype(np.int64)[pairs // self.width] * self.width + pairs % self.width
        theirs, new = merged_ids(self.ids, pairs)
        return NodeAttributesMap(self.kernel, alphabet, self.width, np.append(self.ids, pairs[new])), mine, theirs

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"alphabet": self.alphabet, "width": self.width}, {"ids": self.ids}
