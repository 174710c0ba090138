"""How much a small file may expand to when it is decompressed: a damaged or malicious one could fill the memory."""

import os

from .errors import InputError

RATIO = 200  # text compresses 3 to 10 times, very regular data 100 times, nothing but repetition 1,000 times
FREE = 1 << 26  # bytes that any file may expand to
VARIABLE = "TREILLE_MAX_EXPANSION"  # sets another ratio


class Budget:
    """The bytes that `packed` compressed bytes may become: 200 times as many, or as the environment variable says.

    >>> Budget("a.gz", 1 << 20).spend(100 << 20)
    >>> Budget("a.gz", 1 << 20).spend(1000 << 20)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    treille.io.errors.InputError: a.gz: expands to more than 200 times its 1,048,576 bytes...
    """

    def __init__(self, name: str, packed: int) -> None:
        given = os.environ.get(VARIABLE, str(RATIO))
        if not given.isdecimal() or len(given) > 9 or int(given) == 0:
            raise InputError(f"{VARIABLE} is {given[:40]!r}, expected a whole number, such as {RATIO}")
        self.name, self.packed, self.ratio = name, packed, int(given)
        self.left = max(FREE, self.ratio * packed)

    def grow(self, n: int) -> None:
        """Adds compressed bytes, of a pipe whose size is not known before."""
        self.packed += n
        self.left += self.ratio * n

    def spend(self, n: int) -> None:
        """Takes `n` bytes from what is left; an `InputError` if there are none."""
        self.left -= n
        if self.left < 0:
            raise InputError(
                f"{self.name}: expands to more than {self.ratio} times its {self.packed:,} bytes: it is damaged or made to"
                f" fill the memory; if it is right, set the environment variable {VARIABLE} to a larger number"
            )
