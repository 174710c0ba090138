"""Weisfeiler-Lehman: labels of nodes, refined round by round by the labels of their neighbours."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from treille import _core
from treille.data import Batch, Graphs
from treille.data.base import available_memory
from treille.data.graphs import Labels
from treille.features import FeatureMap
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import check_choice, check_whole
from treille.kernels.base import Fitted, Kernel
from treille.kernels.counts import Counts, check_counts
from treille.kernels.fitting import CompositeKernel, FitContext, KnownFeatures
from treille.kernels.graph_features import GraphPatternKernel, GraphPatternMap, edges_of_arcs
from treille.kernels.refined_labels import LabelNames, Rounds


class WeisfeilerLehmanMap(GraphPatternMap):
    """Refined labels and their ids."""

    @cached_property
    def _label_names(self) -> LabelNames:
        return LabelNames(self.features.key, self.label, self.edge_label if self.edge_alphabet else None)

    def pattern_name(self, pattern: int) -> str:
        return self._label_names.name(pattern)

    def has_edges(self) -> bool:
        _, starts, _ = self.parts()
        return bool((np.diff(starts) > 1).any())  # cells: a label, or the refined labels of a node and its neighbours

    def covered(self, batch: Any, arrays: Any, owners: Any, examples: Any, first: Any, second: Any) -> Any:
        most = available_memory() // 16
        edges = np.ascontiguousarray(edges_of_arcs(batch), np.int64)
        offsets, parts = _core.neighbourhoods(arrays, edges, examples, first, second, most)
        if len(offsets) <= len(first):
            graph = int(owners[len(offsets) - 2])
            raise InputError(
                f"item {graph}: its refined labels cover so many nodes and edges that their list does not fit into memory: "
                "explain fewer graphs at a time, or use a smaller h"
            )
        return offsets, parts


class WeisfeilerLehman(GraphPatternKernel, CompositeKernel):
    """Common refined labels of nodes: k(x, y) = sum over labels s of 0 to h rounds of count_x(s) count_y(s).

    In each round, a node's label is replaced by the label together with the multiset of (edge label, neighbour's label) of its
    neighbours; in a directed graph, of the targets of its arcs. Labels are compared exactly. Has explicit features, in time
    linear in the data: a label after r rounds describes the walks of r steps from a node, such as ``C(C,N,O)`` for one round.

    Parameters
    ----------
    h : int
        The number of rounds, at least 0.
    base : Kernel or None
        A kernel of graphs: k is the sum over rounds of this kernel on graphs with the node labels of the round. None:
        count labels, as ``base=VertexHistogram()`` does.
    labels : {"all", "nodes", "edges", "none"}
        Which labels count, if the graphs have them.
    counts : {"raw", "log", "binary"}
        In place of a count c of a label: c, 1 + log(c), or 1 if c > 0; see `NGram`. Not used with `base`.

    References
    ----------
    Shervashidze, Schweitzer, van Leeuwen, Mehlhorn, Borgwardt: Weisfeiler-Lehman graph kernels. JMLR 12, 2011.

    Examples
    --------
    >>> from treille import Features
    >>> from treille.data import Graph
    >>> from treille.kernels import WeisfeilerLehman
    >>> X = [Graph(["C", "C", "O"], [(0, 1), (1, 2)]), Graph(["C", "O"], [(0, 1)])]
    >>> WeisfeilerLehman(1)(X).tolist()
    [[8.0, 4.0], [4.0, 4.0]]
    >>> Features(WeisfeilerLehman(1)).fit(X).get_feature_names_out().tolist()
    ['C', 'O', 'O(C)', 'C(C)', 'C(C,O)', 'C(O)']
    """

    core = _core.RefinementFeatures
    map = WeisfeilerLehmanMap

    def __init__(self, h: int = 5, base: Kernel | None = None, labels: Labels = "all", counts: Counts = "raw"):
        self.h = h
        self.base = base
        self.labels = labels
        self.counts = counts

    def check(self) -> None:
        check_whole("h", self.h, 0, 16)
        check_choice("labels", self.labels, "all", "nodes", "edges", "none")
        check_counts(self.counts)
        if self.base is not None:
            if not isinstance(self.base, Kernel):
                raise InputError(f"base is {self.base!r}, expected a kernel of graphs or None")
            self.base.check()

    def batch(self, X: Any, n_jobs: int | None = None) -> Graphs:
        batch = super().batch(X, n_jobs)
        if self.base is not None:
            self.base.batch(batch, n_jobs)  # which refuses graphs if it is a kernel of other data
        return batch

    def options(self, directed: bool, edge_labelled: bool) -> tuple[Any, ...]:
        return _core.Refinements(int(self.h), edge_labelled), check_counts(self.counts)

    @property
    def has_features(self) -> bool:
        return self.base is None or self.base.has_features

    def prefers_features(self, batch: Graphs, n_jobs: int | None = None, known: KnownFeatures | None = None) -> bool:
        return self.base is None or self.base.prefers_features(batch, n_jobs)

    def fit_features(self, batch: Graphs, n_jobs: int | None = None) -> Fitted:
        if self.base is None:
            return super().fit_features(batch, n_jobs)
        if self.needs_features:
            return FitContext().fit(self, batch, n_jobs)
        return Rounds(self.base, self.refined(batch, n_jobs)).fit_features(batch, n_jobs)

    def leaf_kernels(self, batch: Graphs) -> list[tuple[Kernel, Batch]]:
        if self.base is None or not self.needs_features:
            return [(self, batch)]
        plain = self._plain()
        return [(plain, batch), *Rounds(self.base, plain.fit_features(batch)[0]).leaf_kernels(batch)]

    def compose(self, fitted: Iterator[Fitted], context: FitContext, n_jobs: int | None = None) -> Fitted:
        if self.base is None or not self.needs_features:
            return next(fitted)
        return Rounds(self.base, next(fitted)[0]).compose(fitted, context, n_jobs)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        if self.base is None:
            return super().load_features(spec, arrays)
        refined = self._plain().load_features(stored.value(spec, "refined", dict), stored.part(arrays, "refined"))
        return Rounds(self.base, refined).load_features(
            stored.value(spec, "rounds", dict), stored.part(arrays, "rounds")
        )

    def gram(self, left: Graphs, right: Graphs | None = None, n_jobs: int | None = None) -> np.ndarray:
        if self.base is None:
            return super().gram(left, right, n_jobs)
        return Rounds(self.base, self.refined(left if right is None else right, n_jobs)).gram(left, right, n_jobs)

    def diagonal(self, batch: Graphs, n_jobs: int | None = None) -> np.ndarray:
        if self.base is None:
            return super().diagonal(batch, n_jobs)
        return Rounds(self.base, self.refined(batch, n_jobs)).diagonal(batch, n_jobs)

    def refined(self, batch: Graphs, n_jobs: int | None) -> Any:
        """The refined labels of a batch."""
        return self._plain().fit_features(batch, n_jobs)[0]

    def _plain(self) -> "WeisfeilerLehman":
        return WeisfeilerLehman(self.h, labels=self.labels)
