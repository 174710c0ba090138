"""Validation of parameters."""

from math import inf, nan
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np

from treille.io.errors import InputError


def check_positive(name: str, value: Any) -> None:
    """Raises an `InputError` unless the value is a positive, finite number."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < inf:
        raise InputError(f"{name} is {value!r}, expected a positive number")


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


def effective_n_jobs(n_jobs: Any) -> int:
    """The number of threads that `n_jobs` means: None is 1, -1 all processors, -2 all but one."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or int(n_jobs) == 0):
        raise InputError(f"n_jobs is {n_jobs!r}, expected None, a number of threads, or -1 for all processors")
    return 1 if n_jobs == 1 else int(joblib.effective_n_jobs(n_jobs))
