"""Where in an example a feature occurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treille.data.base import running_sum, selected


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
        places, offsets = selected(running_sum(lengths), order)
        return Occurrences(
            np.concatenate([o.features + first for o, first in zip(terms, first_ids, strict=True)])[order],
            np.concatenate([o.values for o in terms])[order],
            offsets,
            np.concatenate([o.parts for o in terms])[places],
            running_sum(np.bincount(owners, minlength=len(terms[0].examples) - 1)),
        )
