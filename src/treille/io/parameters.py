"""Validation of parameters, and of sizes as people write them."""

import contextlib
import re
from math import inf, nan
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np

from treille.io.errors import InputError

RandomState = int | np.random.RandomState | np.random.Generator | None  # what `seed_of` takes
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def check_positive(name: str, value: Any) -> float:
    """The value as a float; raises an `InputError` unless it is a positive, finite number."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < inf:
        raise InputError(f"{name} is {value!r}, expected a positive number")
    return float(value)


def check_choice(name: str, value: Any, *choices: str) -> None:
    """Raises an `InputError` unless the value is one of some words."""
    if not isinstance(value, str) or value not in choices:
        *others, last = map(repr, choices)
        raise InputError(f"{name} is {value!r}, expected {', '.join(others)} or {last}")


def check_flag(name: str, value: Any) -> None:
    """Raises an `InputError` for anything but True and False, of Python or numpy."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} is {value!r}, expected True or False")


def to_float(text: str) -> float:
    """The number that a text holds; NaN if it holds none."""
    try:
        return float(text)
    except ValueError:
        return nan


def check_whole(name: str, value: Any, least: int = 1, bits: int = 32) -> int:
    """The value as an int; raises an `InputError` unless it is a whole number of at least `least` and below 2^bits."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) < 2**bits:
        raise InputError(f"{name} is {value!r}, expected a whole number of at least {least} (and below 2^{bits})")
    return int(value)


def check_seed(name: str, value: Any) -> None:
    """Raises an `InputError` unless the value is one that `seed_of` takes."""
    whole = isinstance(value, Integral) and not isinstance(value, bool) and 0 <= int(value) < 2**32
    if not whole and value is not None and not isinstance(value, (np.random.RandomState, np.random.Generator)):
        raise InputError(
            f"{name} is {value!r}, expected None, a whole number from 0 to below 2^32, a numpy.random.RandomState or a "
            "numpy.random.Generator"
        )


def seed_of(name: str, value: Any) -> int:
    """The seed that a parameter means: a number is the seed, a generator draws it, and None draws another one each time.

    >>> seed_of("random_state", 3), seed_of("random_state", np.random.default_rng(0))
    (3, 3653403231)
    """
    check_seed(name, value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, np.random.RandomState):
        return int(value.randint(2**32, dtype=np.uint64))
    return int(np.random.default_rng(value).integers(2**32))


def effective_n_jobs(n_jobs: Any) -> int:
    """The number of threads that `n_jobs` means: None is 1, -1 all processors, -2 all but one."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or int(n_jobs) == 0):
        raise InputError(f"n_jobs is {n_jobs!r}, expected None, a number of threads, or -1 for all processors")
    return 1 if n_jobs == 1 else int(joblib.effective_n_jobs(n_jobs))


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
