"""Functions to merge maps of features: they check whether maps are alike, and find the features that both have."""

from typing import NamedTuple, TypeVar

import numpy as np

from treille import _core
from treille.features.feature_map import FeatureMap
from treille.io.errors import InputError

M = TypeVar("M", bound=FeatureMap)
Merged = tuple[FeatureMap, np.ndarray, np.ndarray]  # what `MergingMap.merge` returns

ALL = 2**31 - 1  # all cells of a record are plain values: none is the number of another record


def alike(cls: type[M], one: FeatureMap, other: FeatureMap, *names: str) -> M:
    """`other`, if it is a `cls` with the attributes `names` of `one`; otherwise an InputError that says what differs."""
    if not isinstance(other, cls):
        raise different("kernel", type(one).__name__, type(other).__name__)
    for name in names:
        mine, theirs = repr(getattr(one, name)), repr(getattr(other, name))
        if mine != theirs:
            raise different(name, mine, theirs)
    return other


def different(what: str, mine: str, theirs: str) -> InputError:
    """The error for maps that do not merge."""
    return InputError(f"the features differ in {what}: {mine} and {theirs}: merge features of the same kernel")


def number_rows(mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Numbers the rows of a second matrix: by the equal row of the first, or else with new numbers from ``len(mine)`` on.

    No row may occur twice in the first. Whole numbers below 2^32. O(cells).

    >>> number_rows(np.array([[1, 2], [3, 4]]), np.array([[5, 6], [1, 2], [7, 8]])).tolist()
    [2, 0, 3]
    """
    (_, width), n = mine.shape, len(mine)
    rows = np.concatenate([mine, theirs]).astype(np.uint32).view(np.int32)
    return _core.number_records(rows.ravel(), np.arange(len(rows) + 1) * width, ALL)[n:]


def number_records(
    mine: tuple[np.ndarray, np.ndarray], theirs: tuple[np.ndarray, np.ndarray], own: int = ALL
) -> np.ndarray:
    """Like `number_rows`, for records of different lengths, given as int32 cells and the offsets of the records.

    Cells after the first `own` of a record are the numbers of records before it, in the same set, or -1: records are then equal
    if the records that they name are.

    >>> trees = np.array([7, 8, 0, 9, 1, 1], np.int32), np.array([0, 1, 3, 6])  # 7, 8(7), 9(8(7), 8(7))
    >>> others = np.array([8, 7, 8, 1], np.int32), np.array([0, 1, 2, 4])  # 8, 7, 8(7)
    >>> number_records(trees, others, own=1).tolist()
    [3, 0, 1]
    """
    (cells, offsets), (more, starts) = mine, theirs
    lengths, n = np.diff(starts), len(offsets) - 1
    places = np.arange(len(more)) - np.repeat(starts[:-1], lengths)
    shifted = np.where((places >= own) & (more >= 0), more + n, more)
    joined = np.concatenate([cells, shifted]).astype(np.int32, copy=False)
    return _core.number_records(joined, np.concatenate([offsets, offsets[-1] + starts[1:]]), own)[n:]


class Records(NamedTuple):
    """Features as records: record r is ``cells[starts[r]:starts[r + 1]]``, and feature z is the record ``features[z]``."""

    cells: np.ndarray
    starts: np.ndarray
    features: np.ndarray


def merge_records(mine: Records, theirs: Records, own: int = ALL) -> tuple[Records, np.ndarray]:
    """The records of two sets, each once, and the ids of the features of the second set; `own` as in `number_records`.

    >>> one, two = (Records(np.array(c, np.int32), np.arange(3), np.arange(2)) for c in ([7, 8], [9, 8]))
    >>> both, ids = merge_records(one, two)
    >>> both.cells.tolist(), both.features.tolist(), ids.tolist()
    ([7, 8, 9], [0, 1, 2], [2, 1])
    """
    numbers, lengths, cells = number_records(mine[:2], theirs[:2], own), np.diff(theirs.starts), theirs.cells.copy()
    places = np.arange(len(cells)) - np.repeat(theirs.starts[:-1], lengths)
    named = (places >= own) & (cells >= 0)
    cells[named] = numbers[cells[named]]
    fresh = numbers >= len(mine.starts) - 1
    ids, new = merged_ids(mine.features, numbers[theirs.features])
    merged = Records(
        np.concatenate([mine.cells, cells[np.repeat(fresh, lengths)]]).astype(np.int32, copy=False),
        np.concatenate([mine.starts, mine.starts[-1] + np.cumsum(lengths[fresh])]),
        np.concatenate([mine.features, numbers[theirs.features][new]]).astype(np.int32, copy=False),
    )
    return merged, ids


def merged_ids(mine: np.ndarray, theirs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ids of the second set's features after merging, from the numbers of their records; and which of them are new.

    The features of the first set keep their ids; new ones of the second follow in their order.

    >>> [found.tolist() for found in merged_ids(np.array([4, 2]), np.array([5, 2, 0]))]
    [[2, 1, 3], [True, False, True]]
    """
    feature_of = np.full(1 + max(mine.max(initial=-1), theirs.max(initial=-1)), -1, np.int64)
    feature_of[mine] = np.arange(len(mine))
    ids = feature_of[theirs]
    new = ids < 0
    ids[new] = len(mine) + np.arange(np.count_nonzero(new))
    return ids, new
