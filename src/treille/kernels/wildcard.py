"""Wildcards: windows in which some positions match any symbol."""

from math import comb
from typing import Any

import numpy as np

from treille import _core
from treille.io.errors import InputError
from treille.kernels.counts import Counts
from treille.kernels.patterns import PatternKernel, PatternMap, are_patterns
from treille.kernels.sequences import Unit, decay_factor, whole

MOST = 1_000_000  # patterns per window


class Wildcard(PatternKernel):
    """Patterns of k positions, at most m of them wildcards: phi_z(x) = decay^(wildcards in z) * (matching windows of x).

    Needs no alphabet: a wildcard matches any symbol. Costs sum over j <= m of C(k, j) patterns per window.

    Parameters
    ----------
    k : int
        The length of the windows.
    m : int
        Maximum number of wildcards in a pattern, less than k; 0: plain k-mers.
    decay : float
        Positive: the factor of each wildcard in phi.
    unit : {"char", "word", "byte"}, one of these with modifiers such as "word+lower", or callable
        How texts are split into symbols, see `treille.Strings`.
    counts : {"raw", "log", "binary"}
        The number of windows c as it is, 1 + log(c), or 1 if c > 0, times decay^(wildcards in z); see `NGram`.

    Examples
    --------
    >>> from treille.kernels import Wildcard
    >>> Wildcard(3, m=1, decay=0.5)(["cat", "car"]).tolist()  # both have ca*
    [[1.75, 0.25], [0.25, 1.75]]
    """

    def __init__(self, k: int = 4, m: int = 1, decay: float = 1.0, unit: Unit = "char", counts: Counts = "raw"):
        self.k = k
        self.m = m
        self.decay = decay
        self.unit = unit
        self.counts = counts

    def check(self) -> None:
        super().check()
        self.family([])

    def family(self, alphabet: list[Any]) -> _core.WildcardPatterns:
        k, m, decay = whole("k", self.k), whole("m", self.m, 0), decay_factor(self.decay)
        if m >= k:
            raise InputError(
                f"m is {m}, expected less than k, which is {k}: a pattern of wildcards only matches everything"
            )
        if sum(comb(k, j) for j in range(m + 1)) > MOST:
            raise InputError(f"k is {k} and m is {m}: more than {MOST:,} patterns per window; lower one of them")
        return _core.WildcardPatterns(k, m, decay)

    def spell(self, fitted: PatternMap, cells: list[int]) -> str:
        return fitted.joined(fitted.symbols(cells, "*"))

    def holds(self, cells: np.ndarray, lengths: np.ndarray, size: int) -> bool:
        return are_patterns(cells, lengths, size, int(self.k), 0, int(self.m))
