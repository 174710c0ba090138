"""The product space: the kernel matrix as a linear map, for solvers that ask for K @ beta."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treille.data import Batch
from treille.io.errors import InputError
from treille.kernels import Kernel
from treille.kernels.base import LinearOperator


@dataclass(frozen=True)
class ProductSpace:
    """A kernel met with a batch by way of products with its matrix, which is never written out.

    >>> import numpy as np
    >>> from treille.kernels import AllSubstrings
    >>> kernel = AllSubstrings(1.0)
    >>> space = ProductSpace.of(kernel, kernel.batch(["ab", "b", "c"]))
    >>> len(space), space.product(np.array([1.0, 1.0, 1.0])).tolist(), space.diag().tolist()
    (3, [4.0, 2.0, 1.0], [3.0, 1.0, 1.0])
    """

    kernel: Kernel
    batch: Batch
    matrix: LinearOperator
    n_jobs: int | None = None

    @classmethod
    def of(cls, kernel: Kernel, batch: Batch, n_jobs: int | None = None) -> ProductSpace:
        """Builds once what products need."""
        return cls(kernel, batch, kernel.fit_product(batch, n_jobs), n_jobs)

    def __len__(self) -> int:
        return len(self.batch)

    def product(self, beta: np.ndarray) -> np.ndarray:
        """``K @ beta``, for a vector with an entry per example or a matrix with a row per example and a column per function."""
        beta = np.asarray(beta, dtype=np.float64)
        if beta.ndim not in (1, 2) or len(beta) != len(self):
            raise InputError(
                f"beta has the shape {beta.shape}, expected {len(self)} entries or rows, one for each example"
            )
        return self.matrix.matvec(beta)

    def diag(self) -> np.ndarray:
        """k(x_i, x_i) for all i."""
        return self.kernel.diagonal(self.batch, self.n_jobs)

    def sizes(self) -> str:
        """How large the space is, in words."""
        return f"{len(self):,} examples, {self.matrix.sizes()}"
