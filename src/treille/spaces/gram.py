"""The gram space: kernel values on demand, for solvers that ask for rows of the matrix and its diagonal."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from treille.data import Batch
from treille.kernels import Kernel, Precomputed
from treille.spaces.rows import RowsSpace


class GramSpace:
    """A kernel met with a batch by way of its values. Nothing is stored: whoever asks twice keeps what it was given.

    >>> from treille.kernels import NGram
    >>> space = GramSpace(NGram(1), NGram(1).batch(["aab", "b"]))
    >>> len(space), space.row(0).tolist(), space.diag().tolist()
    (2, [5.0, 1.0], [5.0, 1.0])
    """

    def __init__(self, kernel: Kernel, batch: Batch, n_jobs: int | None = None):
        self.kernel = kernel
        self.batch = batch
        self.n_jobs = n_jobs

    def __len__(self) -> int:
        return len(self.batch)

    @property
    def is_stored(self) -> bool:
        """Whether the matrix lies in memory already, so that `matrix` takes no more of it."""
        return isinstance(self.kernel, Precomputed)

    @cached_property
    def rows(self) -> RowsSpace:
        """The explicit features, where the kernel has them, fitted once."""
        return RowsSpace.of(self.kernel, self.batch, self.n_jobs)

    @cached_property
    def _row(self) -> Callable[[int], np.ndarray]:
        """What gives a row, with what the kernel builds once for all of them."""
        if self.kernel.prefers_features(self.batch, self.n_jobs):
            return self.rows.rows.row_products()
        if self.kernel.has_product:
            linear, n = self.kernel.fit_product(self.batch, self.n_jobs), len(self)
            return lambda i: linear.matvec(np.arange(n) == i)
        return lambda i: self.kernel.gram(self.batch[i : i + 1], self.batch, self.n_jobs)[0]

    def matrix(self) -> np.ndarray:
        """k(x_i, x_j) for all i and j."""
        return self.kernel.gram(self.batch, None, self.n_jobs)

    def row(self, i: int) -> np.ndarray:
        """k(x_i, x_j) for all j."""
        return self._row(i)

    def diag(self) -> np.ndarray:
        """k(x_i, x_i) for all i."""
        return self.rows.rows.diag() if "rows" in self.__dict__ else self.kernel.diagonal(self.batch, self.n_jobs)

    def sizes(self) -> str:
        """How large the space is, in words."""
        n = len(self)
        return f"{n:,} examples, {n * (n + 1) // 2:,} kernel values"
