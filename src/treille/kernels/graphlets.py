"""Graphlets: how often each small graph occurs as an induced subgraph."""

from itertools import pairwise
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from treille import _core
from treille.data import Graphs
from treille.data.base import running_sum
from treille.features import FeatureMap, LocatingMap, MergingMap, Rows
from treille.features.contributions import Occurrences
from treille.features.feature_map import check_id
from treille.features.merging import Merged, alike, merged_ids
from treille.features.rows import squared_norms
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import check_flag, effective_n_jobs
from treille.kernels.base import Fitted
from treille.kernels.counts import Counts, check_counts, transformed
from treille.kernels.graph_features import GraphKernel, NodeLabelledMap

CONNECTED = {3: ("path of 3", "triangle"), 4: ("path of 4", "claw", "cycle of 4", "paw", "diamond", "clique of 4")}
DISCONNECTED = {
    3: ("edge and node", "three nodes"),
    4: ("triangle and node", "path of 3 and node", "two edges", "edge and two nodes", "four nodes"),
}


MOST_VISITED = 10**8  # subgraphs in an explanation, or arcs of graphs without one of their nodes
CHUNK = 10**6  # arcs at a time


class Graphlets(GraphKernel):
    """Common small subgraphs: k(x, y) = sum over graphs g of `size` nodes of count_x(g) count_y(g).

    count_x(g) is the number of sets of nodes of x between which the edges of x form g. Labels, weights and loops are ignored;
    graphs must be undirected. All sets are counted, none is sampled: exact below 2^53, above it rounded to a float64. Takes
    O(m a^2) time for m edges and arboricity a, which is small for sparse graphs, and never more than sqrt(2 m).

    Parameters
    ----------
    size : {3, 4}
        The number of nodes of the subgraphs.
    connected : bool
        Whether to count only connected subgraphs: 2 of the 4 types of size 3, 6 of the 11 of size 4. The other counts depend
        mostly on the number of nodes.
    counts : {"raw", "log", "binary"}
        In place of a count c: c, 1 + log(c), or 1 if c > 0; see `NGram`.

    References
    ----------
    Shervashidze et al.: Efficient graphlet kernels for large graph comparison. AISTATS 2009.
    Ahmed, Neville, Rossi, Duffield: Efficient graphlet counting for large networks. ICDM 2015.

    Examples
    --------
    >>> from treille.data import Graph
    >>> from treille.kernels import Graphlets
    >>> square, triangle = Graph(4, [(0, 1), (1, 2), (2, 3), (3, 0)]), Graph(3, [(0, 1), (1, 2), (2, 0)])
    >>> Graphlets(3)([square, triangle]).tolist()
    [[16.0, 0.0], [0.0, 1.0]]
    """

    def __init__(self, size: Literal[3, 4] = 4, connected: bool = True, counts: Counts = "raw"):
        self.size = size
        self.connected = connected
        self.counts = counts

    def check(self) -> None:
        if isinstance(self.size, bool) or self.size not in (3, 4):
            raise InputError(f"size is {self.size!r}, expected 3 or 4: larger subgraphs are not counted exactly")
        check_flag("connected", self.connected)
        check_counts(self.counts)

    def fit_features(self, batch: Graphs, n_jobs: int | None = None) -> Fitted:
        self.check()
        features = GraphletMap(self, np.arange(len(self.types())))
        return features, features.transform(batch, n_jobs)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        types = stored.indices(arrays, "types", len(self.types()), kind=np.int64)
        if len(np.unique(types)) != len(types):
            raise InputError("a type of subgraphs is in the file twice")
        return GraphletMap(self, types)

    def types(self) -> tuple[str, ...]:
        """The names of the subgraphs, in the order of the core."""
        return CONNECTED[self.size] + (() if self.connected else DISCONNECTED[self.size])


