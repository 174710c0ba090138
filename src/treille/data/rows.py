"""Sparse feature rows in few bytes: what a kernel makes of a batch, and what linear solvers read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from treille import _core


class FeatureRows(ABC):
    """What feature rows of any form offer. The core reads them by `parts`.

    >>> import treille
    >>> rows = treille.Features(treille.kernels.NGram(2)).fit_rows(["abab", "ba"])
    >>> isinstance(rows, FeatureRows), len(rows.parts), rows.scaled(0.5).diag().tolist()
    (True, 1, [1.25, 0.25])
    """

    if TYPE_CHECKING:  # a field of some, a property of others

        @property
        def n_features(self) -> int: ...

    @property
    @abstractmethod
    def parts(self) -> tuple[Any, ...]:
        """Rows, or rows with a centre: features side by side, the ids of each part after those of the parts before it."""

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def n_entries(self) -> int:
        """How many values are stored."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes held in memory."""

    @abstractmethod
    def diag(self) -> np.ndarray:
        """k(x, x) of every row, parts outside the fitted feature space included."""

    @abstractmethod
    def scaled(self, factor: float | np.ndarray) -> FeatureRows:
        """All values times a number, or times one number a row."""

    def normalized(self) -> FeatureRows:
        """Every row divided by its norm. A zero row stays zero."""
        return self.scaled(_inverse(np.sqrt(self.diag())))

    @abstractmethod
    def to_csr(self, threads: int = 1) -> sp.csr_matrix:
        """The same rows as a scipy matrix of float64."""

    @abstractmethod
    def outputs(self, weights: np.ndarray, threads: int) -> np.ndarray:
        """``self @ weights`` for dense `weights` with one row per feature: one row of outputs per example."""

    @abstractmethod
    def combine(self, coefficients: np.ndarray, threads: int, out: np.ndarray | None = None) -> np.ndarray:
        """``self.T @ coefficients`` for dense `coefficients` with one row per example: one row of sums per feature.

        They are written to `out`, where that is given: fresh memory costs as much as the sums.
        """

    @abstractmethod
    def gram(self, other: Any, threads: int) -> np.ndarray:
        """Inner products with the rows `other`, of the same features and form; None: with these themselves."""

    @abstractmethod
    def row_products(self) -> Callable[[int], np.ndarray]:
        """What gives the inner products of row i with all rows; what it needs for that is built once, here."""

    @abstractmethod
    def for_core(self) -> Any:
        """The rows as solvers in the core take them."""


