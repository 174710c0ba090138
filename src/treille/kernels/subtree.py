"""Complete subtrees: a node with all its descendants."""

from __future__ import annotations

from typing import Any

import numpy as np

from treille import _core
from treille.data import Trees
from treille.data.base import running_sum, united
from treille.data.tree import spell
from treille.features import FeatureMap, LocatingMap, MergingMap, Occurrences, Rows
from treille.features.feature_map import CoreMap
from treille.features.merging import Records, alike, merge_records
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import check_flag, check_positive, effective_n_jobs
from treille.kernels.counts import Counts, check_counts
from treille.kernels.tree_kernels import TreeKernel


class SubTree(TreeKernel):
    """Common complete subtrees, each a node with all its descendants: k(x, y) = sum over s of decay^m(s) count_x(s) count_y(s).

    m(s) is the number of inner nodes of s. Has explicit features, compared exactly, in time linear in the data.

    Parameters
    ----------
    decay : float
        Positive: the factor of each inner node of a subtree.
    leaves : bool
        Whether leaves (the words of a parse tree) are subtrees, and count in m. Use it if leaves are nodes like others, as in XML.
    counts : {"raw", "log", "binary"}
        In place of a count c of a subtree: c, 1 + log(c), or 1 if c > 0; see `NGram`.

    References
    ----------
    Vishwanathan, Smola: Fast kernels for string and tree matching. NIPS 2002.

    Examples
    --------
    >>> from treille.kernels import SubTree
    >>> SubTree(decay=1.0)(["(S (NP he) (VP sat))", "(S (NP he) (VP (V ate) (NP it)))"]).tolist()
    [[3.0, 1.0], [1.0, 5.0]]
    """

    def __init__(self, decay: float = 0.4, leaves: bool = False, counts: Counts = "raw"):
        self.decay = decay
        self.leaves = leaves
        self.counts = counts

    def check(self) -> None:
        check_counts(self.counts)
        check_positive("decay", self.decay)
        check_flag("leaves", self.leaves)

    def fit_features(self, batch: Trees, n_jobs: int | None = None) -> tuple[SubTreeMap, Rows]:
        self.check()
        features, rows = _core.SubtreeFeatures.fit(batch.arrays, *self._options())
        fitted = SubTreeMap(features, batch.alphabet, self)
        return fitted, Rows.from_core(rows, fitted.n_features)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> SubTreeMap:
        alphabet, cells = stored.names(spec), stored.array(arrays, "cells", np.int32)
        starts = stored.offsets(arrays, "starts", len(cells))
        labels = cells[starts[:-1]] if (np.diff(starts) > 0).all() else np.array([-1])
        if len(labels) and not 0 <= labels.min() <= labels.max() < len(alphabet):
            raise InputError("the subtrees in the file do not fit its alphabet")
        return self.map_of((cells, starts, stored.array(arrays, "subtrees", np.int32)), alphabet)

    def map_of(self, parts: tuple[np.ndarray, np.ndarray, np.ndarray], alphabet: list[str]) -> SubTreeMap:
        """The map of subtrees: their cells, where those of each begin, and the subtree of each feature."""
        return SubTreeMap(_core.SubtreeFeatures.from_parts(*parts, *self._options()), alphabet, self)

    def _options(self) -> tuple[float, bool, _core.Counts]:
        return float(self.decay), bool(self.leaves), check_counts(self.counts)


class SubTreeMap(CoreMap, LocatingMap, MergingMap):
    """Subtrees and their ids. Unseen subtrees have none."""

    def __init__(self, features: Any, alphabet: list[str], kernel: SubTree):
        self.features = features
        self.alphabet = alphabet
        self.kernel = kernel

    @property
    def names(self) -> tuple[Any, ...]:
        return (self.alphabet,)

    def transform(self, batch: Trees, n_jobs: int | None = None) -> Rows:
        rows = self.features.transform(batch.arrays_over(self.alphabet), effective_n_jobs(n_jobs))
        return Rows.from_core(rows, self.n_features)

    def occurrences(self, batch: Trees) -> Occurrences:
        features, sizes = self.features.at_nodes(batch.arrays_over(self.alphabet)), batch.subtree_sizes
        places = np.arange(len(sizes)) - np.repeat(batch.offsets[:-1], np.diff(batch.offsets))
        ends = running_sum(sizes)
        covered = np.arange(ends[-1]) + np.repeat(places - ends[:-1], sizes)  # nodes are in preorder
        return Occurrences.of_parts(self.transform(batch), batch.offsets, features, sizes, covered)

    def feature_name(self, id: int) -> str:
        labels, arities = self.features.nodes(id)
        parents, waiting = list[int](), [-1]  # parents of the nodes to come, the next one last
        for node, arity in enumerate(arities):
            parents.append(waiting.pop())
            waiting += [node] * arity
        return spell([self.alphabet[label] for label in labels], parents)

    def merge(self, other: FeatureMap) -> tuple[SubTreeMap, np.ndarray, np.ndarray]:
        other = alike(SubTreeMap, self, other, "kernel")
        alphabet, codes = united(self.alphabet, other.alphabet)
        mine, theirs = Records(*self.parts()), Records(*other.parts())
        theirs.cells[theirs.starts[:-1]] = codes[theirs.cells[theirs.starts[:-1]]]  # labels; children follow
        merged, ids = merge_records(mine, theirs, own=1)
        return self.kernel.map_of(merged, alphabet), np.arange(self.n_features), ids

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"alphabet": self.alphabet}, dict(zip(("cells", "starts", "subtrees"), self.parts(), strict=True))
