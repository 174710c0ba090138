"""The targets of examples: labels, or numbers to predict."""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from treille.io.errors import InputError

ONE_BY_ONE = "for several labels per example, train one model for each label, such as SVC().fit(X, ['acq' in each for each in y])"


def as_targets(y: Any, what: str = "label") -> np.ndarray:
    """Labels or targets as an array, one per example, in order; a target may be a row of numbers. Refuses all else by name.

    >>> as_targets(["red", "white"]).tolist()
    ['red', 'white']
    """
    if isinstance(y, (Mapping, Set, Iterator)):
        kind = type(y).__name__
        raise InputError(f"the {what}s are a {kind}, expected a list or an array with one {what} per example, in order")
    if hasattr(y, "__len__") and str(getattr(y, "dtype", "object")) == "object":
        several = (Set, Mapping) if what != "label" else (Set, Mapping, Sequence, np.ndarray)
        refused = {
            kind for kind in set(map(type, y)) if issubclass(kind, several) and not issubclass(kind, (str, bytes))
        }
        if refused:
            i, found = next((i, type(each)) for i, each in enumerate(y) if type(each) in refused)
            instead = ONE_BY_ONE if what == "label" else "use a number, or a list of numbers"
            raise InputError(f"{what} {i} is a {found.__name__}, expected one {what} per example: {instead}")
    try:
        return np.asarray(y)
    except ValueError:
        raise InputError(f"{what}s are lists of different lengths, expected as many numbers for each example") from None
