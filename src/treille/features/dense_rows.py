"""Dense feature rows, for few features that are rarely zero."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from treille import _core


@dataclass(frozen=True)
class DenseRows:
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
        """Number of columns."""
        return self.values.shape[1]

    @property
    def nbytes(self) -> int:
        """Bytes held in memory."""
        return self.values.nbytes

    def diag(self) -> np.ndarray:
        """The squared norm of every row."""
        return np.einsum("ij,ij->i", self.values, self.values)

    def to_csr(self, threads: int = 1) -> sp.csr_matrix:
        """The same rows as a scipy matrix."""
        return sp.csr_matrix(self.values)

    def for_core(self) -> _core.DenseRows:
        """The rows as solvers in the core take them."""
        return _core.DenseRows(np.ascontiguousarray(self.values, np.float64).ravel(), *self.values.shape)
