"""All substrings, of every length at once."""

from dataclasses import dataclass

import numpy as np

from treille import _core
from treille.data import Strings
from treille.data.alphabet import align
from treille.features import Contributions
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.expansion import Expansion
from treille.kernels.sequences import SequenceKernel, Unit, check_units_agree, decay_factor, whole
from treille.kernels.suffix import (
    SuffixTreeExpansion,
    SuffixTreeKernel,
    TreeProduct,
    longest,
    substring_product,
    substring_tree,
)


@dataclass(eq=False, repr=False)
class AllSubstrings(SuffixTreeKernel, SequenceKernel):
    """Counts of all substrings: k(x, y) = sum over z of decay^|z| count_x(z) count_y(z), min_length <= |z| <= max_length.

    Exact, in time linear in the number of symbols for substrings of any length: the counts come from a suffix tree. There are too
    many for explicit features; with a small `max_length`, `NGram(max_length, min_length, order_weights)` is the same kernel with
    features.

    Parameters
    ----------
    decay : float
        Positive: the factor of each symbol of a substring in its weight.
    min_length : int
        Length of the shortest substrings that count.
    max_length : int or None
        Length of the longest; None: no bound.
    unit : {"char", "word", "byte"}, one of these with modifiers such as "word+lower", or callable
        How texts are split into symbols, see `treille.Strings`. Not used for batches and lists of tokens.

    Examples
    --------
    >>> from treille.kernels import AllSubstrings
    >>> AllSubstrings(decay=0.5)(["ab", "abb"]).tolist()  # a, b twice, ab: 0.5 (1 + 2) + 0.25
    [[1.25, 1.75], [1.75, 3.125]]
    """

    decay: float = 0.5
    min_length: int = 1
    max_length: int | None = None
    unit: Unit = "char"

    def check(self) -> None:
        decay_factor(self.decay)
        whole("min_length", self.min_length)
        if self.max_length is not None and whole("max_length", self.max_length) < self.min_length:
            raise InputError(f"max_length is {self.max_length}, less than min_length, which is {self.min_length}")

    def _weights(self, *batches: Strings | None) -> tuple[int, np.ndarray]:
        """The shortest length, and the cumulative weights of lengths 0, 1, ..."""
        self.check()
        most = longest(*batches) if self.max_length is None else min(longest(*batches), int(self.max_length))
        with np.errstate(over="ignore"):
            weights = float(self.decay) ** np.arange(most + 1)
            weights[: self.min_length] = 0.0
            return int(self.min_length), np.cumsum(weights)

    def fit_product(self, batch: Strings, n_jobs: int | None = None) -> TreeProduct:
        return substring_product(batch, *self._weights(batch), n_jobs)

    def suffix_tree(self, left: Strings, right: Strings | None, n_jobs: int | None) -> _core.SubstringTree:
        return substring_tree(left, right, *self._weights(left, right), n_jobs)

    def diagonal(self, batch: Strings, n_jobs: int | None = None) -> np.ndarray:
        args = batch.symbols, batch.offsets, len(batch.alphabet), *self._weights(batch), effective_n_jobs(n_jobs)
        return _core.substring_self(*args)

    def expansion(self, support: Strings, coefficients: np.ndarray, n_jobs: int | None = None) -> Expansion:
        return SubstringExpansion(self, support, np.ascontiguousarray(coefficients, np.float64))


class SubstringExpansion(SuffixTreeExpansion):
    """Sums over support examples, split by the symbols of the new ones."""

    def contributions(self, batch: Strings, n_jobs: int | None = None) -> Contributions:
        support = self.support
        check_units_agree(batch, support)
        symbols = align(batch.alphabet, support.alphabet)[batch.symbols]
        lengths: tuple[int, np.ndarray] = self.kernel._weights(batch, support)
        right = support.symbols, support.offsets, len(support.alphabet), *lengths
        threads = effective_n_jobs(n_jobs)
        values = _core.substring_shares(symbols, batch.offsets, *right, self.coefficients, threads)
        return Contributions.of(batch, values)
