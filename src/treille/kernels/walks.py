"""Walks of a given number of steps."""

from typing import Any, ClassVar

import numpy as np

from treille import _core
from treille.data import Graphs
from treille.data.graphs import CoreArrays, Labels
from treille.features import Contributions, ExplainingMap, FeatureMap
from treille.features.merging import Records, merge_records
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import check_choice, check_whole, effective_n_jobs
from treille.kernels.base import check_finite
from treille.kernels.counts import Counts, check_counts
from treille.kernels.fitting import KnownFeatures
from treille.kernels.graph_features import GraphFeatureMap, GraphPatternKernel, by_part
from treille.kernels.random_walk import WalkSums

LONGEST = 1000
MANY = 3e7  # sequences of all graphs: beyond, the kernel matrix is computed without features
TOO_MANY = 1e11


class WalkMap(GraphFeatureMap, ExplainingMap):
    """Sequences of labels and their ids. Unseen sequences have none."""

    def contributions(self, batch: Graphs, weights: np.ndarray, n_jobs: int | None = None) -> Contributions:
        nodes, arcs = self.features.contributions(self.core_arrays(batch), np.ascontiguousarray(weights, np.float64))
        return Contributions.of(batch, by_part(batch, nodes, arcs))

    def feature_name(self, id: int) -> str:
        labels, arrow = self.features.labels(id), ">" if self.directed else "-"
        nodes = [self.alphabet[label] if self.alphabet else "*" for label in labels[::2]]
        if not self.edge_alphabet:
            return arrow.join(nodes)
        edges = [f" -{self.edge_alphabet[label]}{arrow} " for label in labels[1::2]]
        return nodes[0] + "".join(edge + node for edge, node in zip(edges, nodes[1:], strict=True))

    def merge_coded(self, other: Any, codes: np.ndarray, edge_codes: np.ndarray, names: tuple[Any, ...]) -> Any:
        mine, theirs = self._records(), other._records()
        edge, label, prefix = theirs.cells.reshape(-1, 3).T
        if names[0]:
            label[:] = codes[label]
        if names[1]:
            edge[prefix >= 0] = edge_codes[edge[prefix >= 0]]  # no edge leads to the first node
        merged, ids = merge_records(mine, theirs, own=2)
        steps = np.roll(merged.cells.reshape(-1, 3), 1, axis=1).ravel()
        return self.kernel.map_of((steps, merged.features), *names), ids

    def _records(self) -> Records:
        """Sequences: the labels of the last edge and of the last node, and the sequence before these or -1."""
        steps, sequences = self.parts()
        cells = np.roll(steps.reshape(-1, 3), -1, axis=1).ravel()
        return Records(cells, np.arange(0, len(cells) + 1, 3), sequences)

    def has_edges(self) -> bool:
        return bool((self.parts()[0][::3] >= 0).any())


