"""Whether names all differ, in little memory: 16 bytes for each."""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np

BYTES = 16  # two names of 10^12 have the same digest with a probability of 10^-15


class Distinct:
    """Names, of which only digests are kept. True if all differ and none is empty.

    >>> names = Distinct()
    >>> names.add(["a", "b"])
    >>> bool(names)
    True
    >>> names.add(["a"])
    >>> bool(names)
    False
    """

    def __init__(self) -> None:
        self._digests, self._empty = bytearray(), False

    def add(self, names: Iterable[str]) -> None:
        """Takes notice of some names."""
        for name in names:
            self._empty |= not name
            self._digests += blake2b(name.encode("utf-8", "surrogatepass"), digest_size=BYTES).digest()

    def __bool__(self) -> bool:
        digests = np.frombuffer(self._digests, f"V{BYTES}")
        return not self._empty and len(np.unique(digests)) == len(digests)
