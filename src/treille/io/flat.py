"""Many examples in flat arrays: offsets, the selection of examples, and labels over one alphabet."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np


def running_sum(lengths: Any) -> np.ndarray:
    """Offsets of examples of these lengths."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def joined_offsets(each: Iterable[np.ndarray]) -> np.ndarray:
    """The offsets of the examples of several batches, one batch after the other."""
    return running_sum(np.concatenate([np.diff(offsets) for offsets in each]))


def are_offsets(array: np.ndarray, end: int) -> bool:
    """Whether an array rises from 0 to `end`."""
    sound = array.ndim == 1 and len(array) > 0 and array[0] == 0 and array[-1] == end
    return bool(sound and (array[1:] >= array[:-1]).all())


def selected(offsets: np.ndarray, key: Any) -> tuple[Any, np.ndarray]:
    """The positions of the symbols of the examples that `key` selects, and the offsets of these examples after selection."""
    rows = np.arange(len(offsets) - 1)[key]
    starts, lengths = offsets[rows], np.diff(offsets)[rows]
    ends = running_sum(lengths)
    if isinstance(key, slice) and key.step in (None, 1):
        first = int(starts[0]) if len(rows) else 0
        return slice(first, first + int(ends[-1])), ends
    return np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths), ends


def over_one_alphabet(
    sides: Sequence[tuple[np.ndarray, Sequence[str]]], order: Callable[[Iterable[str]], list[str]] = sorted
) -> tuple[np.ndarray, list[str]]:
    """Codes of labels over several alphabets, as codes over the union of these, and the union.

    >>> codes, names = over_one_alphabet([(np.array([0, 1]), ["b", "c"]), (np.array([0]), ["a"])])
    >>> codes.tolist(), names
    ([1, 2, 0], ['a', 'b', 'c'])
    """
    alphabet = order(dict.fromkeys(name for _, own in sides for name in own))
    position = {name: code for code, name in enumerate(alphabet)}
    each = [np.array([position[name] for name in own] or [0], np.int32)[codes] for codes, own in sides]
    return np.concatenate(each), alphabet
