"""Examples as named fields, each with the line it begins on, and rows of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from .flat import joined_offsets, over_one_alphabet
from .parts import PackedExamples

Record = tuple[int, Mapping[str, object]]
Records = Iterator[Record]


@dataclass(frozen=True, repr=False)
class NumberRows(PackedExamples):
    """Rows of numbers with names of their columns, as a file holds them; `treille.Vectors` is made of them."""

    title: ClassVar[str] = "rows of numbers"
    matrix: sp.csr_matrix
    names: list[str]

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def width(self) -> str:
        """How many columns there are, for notes."""
        return f"{len(self.names):,} columns"

    def take(self, rows: Sequence[int]) -> NumberRows:
        return NumberRows(self.matrix[np.asarray(rows, np.int64)], self.names)

    @classmethod
    def join(cls, each: Sequence[NumberRows]) -> NumberRows:
        columns, names = over_one_alphabet(
            [(part.matrix.indices, part.names) for part in each],
            lambda names: sorted(names, key=lambda name: (len(name), name)),
        )
        offsets = joined_offsets(part.matrix.indptr for part in each)
        values = np.concatenate([part.matrix.data for part in each])
        matrix = sp.csr_matrix((values, columns, offsets), (len(offsets) - 1, len(names)))
        matrix.sort_indices()
        return cls(matrix, names)

    @property
    def volume(self) -> int:
        return 10 * int(self.matrix.nnz)
