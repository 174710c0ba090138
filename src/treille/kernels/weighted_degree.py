"""Weighted degree kernel: n-grams at the same, or nearly the same, positions."""

from typing import Any

import numpy as np

from treille import _core
from treille.data import Strings
from treille.io.parameters import effective_n_jobs
from treille.kernels.patterns import PatternKernel, PatternMap
from treille.kernels.sequences import Unit, joint_codes, whole


class WeightedDegree(PatternKernel):
    """N-grams up to d at the same positions: k(x, y) = sum over n <= d of beta_n * (number of positions with the same n-gram).

    beta_n = 2 (d - n + 1) / (d (d + 1)). With `shift`, n-grams at positions that differ by s <= shift count as well, with weight
    1 / (2 (s + 1)) in each direction. A value costs (2 shift + 1) |x|. Without shift the explicit features are pairs
    (position, n-gram).

    Parameters
    ----------
    d : int
        Length of the longest n-gram.
    shift : int
        Maximum distance of positions.
    unit : {"char", "word", "byte"}, one of these with modifiers such as "word+lower", or callable
        How texts are split into symbols, see `treille.Strings`.

    Examples
    --------
    >>> from treille.kernels import WeightedDegree
    >>> WeightedDegree(2)(["ACGT", "ACCT", "CGTA"]).round(3).tolist()
    [[3.667, 2.333, 0.0], [2.333, 3.667, 0.0], [0.0, 0.0, 3.667]]
    >>> WeightedDegree(2, shift=1)(["ACGT"], ["CGTA"]).round(3).tolist()
    [[0.667]]
    """

    reads_lattices = False

    def __init__(self, d: int = 5, shift: int = 0, unit: Unit = "char"):
        self.d = d
        self.shift = shift
        self.unit = unit

    def check(self) -> None:
        super().check()
        whole("shift", self.shift, 0)

    @property
    def has_features(self) -> bool:
        return self.shift == 0

    def family(self, alphabet: list[Any]) -> _core.PlacedPatterns:
        return _core.PlacedPatterns(whole("d", self.d))

    def gram(self, left: Strings, right: Strings | None = None, n_jobs: int | None = None) -> np.ndarray:
        _, one, other = joint_codes(left, right)
        K = _core.weighted_degree_gram(int(self.d), int(self.shift), one, other, effective_n_jobs(n_jobs))
        return K.reshape(len(left), len(left if right is None else right))

    def diagonal(self, batch: Strings, n_jobs: int | None = None) -> np.ndarray:
        one = joint_codes(batch, None)[1]
        return _core.weighted_degree_diagonal(int(self.d), int(self.shift), one, effective_n_jobs(n_jobs))

    def pattern_name(self, fitted: PatternMap, cells: list[int]) -> str:
        return f"{fitted.joined(fitted.symbols(cells[1:]))} at {cells[0]}"

    def holds(self, cells: np.ndarray, lengths: np.ndarray, size: int) -> bool:
        if cells.shape[1] != int(self.d) + 1 or len(lengths) != len(cells) or cells.min(initial=0) < 0:
            return False
        used = np.arange(1, cells.shape[1]) < lengths[:, None]
        symbols = cells[:, 1:]
        inside = (symbols <= size).all() and ((symbols > 0) == used).all()
        return bool(inside and (lengths >= 2).all() and (lengths <= cells.shape[1]).all())
