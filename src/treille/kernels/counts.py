"""The parameter `counts` of kernels that count: how the number of occurrences of a feature becomes its value."""

from typing import Any, Literal

import numpy as np

from treille import _core
from treille.data import Lattices
from treille.io.errors import InputError
from treille.io.parameters import check_choice

Counts = Literal["raw", "log", "binary"]


def check_counts(counts: Any) -> _core.Counts:
    """The choice as the core takes it, or an InputError."""
    check_choice("counts", counts, "raw", "log", "binary")
    return _core.Counts[counts]


def check_raw(counts: Counts) -> None:
    """Refuses the product with the kernel matrix where there is none."""
    if counts != "raw":
        raise InputError(f"the fast product needs counts='raw', found {counts!r}: use explicit features, solver='auto'")


def transformed(counts: Counts, c: np.ndarray) -> np.ndarray:
    """The values of features that occur c times, c > 0."""
    if counts == "raw":
        return c
    return 1 + np.log(c) if counts == "log" else np.ones_like(c)


def lattices_to_count(batch: Lattices, counts: Counts) -> Any:
    """A batch for the core. Other values than raw sums of weights are defined for expected counts of at least 0."""
    if counts != "raw":
        batch.check_signs(f"counts={counts!r}")
    return batch.for_core()
