"""The common base of substring kernels: the suffix tree of one or two batches."""

import numpy as np
from joblib import effective_n_jobs

from treille import _core
from treille.data import Batch, Strings
from treille.data.alphabet import align
from treille.data.base import readable_size
from treille.kernels.base import LinearOperator
from treille.kernels.sequences import check_units_agree


def longest(*batches: Batch) -> int:
    """The length of the longest sequence."""
    return max((int(np.diff(b.offsets).max(initial=0)) for b in batches if isinstance(b, Strings)), default=0)


class SubstringProduct(LinearOperator):
    """The matrix of k(x, y) = sum over z of weight(|z|) count_x(z) count_y(z) as an operator: O(N) per product for N symbols.

    `cumulative` holds W(0) = 0, W(1), ..., the cumulative weights, 0 below `min_length`.
    """

    def __init__(self, batch: Batch, min_length: int, cumulative: np.ndarray, n_jobs: int | None):
        assert isinstance(batch, Strings)
        self.threads = effective_n_jobs(n_jobs)
        self.n_symbols = len(batch.symbols)
        args = batch.symbols, batch.offsets, len(batch.alphabet), min_length, cumulative, len(batch), self.threads
        self.tree = _core.SubstringTree.build(*args)

    def matvec(self, beta: np.ndarray) -> np.ndarray:
        beta = np.ascontiguousarray(beta, dtype=np.float64)
        columns = beta[:, None] if beta.ndim == 1 else beta
        return self.tree.product(columns, self.threads).reshape(beta.shape)

    def gram(self) -> np.ndarray:
        """The matrix itself, exactly symmetric."""
        return self.tree.gram(self.threads)

    def sizes(self) -> str:
        size = readable_size(self.tree.nbytes)
        return f"{self.n_symbols:,} symbols, {self.tree.n_nodes:,} shared nodes of the suffix tree, {size}"


def tree_between(
    left: Strings, right: Strings, min_length: int, cumulative: np.ndarray, threads: int
) -> _core.SubstringTree:
    """One suffix tree of both batches, for products between them; neither may be empty."""
    check_units_agree(left, right)
    codes = align(right.alphabet, left.alphabet)
    n_codes = max(len(left.alphabet), codes.max(initial=-1) + 1)
    symbols = np.concatenate([left.symbols, codes[right.symbols]], dtype=np.int32)
    offsets = np.concatenate([left.offsets, left.offsets[-1] + right.offsets[1:]])
    return _core.SubstringTree.build(symbols, offsets, n_codes, min_length, cumulative, len(left), threads)