class GraphletMap(LocatingMap, MergingMap, NodeLabelledMap):
    """Types of subgraphs; all have an id, whether or not they occur."""

    def __init__(self, kernel: Graphlets, types: np.ndarray):
        self.kernel = kernel
        self.types = types

    @property
    def n_features(self) -> int:
        return len(self.types)

    def transform(self, batch: Graphs, n_jobs: int | None = None) -> Rows:
        kernel, threads = self.kernel, effective_n_jobs(n_jobs)
        counts = self._counts(batch, threads)
        values = sp.csr_matrix(counts)
        values.data = transformed(kernel.counts, values.data)
        ids = np.full(counts.shape[1], -1)
        ids[self.types] = np.arange(self.n_features)
        return Rows.from_csr(values, squared_norms(values), ids=ids, n_features=self.n_features, threads=threads)

    def relabelled(self, rename: Any) -> FeatureMap:
        return self  # labels do not count

    def occurrences(self, batch: Graphs) -> Occurrences:
        kernel, size = self.kernel, int(self.kernel.size)
        counts = self._counts(batch, 1)
        owners = np.repeat(np.arange(len(batch)), np.diff(batch.offsets))
        values = np.divide(
            transformed(kernel.counts, np.maximum(counts, 1)), counts, out=np.zeros_like(counts), where=counts > 0
        )
        shares = (self._of_nodes(batch, counts) / size * values[owners])[:, self.types]
        nodes, features = np.nonzero(shares)
        parts = nodes - batch.offsets[owners[nodes]]
        ends = np.concatenate([[0], np.cumsum(np.bincount(owners[nodes], minlength=len(batch)))])
        return Occurrences(features, shares[nodes, features], np.arange(len(nodes) + 1), parts, ends)

    def _of_nodes(self, batch: Graphs, found: np.ndarray) -> np.ndarray:
        """For every node, the number of the subgraphs `found` of each type that contain it."""
        if self.kernel.connected and found.sum() <= MOST_VISITED:
            return _core.graphlets_of_nodes(batch.core_arrays("none"), int(self.kernel.size), 1)
        n_arcs = np.diff(batch.arcs[batch.offsets])
        if (np.diff(batch.offsets) * n_arcs).sum() > MOST_VISITED:
            raise InputError(
                f"{self.kernel!r} has {found.sum():,.0f} subgraphs here, too many to find out which nodes they have: explain "
                "smaller graphs, or fewer at a time"
            )
        of_nodes = np.empty((len(batch.labels), found.shape[1]))
        for i, (first, last) in enumerate(pairwise(batch.offsets.tolist())):
            step = 1 + CHUNK // max(1, int(n_arcs[i]))
            for start in range(first, last, step):
                some = np.arange(start, min(last, start + step)) - first
                of_nodes[first + some] = found[i] - self._without(batch, i, some)
        return of_nodes

    def _without(self, batch: Graphs, i: int, nodes: np.ndarray) -> np.ndarray:
        """The counts of graph i without each of these nodes."""
        arcs = slice(*batch.arcs[batch.offsets[i : i + 2]])
        ends = np.stack([batch.sources[arcs], batch.targets[arcs]])
        which, kept = np.nonzero((ends[:, None] != nodes[:, None]).all(axis=0))
        sources, targets = ends[:, kept] - (ends[:, kept] > nodes[which])
        left = int(batch.offsets[i + 1] - batch.offsets[i]) - 1
        offsets = left * np.arange(len(nodes) + 1)
        per_node = np.bincount(which * left + sources, minlength=offsets[-1])
        arrays = np.zeros(offsets[-1], np.int32), offsets, running_sum(per_node), targets.astype(np.int32)
        none = batch.core_arrays("none")[4], np.empty(0)
        return _core.graphlets((*arrays, *none), int(self.kernel.size), bool(self.kernel.connected), 1)

    def _counts(self, batch: Graphs, threads: int) -> np.ndarray:
        """The number of occurrences of each type of subgraph, in the order of the core."""
        kernel = self.kernel
        if batch.directed:
            raise InputError(
                f"{kernel!r} counts subgraphs of undirected graphs, but these are directed: use graphs.undirected()"
            )
        return _core.graphlets(batch.core_arrays("none"), int(kernel.size), bool(kernel.connected), threads)

    def name(self, id: int) -> str:
        check_id(id, self.n_features)
        return self.kernel.types()[self.types[id]]

    def restrict(self, ids: np.ndarray) -> FeatureMap:
        return GraphletMap(self.kernel, self.types[ids])

    def merge(self, other: FeatureMap) -> Merged:
        other = alike(GraphletMap, self, other, "kernel")
        theirs, new = merged_ids(self.types, other.types)
        types = np.concatenate([self.types, other.types[new]])
        return GraphletMap(self.kernel, types), np.arange(self.n_features), theirs

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {}, {"types": self.types}
