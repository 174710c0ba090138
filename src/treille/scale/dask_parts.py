"""Dask collections as parts: bags, series and data frames, arrays, lists of delayed objects, and files read by the workers."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from treille.io.errors import InputError
from treille.scale.parts import Part


def is_collection(X: Any) -> bool:
    """Whether this is a Dask collection, or a list of delayed objects. Dask need not be installed.

    >>> is_collection(["abba"]), is_collection([])
    (False, False)
    """
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(_is_dask(each) for each in X)
    return _is_dask(X)


def _is_dask(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")


def partitions(X: Any) -> list[Any]:
    """The delayed partitions of a collection."""
    if isinstance(X, (list, tuple)):
        return list(X)
    if hasattr(X, "to_delayed"):
        parts = X.to_delayed()
        if isinstance(parts, np.ndarray):
            if parts.ndim > 1 and any(size > 1 for size in parts.shape[1:]):
                raise InputError(
                    f"the array has {parts.shape} chunks along its axes: rechunk it so that each holds whole rows"
                )
            return parts.ravel().tolist()
        return list(parts)
    return [X]  # one delayed object


def as_parts(client: Any, X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """Futures of a `Part` for each partition; y and weights are divided like X."""
    columns = [X, y, sample_weight]
    for name, own in zip(("y", "sample_weight"), columns[1:], strict=True):
        if own is not None and not is_collection(own):
            raise InputError(
                f"X is a Dask collection, {name} a {type(own).__name__} in memory: pass {name} as a collection divided like X, "
                "such as a bag, a series, an array or a list of delayed parts"
            )
    each = [None if column is None else partitions(column) for column in columns]
    n = len(each[0] or ())
    if n == 0:
        raise InputError("X has no partitions: fit needs at least one example")
    for name, own in zip(("y", "sample_weight"), each[1:], strict=True):
        if own is not None and len(own) != n:
            raise InputError(
                f"X has {n} partitions, {name} {len(own)}: divide them alike, for example with repartition"
            )
    delayed = import_module("dask").delayed
    made = [
        delayed(_part, pure=False)(*(None if own is None else own[p] for own in each), f"partition {p}")
        for p in range(n)
    ]
    futures: list[Any] = client.compute(made)
    return futures


def _part(X: Any, y: Any, sample_weight: Any, place: str) -> Part:
    X, y, sample_weight = (list(own) if hasattr(own, "__next__") else own for own in (X, y, sample_weight))
    return Part(X, y, sample_weight, place)


def computed(values: Any) -> Any:
    """What a collection of labels or numbers holds, in one array; None and arrays as they are."""
    if not is_collection(values):
        return values
    each = import_module("dask").compute(*partitions(values))
    return np.concatenate([np.asarray(part if hasattr(part, "__len__") else list(part)) for part in each])


def lazily(predict: Callable[[Any], np.ndarray], X: Any, sample: np.ndarray) -> Any:
    """A Dask array of ``predict`` of each partition, computed when it is asked for. `sample` has its type and columns."""
    da, function = import_module("dask.array"), import_module("dask").delayed(predict)
    shape = (np.nan, *sample.shape[1:])
    return da.concatenate([da.from_delayed(function(part), shape, dtype=sample.dtype) for part in partitions(X)])
