"""Features that are computed once while a kernel is fitted several times on the same batch, as in cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from treille.data import Batch
from treille.features import FeatureMap, FeatureRows
from treille.kernels.base import Kernel

_fitted: ContextVar[list[tuple[Kernel, Batch, Any]] | None] = ContextVar("fitted", default=None)


@contextmanager
def fitting_once() -> Iterator[None]:
    """While it lasts, `fit_once` returns what it returned before for the same kernel and batch."""
    token = _fitted.set([])
    try:
        yield
    finally:
        _fitted.reset(token)


def fit_once(kernel: Kernel, batch: Batch, n_jobs: int | None = None) -> tuple[FeatureMap, FeatureRows]:
    """``kernel.fit_features(batch)``, computed once within `fitting_once` if the features depend on each example alone.

    >>> from treille.kernels import NGram
    >>> batch = NGram(2).batch(["abab", "ba"])
    >>> with fitting_once():
    ...     fit_once(NGram(2), batch)[1] is fit_once(NGram(2), batch)[1]
    True
    """
    known = _fitted.get()
    if known is None or kernel.needs_features:
        return kernel.fit_features(batch, n_jobs)
    for other, own, features in known:
        if own is batch and same_kernel(kernel, other):
            found: tuple[FeatureMap, FeatureRows] = features
            return found
    found = kernel.fit_features(batch, n_jobs)
    known.append((kernel, batch, found))
    return found


def same_kernel(kernel: Kernel, other: Kernel) -> bool:
    """Whether two kernels are equal for certain; kernels with parameters that do not compare are not."""
    if kernel is other:
        return True
    if type(kernel) is not type(other):
        return False
    mine, theirs = kernel.get_params(deep=False), other.get_params(deep=False)
    each = ((mine[name], theirs[name]) for name in mine)
    return all(same_kernel(a, b) if isinstance(a, Kernel) and isinstance(b, Kernel) else _equal(a, b) for a, b in each)


def _equal(a: Any, b: Any) -> bool:
    return a is b or (isinstance(a, (str, int, float)) and type(a) is type(b) and a == b)
