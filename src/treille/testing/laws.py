"""Shared by the batteries of checks: running laws in order, and comparisons that name the examples."""

from collections.abc import Callable, Iterable
from inspect import isfunction, signature
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from treille.data import Batch
from treille.solvers import Report

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


def laws_of(module: dict[str, Any]) -> tuple[Callable[[Any], None], ...]:
    """The laws that a module defines, in their order: its public functions of a `case`."""
    functions = [f for name, f in module.items() if isfunction(f) and not name.startswith("_")]
    return tuple(f for f in functions if f.__module__ == module["__name__"] and [*signature(f).parameters] == ["case"])


def is_ours(estimator: BaseEstimator) -> bool:
    """Returns whether treille defines the estimator and all its parameters: files cannot name others."""
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


def assert_same_optimum(found: Report, expected: Report, what: str) -> None:
    """Both intervals from dual to primal hold the optimum, so they overlap."""
    slack = 1e-9 * abs(expected.primal)
    if found.dual > expected.primal + slack or expected.dual > found.primal + slack:
        raise AssertionError(f"{what}: the objective changes, {found} and {expected}")


def assert_raises(kind: type[Exception], what: str, function: Callable[..., Any], *arguments: Any) -> None:
    """The call raises this kind of exception."""
    try:
        function(*arguments)
    except kind:
        return
    except Exception as error:
        raise AssertionError(f"{what} raises {type(error).__name__} ({error}), expected {kind.__name__}") from error
    raise AssertionError(f"{what} is accepted, expected {kind.__name__}")


def _name(at: tuple[int, ...]) -> str:
    return f"example {at[0]}" if len(at) == 1 else "examples " + " and ".join(map(str, at))


def counts_examples(model: Any) -> bool:
    """Returns whether weights of features, or folds, count each example once, whatever its sample weight."""
    return model.plan_.kernel.needs_features or hasattr(model, "cv_results_")
