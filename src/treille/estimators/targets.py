"""Validation of labels, regression targets and sample weights."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from treille.io.errors import InputError
from treille.scale.parts import CodedLabels, checked_weights
from treille.solvers.report import first_level_outside


def check_labels(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes, at least two, and for every example the index of its class."""
    classes, codes = found_labels(y, n)
    if len(classes) < 2:
        raise InputError(
            f"all labels are {classes.tolist()[0]!r}: there is one class, expected at least two to tell apart"
        )
    return classes, codes


def found_labels(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes, and for every example the index of its class."""
    if isinstance(y, CodedLabels):
        return y.classes, y.codes
    if y is None:
        raise InputError("labels are missing: fit(X, y) requires y to be passed, but the target y is None")
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        warn_of_column()
        labels = labels.ravel()
    if labels.ndim != 1:
        raise InputError(f"labels have the shape {labels.shape}, expected one dimension: a label per example")
    if len(labels) != n:
        raise InputError(f"there are {n:,} examples but {len(labels):,} labels")
    if labels.dtype.kind == "f":
        _refuse(np.isnan(labels), "NaN")
        fractional = np.isinf(labels) | (labels != np.floor(labels))
        _refuse(fractional, "not a whole number, so it names no class; for a continuous target, use SVR")
    elif labels.dtype.kind == "O" or not hasattr(y, "dtype"):  # numpy makes strings of a list that mixes them with NaN
        each = np.asarray(y, dtype=object).ravel()
        _refuse(np.array([_is_missing(label) for label in each], dtype=bool), "missing (None or NaN)")
        kinds = {type(label.item() if isinstance(label, np.generic) else label) for label in each}
        if len(kinds) > 1:
            raise InputError(
                f"labels are of several types ({', '.join(sorted(k.__name__ for k in kinds))}), expected one"
            )
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(np.int32)


def check_numbers(y: Any, n: int) -> np.ndarray:
    """Regression targets as float64, in one dimension, or in two with one column per target."""
    if y is None:
        raise InputError("targets are missing: fit(X, y) requires y to be passed, but the target y is None")
    given = np.asarray(y)
    if given.dtype.kind == "c":
        raise InputError("Complex data not supported: targets are complex numbers, expected real ones")
    if given.ndim not in (1, 2) or given.shape[-1] == 0:
        raise InputError(f"targets have the shape {given.shape}, expected a number, or a row of them, per example")
    if len(given) != n:
        raise InputError(f"there are {n:,} examples but {len(given):,} targets")
    if given.dtype.kind not in "biufO":
        raise InputError(f"target 0 is {given.ravel()[0].item()!r}, expected a number; to learn classes, use SVC")
    numbers = _numbers(given, "y")
    bad = ~np.isfinite(numbers)
    _refuse(bad if numbers.ndim == 1 else bad.any(axis=1), "NaN or infinite, expected a number", "target")
    return numbers


def check_sample_weight(sample_weight: Any, n: int) -> np.ndarray:
    """One non-negative number per example; None means 1 for each."""
    if sample_weight is None:
        return np.ones(n)
    given = checked_weights(sample_weight, n)
    if not given.any():
        raise InputError("sample_weight is zero for every example: there is nothing to learn from")
    return given


def check_weights(
    C: float, codes: np.ndarray, classes: np.ndarray, class_weight: Any, sample_weight: Any, least: int = 2
) -> np.ndarray:
    """C times class weight times sample weight, for every example; at least so many classes must have any weight."""
    given = check_sample_weight(sample_weight, len(codes))
    if len(np.unique(codes[given > 0])) < least:
        raise InputError("sample_weight leaves fewer than two classes with any weight")
    return float(C) * given * class_weights(class_weight, classes, np.bincount(codes, minlength=len(classes)))[codes]


def class_weights(class_weight: Any, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The weight of each class, of which there are so many examples."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, dict):
        unknown = [key for key in class_weight if key not in classes]
        if unknown:
            raise InputError(f"class_weight names {unknown[0]!r}, which is no class: there are {classes.tolist()}")
        per_class = _numbers([class_weight.get(label, 1.0) for label in classes.tolist()], "class_weight")
        if not ((per_class > 0) & (per_class < np.inf)).all():
            raise InputError("class_weight holds a weight that is not a positive number")
    elif isinstance(class_weight, str) and class_weight == "balanced":
        per_class = counts.sum() / (len(classes) * np.maximum(counts, 1.0))  # as scikit-learn's
    else:
        raise InputError(f"class_weight is {class_weight!r}, expected None, 'balanced' or a dict")
    return per_class


def _numbers(values: Any, what: str) -> np.ndarray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} holds something that is not a number") from None


def _is_missing(label: Any) -> bool:
    same = label == label  # not so for NaN; neither true nor false for pandas' NA
    return label is None or not isinstance(same, (bool, np.bool_)) or not same


def _refuse(bad: np.ndarray, found: str, what: str = "label") -> None:
    if bad.any():
        raise InputError(f"{what} {int(np.argmax(bad))} is {found}")


def warn_of_column() -> None:
    """Warns as scikit-learn does of targets in one column."""
    found = "A column-vector y was passed when a 1d array was expected: use y.ravel()"
    warnings.warn(found, DataConversionWarning, stacklevel=first_level_outside())
