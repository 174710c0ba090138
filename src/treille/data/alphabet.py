"""Alphabets of two batches, aligned."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np


def codes_of(alphabet: Iterable[Any]) -> dict[Any, int]:
    """The code of each symbol: its position."""
    return {symbol: code for code, symbol in enumerate(alphabet)}


def united(alphabet: Sequence[Any], other: Sequence[Any]) -> tuple[list[Any], np.ndarray]:
    """The union of two alphabets, which begins with the first, and the codes in it of the second, as int32.

    >>> symbols, codes = united(["a", "b"], ["c", "b"])
    >>> symbols, codes.tolist()
    (['a', 'b', 'c'], [2, 1])
    """
    codes = align(other, alphabet)
    return [*alphabet, *(symbol for symbol, code in zip(other, codes, strict=True) if code >= len(alphabet))], codes


def align(
    symbols: Sequence[Any], alphabet: Sequence[Any] | Mapping[Any, int], unknown: int | None = None
) -> np.ndarray:
    """The code that each of `symbols` has in `alphabet`, which may be given by its codes, as int32.

    A symbol that is not in the alphabet gets the code `unknown`. If that is None, it gets a new code, from the size of the alphabet
    on: it then differs from all others, as the norm of an example requires.
    """
    if symbols is alphabet:
        return np.arange(len(symbols), dtype=np.int32)
    codes = alphabet if isinstance(alphabet, Mapping) else codes_of(alphabet)
    found = np.array([codes.get(symbol, -1) for symbol in symbols], np.int32)
    missing = found < 0
    found[missing] = np.arange(len(codes), len(codes) + missing.sum()) if unknown is None else unknown
    return found