@dataclass(frozen=True)
class Rows(FeatureRows):
    """Sparse rows, 4 bytes an entry in most cases, always exact.

    Entry e of row i, ``indptr[i] <= e < indptr[i + 1]``, is the word ``id << code_bits | code``: feature ``id`` with the value
    ``scale[i] * palette[code]``. Ids fall with frequency; those from ``n_shared`` on stand in one row at most.
    ``sq_norms`` are those of the whole unscaled vectors, parts outside the fitted feature space included.

    >>> import treille
    >>> rows = treille.Features(treille.kernels.NGram(2)).fit_rows(["abab", "ba"])
    >>> len(rows), rows.n_features, rows.to_csr().toarray().tolist()
    (2, 2, [[1.0, 2.0], [1.0, 0.0]])
    """

    indptr: np.ndarray
    entries: np.ndarray
    code_bits: int
    palette: np.ndarray
    scale: np.ndarray
    sq_norms: np.ndarray
    n_features: int
    n_shared: int

    @classmethod
    def from_csr(
        cls, matrix: sp.csr_matrix, ids: np.ndarray, sq_norms: np.ndarray, n_features: int, n_shared: int, threads: int
    ) -> Rows:
        """Rows of any numbers that are not zero. Column j is feature ``ids[j]``, or is left out where that is -1.

        >>> matrix = sp.csr_matrix([[0.5, 0.0, 2.0], [0.0, 1.0, 4.0]])
        >>> Rows.from_csr(matrix, np.array([1, -1, 0]), np.array([4.25, 17.0]), 2, 1, 1).to_csr().toarray().tolist()
        [[2.0, 0.5], [4.0, 0.0]]
        """
        names = np.asarray(ids, np.int64).astype(np.uint32)  # -1 is the word that means none
        offsets, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False)
        parts = _core.code_rows(offsets, columns, matrix.data, names, n_features, threads)
        return cls(*parts, np.ones(len(sq_norms)), sq_norms, n_features, n_shared)

    @property
    def parts(self) -> tuple[Any, ...]:
        return (self,)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_entries(self) -> int:
        return len(self.entries)

    @property
    def nbytes(self) -> int:
        """Bytes held in memory."""
        return sum(a.nbytes for a in (self.indptr, self.entries, self.palette, self.scale, self.sq_norms))

    def diag(self) -> np.ndarray:
        """k(x, x) of every row."""
        return self.scale**2 * self.sq_norms

    def scaled(self, factor: float | np.ndarray) -> Rows:
        return replace(self, scale=self.scale * factor)

    def normalized(self) -> Rows:
        """Every row divided by its norm. A zero row stays zero."""
        return replace(self, scale=_inverse(np.sqrt(self.sq_norms)))

    def to_csr(self, threads: int = 1) -> sp.csr_matrix:
        """The same rows as a scipy matrix of float64."""
        ids, data = _core.expand(self.for_core(), threads)
        small = max(self.n_features, len(data)) < 2**31
        index = np.int32 if small else np.int64
        columns = ids.view(np.int32) if small else ids.astype(np.int64)
        matrix = sp.csr_matrix((data, columns, self.indptr.astype(index)), shape=(len(self), self.n_features))
        matrix.has_sorted_indices = True
        return matrix

    def outputs(self, weights: np.ndarray, threads: int) -> np.ndarray:
        """``self @ weights`` for dense `weights` with one row per feature: one row of outputs per example."""
        flat = np.ascontiguousarray(weights, dtype=np.float64).ravel()
        out = _core.outputs(self.for_core(), flat, weights.shape[1], threads)
        return out.reshape(len(self), weights.shape[1])

    def combine(self, coefficients: np.ndarray, threads: int, out: np.ndarray | None = None) -> np.ndarray:
        flat, width = np.ascontiguousarray(coefficients, dtype=np.float64).ravel(), coefficients.shape[1]
        out = np.empty((self.n_features, width)) if out is None else out
        _core.combine(self.for_core(), flat, width, out.reshape(-1), threads)
        return out

    def for_core(self) -> _core.CodedRows:
        """The rows as the core takes them."""
        names = ("indptr", "entries", "code_bits", "palette", "scale", "n_features", "n_shared")
        return _core.CodedRows(**{name: getattr(self, name) for name in names})

    def gram(self, other: Rows | None, threads: int) -> np.ndarray:
        """Inner products with the rows `other`, of the same features; None: with these themselves."""
        if other is None:
            return RowProducts(self).matrix(threads)
        index = _core.GramIndex.of(replace(other, n_shared=other.n_features).for_core())
        return index.block(self.for_core(), threads).reshape(len(self), len(other))

    def row_products(self) -> Callable[[int], np.ndarray]:
        return RowProducts(self).row

    def part(self) -> _core.RowsPart:
        """The rows as one part of several."""
        none = np.empty(0)
        return _core.RowsPart(self.for_core(), none, none, none)


class RowProducts:
    """Inner products of rows among themselves, by an inverted index, which takes 8 bytes an entry.

    >>> import treille
    >>> rows = treille.Features(treille.kernels.NGram(1)).fit_rows(["aab", "b", "ac"])
    >>> RowProducts(rows).row(0).tolist()
    [5.0, 1.0, 2.0]
    """

    def __init__(self, rows: Rows):
        self.rows = rows
        self._index = _core.GramIndex.of(rows.for_core())

    def matrix(self, threads: int) -> np.ndarray:
        """All of them, exactly symmetric."""
        n = len(self.rows)
        return self._index.gram(self.rows.for_core(), threads).reshape(n, n)

    def row(self, i: int) -> np.ndarray:
        """Those of row i with all rows."""
        return self._index.row(self.rows.for_core(), i)


def _inverse(norms: np.ndarray) -> np.ndarray:
    return np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
