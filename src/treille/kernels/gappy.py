"""Gappy n-grams: symbols in order, with bounded gaps between them."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from treille import _core
from treille.io.errors import InputError
from treille.kernels.counts import Counts
from treille.kernels.patterns import PatternKernel, PatternMap, are_patterns
from treille.kernels.sequences import Unit, decay_factor, whole


@dataclass(eq=False, repr=False)
class Gappy(PatternKernel):
    """Subsequences of n symbols with bounded gaps: phi_z(x) = sum over the occurrences of z in x of their weight.

    An occurrence with g symbols in its gaps weighs decay^g (``count="gaps"``), or decay^(n + g) (``count="span"``, Lodhi et al.).
    One step per occurrence: at most (1 + max_gap)^(n - 1) per position.

    Parameters
    ----------
    n : int
        Number of symbols.
    decay : float
        Positive; 1: gaps do not count.
    max_gap : int or None
        Maximum number of symbols in one gap.
    max_total_gap : int or None
        Maximum number of symbols in all gaps of an occurrence together. One of the two bounds is required. For gaps of any length
        use ``Subsequence(n, decay)``, which has no explicit features.
    count : {"gaps", "span"}
        What decay counts: each skipped symbol, or each symbol from the first to the last.
    unit : {"char", "word", "byte"}, one of these with modifiers such as "word+lower", or callable
        How texts are split into symbols, see `treille.Strings`.
    counts : {"raw", "log", "binary"}
        In place of a sum c of decay^g: c, 1 + log(c), or 1 if c > 0; see `NGram`. The factor decay^n of ``count="span"`` stays
        outside. "log" needs a decay of at least 1.

    Examples
    --------
    >>> from treille.kernels import Gappy
    >>> Gappy(2, decay=0.5, max_gap=2)(["cat", "cart", "bar"])[0].tolist()  # with cart: 1 + decay + decay^3
    [2.25, 1.625, 0.0]
    """

    n: int = 2
    decay: float = 0.5
    max_gap: int | None = None
    max_total_gap: int | None = None
    count: Literal["gaps", "span"] = "gaps"
    unit: Unit = "char"
    counts: Counts = "raw"

    def check(self) -> None:
        super().check()
        self.family([])

    def family(self, alphabet: list[Any]) -> _core.GappyPatterns:
        n, decay = whole("n", self.n), decay_factor(self.decay)
        if self.count not in ("gaps", "span"):
            raise InputError(f"count is {self.count!r}, expected 'gaps' or 'span'")
        if self.counts == "log" and decay < 1:
            raise InputError(
                f"counts='log' needs counts of at least 1, but decay={self.decay} weighs occurrences with gaps less: "
                "use decay=1, or counts='binary'"
            )
        bounds = {"max_gap": self.max_gap, "max_total_gap": self.max_total_gap}
        gap, total = (2**31 - 1 if value is None else whole(name, value, 0) for name, value in bounds.items())
        if n > 1 and self.max_gap is None and self.max_total_gap is None:
            raise InputError(
                "neither max_gap nor max_total_gap is given: features need a bound on the gaps, for example max_gap=3."
                f" For gaps of any length use Subsequence({n}, {decay})"
            )
        return _core.GappyPatterns(n, gap, total, decay, decay**n if self.count == "span" else 1.0)

    def spell(self, fitted: PatternMap, cells: list[int]) -> str:
        return fitted.joined(fitted.symbols(cells), "-")

    def holds(self, cells: np.ndarray, lengths: np.ndarray, size: int) -> bool:
        return are_patterns(cells, lengths, size, int(self.n), 0, 0)
