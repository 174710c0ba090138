"""Subsequences: symbols in order, with gaps of any length."""

import numpy as np

from treille import _core
from treille.data import Strings
from treille.data.base import align
from treille.io.errors import InputError
from treille.io.parameters import check_positive, effective_n_jobs
from treille.kernels.sequences import SequenceKernel, Unit, check_units_agree, whole


class Subsequence(SequenceKernel):
    """Common subsequences of n symbols, gaps allowed: each pair of occurrences counts decay^(its span in x + its span in y).

    A span is the number of symbols from the first to the last of an occurrence, including skipped ones. There are no explicit
    features: a value costs O(n |x| |y|).

    Parameters
    ----------
    n : int
        Number of symbols of a subsequence.
    decay : float
        Positive: the factor of every symbol of a span. At 1, gaps do not count.
    unit : {"char", "word", "byte"}, one of these with modifiers such as "word+lower", or callable
        How texts are split into symbols, see `treille.Strings`. Not used for batches and lists of tokens.

    References
    ----------
    Lodhi, Saunders, Shawe-Taylor, Cristianini, Watkins: Text classification using string kernels. JMLR 2002.

    Examples
    --------
    >>> from treille.kernels import Subsequence
    >>> Subsequence(2, decay=0.5)(["cat", "car"]).tolist()
    [[0.140625, 0.0625], [0.0625, 0.140625]]
    """

    def __init__(self, n: int = 3, decay: float = 0.5, unit: Unit = "char"):
        self.n = n
        self.decay = decay
        self.unit = unit

    def check(self) -> None:
        check_positive("decay", self.decay)
        if whole("n", self.n) > 64:
            raise InputError(f"n is {self.n!r}, expected at most 64")

    def gram(self, left: Strings, right: Strings | None = None, n_jobs: int | None = None) -> np.ndarray:
        n, decay, threads = int(self.n), float(self.decay), effective_n_jobs(n_jobs)
        if right is None:
            values = _core.subsequence_own_gram(left.symbols, left.offsets, n, decay, threads)
            return values.reshape(len(left), len(left))
        check_units_agree(left, right)
        symbols = align(left.alphabet, right.alphabet)[left.symbols]
        values = _core.subsequence_gram(symbols, left.offsets, right.symbols, right.offsets, n, decay, threads)
        return values.reshape(len(left), len(right))

    def diagonal(self, batch: Strings, n_jobs: int | None = None) -> np.ndarray:
        n, decay, threads = int(self.n), float(self.decay), effective_n_jobs(n_jobs)
        return _core.subsequence_diagonal(batch.symbols, batch.offsets, n, decay, threads)

    def _shares(self, batch: Strings, support: Strings, coefficients: np.ndarray, threads: int) -> np.ndarray:
        check_units_agree(batch, support)
        symbols = align(batch.alphabet, support.alphabet)[batch.symbols]
        right = support.symbols, support.offsets, int(self.n), float(self.decay)
        return _core.subsequence_shares(symbols, batch.offsets, *right, coefficients, threads)
