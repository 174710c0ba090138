"""Mismatch kernel: k-mers that match up to a few mismatches."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from treille import _core
from treille.io.errors import InputError
from treille.kernels.counts import Counts
from treille.kernels.patterns import PatternKernel, are_patterns
from treille.kernels.sequences import Sequences, Unit, alphabet_symbols, check_alphabet, whole

MOST = 1_000_000  # neighbours per window


@dataclass(eq=False, repr=False)
class Mismatch(PatternKernel):
    """phi_z(x) = the number of windows of x that differ from z in at most m places, for every z of k symbols of the alphabet.

    Costs sum over j <= m of C(k, j) (b - 1)^j features per window, for an alphabet of b symbols.

    Parameters
    ----------
    k : int
        The length of the windows.
    m : int
        Maximum number of mismatches, less than k; 0: plain k-mers.
    alphabet : str or list
        The symbols, such as ``"ACGT"``. Required: the number of common neighbours of two windows grows with the number of symbols,
        so without it k(x, y) would depend on the symbols of the other examples.
    unit : {"char", "word", "byte"}, one of these with modifiers such as "word+lower", or callable
        How texts are split into symbols, see `treille.Strings`.
    counts : {"raw", "log", "binary"}
        The number of windows c as it is, 1 + log(c), or 1 if c > 0; see `NGram`.

    Examples
    --------
    >>> from treille.kernels import Mismatch
    >>> Mismatch(3, m=1, alphabet="ACGT")(["ACG", "ACT", "TTT"])[0].tolist()
    [10.0, 4.0, 0.0]
    """

    k: int = 5
    m: int = 1
    alphabet: str | Sequence[Any] | None = None
    unit: Unit = "char"
    counts: Counts = "raw"

    def check(self) -> None:
        super().check()
        self.family(self.declared())

    def declared(self) -> list[Any]:
        if self.alphabet is None:
            raise InputError(
                "alphabet is None: the number of common neighbours of two windows depends on the number of symbols:"
                " declare them, for example alphabet='ACGT'"
            )
        return alphabet_symbols("alphabet", self.alphabet, self.unit)

    def batch(self, X: Any, n_jobs: int | None = None) -> Sequences:
        batch = super().batch(X, n_jobs)
        check_alphabet(batch, self.declared())
        return batch

    def family(self, alphabet: list[Any]) -> _core.MismatchPatterns:
        k, m, b = whole("k", self.k), whole("m", self.m, 0), len(alphabet)
        if m >= k:
            raise InputError(f"m is {m}, expected less than k, which is {k}: every window would match every k-mer")
        if sum(comb(k, j) * (b - 1) ** j for j in range(m + 1)) > MOST:
            raise InputError(
                f"k is {k}, m is {m} and the alphabet has {b} symbols: more than {MOST:,} neighbours per window; lower k or m"
            )
        return _core.MismatchPatterns(k, m, b)

    def holds(self, cells: np.ndarray, lengths: np.ndarray, size: int) -> bool:
        return are_patterns(cells, lengths, size, int(self.k), 0, 0)
