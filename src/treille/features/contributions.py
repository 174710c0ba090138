"""Occurrences of features in examples, and the contributions of an example's parts to a linear function of the features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treille.data.base import Batch, running_sum, selection
from treille.data.table import leaf_batches
from treille.features.rows import StoredRows


@dataclass(frozen=True)
class Occurrences:
    """Occurrences of features, example by example: ``examples[i]`` to ``examples[i + 1]`` belong to example i.

    Occurrence o adds ``values[o]`` to the value of feature ``features[o]``, and covers the positions
    ``parts[offsets[o]:offsets[o + 1]]`` of its example. The values of the occurrences of a feature sum to its value in the row.

    >>> from treille.kernels import NGram
    >>> features, _ = NGram(2).fit_features(NGram(2).batch(["abab"]))
    >>> found = features.occurrences(NGram(2).batch(["bab"]))
    >>> [(features.name(z), found.covered(o).tolist()) for o, z in enumerate(found.features)]
    [('ba', [0, 1]), ('ab', [1, 2])]
    """

    features: np.ndarray
    values: np.ndarray
    offsets: np.ndarray
    parts: np.ndarray
    examples: np.ndarray

    @staticmethod
    def of_parts(
        rows: StoredRows, offsets: np.ndarray, features: np.ndarray, sizes: np.ndarray, covered: np.ndarray
    ) -> Occurrences:
        """At most one occurrence at each part: ``features[p]``, or -1, at part p of all examples, whose parts are at `offsets`.

        It covers ``sizes[p]`` parts, in `covered` one after the other. Occurrences of a feature share its value equally.
        """
        some = np.flatnonzero(features >= 0)
        owners = np.searchsorted(offsets, some, side="right") - 1
        matrix = rows.to_csr()
        matrix.sort_indices()
        keys = np.repeat(np.arange(len(rows)), np.diff(matrix.indptr)) * np.int64(rows.n_features) + matrix.indices
        wanted_keys = owners * np.int64(rows.n_features) + features[some]
        wanted, which, counts = np.unique(wanted_keys, return_inverse=True, return_counts=True)
        places = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
        stored = keys[places] == wanted if len(keys) else np.zeros(len(wanted), bool)  # a value may underflow to 0
        values = (np.where(stored, matrix.data[places] if len(keys) else 0.0, 0.0) / counts)[which]
        kept, ends = selection(running_sum(sizes), some)
        examples = running_sum(np.bincount(owners, minlength=len(offsets) - 1))
        return Occurrences(features[some].astype(np.int64), values, ends, covered[kept], examples)

    def __len__(self) -> int:
        return len(self.features)

    def covered(self, occurrence: int) -> np.ndarray:
        """The positions that an occurrence covers."""
        return self.parts[self.offsets[occurrence] : self.offsets[occurrence + 1]]

    def scaled(self, factor: float | np.ndarray) -> Occurrences:
        """All values times a number, or times one number per example."""
        per_example = np.broadcast_to(np.asarray(factor, np.float64), len(self.examples) - 1)
        return replace(self, values=self.values * np.repeat(per_example, np.diff(self.examples)))

    def weighted(self, column_weights: np.ndarray) -> Occurrences:
        """The value of each occurrence times the weight of its feature."""
        return replace(self, values=self.values * column_weights[self.features])

    @staticmethod
    def concatenated(terms: Sequence[Occurrences], first_ids: Sequence[int]) -> Occurrences:
        """The occurrences of several maps in the same examples; the ids of map t begin at ``first_ids[t]``."""
        owners = np.concatenate([np.repeat(np.arange(len(o.examples) - 1), np.diff(o.examples)) for o in terms])
        order = np.argsort(owners, kind="stable")
        lengths = np.concatenate([np.diff(o.offsets) for o in terms])
        places, offsets = selection(running_sum(lengths), order)
        return Occurrences(
            np.concatenate([o.features + first for o, first in zip(terms, first_ids, strict=True)])[order],
            np.concatenate([o.values for o in terms])[order],
            offsets,
            np.concatenate([o.parts for o in terms])[places],
            running_sum(np.bincount(owners, minlength=len(terms[0].examples) - 1)),
        )


Shares = dict[int, tuple[Batch, np.ndarray]]  # by the id of the batch


@dataclass(frozen=True, eq=False)
class Contributions:
    """Contributions of the parts of examples to functions f_k(x) = w_k.phi(x): symbols of a sequence, nodes of a tree, and so on.

    `shares` has an array for each batch that was read: one if examples are of one kind, several if they have several columns,
    or are split by several units. Its row p belongs to part p of the batch, see ``Batch.part_offsets``; its columns are the
    functions. `base` is the share that no part adds, by example and function: the means of centred kernels, and constants.

    >>> from treille.kernels import NGram
    >>> kernel = NGram(2)
    >>> features, _ = kernel.fit_features(kernel.batch(["abab"]))
    >>> found = features.contributions(kernel.batch(["bab"]), np.array([[1.0], [0.5]]))
    >>> [values.ravel().tolist() for _, values in found.shares.values()], found.sums().tolist()
    ([[0.25, 0.75, 0.5]], [[1.5]])
    """

    shares: Shares
    base: np.ndarray

    @classmethod
    def of(cls, batch: Batch, values: np.ndarray) -> Contributions:
        """The contributions of the parts of one batch."""
        return cls({id(batch): (batch, values)}, np.zeros((len(batch), values.shape[1])))

    @classmethod
    def of_occurrences(cls, batch: Batch, found: Occurrences, weights: np.ndarray) -> Contributions:
        """The weight of a feature times the value of each occurrence, shared equally among the parts that it covers."""
        sizes = np.diff(found.offsets)
        owners = np.repeat(np.arange(len(batch)), np.diff(found.examples))
        places = found.parts + np.repeat(batch.part_offsets[owners], sizes)
        n_parts = int(batch.part_offsets[-1])
        each = found.values / np.maximum(sizes, 1)
        values = np.empty((n_parts, weights.shape[1]))
        for k, column in enumerate(weights.T):
            values[:, k] = np.bincount(places, np.repeat(each * column[found.features], sizes), n_parts)
        return cls.of(batch, values)

    @classmethod
    def of_each(cls, batch: Batch, n_functions: int, one: Callable[[Any], Contributions]) -> Contributions:
        """The contributions computed one example at a time, each as a separate batch."""
        leaves = [leaf for _, leaf in leaf_batches(batch)]
        shares: Shares = {}
        base = np.zeros((len(batch), n_functions))
        for i in range(len(batch)):
            example = batch if len(batch) == 1 else batch[i : i + 1]
            found = one(example)
            base[i] = found.base[0]
            for leaf, (_, own) in zip(leaves, leaf_batches(example), strict=True):
                if id(own) in found.shares:
                    _, values = shares.setdefault(id(leaf), (leaf, np.zeros((int(leaf.part_offsets[-1]), n_functions))))
                    values[leaf.part_offsets[i] : leaf.part_offsets[i + 1]] = found.shares[id(own)][1]
        return cls(shares, base)

    def scaled(self, factor: np.ndarray) -> Contributions:
        """All values times a number for each example, or for each example and function."""
        by_function = factor.reshape(len(self.base), -1)
        shares = {
            key: (batch, values * np.repeat(by_function, np.diff(batch.part_offsets), axis=0))
            for key, (batch, values) in self.shares.items()
        }
        return Contributions(shares, self.base * by_function)

    def plus(self, base: np.ndarray) -> Contributions:
        """Adds to `base`, which no part contributes."""
        return Contributions(self.shares, self.base + base)

    def __add__(self, other: Contributions) -> Contributions:
        shares = dict(self.shares)
        for key, (batch, values) in other.shares.items():
            shares[key] = (batch, shares[key][1] + values if key in shares else values)
        return Contributions(shares, self.base + other.base)

    def sums(self) -> np.ndarray:
        """The functions themselves: one row per example."""
        total = self.base.copy()
        for batch, values in self.shares.values():
            owners = np.repeat(np.arange(len(batch)), np.diff(batch.part_offsets))
            for k, column in enumerate(values.T):
                total[:, k] += np.bincount(owners, column, len(batch))
        return total