class Walks(GraphPatternKernel):
    """Common walks of k steps: k(x, y) = sum over sequences s of labels of count_x(s) count_y(s).

    A walk may visit nodes and edges several times. s are the labels of its nodes and edges, in order; with weights of edges, a walk
    counts as the product of its weights. Has explicit features; where labels make too many of them, the matrix is computed without.

    Parameters
    ----------
    k : int
        The number of steps, at most 1000; 0 counts nodes.
    min_k : int or None
        Walks of min_k to k steps; None: of k steps only.
    labels : {"all", "nodes", "edges", "none"}
        Which labels the sequences contain. "all": those that the graphs have.
    counts : {"raw", "log", "binary"}
        In place of a count c of a sequence: c, 1 + log(c), or 1 if c > 0; see `NGram`.

    Examples
    --------
    >>> from treille.data import Graph
    >>> from treille.kernels import Walks
    >>> water, peroxide = Graph("OHH", [(0, 1), (0, 2)]), Graph("OOHH", [(0, 1), (0, 2), (1, 3)])
    >>> Walks(1)([water, peroxide]).tolist()
    [[8.0, 8.0], [8.0, 12.0]]
    >>> features, _ = Walks(2).fit_features(Walks(2).batch([water, peroxide]))
    >>> [features.name(z) for z in range(3)]
    ['H-O-H', 'O-H-O', 'H-O-O']
    """

    core: ClassVar[Any] = _core.WalkFeatures
    map = WalkMap
    arrays = ("steps", "sequences")

    def __init__(self, k: int = 3, min_k: int | None = None, labels: Labels = "all", counts: Counts = "raw"):
        self.k = k
        self.min_k = min_k
        self.labels = labels
        self.counts = counts

    def check(self) -> None:
        check_choice("labels", self.labels, "all", "nodes", "edges", "none")
        check_counts(self.counts)
        k = check_whole("k", self.k, 0)
        if k > LONGEST:
            raise InputError(f"k is {k}, expected at most {LONGEST} steps")
        if self.min_k is not None and check_whole("min_k", self.min_k, 0) > k:
            raise InputError(f"min_k is {self.min_k}, expected at most k, {k}")

    def prefers_features(self, batch: Graphs, n_jobs: int | None = None, known: KnownFeatures | None = None) -> bool:
        return self.counts != "raw" or self._most_sequences(batch, n_jobs) <= MANY

    def options(self, directed: bool, edge_labelled: bool) -> tuple[int, int, _core.Counts]:
        return self._first, int(self.k), check_counts(self.counts)

    def check_batch(self, batch: Graphs) -> None:
        if self.counts != "raw" and len(batch.weights):
            raise InputError(f"counts={self.counts!r} needs graphs without weights of edges: use counts='raw'")
        most = self._most_sequences(batch, None)
        if most > TOO_MANY:
            raise InputError(
                f"the graphs may have {most:.2g} different walks of {self.k} steps: use a smaller k, labels='nodes' or 'none', or "
                "the matrix, kernel(X, Y), which needs no features"
            )

    def fit_core(self, arrays: CoreArrays, options: tuple[Any, ...], threads: int) -> Any:
        return self.core.fit(arrays, *options)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        alphabet, edge_alphabet = stored.names(spec), stored.names(spec, "edge_alphabet")
        steps = stored.array(arrays, "steps", np.int32)
        parts = steps.reshape(-1, 3) if len(steps) % 3 == 0 else np.full((1, 3), -1)
        for codes, names in ((parts[:, 1], edge_alphabet), (parts[:, 2], alphabet)):
            if len(codes) and not 0 <= codes.min() <= codes.max() < max(1, len(names)):
                raise InputError("the walks in the file do not fit its alphabets")
        sequences, directed = stored.array(arrays, "sequences", np.int32), stored.value(spec, "directed", bool)
        return self.map_of((steps, sequences), *self._counted(alphabet, edge_alphabet), directed)

    def map_of(self, parts: Any, alphabet: list[str], edge_alphabet: list[str], directed: bool) -> FeatureMap:
        features = self.core.from_parts(*parts, *self.options(directed, bool(edge_alphabet)))
        return WalkMap(self, features, alphabet, edge_alphabet, directed)

    def gram(self, left: Graphs, right: Graphs | None = None, n_jobs: int | None = None) -> np.ndarray:
        if self.prefers_features(left, n_jobs):
            return super().gram(left, right, n_jobs)
        return check_finite(self, self._sums().gram(left, right, effective_n_jobs(n_jobs)))

    def diagonal(self, batch: Graphs, n_jobs: int | None = None) -> np.ndarray:
        if self.prefers_features(batch, n_jobs):
            return super().diagonal(batch, n_jobs)
        return check_finite(self, self._sums().diagonal(batch, effective_n_jobs(n_jobs)))

    @property
    def _first(self) -> int:
        return int(self.k if self.min_k is None else self.min_k)

    def _sums(self) -> WalkSums:
        return WalkSums("counts", 1.0, self._first, int(self.k), self.labels)

    def _most_sequences(self, batch: Graphs, n_jobs: int | None) -> float:
        """A bound on the sequences of each graph, summed: there are not more than walks, and than combinations of labels."""
        key = ("number of walks", self.labels, int(self.k))
        return batch.derived(key, lambda: self._bound(batch, effective_n_jobs(n_jobs)))

    def _bound(self, batch: Graphs, threads: int) -> float:
        nodes, edges = (max(1, len(names)) for names in self._counted(batch.alphabet, batch.edge_alphabet))
        with np.errstate(over="ignore"):
            combinations = nodes * np.power(float(nodes * edges), np.arange(int(self.k) + 1))
        arrays = (*batch.core_arrays("none")[:5], np.empty(0))
        walks = _core.walk_moments(arrays, int(self.k) + 1, 1.0, threads)
        return float(np.minimum(walks, combinations).sum())
