"""Features that are strings of symbols, for tries and automata of weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treille.data.base import running_sum, selection
from treille.io.errors import InputError


@dataclass(frozen=True)
class FeatureStrings:
    """Feature z is the string ``symbols[offsets[z]:offsets[z + 1]]``; the name of symbol s is ``names[s]``.

    >>> strings = FeatureStrings.of_matrix(np.array([[0, 1], [1, 1]]), ["a", "b"])
    >>> len(strings), strings.symbols.tolist(), strings[np.array([1])].symbols.tolist()
    (2, [0, 1, 1, 1], [1, 1])
    """

    symbols: np.ndarray
    offsets: np.ndarray
    names: Sequence[str]

    @classmethod
    def of_matrix(cls, cells: np.ndarray, names: Sequence[str], lengths: np.ndarray | None = None) -> FeatureStrings:
        """From one row of symbols per feature; only the first ``lengths[z]`` are used (None: all)."""
        count, width = cells.shape
        if lengths is None or len(lengths) == 0:
            symbols, offsets = cells.ravel(), width * np.arange(count + 1)
        else:
            symbols, offsets = cells[np.arange(width) < lengths[:, None]], running_sum(lengths)
        return cls(np.ascontiguousarray(symbols, np.int32), np.ascontiguousarray(offsets, np.int64), names)

    def matrix(self, width: int, least: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The inverse of `of_matrix`: rows of `width` symbols, padded with 0, and lengths of at least `least` (None: `width`)."""
        lengths = np.diff(self.offsets)
        if len(self) and not (width if least is None else least) <= lengths.min() <= lengths.max() <= width:
            raise InputError(
                f"the strings in the file have {lengths.min()} to {lengths.max()} symbols, expected {least or width} to {width}"
            )
        cells = np.zeros((len(self), width), np.int32)
        cells[np.arange(width) < lengths[:, None]] = self.symbols
        return cells, lengths.astype(np.int32)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, ids: np.ndarray) -> FeatureStrings:
        places, offsets = selection(self.offsets, ids)
        return replace(self, symbols=np.ascontiguousarray(self.symbols[places]), offsets=offsets)
