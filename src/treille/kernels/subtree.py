"""Complete subtrees: a node with all its descendants."""

from __future__ import annotations

from typing import Any

import numpy as np

from treille import _core
from treille.data import Trees
from treille.data.alphabet import united
from treille.data.base import running_sum
from treille.data.tree import spell
from treille.features import FeatureMap, LocatingMap, MergingMap, Occurrences, Rows
from treille.features.feature_map import check_id
from treille.features.merging import alike, merged_ids, number_records
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import check_positive, effective_n_jobs
from treille.kernels.counts import Counts, check_counts
from treille.kernels.tree_kernels import TreeKernel, check_choice


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
        check_choice("leaves", self.leaves)

    def fit_features(self, batch: Trees, n_jobs: int | None = None) -> tuple[SubTreeMap, Rows]:
        self.check()
        features, rows = _core.SubtreeFeatures.fit(batch.arrays, *self.options())
        fitted = SubTreeMap(features, batch.alphabet, self)
        return fitted, Rows.from_core(rows, fitted.n_features)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> SubTreeMap:
        alphabet, cells = stored.names(spec), stored.array(arrays, "cells", np.int32)
        starts = stored.offsets(arrays, "starts", len(cells))
        labels = cells[starts[:-1]] if (np.diff(starts) > 0).all() else np.array([-1])
        if len(labels) and not 0 <= labels.min() <= labels.max() < len(alphabet):
            raise InputError("the subtrees in the file do not fit its alphabet")
        parts = cells, starts, stored.array(arrays, "subtrees", np.int32)
        return _rebuild(parts, alphabet, self)

    def options(self) -> tuple[float, bool, _core.Counts]:
        """How the core makes values: decay, leaves, counts."""
        return float(self.decay), bool(self.leaves), check_counts(self.counts)


class SubTreeMap(LocatingMap, MergingMap):
    """Subtrees and their ids. Unseen subtrees have none."""

    def __init__(self, features: Any, alphabet: list[str], kernel: SubTree):
        self.features = features
        self.alphabet = alphabet
        self.kernel = kernel

    @property
    def n_features(self) -> int:
        return len(self.features)

    def transform(self, batch: Trees, n_jobs: int | None = None) -> Rows:
        rows = self.features.transform(batch.arrays_over(self.alphabet), effective_n_jobs(n_jobs))
        return Rows.from_core(rows, self.n_features)

    def occurrences(self, batch: Trees) -> Occurrences:
        features, sizes = self.features.at_nodes(batch.arrays_over(self.alphabet)), batch.subtree_sizes
        places = np.arange(len(sizes)) - np.repeat(batch.offsets[:-1], np.diff(batch.offsets))
        ends = running_sum(sizes)
        covered = np.arange(ends[-1]) + np.repeat(places - ends[:-1], sizes)  # nodes are in preorder
        return Occurrences.of_parts(self.transform(batch), batch.offsets, features, sizes, covered)

    def name(self, id: int) -> str:
        check_id(id, self.n_features)
        labels, arities = self.features.nodes(id)
        parents, waiting = list[int](), [-1]  # parents of the nodes to come, the next one last
        for node, arity in enumerate(arities):
            parents.append(waiting.pop())
            waiting += [node] * arity
        return spell([self.alphabet[label] for label in labels], parents)

    def restrict(self, ids: np.ndarray) -> SubTreeMap:
        return _rebuild(self.features.parts(np.asarray(ids, np.int64)), self.alphabet, self.kernel)

    def merge(self, other: FeatureMap) -> tuple[SubTreeMap, np.ndarray, np.ndarray]:
        other = alike(SubTreeMap, self, other, "kernel")
        alphabet, codes = united(self.alphabet, other.alphabet)
        (cells, starts, subtrees), (more, ends, others) = self._parts(), other._parts()
        lengths = np.diff(ends)
        more[ends[:-1]] = codes[more[ends[:-1]]]  # labels; the other cells are the numbers of children
        numbers = number_records((cells, starts), (more, ends), own=1)
        children = np.ones(len(more), bool)
        children[ends[:-1]] = False
        more[children] = numbers[more[children]]
        fresh = numbers >= len(starts) - 1
        theirs, new = merged_ids(subtrees, numbers[others])
        parts = (
            np.concatenate([cells, more[np.repeat(fresh, lengths)]]),
            np.concatenate([starts, starts[-1] + np.cumsum(lengths[fresh])]),
            np.concatenate([subtrees, numbers[others][new]]).astype(np.int32),
        )
        return _rebuild(parts, alphabet, self.kernel), np.arange(self.n_features), theirs

    def _parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The cells of all subtrees that features contain, where those of each begin, and the subtree of each feature."""
        parts: tuple[np.ndarray, np.ndarray, np.ndarray] = self.features.parts(np.arange(self.n_features))
        return parts

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        cells, starts, subtrees = self._parts()
        return {"alphabet": self.alphabet}, {"cells": cells, "starts": starts, "subtrees": subtrees}

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._parts(), self.alphabet, self.kernel)


def _rebuild(parts: tuple[np.ndarray, np.ndarray, np.ndarray], alphabet: list[str], kernel: SubTree) -> SubTreeMap:
    return SubTreeMap(_core.SubtreeFeatures.from_parts(*parts, *kernel.options()), alphabet, kernel)
