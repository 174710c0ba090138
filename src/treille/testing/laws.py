"""Shared by the batteries of checks: running laws in order, and comparisons that name the examples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from treille.data import Batch

Case = TypeVar("Case")


def run(laws: Iterable[Callable[[Case], None]], case: Case, subject: object) -> None:
    """Runs the laws in order; the error names the first that fails."""
    for law in laws:
        try:
            law(case)
        except Exception as error:
            found = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
            name = subject if isinstance(subject, str) else repr(subject)
            raise AssertionError(f"{name} breaks the law '{law.__name__.replace('_', ' ')}': {found}") from error


def is_ours(estimator: BaseEstimator) -> bool:
    """Whether treille defines it and all it is made of: files name nothing else."""
    parts = [v for v in estimator.get_params().values() if isinstance(v, BaseEstimator)]
    return all(type(part).__module__.startswith("treille.") for part in (estimator, *parts))


def take(X: Any, ids: Iterable[int]) -> Any:
    """Some of the examples, in the order of `ids`."""
    return X[np.asarray(list(ids), dtype=np.intp)] if isinstance(X, Batch) else [X[i] for i in ids]


def assert_close(found: np.ndarray, expected: np.ndarray, what: str, tolerance: float = 1e-10) -> None:
    """Numbers of examples (one dimension) or of pairs of them (two) agree, relative to the largest."""
    if found.shape != expected.shape:
        raise AssertionError(f"{what} has the shape {found.shape}, expected {expected.shape}")
    if found.size == 0:
        return
    far = np.abs(found - expected)
    at = tuple(int(i) for i in np.unravel_index(np.argmax(far), far.shape))
    if not far[at] <= tolerance * max(1.0, float(np.abs(expected).max())):
        raise AssertionError(f"{what} of {_name(at)} is {found[at].item()!r}, expected {expected[at].item()!r}")


def assert_same(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    """Arrays are equal bit for bit."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        kinds = f"{found.dtype} {found.shape}, expected {expected.dtype} {expected.shape}"
        raise AssertionError(f"{what} is {kinds}")
    if not np.array_equal(found, expected):
        at = tuple(int(i) for i in np.argwhere(found != expected)[0])
        place = at[0] if len(at) == 1 else at
        raise AssertionError(f"{what} {place} is {found[at].item()!r}, expected {expected[at].item()!r}")


def _name(at: tuple[int, ...]) -> str:
    return f"example {at[0]}" if len(at) == 1 else "examples " + " and ".join(map(str, at))
