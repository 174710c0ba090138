"""Sizes as people write them."""

import contextlib
import re
from numbers import Integral
from typing import Any

from treille.io.errors import InputError

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def parse_size(name: str, value: Any) -> int:
    """A number of bytes: an int, or text such as "2GB", "500 MB" or "1.5g".

    >>> parse_size("memory", "2GB"), parse_size("memory", "500 MB"), parse_size("memory", 10**9)
    (2000000000, 500000000, 1000000000)
    """
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) > 0:
        return int(value)
    found = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)i?b?\s*", value.lower()) if isinstance(value, str) else None
    if found is not None:
        with contextlib.suppress(ValueError):
            size = int(float(found[1]) * UNITS[found[2]])
            if size > 0:
                return size
    raise InputError(f"{name} is {value!r}, expected a size such as '2GB' or '500MB', or a number of bytes")
