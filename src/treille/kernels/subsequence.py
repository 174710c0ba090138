"""Subsequences: symbols in order, with gaps of any length."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from treille import _core
from treille.data import Batch, Strings
from treille.io.errors import InputError
from treille.kernels.base import Kernel
from treille.kernels.ngram import strings


class Subsequence(Kernel):
    """Common subsequences of n symbols, gaps allowed: each pair of occurrences counts decay^(its span in x + its span in y).

    A span is the number of symbols from the first to the last that take part, those left out included. There are no explicit
    features: a value costs O(n |x| |y|).

    Parameters
    ----------
    n : int
        How many symbols a subsequence has.
    decay : float
        Above 0, at most 1: the factor for every symbol of a span. At 1, gaps cost nothing.
    unit : {"char", "word", "byte"} or callable
        How texts are cut into symbols, see `treille.Strings`. Batches and token lists are cut already.

    References
    ----------
    Lodhi, Saunders, Shawe-Taylor, Cristianini, Watkins: Text classification using string kernels. JMLR 2002.

    Examples
    --------
    >>> from treille.kernels import Subsequence
    >>> Subsequence(2, decay=0.5)(["cat", "car"]).tolist()
    [[0.140625, 0.0625], [0.0625, 0.140625]]
    """

    def __init__(self, n: int = 3, decay: float = 0.5, unit: str | Callable[[str], Iterable[str]] = "char"):
        self.n = n
        self.decay = decay
        self.unit = unit

    def check(self) -> None:
        if not isinstance(self.n, Integral) or isinstance(self.n, bool) or not 1 <= self.n <= 64:
            raise InputError(f"n is {self.n!r}, expected a whole number from 1 to 64")
        if not isinstance(self.decay, Real) or isinstance(self.decay, bool) or not 0 < self.decay <= 1:
            raise InputError(f"decay is {self.decay!r}, expected a number above 0 and at most 1")

    def batch(self, X: Any, n_jobs: int | None = None) -> Strings:
        return strings(X, self.unit, n_jobs)

    def gram(self, left: Batch, right: Batch | None = None, n_jobs: int | None = None) -> np.ndarray:
        self.check()
        assert isinstance(left, Strings)
        n, decay, threads = int(self.n), float(self.decay), effective_n_jobs(n_jobs)
        if right is None:
            values = _core.subsequence_own_gram(left.symbols, left.offsets, n, decay, threads)
            return values.reshape(len(left), len(left))
        assert isinstance(right, Strings)
        symbols = recoded(left, right)
        values = _core.subsequence_gram(symbols, left.offsets, right.symbols, right.offsets, n, decay, threads)
        return values.reshape(len(left), len(right))

    def diagonal(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        self.check()
        assert isinstance(batch, Strings)
        n, decay, threads = int(self.n), float(self.decay), effective_n_jobs(n_jobs)
        return _core.subsequence_diagonal(batch.symbols, batch.offsets, n, decay, threads)


def recoded(left: Strings, right: Strings) -> np.ndarray:
    """The symbols of `left` in the numbers of `right`; those that `right` does not have get numbers of their own."""
    agree = left.unit == right.unit or {left.unit, right.unit} == {"word", "token"}
    if not agree and len(left.symbols) and len(right.symbols):
        raise InputError(
            f"the sequences have the units {left.unit!r} and {right.unit!r}, which share no symbols: make them agree"
        )
    if left.alphabet is right.alphabet or left.alphabet == right.alphabet:
        return left.symbols
    codes = {symbol: code for code, symbol in enumerate(right.alphabet)}
    unseen = len(right.alphabet)
    recode = np.array([codes.get(s, unseen + k) for k, s in enumerate(left.alphabet)], dtype=np.int32)
    return recode[left.symbols]
