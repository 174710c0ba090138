"""Kernels computed by a suffix tree of the substrings, or of the upward paths, of one or two batches; all substrings."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from treille import _core
from treille.data import Batch, Strings
from treille.data.base import align, readable_size
from treille.features import Contributions
from treille.io.errors import InputError
from treille.io.parameters import check_positive, effective_n_jobs
from treille.kernels.base import Kernel, LinearOperator
from treille.kernels.expansion import Expansion, KernelExpansion, expand
from treille.kernels.sequences import SequenceKernel, Unit, check_units_agree, whole


class SuffixTreeKernel(Kernel):
    """A kernel whose matrix is multiplied by a suffix tree: each column of a product costs one pass over the symbols."""

    @abstractmethod
    def suffix_tree(self, left: Any, right: Any, n_jobs: int | None) -> _core.SubstringTree:
        """The tree of one batch, or of two that are not empty, for products between them."""

    def gram(self, left: Any, right: Any = None, n_jobs: int | None = None) -> np.ndarray:
        if not self.multiplies(left):
            return super().gram(left, right, n_jobs)
        if right is not None and len(left) < len(right):
            return np.ascontiguousarray(self.gram(right, left, n_jobs).T)
        if right is not None and not len(right):
            return np.zeros((len(left), 0))
        return self.suffix_tree(left, right, n_jobs).gram(effective_n_jobs(n_jobs))

    def expansion(self, support: Any, coefficients: np.ndarray, n_jobs: int | None = None) -> Expansion:
        if not self.multiplies(support):
            return super().expansion(support, coefficients, n_jobs)
        return SuffixTreeExpansion(self, support, np.ascontiguousarray(coefficients, dtype=np.float64))


class SuffixTreeExpansion(KernelExpansion):
    """Sums over support examples by a suffix tree of these and the new examples."""

    def values(self, batch: Any, n_jobs: int | None = None) -> np.ndarray:
        if not len(batch) or not len(self.support):
            return np.zeros((len(batch), self.coefficients.shape[1]))
        return self.kernel.suffix_tree(batch, self.support, n_jobs).product(self.coefficients, effective_n_jobs(n_jobs))

    def contributions(self, batch: Any, n_jobs: int | None = None) -> Contributions | None:
        return expand(self.kernel, self.support, self.coefficients, n_jobs).contributions(batch, n_jobs)


class TreeProduct(LinearOperator):
    """The kernel matrix as a linear operator: O(N) per product for N symbols or nodes in all."""

    def __init__(self, matrix: _core.SubstringTree | _core.SubpathProduct, size: str, threads: int):
        self.matrix = matrix
        self.size = size
        self.threads = threads

    def matvec(self, beta: np.ndarray) -> np.ndarray:
        beta = np.ascontiguousarray(beta, dtype=np.float64)
        columns = beta[:, None] if beta.ndim == 1 else beta
        return self.matrix.product(columns, self.threads).reshape(beta.shape)

    def sizes(self) -> str:
        return self.size


def longest(*batches: Batch | None) -> int:
    """The length of the longest sequence."""
    return max((int(np.diff(b.offsets).max(initial=0)) for b in batches if isinstance(b, Strings)), default=0)


def substring_tree(
    left: Strings, right: Strings | None, min_length: int, cumulative: np.ndarray, n_jobs: int | None
) -> _core.SubstringTree:
    """The tree for k(x, y) = sum over z of weight(|z|) count_x(z) count_y(z), of one batch or between two.

    `cumulative` holds W(0) = 0, W(1), ..., the cumulative weights, 0 below `min_length`.
    """
    symbols, offsets, n_codes = left.symbols, left.offsets, len(left.alphabet)
    if right is not None:
        check_units_agree(left, right)
        codes = align(right.alphabet, left.alphabet)
        n_codes = max(n_codes, codes.max(initial=-1) + 1)
        symbols = np.concatenate([symbols, codes[right.symbols]], dtype=np.int32)
        offsets = np.concatenate([offsets, offsets[-1] + right.offsets[1:]])
    threads = effective_n_jobs(n_jobs)
    return _core.SubstringTree.build(symbols, offsets, n_codes, min_length, cumulative, len(left), threads)


def substring_product(batch: Strings, min_length: int, cumulative: np.ndarray, n_jobs: int | None) -> TreeProduct:
    """The matrix of one batch as an operator."""
    tree = substring_tree(batch, None, min_length, cumulative, n_jobs)
    nodes = f"{tree.n_nodes:,} shared nodes of the suffix tree, {readable_size(tree.nbytes)}"
    return TreeProduct(tree, f"{len(batch.symbols):,} symbols, {nodes}", effective_n_jobs(n_jobs))


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
        check_positive("decay", self.decay)
        whole("min_length", self.min_length)
        if self.max_length is not None and whole("max_length", self.max_length) < self.min_length:
            raise InputError(f"max_length is {self.max_length}, less than min_length, which is {self.min_length}")

    def _weights(self, *batches: Strings | None) -> tuple[int, np.ndarray]:
        """The shortest length, and the cumulative weights of lengths 0, 1, ..."""
        most = longest(*batches) if self.max_length is None else min(longest(*batches), int(self.max_length))
        with np.errstate(over="ignore"):
            weights = float(self.decay) ** np.arange(most + 1)
            weights[: self.min_length] = 0.0
            return int(self.min_length), np.cumsum(weights)

    def fit_product(self, batch: Strings, n_jobs: int | None = None) -> TreeProduct:
        self.check()
        return substring_product(batch, *self._weights(batch), n_jobs)

    def suffix_tree(self, left: Strings, right: Strings | None, n_jobs: int | None) -> _core.SubstringTree:
        return substring_tree(left, right, *self._weights(left, right), n_jobs)

    def diagonal(self, batch: Strings, n_jobs: int | None = None) -> np.ndarray:
        args = batch.symbols, batch.offsets, len(batch.alphabet), *self._weights(batch), effective_n_jobs(n_jobs)
        return _core.substring_self(*args)

    def _shares(self, batch: Strings, support: Strings, coefficients: np.ndarray, threads: int) -> np.ndarray:
        check_units_agree(batch, support)
        symbols = align(batch.alphabet, support.alphabet)[batch.symbols]
        right = support.symbols, support.offsets, len(support.alphabet), *self._weights(batch, support)
        return _core.substring_shares(symbols, batch.offsets, *right, coefficients, threads)
