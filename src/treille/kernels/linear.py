"""The dot product of rows of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs

from treille.data import Batch, Rows, Vectors
from treille.data.alphabet import align
from treille.io.errors import InputError
from treille.kernels.base import FeatureMap, Kernel

DENSE = 0.1  # from this share of numbers that are not zero on, a dense product is the faster one


class Linear(Kernel):
    """The dot product of rows of numbers: k(x, y) = sum over columns j of x_j y_j.

    Its features are the columns themselves, so the weights of a model are those of the columns. Scale columns of different
    units first: nothing is scaled here.

    Examples
    --------
    >>> from treille.kernels import Linear
    >>> Linear()([[1.0, 2.0], [0.0, 3.0]]).tolist()
    [[5.0, 6.0], [6.0, 9.0]]
    >>> Linear()([{"length": 2.0, "gc": 0.5}], [{"length": 3.0}]).tolist()
    [[6.0]]
    """

    def batch(self, X: Any, n_jobs: int | None = None) -> Vectors:
        if isinstance(X, Batch) and not isinstance(X, Vectors):
            raise InputError(f"found {X!r}, expected rows of numbers: treille.Vectors, or what makes one")
        return X if isinstance(X, Vectors) else Vectors(X)

    def fit_features(self, batch: Batch, n_jobs: int | None = None) -> tuple[LinearMap, Rows]:
        assert isinstance(batch, Vectors)
        holders = np.bincount(batch.columns, minlength=batch.n_columns)
        columns = np.argsort(-holders, kind="stable")
        names = None if batch.names is None else [batch.names[j] for j in columns]
        features = LinearMap(columns, names, batch.n_columns)
        return features, features.rows(batch, int((holders > 1).sum()), n_jobs)

    def gram(self, left: Batch, right: Batch | None = None, n_jobs: int | None = None) -> np.ndarray:
        assert isinstance(left, Vectors)
        assert right is None or isinstance(right, Vectors)
        if _density(left) < DENSE or (right is not None and _density(right) < DENSE):
            return super().gram(left, right, n_jobs)
        for batch in (left, right):
            if batch is not None:
                _sq_norms(batch.to_csr())
        A = left.to_csr().toarray()
        if right is None:
            return A @ A.T
        ids = LinearMap(np.arange(left.n_columns), left.names, left.n_columns).ids_of(right)
        B = np.zeros((len(right), left.n_columns))
        B[:, ids[ids >= 0]] = right.to_csr()[:, np.flatnonzero(ids >= 0)].toarray()
        return A @ B.T

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> LinearMap:
        columns, width = np.asarray(arrays["columns"], np.int64), int(spec["n_columns"])
        names = spec["names"]
        sound = columns.ndim == 1 and (names is None or len(set(names)) == len(names) == len(columns))
        sound = sound and len(np.unique(columns)) == len(columns)
        if not sound or (len(columns) and not 0 <= columns.min() <= columns.max() < width):
            raise InputError("the columns in the file do not fit one another")
        return LinearMap(columns, names, width)


class LinearMap(FeatureMap):
    """Columns with their ids, those that most training examples hold first. Columns with names are known by them."""

    def __init__(self, columns: np.ndarray, names: list[str] | None, n_columns: int):
        self.columns = columns
        self.names = names
        self.n_columns = n_columns  # of the training data

    @property
    def n_features(self) -> int:
        return len(self.columns)

    def transform(self, batch: Batch, n_jobs: int | None = None) -> Rows:
        assert isinstance(batch, Vectors)
        return self.rows(batch, self.n_features, n_jobs)

    def rows(self, batch: Vectors, n_shared: int, n_jobs: int | None) -> Rows:
        """The rows of a batch whose columns are found here by name, or by place where they have none."""
        matrix = batch.to_csr()
        return Rows.from_csr(
            matrix, self.ids_of(batch), _sq_norms(matrix), self.n_features, n_shared, effective_n_jobs(n_jobs)
        )

    def ids_of(self, batch: Vectors) -> np.ndarray:
        """The feature of each column of a batch; -1 where it has none."""
        if len(batch) == 0:  # of an empty list nobody knows the columns
            return np.full(batch.n_columns, -1, dtype=np.int64)
        if (batch.names is None) != (self.names is None):
            named, bare = ("features", "new rows") if batch.names is None else ("new rows", "features")
            raise InputError(
                f"the columns of the {named} have names, those of the {bare} do not: name both, or neither"
            )
        if batch.names is not None and self.names is not None:
            return align(batch.names, self.names, unknown=-1).astype(np.int64)
        if batch.n_columns != self.n_columns:
            raise InputError(f"the new rows have {batch.n_columns} columns, expected {self.n_columns} as in training")
        ids = np.full(self.n_columns, -1, dtype=np.int64)
        ids[self.columns] = np.arange(self.n_features)
        return ids

    def name(self, id: int) -> str:
        if not 0 <= id < self.n_features:
            raise IndexError(f"feature {id} does not exist: there are {self.n_features:,}")
        return f"x{self.columns[id]}" if self.names is None else self.names[id]

    def restrict(self, ids: np.ndarray) -> LinearMap:
        names = None if self.names is None else [self.names[i] for i in ids]
        return LinearMap(self.columns[ids], names, self.n_columns)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"names": self.names, "n_columns": self.n_columns}, {"columns": self.columns}


def _sq_norms(matrix: sp.csr_matrix) -> np.ndarray:
    with np.errstate(over="ignore"):
        sq_norms = np.asarray(matrix.multiply(matrix).sum(axis=1), dtype=np.float64).ravel()
    for i in np.flatnonzero(~np.isfinite(sq_norms))[:1]:
        raise InputError(f"row {i} holds numbers so large that their squares overflow: scale the columns")
    return sq_norms


def _density(batch: Vectors) -> float:
    return len(batch.values) / max(1, len(batch) * batch.n_columns)
