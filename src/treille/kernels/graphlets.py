"""Graphlets: how often each small graph occurs as an induced subgraph."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from treille import _core
from treille.data import Batch, Graphs
from treille.features import FeatureMap, Rows
from treille.features.feature_map import check_id
from treille.features.occurrences import Occurrences
from treille.features.rows import squared_norms
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.counts import Counts, check_counts, transformed
from treille.kernels.graph_kernels import GraphKernel
from treille.kernels.tree_kernels import check_choice

CONNECTED = {
    3: ("path of 3", "triangle"),
    4: ("path of 4", "claw", "cycle of 4", "paw", "diamond", "clique of 4"),
}
DISCONNECTED = {
    3: ("edge and node", "three nodes"),
    4: ("triangle and node", "path of 3 and node", "two edges", "edge and two nodes", "four nodes"),
}


MOST_VISITED = 10**8  # subgraphs in an explanation


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
        check_choice("connected", self.connected)
        check_counts(self.counts)

    def fit_features(self, batch: Batch, n_jobs: int | None = None) -> tuple[GraphletMap, Rows]:
        self.check()
        features = GraphletMap(self, np.arange(len(self.types())))
        return features, features.transform(batch, n_jobs)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> GraphletMap:
        self.check()
        types = stored.indices(arrays, "types", len(self.types()), kind=np.int64)
        if (np.diff(types) <= 0).any():
            raise InputError("the types of subgraphs in the file do not rise")
        return GraphletMap(self, types)

    def types(self) -> tuple[str, ...]:
        """The names of the subgraphs, in the order of the core."""
        return CONNECTED[self.size] + (() if self.connected else DISCONNECTED[self.size])


class GraphletMap(FeatureMap):
    """Types of subgraphs; all have an id, whether or not they occur."""

    def __init__(self, kernel: Graphlets, types: np.ndarray):
        self.kernel = kernel
        self.types = types

    @property
    def n_features(self) -> int:
        return len(self.types)

    def transform(self, batch: Batch, n_jobs: int | None = None) -> Rows:
        assert isinstance(batch, Graphs)
        kernel, threads = self.kernel, effective_n_jobs(n_jobs)
        found = self._counts(batch, threads)
        values = sp.csr_matrix(found)
        values.data = transformed(kernel.counts, values.data)
        ids = np.full(found.shape[1], -1)
        ids[self.types] = np.arange(self.n_features)
        return Rows.from_csr(values, squared_norms(values), ids=ids, n_features=self.n_features, threads=threads)

    def occurrences(self, batch: Batch) -> Occurrences:
        assert isinstance(batch, Graphs)
        kernel, arrays, size = self.kernel, batch.core_arrays("none"), int(self.kernel.size)
        found = self._counts(batch, 1)
        if not kernel.connected or found.sum() > MOST_VISITED:
            why = "subgraphs that are not connected" if not kernel.connected else f"{found.sum():,.0f} subgraphs"
            raise InputError(f"{kernel!r} has {why}, which are counted but not visited: their nodes are unknown")
        owners = np.repeat(np.arange(len(batch)), np.diff(batch.offsets))
        values = np.divide(
            transformed(kernel.counts, np.maximum(found, 1)), found, out=np.zeros_like(found), where=found > 0
        )
        shares = (_core.graphlets_of_nodes(arrays, size, 1) / size * values[owners])[:, self.types]
        nodes, features = np.nonzero(shares)
        parts = nodes - batch.offsets[owners[nodes]]
        ends = np.concatenate([[0], np.cumsum(np.bincount(owners[nodes], minlength=len(batch)))])
        return Occurrences(features, shares[nodes, features], np.arange(len(nodes) + 1), parts, ends)

    def _counts(self, batch: Graphs, threads: int) -> np.ndarray:
        """How often each type of subgraph occurs, in the order of the core."""
        kernel = self.kernel
        if batch.directed:
            raise InputError(
                f"{kernel!r} counts subgraphs of undirected graphs, but these are directed: use graphs.undirected()"
            )
        return _core.graphlets(batch.core_arrays("none"), int(kernel.size), bool(kernel.connected), threads)

    def name(self, id: int) -> str:
        check_id(id, self.n_features)
        return self.kernel.types()[self.types[id]]

    def restrict(self, ids: np.ndarray) -> GraphletMap:
        return GraphletMap(self.kernel, self.types[ids])

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {}, {"types": self.types}
