"""What every batch offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any


class Batch(ABC):
    """Many structured examples of one kind, packed in flat arrays. Batches know nothing of kernels.

    >>> import treille
    >>> isinstance(treille.Strings(["abba", "baab"]), treille.Batch)
    True
    """

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, key: Any) -> Any:
        """One example for an integer; a batch for a slice, a list of integers or a mask."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes held in memory."""

    @property
    def shape(self) -> tuple[int]:
        """One dimension: this is how scikit-learn's splitters learn that a batch can be indexed."""
        return (len(self),)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def chunks(self, n_symbols: int) -> Iterator[Any]:
        """Runs of examples of about `n_symbols` symbols each, to bound the memory of what is computed from them."""
        yield self


def readable_size(n_bytes: int) -> str:
    """A number of bytes, in words.

    >>> readable_size(999), readable_size(12_345), readable_size(3_070_000)
    ('999 bytes', '12.3 kB', '3.1 MB')
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= scale:
            return f"{n_bytes / scale:.1f} {unit}"
    return f"{n_bytes} bytes"
