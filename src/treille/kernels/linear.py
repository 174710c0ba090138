"""The dot product of rows of numbers."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from treille.data import Vectors
from treille.data.base import align
from treille.data.vectors import MOST_COLUMNS
from treille.features import Contributions, ExplainingMap, FeatureMap, MergingMap, Rows
from treille.features.feature_map import check_id
from treille.features.merging import alike
from treille.features.rows import squared_norms
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.base import Fitted, Kernel
from treille.kernels.reading import Reads

DENSE = 0.1  # share of nonzero numbers from which a dense product is faster


class Linear(Kernel):
    """The dot product of rows of numbers: k(x, y) = sum over columns j of x_j y_j.

    Its features are the columns, so a model has one weight per column. Scale columns of different units first.

    Examples
    --------
    >>> from treille.kernels import Linear
    >>> Linear()([[1.0, 2.0], [0.0, 3.0]]).tolist()
    [[5.0, 6.0], [6.0, 9.0]]
    >>> Linear()([{"length": 2.0, "gc": 0.5}], [{"length": 3.0}]).tolist()
    [[6.0]]
    """

    reads = Reads((Vectors,))

    def fit_features(self, batch: Vectors, n_jobs: int | None = None) -> Fitted:
        features = ColumnMap(np.arange(batch.n_columns), batch.names, batch.n_columns)
        return features, features.transform(batch, n_jobs)

    def gram(self, left: Vectors, right: Vectors | None = None, n_jobs: int | None = None) -> np.ndarray:
        if _density(left) < DENSE or (right is not None and _density(right) < DENSE):
            return super().gram(left, right, n_jobs)
        for batch in (left, right):
            if batch is not None:
                _sq_norms(batch.to_csr())
        A = left.to_csr().toarray()
        if right is None:
            return A @ A.T
        ids = ColumnMap(np.arange(left.n_columns), left.names, left.n_columns).ids_of(right)
        B = np.zeros((len(right), left.n_columns))
        B[:, ids[ids >= 0]] = right.to_csr()[:, np.flatnonzero(ids >= 0)].toarray()
        return A @ B.T

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> "ColumnMap":
        width = stored.whole(spec, "n_columns", most=MOST_COLUMNS)
        columns = stored.indices(arrays, "columns", width, kind=np.int64)
        names = None if spec.get("names", 0) is None else stored.names(spec, "names")
        if len(np.unique(columns)) != len(columns) or (names is not None and len(names) != len(columns)):
            raise InputError("the columns in the file do not agree with each other")
        return ColumnMap(columns, names, width)


class ColumnMap(ExplainingMap, MergingMap):
    """Columns of numbers, matched by name, or by position if they have no names."""

    def __init__(self, columns: np.ndarray, names: list[str] | None, n_columns: int):
        self.columns = columns
        self.names = names
        self.n_columns = n_columns  # of the training data

    @property
    def n_features(self) -> int:
        return len(self.columns)

    def transform(self, batch: Vectors, n_jobs: int | None = None) -> Rows:
        matrix, threads = batch.to_csr(), effective_n_jobs(n_jobs)
        return Rows.from_csr(
            matrix, _sq_norms(matrix), ids=self.ids_of(batch), n_features=self.n_features, threads=threads
        )

    def ids_of(self, batch: Vectors) -> np.ndarray:
        """The feature of each column of a batch, -1 for none."""
        if len(batch) == 0:  # the columns of an empty list are unknown
            return np.full(batch.n_columns, -1, dtype=np.int64)
        if (batch.names is None) != (self.names is None):
            named, bare = ("features", "new rows") if batch.names is None else ("new rows", "features")
            raise InputError(
                f"the columns of the {named} have names, those of the {bare} do not: name the columns of both, or of neither"
            )
        if batch.names is not None and self.names is not None:
            return align(batch.names, self.names, unknown=-1).astype(np.int64)
        if batch.n_columns != self.n_columns:
            raise InputError(f"the new rows have {batch.n_columns} columns, expected {self.n_columns} as in training")
        ids = np.full(self.n_columns, -1, dtype=np.int64)
        ids[self.columns] = np.arange(self.n_features)
        return ids

    def contributions(self, batch: Vectors, weights: np.ndarray, n_jobs: int | None = None) -> Contributions:
        matrix, ids = batch.to_csr(), self.ids_of(batch)
        entry_weights = np.vstack([weights, np.zeros((1, weights.shape[1]))])[ids[matrix.indices]]  # -1: no feature
        return Contributions.of(batch, matrix.data[:, None] * entry_weights)

    def name(self, id: int) -> str:
        check_id(id, self.n_features)
        return f"x{self.columns[id]}" if self.names is None else self.names[id]

    def place(self, id: int) -> Any:
        """The sort key of columns in names of products: the column's name, or its position."""
        return self.columns[id] if self.names is None else self.names[id]

    def restrict(self, ids: np.ndarray) -> "ColumnMap":
        names = None if self.names is None else [self.names[i] for i in ids]
        return ColumnMap(self.columns[ids], names, self.n_columns)

    def merge(self, other: FeatureMap) -> tuple["ColumnMap", np.ndarray, np.ndarray]:
        other = alike(ColumnMap, self, other)
        if not (self.n_columns and other.n_columns):  # the columns of an empty list are unknown
            larger = self if self.n_columns else other
            return larger, np.arange(self.n_features), np.arange(other.n_features)
        if (self.names is None) != (other.names is None):
            raise InputError("some columns have names and others have none: name the columns of both, or of neither")
        if self.names is None and self.n_columns != other.n_columns:
            raise InputError(f"the new rows have {other.n_columns} columns, expected {self.n_columns} as those before")
        mine: list[Any] = self.columns.tolist() if self.names is None else self.names
        ids = align(other.columns.tolist() if other.names is None else other.names, mine)
        new = ids >= len(mine)
        columns = np.concatenate([self.columns, other.columns[new]])
        theirs, own = ids.astype(np.int64), np.arange(len(mine))
        if self.names is None or other.names is None:
            return ColumnMap(columns, None, self.n_columns), own, theirs
        names = [*self.names, *(name for name, is_new in zip(other.names, new, strict=True) if is_new)]
        return ColumnMap(np.arange(len(names)), names, len(names)), own, theirs

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"names": self.names, "n_columns": self.n_columns}, {"columns": self.columns}


def _sq_norms(matrix: sp.csr_matrix) -> np.ndarray:
    with np.errstate(over="ignore"):
        sq_norms = squared_norms(matrix)
    for i in np.flatnonzero(~np.isfinite(sq_norms))[:1]:
        raise InputError(f"row {i} contains numbers whose squares overflow: scale the columns")
    return sq_norms


def _density(batch: Vectors) -> float:
    return len(batch.values) / max(1, len(batch) * batch.n_columns)
