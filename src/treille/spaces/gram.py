"""The spaces of kernel values: products with the kernel matrix, or its rows and diagonal on demand."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from treille.data import Batch
from treille.data.format import count
from treille.features import MatrixRows
from treille.features.abilities import having
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels import Kernel, Precomputed
from treille.kernels.base import LinearOperator, check_finite
from treille.kernels.fitting import FitContext
from treille.kernels.frozen import frozen
from treille.scikit_learn import Self
from treille.spaces.functions import DecisionFunctions, functions_of_examples
from treille.spaces.space import RowsSpace, Space, warn_of_zeros


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
        return (kernel.has_features or not kernel.needs_features) and kernel.multiplies(batch)

    @classmethod
    def build(cls, kernel: Kernel, batch: Batch, n_jobs: int | None = None, context: FitContext | None = None) -> Self:
        """Builds the operator that products use."""
        return cls(kernel, batch, kernel.fit_product(batch, n_jobs), n_jobs)

    def __len__(self) -> int:
        return len(self.batch)

    def product(self, beta: np.ndarray) -> np.ndarray:
        """``K @ beta``, for a vector with one entry per example or a matrix with one row per example."""
        beta = np.asarray(beta, dtype=np.float64)
        if beta.ndim not in (1, 2) or len(beta) != len(self):
            raise InputError(f"beta has the shape {beta.shape}, expected {len(self)} entries or rows, one per example")
        return self.matrix.matvec(beta)

    def functions(self, solution: Any) -> DecisionFunctions:
        return functions_of_examples(self.kernel, self.batch, solution.coefficients, solution.intercept, self.n_jobs)

    def sizes(self) -> str:
        return f"{count(len(self), 'example')}, {self.matrix.sizes()}"


@dataclass(frozen=True, eq=False)
class GramSpace(Space):
    """A kernel applied to a batch through its values, which are computed when they are asked for and not stored here.

    >>> from treille.kernels import NGram
    >>> space = GramSpace.build(NGram(1), NGram(1).batch(["aab", "b"]))
    >>> len(space), space.row(0).tolist(), space.diag().tolist()
    (2, [5.0, 1.0], [5.0, 1.0])
    """

    name: ClassVar[str] = "gram"
    needs: ClassVar[str] = "kernel values"

    kernel: Kernel
    batch: Batch
    n_jobs: int | None = None
    context: FitContext = field(default_factory=FitContext)

    @classmethod
    def offered(cls, kernel: Kernel, batch: Batch) -> bool:
        return True

    @classmethod
    def build(cls, kernel: Kernel, batch: Batch, n_jobs: int | None = None, context: FitContext | None = None) -> Self:
        """Only features are computed, of the terms of a sum that depend on the training examples."""
        context = context or FitContext()
        return cls(frozen(kernel, batch, context, n_jobs), batch, n_jobs, context)

    def __len__(self) -> int:
        return len(self.batch)

    @property
    def is_stored(self) -> bool:
        """Whether the matrix is in memory already, so that `matrix` needs no more memory."""
        return isinstance(self.kernel, Precomputed)

    @cached_property
    def _rows(self) -> RowsSpace | None:
        """The explicit features, if they cost less than kernel values; fitted once."""
        if not self.kernel.prefers_features(self.batch, self.n_jobs, self.context.known):
            return None
        return RowsSpace.build(self.kernel, self.batch, self.n_jobs, self.context)

    @cached_property
    def _row(self) -> Callable[[int], np.ndarray]:
        """Returns a row, from what the kernel builds once for all of them."""
        if self._rows is not None:
            return having(self._rows.rows, MatrixRows).row_products()
        if self.kernel.multiplies(self.batch):
            linear, n = self.kernel.fit_product(self.batch, self.n_jobs), len(self)
            return lambda i: linear.matvec(np.arange(n) == i)
        return lambda i: self.kernel.gram(self.batch[i : i + 1], self.batch, self.n_jobs)[0]

    def matrix(self) -> np.ndarray:
        """k(x_i, x_j) for all i and j."""
        if self.kernel.needs_features and self._rows is not None:  # k depends on the context
            values = having(self._rows.rows, MatrixRows).gram(None, effective_n_jobs(self.n_jobs))
        else:
            values = self.kernel.gram(self.batch, None, self.n_jobs)
        return check_finite(self.kernel, values)

    def row(self, i: int) -> np.ndarray:
        """k(x_i, x_j) for all j."""
        return self._row(i)

    def diag(self) -> np.ndarray:
        """k(x_i, x_i) for all i."""
        if self._rows is not None:
            return self._rows.rows.diag()
        values = check_finite(self.kernel, self.kernel.diagonal(self.batch, self.n_jobs))
        warn_of_zeros(self.kernel, values)
        return values

    def product(self, beta: np.ndarray) -> np.ndarray:
        """``K @ beta``, for a vector with one entry per example or a matrix with one row per example."""
        if self.is_stored:
            return self.matrix() @ beta
        if self._rows is not None:
            return self._rows.product(beta)
        columns = np.ascontiguousarray(beta.reshape(len(self), -1))
        values = self.kernel.expansion(self.batch, columns, self.n_jobs).values(self.batch, self.n_jobs)
        return values.reshape(beta.shape)

    def stored(self) -> "GramSpace":
        """The same space with its matrix computed and kept, for many problems on it."""
        if self.is_stored:
            return self
        return StoredGramSpace(self.kernel, self.batch, self.n_jobs, self.context, values=self.matrix())

    def functions(self, solution: Any) -> DecisionFunctions:
        if self._rows is not None:
            return self._rows.functions(solution)
        return functions_of_examples(self.kernel, self.batch, solution.coefficients, solution.intercept, self.n_jobs)

    def sizes(self) -> str:
        n = len(self)
        return f"{count(n, 'example')}, {n * (n + 1) // 2:,} kernel values"


@dataclass(frozen=True, eq=False)
class StoredGramSpace(GramSpace):
    """A gram space whose matrix is in memory."""

    values: np.ndarray = field(kw_only=True)

    def __post_init__(self) -> None:
        self.values.flags.writeable = False  # solvers that change a matrix in place copy this one

    @property
    def is_stored(self) -> bool:
        return True

    def matrix(self) -> np.ndarray:
        return self.values

    def row(self, i: int) -> np.ndarray:
        return self.values[i]

    def diag(self) -> np.ndarray:
        return self.values.diagonal()
