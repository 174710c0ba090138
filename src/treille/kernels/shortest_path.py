"""Shortest paths between the nodes of graphs."""

from dataclasses import dataclass
from math import inf
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from treille import _core
from treille.data import Graphs
from treille.data.base import available_memory, readable_size
from treille.features import Occurrences
from treille.io.errors import InputError
from treille.io.parameters import check_choice, check_flag, check_positive, check_whole
from treille.kernels.counts import Counts, check_counts
from treille.kernels.graph_features import GraphPatternKernel, GraphPatternMap

STEPS_PER_SECOND = 1e8  # nodes and arcs visited
WEIGHTED_STEPS_PER_SECOND = 2e7
MOST_SECONDS = 3600
PAIR_BYTES = 60  # of an occurrence, while they are sorted
MOST_STEPS = 50  # of paths whose number is estimated from walks


class ShortestPathMap(GraphPatternMap):
    """Shortest paths and their ids."""

    def pattern_name(self, pattern: int) -> str:
        first, second, *length = self.features.key(pattern)
        ends = self.label(first), self.label(second)
        shown = f"{length[0]}" if len(length) == 1 else f"{float(f'{length[0]}e{length[1] - 8}'):.9g}"
        return f"{ends[0]} -{shown}-> {ends[1]}" if self.directed else f"{min(ends)} -{shown}- {max(ends)}"

    def occurrences(self, batch: Graphs) -> Occurrences:
        if self.kernel.max_length is None:  # else it may be far fewer
            needed, available = PAIR_BYTES * int((np.diff(batch.offsets) ** 2).sum()), available_memory()
            if needed > available:
                raise InputError(
                    f"the shortest paths of these {len(batch):,} graphs, listed pair by pair, would take "
                    f"{readable_size(needed)}, but {readable_size(available)} are free: explain fewer or smaller graphs"
                )
        return super().occurrences(batch)

    def covered(self, batch: Any, arrays: Any, owners: Any, examples: Any, first: Any, second: Any) -> Any:
        return 2 * np.arange(len(first) + 1), np.column_stack([first, second]).astype(np.int64).ravel()


@dataclass(eq=False, repr=False)
class ShortestPath(GraphPatternKernel):
    """Common shortest paths: k(x, y) = sum over s = (label, length, label) of count_x(s) count_y(s).

    count_x(s) is the number of ordered pairs of different nodes of x with these labels and this distance. In a graph of n nodes
    and m edges, all distances take time n (n + m). Has explicit features; for undirected graphs a path and its reversal are one
    feature, whose value is multiplied by the square root of 2 where the labels differ.

    Parameters
    ----------
    labels : {"nodes", "none"}
        Whether labels of nodes count, if the graphs have them.
    max_length : float or None
        Longer paths are not counted, which saves time in large graphs. None: no limit. Whole, unless `use_weights`.
    use_weights : bool
        Whether the length of a path is the sum of the weights of its edges, which must not be negative, instead of their number.
        Lengths that agree in 9 significant digits are equal.
    counts : {"raw", "log", "binary"}
        In place of a count c of ordered pairs: c, 1 + log(c), or 1 if c > 0; see `NGram`.

    References
    ----------
    Borgwardt, Kriegel: Shortest-path kernels on graphs. ICDM 2005.

    Examples
    --------
    >>> from treille import Features
    >>> from treille.data import Graph
    >>> from treille.kernels import ShortestPath
    >>> X = [Graph(["C", "C", "O"], [(0, 1), (1, 2)]), Graph(["C", "O"], [(0, 1)])]
    >>> ShortestPath()(X).round(9).tolist()
    [[8.0, 2.0], [2.0, 2.0]]
    >>> Features(ShortestPath()).fit(X).get_feature_names_out().tolist()
    ['C -1- O', 'C -1- C', 'C -2- O']
    """

    core = _core.ShortestPathFeatures
    map = ShortestPathMap

    labels: Literal["nodes", "none"] = "nodes"
    max_length: float | None = None
    use_weights: bool = False
    counts: Counts = "raw"

    def check(self) -> None:
        check_counts(self.counts)
        check_flag("use_weights", self.use_weights)
        check_choice("labels", self.labels, "nodes", "none")
        if self.max_length is not None and self.use_weights:
            check_positive("max_length", self.max_length)
        elif self.max_length is not None:
            check_whole("max_length", self.max_length)

    def options(self, directed: bool, edge_labelled: bool) -> tuple[Any, ...]:
        length = inf if self.max_length is None else float(self.max_length)
        return _core.ShortestPaths(length, bool(self.use_weights), directed), check_counts(self.counts)

    def check_batch(self, batch: Graphs) -> None:
        if self.use_weights and len(batch.weights) and batch.weights.min() < 0:
            arc = int(np.argmax(batch.weights < 0))
            graph = int(np.searchsorted(batch.arcs[batch.offsets], arc, side="right")) - 1
            ends = batch.sources[arc], batch.targets[arc]
            raise InputError(
                f"item {graph}, edge {ends[0]}-{ends[1]}: its weight is {batch.weights[arc]}, but a path needs weights of "
                "at least 0: use use_weights=False, or change the weights"
            )
        costs = self._costs(batch)
        seconds = costs.sum() / (WEIGHTED_STEPS_PER_SECOND if self.use_weights else STEPS_PER_SECOND)
        if seconds > MOST_SECONDS:
            graph = int(np.argmax(costs))
            raise InputError(
                f"the shortest paths of these graphs would take about {seconds / 3600:,.0f} hours, item {graph} alone, which has "
                f"{np.diff(batch.offsets)[graph]:,} nodes, {seconds * costs[graph] / costs.sum() / 3600:,.1f}: set "
                f"{'max_length' if self.max_length is None else 'a smaller max_length'}, or use WeisfeilerLehman, which is linear"
            )

    def _costs(self, batch: Graphs) -> np.ndarray:
        """Nodes and arcs that the searches in each graph visit, at most."""
        nodes, degrees = np.diff(batch.offsets).astype(float), np.diff(batch.arcs).astype(float)
        per_search = nodes + np.diff(batch.arcs[batch.offsets])
        costs = nodes * per_search
        if self.max_length is None or self.use_weights or costs.sum() < STEPS_PER_SECOND:
            return costs
        owners = np.repeat(np.arange(len(batch)), np.diff(batch.offsets))
        targets = batch.targets + np.repeat(batch.offsets[owners], np.diff(batch.arcs))
        adjacency = sp.csr_matrix((np.ones(len(targets)), targets, batch.arcs), shape=(len(degrees), len(degrees)))
        visits = 1 + degrees
        for _ in range(min(int(self.max_length), MOST_STEPS) - 1):
            visits = np.minimum(1 + degrees + adjacency @ visits, per_search[owners])
        return np.bincount(owners, visits, minlength=len(batch)) if int(self.max_length) <= MOST_STEPS else costs
