"""What the parts of an example add to a linear function of its features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from treille.data.base import Batch
from treille.data.table import leaf_batches
from treille.features.occurrences import Occurrences

Shares = dict[int, tuple[Batch, np.ndarray]]  # by the id of the batch


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each part of examples adds to functions f_k(x) = w_k.phi(x): symbols of a sequence, nodes of a tree, and so on.

    `shares` has an array for each batch that was read: one if examples are of one kind, several if they have several columns,
    or are split by several units. Its row p belongs to part p of the batch, see ``Batch.part_offsets``; its columns are the
    functions. `base` is what no part adds, by example and function: the means of centred kernels, and constants.

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
        """Of the parts of one batch."""
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
        """Of the examples one by one, each as a batch of its own."""
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
        """With more that no part adds."""
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
