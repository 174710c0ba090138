"""What every batch offers."""

from __future__ import annotations

import contextlib
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from treille.io.errors import InputError


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

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What to keep in a model file: JSON values, and arrays. `Batch.from_state` is the inverse."""

    @classmethod
    def from_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> Batch:
        """The batch that was described, of the kind its spec names.

        >>> import treille
        >>> treille.Batch.from_state(*treille.Strings(["ab", "ba"]).state())[1]
        'ba'
        """
        import treille.data as data

        kind = getattr(data, str(spec["batch"]), None) if spec["batch"] in data.__all__ else None
        if not (isinstance(kind, type) and issubclass(kind, Batch)):
            raise InputError(f"the batch {spec['batch']!r} is unknown to this version of treille")
        return kind._read_state(spec, arrays)

    @classmethod
    @abstractmethod
    def _read_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> Batch: ...

    def chunks(self, n_symbols: int) -> Iterator[Any]:
        """Runs of examples of about `n_symbols` symbols each, to bound the memory of what is computed from them."""
        yield self


def runs(batch: Batch, offsets: np.ndarray, n_symbols: int) -> Iterator[Any]:
    """`Batch.chunks` of a batch whose example i holds the symbols ``offsets[i]`` to ``offsets[i + 1]``.

    >>> import treille
    >>> batch = treille.Strings(["abba", "b", "aaabbba"])
    >>> [list(run) for run in runs(batch, batch.offsets, 6)]
    [['abba', 'b'], ['aaabbba']]
    """
    if offsets[-1] <= n_symbols:
        yield batch
        return
    start = 0
    while start < len(batch):
        stop = int(np.searchsorted(offsets, offsets[start] + n_symbols, side="right")) - 1
        stop = max(stop, start + 1)
        yield batch[start:stop]
        start = stop


def as_index(key: Any, length: int) -> Any:
    """A key of ``Batch.__getitem__``: an int that counts from the front, or what selects several examples.

    >>> as_index(-1, 3), as_index(np.int64(2), 3), as_index(([0, 2], ...), 3)
    (2, 2, [0, 2])
    """
    if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:  # how scikit-learn writes row selection
        key = key[0]
    one = isinstance(key, (int, np.integer)) or (isinstance(key, np.ndarray) and key.ndim == 0)
    return range(length)[int(key)] if one else key


def selected(offsets: np.ndarray, key: Any) -> tuple[Any, np.ndarray]:
    """Where the symbols of the examples that `key` selects stand, one after the other, and the offsets they then have.

    >>> selected(np.array([0, 2, 5]), [1, 0])
    (array([2, 3, 4, 0, 1]), array([0, 3, 5]))
    >>> selected(np.array([0, 2, 5]), slice(1, 2))  # no copy is needed then
    (slice(2, 5, None), array([0, 3]))
    """
    rows = np.arange(len(offsets) - 1)[key]
    starts, lengths = offsets[rows], np.diff(offsets)[rows]
    ends = running_sum(lengths)
    if isinstance(key, slice) and key.step in (None, 1):
        first = int(starts[0]) if len(rows) else 0
        return slice(first, first + int(ends[-1])), ends
    return np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths), ends


def running_sum(lengths: Any) -> np.ndarray:
    """Offsets of examples of these lengths.

    >>> running_sum([2, 0, 3])
    array([0, 2, 2, 5])
    """
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def readable_size(n_bytes: int) -> str:
    """A number of bytes, in words.

    >>> readable_size(999), readable_size(12_345), readable_size(3_070_000)
    ('999 bytes', '12.3 kB', '3.1 MB')
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= scale:
            return f"{n_bytes / scale:.1f} {unit}"
    return f"{n_bytes} bytes"


def available_memory() -> int:
    """Bytes that can be taken without swapping, as far as the system tells; where it tells nothing, no limit.

    >>> available_memory() > 0
    True
    """
    with contextlib.suppress(OSError, ValueError, StopIteration), open("/proc/meminfo", encoding="ascii") as lines:
        return 1024 * int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1])
    with contextlib.suppress(AttributeError, ValueError, OSError):  # the whole memory: what is in use is not told
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return sys.maxsize
