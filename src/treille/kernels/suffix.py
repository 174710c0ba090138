"""The common base of kernels computed by a suffix tree: of the substrings, or of the upward paths, of one or two batches."""

from abc import abstractmethod
from typing import Any

import numpy as np

from treille import _core
from treille.data import Batch, Strings
from treille.data.alphabet import align
from treille.data.base import readable_size
from treille.features import Contributions
from treille.io.parameters import effective_n_jobs
from treille.kernels.base import Kernel, LinearOperator
from treille.kernels.expansion import Expansion, KernelExpansion, expand
from treille.kernels.sequences import check_units_agree


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
