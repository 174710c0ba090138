"""Walks of a given number of steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from treille import _core
from treille.data import Graphs
from treille.data.alphabet import united
from treille.data.graphs import Labels
from treille.features import Contributions, ExplainingMap, FeatureMap, MergingMap, Rows
from treille.features.feature_map import check_id
from treille.features.merging import alike, merged_ids, number_records
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import check_whole, effective_n_jobs
from treille.kernels.base import check_finite
from treille.kernels.counts import Counts, check_counts
from treille.kernels.fitting import KnownFeatures
from treille.kernels.graph_features import by_part, of_one_kind
from treille.kernels.graph_kernels import GraphKernel, NodeLabelledMap, check_labels
from treille.kernels.walk_matrices import WalkSums

LONGEST = 1000
MANY = 3e7  # sequences of all graphs: beyond, the kernel matrix is computed without features
TOO_MANY = 1e11


class Walks(GraphKernel):
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

    def __init__(self, k: int = 3, min_k: int | None = None, labels: Labels = "all", counts: Counts = "raw"):
        self.k = k
        self.min_k = min_k
        self.labels = labels
        self.counts = counts

    def check(self) -> None:
        check_labels(self.labels)
        check_counts(self.counts)
        k = check_whole("k", self.k, 0)
        if k > LONGEST:
            raise InputError(f"k is {k}, expected at most {LONGEST} steps")
        if self.min_k is not None and check_whole("min_k", self.min_k, 0) > k:
            raise InputError(f"min_k is {self.min_k}, expected at most k, {k}")

    def prefers_features(self, batch: Graphs, n_jobs: int | None = None, known: KnownFeatures | None = None) -> bool:
        return self.counts != "raw" or self._most_sequences(batch, n_jobs) <= MANY

    def fit_features(self, batch: Graphs, n_jobs: int | None = None) -> tuple[WalkMap, Rows]:
        self.check()
        self._check_batch(batch)
        most = self._most_sequences(batch, n_jobs)
        if most > TOO_MANY:
            raise InputError(
                f"the graphs may have {most:.2g} different walks of {self.k} steps: use a smaller k, labels='nodes' or 'none', or "
                "the matrix, kernel(X, Y), which needs no features"
            )
        features, rows = _core.WalkFeatures.fit(batch.core_arrays(self.labels), *self._options())
        alphabets = (batch.alphabet, batch.edge_alphabet)
        fitted = WalkMap(features, *alphabets, batch.directed, self)
        return fitted, Rows.from_core(rows, fitted.n_features)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> WalkMap:
        alphabet, edge_alphabet = stored.names(spec), stored.names(spec, "edge_alphabet")
        steps = stored.array(arrays, "steps", np.int32)
        parts = steps.reshape(-1, 3) if len(steps) % 3 == 0 else np.full((1, 3), -1)
        for codes, names in ((parts[:, 1], edge_alphabet), (parts[:, 2], alphabet)):
            if len(codes) and not 0 <= codes.min() <= codes.max() < max(1, len(names)):
                raise InputError("the walks in the file do not fit its alphabets")
        directed = stored.value(spec, "directed", bool)
        return _rebuild((steps, stored.array(arrays, "sequences", np.int32)), alphabet, edge_alphabet, directed, self)

    def gram(self, left: Graphs, right: Graphs | None = None, n_jobs: int | None = None) -> np.ndarray:
        self.check()
        if self.prefers_features(left, n_jobs):
            return super().gram(left, right, n_jobs)
        return check_finite(self, self._sums().gram(left, right, effective_n_jobs(n_jobs)))

    def diagonal(self, batch: Graphs, n_jobs: int | None = None) -> np.ndarray:
        self.check()
        if self.prefers_features(batch, n_jobs):
            return super().diagonal(batch, n_jobs)
        return check_finite(self, self._sums().diagonal(batch, effective_n_jobs(n_jobs)))

    def _options(self) -> tuple[int, int, _core.Counts]:
        return self._first, int(self.k), check_counts(self.counts)

    @property
    def _first(self) -> int:
        return int(self.k if self.min_k is None else self.min_k)

    def _sums(self) -> WalkSums:
        return WalkSums("counts", 1.0, self._first, int(self.k), self.labels)

    def _check_batch(self, batch: Graphs) -> None:
        if self.counts != "raw" and len(batch.weights):
            raise InputError(f"counts={self.counts!r} needs graphs without weights of edges: use counts='raw'")

    def _most_sequences(self, batch: Graphs, n_jobs: int | None) -> float:
        """A bound on the sequences of each graph, summed: there are not more than walks, and than combinations of labels."""
        key = ("number of walks", self.labels, int(self.k))
        return batch.derived(key, lambda: self._bound(batch, effective_n_jobs(n_jobs)))

    def _bound(self, batch: Graphs, threads: int) -> float:
        nodes = max(1, len(batch.alphabet)) if self.labels in ("all", "nodes") else 1
        edges = max(1, len(batch.edge_alphabet)) if self.labels in ("all", "edges") else 1
        with np.errstate(over="ignore"):
            combinations = nodes * np.power(float(nodes * edges), np.arange(int(self.k) + 1))
        arrays = (*batch.core_arrays("none")[:5], np.empty(0))
        walks = _core.walk_moments(arrays, int(self.k) + 1, 1.0, threads)
        return float(np.minimum(walks, combinations).sum())


class WalkMap(ExplainingMap, MergingMap, NodeLabelledMap):
    """Sequences of labels and their ids. Unseen sequences have none."""

    def __init__(self, features: Any, alphabet: list[str], edge_alphabet: list[str], directed: bool, kernel: Walks):
        self.features = features
        self.alphabet = alphabet
        self.edge_alphabet = edge_alphabet
        self.directed = directed
        self.kernel = kernel

    @property
    def n_features(self) -> int:
        return len(self.features)

    def transform(self, batch: Graphs, n_jobs: int | None = None) -> Rows:
        self.kernel._check_batch(batch)
        arrays = batch.core_arrays_over(self.alphabet, self.edge_alphabet, self.kernel.labels)
        return Rows.from_core(self.features.transform(arrays, effective_n_jobs(n_jobs)), self.n_features)

    def contributions(self, batch: Graphs, weights: np.ndarray, n_jobs: int | None = None) -> Contributions:
        self.kernel._check_batch(batch)
        arrays = batch.core_arrays_over(self.alphabet, self.edge_alphabet, self.kernel.labels)
        nodes, arcs = self.features.contributions(arrays, np.ascontiguousarray(weights, np.float64))
        return Contributions.of(batch, by_part(batch, nodes, arcs))

    def name(self, id: int) -> str:
        check_id(id, self.n_features)
        labels = self.features.labels(id)
        named, arrow = bool(self.alphabet) and self.kernel.labels in ("all", "nodes"), ">" if self.directed else "-"
        nodes = [self.alphabet[label] if named else "*" for label in labels[::2]]
        if not self.edge_alphabet or self.kernel.labels in ("nodes", "none"):
            return arrow.join(nodes)
        edges = [f" -{self.edge_alphabet[label]}{arrow} " for label in labels[1::2]]
        return nodes[0] + "".join(edge + node for edge, node in zip(edges, nodes[1:], strict=True))

    def restrict(self, ids: np.ndarray) -> WalkMap:
        parts = self.features.parts(np.asarray(ids, np.int64))
        return _rebuild(parts, self.alphabet, self.edge_alphabet, self.directed, self.kernel)

    def merge(self, other: FeatureMap) -> tuple[WalkMap, np.ndarray, np.ndarray]:
        other = alike(WalkMap, self, other, "kernel")
        if not (self.n_features and other.n_features):
            return (self if self.n_features else other), np.arange(self.n_features), np.arange(other.n_features)
        one, two = of_one_kind(self, other, self.kernel.labels)
        alphabet, codes = united(one.alphabet, two.alphabet)
        edge_alphabet, edge_codes = united(one.edge_alphabet, two.edge_alphabet)
        (steps, sequences), (more, others) = self._parts(), other._parts()
        prefix, edge, label = more.T
        if self.kernel.labels in ("all", "nodes") and alphabet:
            label[:] = codes[label]
        if self.kernel.labels in ("all", "edges") and edge_alphabet:
            edge[prefix >= 0] = edge_codes[edge[prefix >= 0]]  # no edge leads to the first node
        numbers = number_records(_records(steps), _records(more), own=2)
        prefix[:] = np.append(numbers, -1)[prefix]
        theirs, new = merged_ids(sequences, numbers[others])
        parts = (
            np.concatenate([steps, more[numbers >= len(steps)]]).ravel(),
            np.concatenate([sequences, numbers[others][new]]).astype(np.int32),
        )
        merged = _rebuild(parts, alphabet, edge_alphabet, one.directed, self.kernel)
        return merged, np.arange(self.n_features), theirs

    def has_edges(self) -> bool:
        """Whether the features depend on edges; if not, these may as well be directed or not, labelled or not."""
        return bool((self._parts()[0][:, 0] >= 0).any())

    def of_graphs_like(self, other: WalkMap) -> WalkMap:
        """The same features of graphs whose edges are like those of another map."""
        return WalkMap(self.features, self.alphabet, other.edge_alphabet, other.directed, self.kernel)

    def _parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Prefixes, one row each: the prefix before it or -1, the label of the last edge, that of the last node; and the prefix
        that each feature is."""
        steps, sequences = self.features.parts(np.arange(self.n_features))
        return steps.reshape(-1, 3), sequences

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        steps, sequences = self.features.parts(np.arange(self.n_features))
        spec = {"alphabet": self.alphabet, "edge_alphabet": self.edge_alphabet, "directed": self.directed}
        return spec, {"steps": steps, "sequences": sequences}

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self.features.parts(np.arange(self.n_features))
        return _rebuild, (parts, self.alphabet, self.edge_alphabet, self.directed, self.kernel)


def _records(steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.ascontiguousarray(steps[:, [1, 2, 0]]).ravel(), 3 * np.arange(len(steps) + 1)


def _rebuild(
    parts: tuple[np.ndarray, np.ndarray], alphabet: list[str], edge_alphabet: list[str], directed: bool, kernel: Walks
) -> WalkMap:
    steps, sequences = parts
    features = _core.WalkFeatures.from_parts(steps, sequences, *kernel._options())
    return WalkMap(features, alphabet, edge_alphabet, directed, kernel)
