"""Where in an example a feature occurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treille.data.base import running_sum, selection
from treille.features.rows import StoredRows


@dataclass(frozen=True)
class Occurrences:
    """Occurrences of features, example by example: ``examples[i]`` to ``examples[i + 1]`` are those of example i.

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
        own = owners * np.int64(rows.n_features) + features[some]
        found, which, counts = np.unique(own, return_inverse=True, return_counts=True)
        places = np.minimum(np.searchsorted(keys, found), max(0, len(keys) - 1))
        stored = keys[places] == found if len(keys) else np.zeros(len(found), bool)  # a value may underflow to 0
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
