"""Numbers of model files of which many are 0, or whose rows are often equal, such as weights of many classes."""

from typing import Any

import numpy as np

from . import stored
from .errors import InputError
from .open import RATIO

BLOCK = 1 << 11  # rows that fit in a cache
HEADER = 100  # bytes of the name, the kind and the place of an array in a file
PARTS = ("rows", "marks", "values")


def compacted(arrays: dict[str, np.ndarray]) -> tuple[dict[str, list[int]], dict[str, np.ndarray]]:
    """The arrays of a file, those of float64 in three parts where these are smaller, and the shapes of such arrays.

    The parts hold each different row once: ``rows`` is the number of each row among the different ones, in the order in which
    they first occur, ``marks`` has a bit for each of their numbers that is not 0, and ``values`` are these numbers.

    >>> weights = np.zeros((100, 8))
    >>> weights[3, 5] = 0.5
    >>> shapes, parts = compacted({"weights": weights})
    >>> shapes, {name: part.nbytes for name, part in parts.items()}
    ({'weights': [100, 8]}, {'weights.rows': 400, 'weights.marks': 2, 'weights.values': 8})
    >>> bool((expanded(shapes, parts)["weights"] == weights).all())
    True
    """
    shapes, kept = dict[str, list[int]](), dict[str, np.ndarray]()
    for name, array in arrays.items():
        parts = _parts(array) if array.dtype == np.float64 and array.ndim in (1, 2) and array.size else None
        if parts is None:
            kept[name] = array
        else:
            shapes[name] = list(array.shape)
            kept |= {f"{name}.{part}": own for part, own in zip(PARTS, parts, strict=True)}
    return shapes, kept


def expanded(shapes: Any, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The inverse of `compacted`: every array with the numbers it had."""
    arrays = dict(arrays)
    for name, shape in stored.value({"compact": shapes}, "compact", dict).items():
        parts = {part: arrays.pop(f"{name}.{part}") for part in PARTS if f"{name}.{part}" in arrays}
        arrays[name] = _whole(name, shape, parts)
    return arrays


def _parts(array: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The three parts; None where they are not smaller, or so much smaller that a reader would suspect a damaged file."""
    table = array.reshape(len(array), -1) + 0.0  # a minus zero becomes a zero
    places, rows = _different_rows(table.view(np.uint64))
    different = table[places]
    nonzero = different != 0
    parts = rows.astype(np.uint32), np.packbits(nonzero, axis=1), different[nonzero]
    size = sum(part.nbytes + HEADER for part in parts)
    return parts if size < array.nbytes < RATIO * size else None


def _different_rows(bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each different row first occurs, and for every row its number among the different ones."""
    n = len(bits)
    if n > bits.shape[1]:
        blocks = [slice(start, start + BLOCK) for start in range(0, n, BLOCK)]
        hashes = np.concatenate([_hashes(bits[block]) for block in blocks])
        _, first, rows = np.unique(hashes, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        places, rows = first[order], rank[rows]
        if all(np.array_equal(bits[block], bits[places[rows[block]]]) for block in blocks):
            return places, rows
    return np.arange(n), np.arange(n)


def _hashes(bits: np.ndarray) -> np.ndarray:
    """A number for each row, the same for equal rows."""
    hashes = np.zeros(len(bits), np.uint64)
    for column in bits.T:
        hashes = (hashes ^ column) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    return hashes


def _whole(name: str, shape: Any, parts: dict[str, np.ndarray]) -> np.ndarray:
    if not isinstance(shape, list) or len(shape) not in (1, 2):
        raise InputError(f"the shape of the array {name!r} in the file is none")
    n, width = (stored.whole({"shape": size}, "shape") for size in (*shape, 1)[:2])
    stored.check_size(f"the array {name!r}", 8 * n * width, sum(part.nbytes for part in parts.values()))
    marks = stored.array(parts, "marks", np.uint8, ndim=2)
    rows = stored.indices(parts, "rows", len(marks), kind=np.int64)
    nonzero = np.unpackbits(marks, axis=1, count=width).astype(bool) if marks.shape[1] == -(-width // 8) else marks[:0]
    values = parts.get("values", rows)
    sound = len(rows) == n and len(nonzero) == len(marks) and values.dtype == np.float64
    if not sound or values.shape != (np.count_nonzero(nonzero),):
        raise InputError(f"the parts of the array {name!r} in the file do not fit together")
    different = np.zeros((len(marks), width))
    different[nonzero] = values
    return different[rows].reshape(shape)
