"""The product space: the kernel matrix as a linear operator, for solvers that use K @ beta."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treille.data import Batch
from treille.io.errors import InputError
from treille.kernels import Kernel
from treille.kernels.base import LinearOperator
from treille.kernels.fitting import FitContext
from treille.spaces.functions import DecisionFunctions, functions_of_examples
from treille.spaces.space import Space


@dataclass(frozen=True, eq=False)
class ProductSpace(Space):
    """A kernel applied to a batch through products with its matrix, which is never written out.

    >>> import numpy as np
    >>> from treille.kernels import AllSubstrings
    >>> kernel = AllSubstrings(1.0)
    >>> space = ProductSpace.build(kernel, kernel.batch(["ab", "b", "c"]))
    >>> len(space), space.product(np.array([1.0, 1.0, 1.0])).tolist()
    (3, [4.0, 2.0, 1.0])
    """

    name: ClassVar[str] = "product"
    needs: ClassVar[str] = "fast products with its matrix"

    kernel: Kernel
    batch: Batch
    matrix: LinearOperator
    n_jobs: int | None = None

    @classmethod
    def offered(cls, kernel: Kernel, batch: Batch) -> bool:
        return kernel.multiplies(batch)

    @classmethod
    def build(
        cls, kernel: Kernel, batch: Batch, n_jobs: int | None = None, context: FitContext | None = None
    ) -> "ProductSpace":
        """Builds once what products need."""
        return cls(kernel, batch, kernel.fit_product(batch, n_jobs), n_jobs)

    def __len__(self) -> int:
        return len(self.batch)

    def product(self, beta: np.ndarray) -> np.ndarray:
        """``K @ beta``, for a vector with one entry per example or a matrix with one row per example."""
        beta = np.asarray(beta, dtype=np.float64)
        if beta.ndim not in (1, 2) or len(beta) != len(self):
            raise InputError(f"beta has the shape {beta.shape}, expected {len(self)} entries or rows, one per example")
        return self.matrix.matvec(beta)

    def functions(
        self, intercept: np.ndarray, weights: np.ndarray | None = None, coefficients: np.ndarray | None = None
    ) -> DecisionFunctions:
        assert coefficients is not None
        return functions_of_examples(self.kernel, self.batch, coefficients, intercept, self.n_jobs)

    def sizes(self) -> str:
        return f"{len(self):,} examples, {self.matrix.sizes()}"
