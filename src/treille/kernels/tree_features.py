"""Kernels of trees with explicit features: complete subtrees, and paths from the root."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from treille import _core
from treille.data import Trees
from treille.data.base import running_sum, united
from treille.data.tree import spell
from treille.features import FeatureMap, LocatingMap, MergingMap, Occurrences, Rows
from treille.features.feature_map import check_id
from treille.features.merging import Merged, Records, alike, merge_records
from treille.features.rows import squared_norms
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import check_flag, check_positive, effective_n_jobs
from treille.kernels.base import Fitted
from treille.kernels.counts import Counts, check_counts, transformed
from treille.kernels.tree_kernels import TreeKernel, TreeMap

Paths = tuple[np.ndarray, np.ndarray, np.ndarray]  # last labels, parent paths, lengths


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

    def fit_features(self, batch: Trees, n_jobs: int | None = None) -> Fitted:
        self.check()
        features, rows = _core.SubtreeFeatures.fit(batch.arrays, *self._options())
        fitted = SubTreeMap(self, features, batch.alphabet)
        return fitted, Rows.from_core(rows, fitted.n_features)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        alphabet, cells = stored.names(spec), stored.array(arrays, "cells", np.int32)
        starts = stored.offsets(arrays, "starts", len(cells))
        labels = cells[starts[:-1]] if (np.diff(starts) > 0).all() else np.array([-1])
        if len(labels) and not 0 <= labels.min() <= labels.max() < len(alphabet):
            raise InputError("the subtrees in the file do not fit its alphabet")
        return self.map_of((cells, starts, stored.array(arrays, "subtrees", np.int32)), alphabet)

    def map_of(self, parts: tuple[np.ndarray, np.ndarray, np.ndarray], alphabet: list[str]) -> FeatureMap:
        """The map of subtrees: their cells, where the cells of each begin, and the subtree of each feature."""
        return SubTreeMap(self, _core.SubtreeFeatures.from_parts(*parts, *self._options()), alphabet)

    def _options(self) -> tuple[float, bool, _core.Counts]:
        return float(self.decay), bool(self.leaves), check_counts(self.counts)


class SubTreeMap(TreeMap, LocatingMap, MergingMap):
    """Subtrees and their ids. Unseen subtrees have none."""

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

    def merge(self, other: FeatureMap) -> Merged:
        other = alike(SubTreeMap, self, other, "kernel")
        alphabet, codes = united(self.alphabet, other.alphabet)
        mine, theirs = Records(*self.parts()), Records(*other.parts())
        theirs.cells[theirs.starts[:-1]] = codes[theirs.cells[theirs.starts[:-1]]]  # labels; children follow
        merged, ids = merge_records(mine, theirs, own=1)
        return self.kernel.map_of(merged, alphabet), np.arange(self.n_features), ids

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"alphabet": self.alphabet}, dict(zip(("cells", "starts", "subtrees"), self.parts(), strict=True))


class RootPaths(TreeKernel):
    """Common paths from the root: k(x, y) = sum over paths p of decay^|p| count_x(p) count_y(p).

    A path is the sequence of labels from the root down to a node, such as the path of an XML element. There is one per node, so
    rows are short and the cost is linear in the number of nodes. `Subpath` counts paths that begin anywhere.

    Parameters
    ----------
    decay : float
        Positive: the factor of each label of a path in its weight.
    counts : {"raw", "log", "binary"}
        In place of a count c of a path: c, 1 + log(c), or 1 if c > 0; see `NGram`.

    Examples
    --------
    >>> from treille.kernels import RootPaths
    >>> RootPaths()(["(a (b) (b))", "(a (b c))", "(b)"]).tolist()  # a, a/b twice
    [[5.0, 3.0, 0.0], [3.0, 3.0, 0.0], [0.0, 0.0, 1.0]]
    """

    def __init__(self, decay: float = 1.0, counts: Counts = "raw"):
        self.decay = decay
        self.counts = counts

    def check(self) -> None:
        check_counts(self.counts)
        check_positive("decay", self.decay)

    def counted(self, forest: tuple[np.ndarray, np.ndarray, np.ndarray]) -> tuple[sp.csr_matrix, Paths]:
        """The rows of a forest over its own paths, and these paths."""
        path, label, parent, length = _core.root_paths(forest)
        ones = np.ones(len(path))
        matrix = sp.csr_matrix((ones, path, forest[2].copy()), shape=(len(forest[2]) - 1, len(label)))
        matrix.sum_duplicates()
        matrix.data = transformed(self.counts, matrix.data) * np.sqrt(float(self.decay) ** length)[matrix.indices]
        matrix.eliminate_zeros()  # a power of decay may underflow to 0
        return matrix, (label, parent, length)

    def fit_features(self, batch: Trees, n_jobs: int | None = None) -> Fitted:
        self.check()
        matrix, (label, parent, _) = self.counted(batch.arrays)
        feature = np.arange(len(label), dtype=np.int32)
        rows = Rows.from_csr(matrix, threads=effective_n_jobs(n_jobs))
        return RootPathsMap(label, parent, feature, batch.alphabet, self), rows

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        alphabet = stored.names(spec)
        label = stored.indices(arrays, "label", len(alphabet))
        n = len(label)
        parent, feature = (stored.indices(arrays, name, n, least=-1) for name in ("parent", "feature"))
        kept = np.sort(feature[feature >= 0])
        sound = len(parent) == len(feature) == n and bool((parent < np.arange(n)).all())
        if not sound or not np.array_equal(kept, np.arange(len(kept))):
            raise InputError("the paths in the file do not fit its kernel")
        return RootPathsMap(label, parent, feature, alphabet, self)


@dataclass(eq=False, repr=False)
class RootPathsMap(LocatingMap, MergingMap):
    """Paths and their ids. Paths that only lead to others may have none."""

    label: np.ndarray
    parent: np.ndarray
    feature: np.ndarray
    alphabet: list[str]
    kernel: RootPaths

    @property
    def n_features(self) -> int:
        return len(self._path_of)

    @cached_property
    def _sorted(self) -> tuple[np.ndarray, np.ndarray]:
        keys = _keys(self.parent, self.label)
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    @cached_property
    def _path_of(self) -> np.ndarray:
        """The path of each feature."""
        paths = np.flatnonzero(self.feature >= 0)
        return paths[np.argsort(self.feature[paths])]

    def transform(self, batch: Trees, n_jobs: int | None = None) -> Rows:
        matrix, paths = self.kernel.counted(batch.arrays_over(self.alphabet))
        ids, threads = self._ids(*paths), effective_n_jobs(n_jobs)
        return Rows.from_csr(matrix, squared_norms(matrix), ids=ids, n_features=self.n_features, threads=threads)

    def occurrences(self, batch: Trees) -> Occurrences:
        path, label, parent, length = _core.root_paths(batch.arrays_over(self.alphabet))
        sizes = length[path].astype(np.int64)
        ends, node = running_sum(sizes), np.arange(len(path))
        covered, first = np.empty(ends[-1], np.int64), np.repeat(batch.offsets[:-1], np.diff(batch.offsets))
        at = node - first
        for step in range(int(sizes.max(initial=0))):  # from each node up to its root
            covered[ends[node] + step] = at
            at = batch.parents[first[node] + at].astype(np.int64)
            node, at = node[at >= 0], at[at >= 0]
        features = self._ids(label, parent, length)[path]
        return Occurrences.of_parts(self.transform(batch), batch.offsets, features, sizes, covered)

    def _ids(self, label: np.ndarray, parent: np.ndarray, length: np.ndarray) -> np.ndarray:
        """The features of new paths, or -1."""
        keys, paths = self._sorted
        found = np.full(len(label) + 1, -1, np.int64)  # the last entry is the parent of the roots
        order = np.argsort(length, kind="stable")
        for level in np.split(order, np.cumsum(np.bincount(length, minlength=1)[:-1])):
            wanted = _keys(found[parent[level]], label[level])
            at = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
            same = (keys[at] == wanted) & ((found[parent[level]] >= 0) | (parent[level] < 0)) if len(keys) else at < 0
            found[level[same]] = paths[at[same]]
        return np.where(found[:-1] >= 0, self.feature[found[:-1]] if len(self.feature) else -1, -1)

    def name(self, id: int) -> str:
        check_id(id, self.n_features)
        labels, path = [], int(self._path_of[id])
        while path >= 0:
            labels.append(self.alphabet[self.label[path]])
            path = int(self.parent[path])
        return "/" + "/".join(reversed(labels))

    def restrict(self, ids: np.ndarray) -> FeatureMap:
        feature = np.full(len(self.feature), -1, np.int32)
        feature[self._path_of[ids]] = np.arange(len(ids))
        kept = feature >= 0
        reached = np.flatnonzero(kept)
        while len(reached):  # up to the roots, one level at a time
            reached = np.unique(self.parent[reached])
            reached = reached[reached >= 0]
            reached = reached[~kept[reached]]
            kept[reached] = True
        # The last entry is the parent of the roots.
        number = np.concatenate([np.cumsum(kept) - 1, [-1]]).astype(np.int32)
        return RootPathsMap(self.label[kept], number[self.parent[kept]], feature[kept], self.alphabet, self.kernel)

    def merge(self, other: FeatureMap) -> Merged:
        other = alike(RootPathsMap, self, other, "kernel")
        alphabet, codes = united(self.alphabet, other.alphabet)
        mine, theirs = self._records(), other._records()
        theirs.cells[::2] = codes[theirs.cells[::2]]
        merged, ids = merge_records(mine, theirs, own=1)
        label, parent = merged.cells.reshape(-1, 2).T.copy()
        feature = np.full(len(label), -1, np.int32)
        feature[merged.features] = np.arange(len(merged.features))
        return RootPathsMap(label, parent, feature, alphabet, self.kernel), np.arange(self.n_features), ids

    def _records(self) -> Records:
        cells = np.column_stack([self.label, self.parent]).astype(np.int32).ravel()
        return Records(cells, 2 * np.arange(len(self.label) + 1), self._path_of)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"alphabet": self.alphabet}, {"label": self.label, "parent": self.parent, "feature": self.feature}


def _keys(parent: np.ndarray, label: np.ndarray) -> np.ndarray:
    return (parent.astype(np.int64) + 1) << 32 | label
