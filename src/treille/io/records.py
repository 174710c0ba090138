"""Examples as named fields, each with the line it begins on, and rows of numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import scipy.sparse as sp

Record = tuple[int, Mapping[str, object]]
Records = Iterator[Record]


@dataclass(frozen=True, repr=False)
class NumberRows:
    """Rows of numbers with names of their columns, as a file holds them; `treille.Vectors` is made of them."""

    matrix: sp.csr_matrix
    names: list[str]

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __repr__(self) -> str:
        return f"NumberRows({len(self):,} rows, {len(self.names):,} columns)"
