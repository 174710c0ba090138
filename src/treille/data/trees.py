"""Trees: labelled, rooted and ordered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from treille.data.base import Batch, as_index, running_sum, runs, selected
from treille.io.errors import InputError


class Trees(Batch):
    """Many trees in flat arrays: nodes of tree i, in preorder, are those from ``offsets[i]`` to ``offsets[i + 1]``.

    Attributes
    ----------
    labels : int32 array
        Indices into `alphabet`.
    parents : int32 array
        The parent of every node, counted from the root of its tree, which is 0; that of a root is -1.
    offsets : int64 array
        Where each tree begins, and one more for the end of the last.
    alphabet : list of str
        The distinct labels, sorted.

    Examples
    --------
    >>> batch = Trees.from_parents([(["S", "NP", "VP"], [-1, 0, 0]), (["S"], [-1])])
    >>> len(batch), batch.alphabet, batch.labels.tolist()
    (2, ['NP', 'S', 'VP'], [1, 0, 2, 1])
    """

    labels: np.ndarray
    parents: np.ndarray
    offsets: np.ndarray
    alphabet: list[str]

    @classmethod
    def from_parents(cls, trees: Sequence[tuple[Sequence[str], Sequence[int]]]) -> Trees:
        """From the labels of each tree's nodes and the parents of these, nodes in preorder."""
        alphabet = sorted({label for labels, _ in trees for label in labels})
        codes = {label: code for code, label in enumerate(alphabet)}
        labels = np.array([codes[label] for names, _ in trees for label in names], np.int32)
        parents = np.array([parent for _, places in trees for parent in places], np.int32)
        return cls.from_arrays(labels, parents, running_sum([len(names) for names, _ in trees]), alphabet)

    @classmethod
    def from_arrays(cls, labels: Any, parents: Any, offsets: Any, alphabet: Sequence[str]) -> Trees:
        """A batch from its parts, checked."""
        batch = cls.__new__(cls)
        batch.labels, batch.parents = np.asarray(labels, np.int32), np.asarray(parents, np.int32)
        batch.offsets, batch.alphabet = np.asarray(offsets, np.int64), list(alphabet)
        if len(batch.labels) != len(batch.parents) or batch.offsets[-1] != len(batch.labels):
            raise InputError("labels, parents and offsets do not fit together")
        return batch

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def nbytes(self) -> int:
        return int(self.labels.nbytes + self.parents.nbytes + self.offsets.nbytes)

    def __getitem__(self, key: Any) -> Any:
        key = as_index(key, len(self))
        if isinstance(key, int):
            nodes = slice(self.offsets[key], self.offsets[key + 1])
            return [self.alphabet[label] for label in self.labels[nodes]], self.parents[nodes].tolist()
        places, offsets = selected(self.offsets, key)
        return Trees.from_arrays(self.labels[places], self.parents[places], offsets, self.alphabet)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        arrays = {"labels": self.labels, "parents": self.parents, "offsets": self.offsets}
        return {"batch": "Trees", "alphabet": self.alphabet}, arrays

    @classmethod
    def _read_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> Trees:
        return cls.from_arrays(arrays["labels"], arrays["parents"], arrays["offsets"], spec["alphabet"])

    def chunks(self, n_symbols: int) -> Iterator[Trees]:
        return runs(self, self.offsets, n_symbols)

    def __repr__(self) -> str:
        return f"Trees({len(self):,} trees, {len(self.labels):,} nodes, {len(self.alphabet):,} labels)"
