"""Dense feature rows, for few features that are rarely zero."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from treille import _core
from treille.features.rows import StoredRows


@dataclass(frozen=True)
class DenseRows(StoredRows):
    """A float64 matrix with one row per example, for solvers that read rows.

    >>> import numpy as np
    >>> rows = DenseRows(np.array([[3.0, 4.0], [0.0, 1.0]]))
    >>> len(rows), rows.n_features, rows.diag().tolist()
    (2, 2, [25.0, 1.0])
    """

    values: np.ndarray

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.values.shape[1]

    @property
    def n_entries(self) -> int:
        return self.values.size

    @property
    def nbytes(self) -> int:
        return self.values.nbytes

    def diag(self) -> np.ndarray:
        return np.einsum("ij,ij->i", self.values, self.values)

    def scaled(self, factor: float | np.ndarray) -> StoredRows:
        return DenseRows(self.values * np.reshape(factor, (-1, 1)))

    def matvec(self, weights: np.ndarray, threads: int = 1) -> np.ndarray:
        return self.values @ weights

    def rmatvec(self, coefficients: np.ndarray, threads: int = 1, out: np.ndarray | None = None) -> np.ndarray:
        return np.matmul(self.values.T, coefficients, out=out)

    def gram(self, other: Any, threads: int) -> np.ndarray:
        return self.values @ (self if other is None else other).values.T

    def row_products(self) -> Callable[[int], np.ndarray]:
        return lambda i: self.values @ self.values[i]

    def to_csr(self, threads: int = 1) -> sp.csr_matrix:
        return sp.csr_matrix(self.values)

    def for_core(self) -> _core.DenseRows:
        return _core.DenseRows(np.ascontiguousarray(self.values, np.float64).ravel(), *self.values.shape)
