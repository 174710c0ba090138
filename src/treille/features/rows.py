"""Sparse feature rows, which kernels compute from a batch and linear solvers read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from treille import _core
from treille.data.base import running_sum
from treille.io.errors import InputError

FEW = 4  # features for each entry, from which on products are computed by entry


class FeatureRows(ABC):
    """Feature rows in any layout: one row per example, one column per feature.

    What only some layouts can do is in `WeighableRows`, `CountableRows`, `DivisibleRows`, `MatrixRows` and `StoredRows`.

    >>> import treille
    >>> rows = treille.Features(treille.kernels.NGram(2)).fit_rows(["abab", "ba"])
    >>> isinstance(rows, FeatureRows), rows.scaled(0.5).diag().tolist()
    (True, [1.25, 0.25])
    """

    if TYPE_CHECKING:  # a field of some subclasses, a property of others

        @property
        def n_features(self) -> int: ...

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def n_entries(self) -> int:
        """Number of stored values."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes held in memory."""

    def __sizeof__(self) -> int:  # Dask asks, and moves tasks to where little would have to be sent
        return object.__sizeof__(self) + self.nbytes

    @property
    def problems(self) -> tuple[FeatureRows, ...]:
        """The rows of each problem where they differ from problem to problem; otherwise these rows, for all problems."""
        return (self,)

    @abstractmethod
    def diag(self) -> np.ndarray:
        """k(x, x) of every row, including parts outside the fitted features; one column per problem where rows differ."""

    @abstractmethod
    def scaled(self, factor: float) -> FeatureRows:
        """All values times a number."""

    @abstractmethod
    def normalized(self) -> FeatureRows:
        """Every row divided by its norm. A zero row stays zero."""

    @abstractmethod
    def matvec(self, weights: np.ndarray, threads: int = 1) -> np.ndarray:
        """``self @ weights`` for a dense matrix with one row per feature; the result has one row per example."""

    @abstractmethod
    def rmatvec(self, coefficients: np.ndarray, threads: int = 1, out: np.ndarray | None = None) -> np.ndarray:
        """``self.T @ coefficients`` for a dense matrix with one row per example; the result has one row per feature.

        It is written to `out` if given: allocating memory takes as long as the product.
        """

    def refusal(self, ability: Any) -> InputError:
        """The error for an ability that these rows do not have."""
        return InputError(f"{type(self).__name__} do not offer {ability.lacking}")


class WeighableRows(FeatureRows):
    """Rows whose columns may have weights.

    >>> import treille
    >>> rows = treille.Features(treille.kernels.NGram(1)).fit_rows(["aab", "b"])
    >>> rows.weighted(np.array([2.0, 0.5])).to_csr().toarray().tolist()
    [[2.0, 1.0], [2.0, 0.0]]
    """

    lacking = "weights of features"

    @abstractmethod
    def weighted(self, column_weights: np.ndarray, unseen: float = 1.0, threads: int = 1) -> FeatureRows:
        """Every column times its weight: phi_z(x) becomes ``column_weights[z] * phi_z(x)``. Entries are not copied.

        Squared norms are recomputed from the stored values. Parts of an example outside the fitted features get weight `unseen`.
        """

    def weighted_by_problem(self, column_weights: np.ndarray, unseen: float = 1.0, threads: int = 1) -> FeatureRows:
        """The same with one row of weights per problem."""
        from treille.features.concatenated_rows import PerProblemRows

        return PerProblemRows([self.weighted(weights, unseen, threads) for weights in column_weights])


class CountableRows(WeighableRows):
    """Rows whose features occur in some examples only.

    >>> import treille
    >>> rows = treille.Features(treille.kernels.NGram(1)).fit_rows(["aab", "b"])
    >>> rows.frequencies(np.array([[1.0, 0.0], [1.0, 1.0]])).tolist()
    [[2.0, 1.0], [1.0, 0.0]]
    """

    lacking = "frequencies of features"

    @abstractmethod
    def frequencies(self, groups: np.ndarray, threads: int = 1) -> np.ndarray:
        """The number of rows in which each feature occurs: one row per feature, one column for each column of `groups`.

        ``groups[i, g]`` is 1 where row i is counted in group g, else 0.
        """


class DivisibleRows(FeatureRows):
    """Rows of which some may be taken.

    >>> import treille
    >>> treille.Features(treille.kernels.NGram(1)).fit_rows(["aab", "b"]).taken(np.array([1])).diag().tolist()
    [1.0]
    """

    lacking = "some of their rows"

    @abstractmethod
    def taken(self, which: np.ndarray) -> FeatureRows:
        """Some of the rows, in this order. They do not refer to these rows, which may be mapped."""


class MatrixRows(FeatureRows):
    """Rows in memory that are one matrix, the same for all problems.

    >>> import treille
    >>> treille.Features(treille.kernels.NGram(1)).fit_rows(["aab", "b"]).gram(None, threads=1).tolist()
    [[5.0, 1.0], [1.0, 1.0]]
    """

    lacking = "a kernel matrix"

    @abstractmethod
    def scaled(self, factor: float | np.ndarray) -> FeatureRows:
        """All values times a number, or times one number per row."""

    def normalized(self) -> FeatureRows:
        return self.scaled(inverse_norms(self.diag()))

    @property
    def parts(self) -> tuple[Any, ...]:
        """The rows that these concatenate; the feature ids of a part follow the ids of the parts before it."""
        return (self,)

    @property
    def sparse(self) -> FeatureRows:
        """The rows before a mean is subtracted, as in centred rows; otherwise these rows."""
        return self

    @abstractmethod
    def gram(self, other: Any, threads: int) -> np.ndarray:
        """Inner products with the rows `other`, which have the same features and layout; None: with these rows themselves."""

    @abstractmethod
    def row_products(self) -> Callable[[int], np.ndarray]:
        """A function that returns the inner products of row i with all rows. Its index is built here, once."""

    @abstractmethod
    def for_core(self) -> Any:
        """The rows as solvers in the core take them."""


class StoredRows(MatrixRows):
    """Rows whose values may be written as one sparse matrix.

    >>> import treille
    >>> treille.Features(treille.kernels.NGram(1)).fit_rows(["aab", "b"]).to_csr().toarray().tolist()
    [[1.0, 2.0], [1.0, 0.0]]
    """

    lacking = "a sparse matrix, or the solver NormalEquations,"

    @abstractmethod
    def to_csr(self, threads: int = 1) -> sp.csr_matrix:
        """The same rows as a scipy matrix of float64."""


@dataclass(frozen=True)
class Rows(CountableRows, DivisibleRows, StoredRows):
    """Sparse rows, always exact, in 4 bytes per entry in most cases. Build them with `from_csr`.

    Entry e of row i, ``indptr[i] <= e < indptr[i + 1]``, is the integer ``id << code_bits | code``: the value of feature ``id`` is
    ``scale[i] * codebook[code]``, times ``column_weights[id]`` unless that is None. ``sq_norms`` are the squared norms of the
    unscaled examples, including parts outside the fitted features.

    >>> import treille
    >>> rows = treille.Features(treille.kernels.NGram(2)).fit_rows(["abab", "ba"])
    >>> len(rows), rows.n_features, rows.to_csr().toarray().tolist()
    (2, 2, [[1.0, 2.0], [1.0, 0.0]])
    """

    lacking = "sums with other kernels, centred kernels and other representations"

    indptr: np.ndarray
    entries: np.ndarray
    code_bits: int
    codebook: np.ndarray
    scale: np.ndarray
    sq_norms: np.ndarray
    n_features: int
    column_weights: np.ndarray | None = None

    @classmethod
    def from_csr(
        cls,
        matrix: sp.csr_matrix,
        sq_norms: np.ndarray | None = None,
        *,
        ids: np.ndarray | None = None,
        n_features: int | None = None,
        threads: int = 1,
    ) -> Rows:
        """The rows of a sparse matrix, one row per example.

        `sq_norms` are k(x, x) of the examples; None: the squared norms of the rows, which is right if no part of an example is
        missing from the matrix. With `ids`, column j is feature ``ids[j]`` out of `n_features`, or is left out if that is -1.

        >>> matrix = sp.csr_matrix([[0.5, 0.0, 2.0], [0.0, 1.0, 4.0]])
        >>> Rows.from_csr(matrix).diag().tolist()
        [4.25, 17.0]
        >>> Rows.from_csr(matrix, ids=np.array([1, -1, 0]), n_features=2).to_csr().toarray().tolist()
        [[2.0, 0.5], [4.0, 0.0]]
        """
        matrix = sp.csr_matrix(matrix, dtype=np.float64)
        matrix.sum_duplicates()
        ids = np.arange(matrix.shape[1]) if ids is None else np.asarray(ids, np.int64)  # -1 is the code for "left out"
        n_features = len(ids) if n_features is None else n_features
        offsets, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False)
        coded = _core.code_rows(offsets, columns, matrix.data, ids.astype(np.uint32), n_features, threads)
        sq_norms = squared_norms(matrix) if sq_norms is None else np.ascontiguousarray(sq_norms, np.float64)
        return cls(*coded, np.ones(len(sq_norms)), sq_norms, n_features)

    @classmethod
    def from_core(cls, arrays: Any, n_features: int) -> Rows:
        """The rows that a feature map of the core returns: indptr, entries, code_bits, codebook and squared norms."""
        indptr, entries, code_bits, codebook, sq_norms = arrays
        return cls(indptr, entries, code_bits, codebook, np.ones(len(sq_norms)), sq_norms, n_features)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_entries(self) -> int:
        return len(self.entries)

    @property
    def nbytes(self) -> int:
        arrays = (self.indptr, self.entries, self.codebook, self.scale, self.sq_norms, self.column_weights)
        return sum(a.nbytes for a in arrays if a is not None)

    def diag(self) -> np.ndarray:
        return self.scale**2 * self.sq_norms

    def scaled(self, factor: float | np.ndarray) -> Rows:
        return replace(self, scale=self.scale * factor)

    def normalized(self) -> Rows:
        return replace(self, scale=inverse_norms(self.sq_norms))

    def weighted(self, column_weights: np.ndarray, unseen: float = 1.0, threads: int = 1) -> Rows:
        weights = checked_weights(column_weights, self.n_features)
        rest = self.sq_norms - self.squares(threads)
        rest[rest < 1e-12 * self.sq_norms] = 0.0  # the difference of equal sums, rounded
        product = weights if self.column_weights is None else self.column_weights * weights
        weighted = replace(self, column_weights=product)
        return replace(weighted, sq_norms=weighted.squares(threads) + unseen * (unseen * rest))

    def renumbered(self, ids: np.ndarray, n_features: int, threads: int = 1) -> Rows:
        """The same rows with column z as column ``ids[z]`` of `n_features`, left out where that is -1; norms stay as they are.

        >>> import treille
        >>> rows = treille.Features(treille.kernels.NGram(1)).fit_rows(["aab", "b"])
        >>> rows.renumbered(np.array([2, 0]), 3).to_csr().toarray().tolist()
        [[2.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
        """
        coded = _core.renumber_rows(self.coded(), np.ascontiguousarray(ids, np.int64), n_features, threads)
        column_weights = None
        if self.column_weights is not None:
            column_weights = np.ones(n_features)
            column_weights[ids[ids >= 0]] = self.column_weights[ids >= 0]
        return Rows(*coded, self.scale, self.sq_norms, n_features, column_weights)

    def taken(self, which: np.ndarray) -> Rows:
        indptr = running_sum(np.diff(self.indptr)[which])
        entries = _core.take_rows(self.coded(), np.ascontiguousarray(which, np.int64))
        own = self.codebook.copy(), self.scale[which], self.sq_norms[which]
        return Rows(indptr, entries, self.code_bits, *own, self.n_features, self.column_weights)

    def squares(self, threads: int) -> np.ndarray:
        """The squared norms of the stored values, unscaled."""
        weights = np.empty(0) if self.column_weights is None else self.column_weights
        return _core.row_squares(self.coded(), weights, threads)  # norms refuse numbers that are not finite

    def _over_entries(self) -> tuple[Any, Rows]:
        """The features of the entries, and the rows over these, one column for each entry, if entries are few and features many.

        A product then needs no pass over all features, and sums the same numbers in the same order. Otherwise, all features.
        """
        if not 0 < FEW * self.n_entries <= self.n_features:
            return slice(None), self
        ids, codes = self.entries >> self.code_bits, self.entries & ((1 << self.code_bits) - 1)
        entries = (np.arange(len(ids), dtype=ids.dtype) << self.code_bits) | codes
        column_weights = None if self.column_weights is None else self.column_weights[ids]
        return ids, replace(self, entries=entries, n_features=len(ids), column_weights=column_weights)

    def frequencies(self, groups: np.ndarray, threads: int = 1) -> np.ndarray:
        counts = np.empty((self.n_features, groups.shape[1]))
        flat = np.ascontiguousarray(groups, np.float64).ravel()
        present = replace(self, codebook=np.ones(len(self.codebook)), scale=np.ones(len(self)))
        _core.rmatvec(present.coded(), flat, groups.shape[1], counts.reshape(-1), threads)
        return counts

    def written(self, threads: int = 1) -> Rows:
        """The same rows with the weights of columns multiplied into the entries."""
        if self.column_weights is None:
            return self
        coded = _core.weigh_columns(self.coded(), self.column_weights, threads)
        return Rows(*coded, self.scale, self.sq_norms, self.n_features)

    def to_csr(self, threads: int = 1) -> sp.csr_matrix:
        ids, data = _core.to_csr(self.coded(), threads)
        if self.column_weights is not None:
            data = data * self.column_weights[ids]
        small = max(self.n_features, len(data)) < 2**31
        index = np.int32 if small else np.int64
        columns = ids.view(np.int32) if small else ids.astype(np.int64)
        matrix = sp.csr_matrix((data, columns, self.indptr.astype(index)), shape=(len(self), self.n_features))
        matrix.has_sorted_indices = True
        return matrix

    def matvec(self, weights: np.ndarray, threads: int = 1) -> np.ndarray:
        ids, rows = (slice(None), self) if self.column_weights is None else self._over_entries()
        weights = weights if rows.column_weights is None else weights[ids] * rows.column_weights[:, None]
        flat = np.ascontiguousarray(weights, dtype=np.float64).ravel()
        out = _core.matvec(rows.coded(), flat, weights.shape[1], threads)
        return out.reshape(len(self), weights.shape[1])

    def rmatvec(self, coefficients: np.ndarray, threads: int = 1, out: np.ndarray | None = None) -> np.ndarray:
        flat, width = np.ascontiguousarray(coefficients, dtype=np.float64).ravel(), coefficients.shape[1]
        out = np.empty((self.n_features, width)) if out is None else out
        _core.rmatvec(self.coded(), flat, width, out.reshape(-1), threads)
        if self.column_weights is not None:
            out *= self.column_weights[:, None]
        return out

    def for_core(self) -> _core.CodedRows:
        return self.written().coded()

    def coded(self) -> _core.CodedRows:
        """The entries as the core takes them, without the weights of columns."""
        arrays = (self.indptr, self.entries, self.code_bits, self.codebook, self.scale)
        return _core.CodedRows(*arrays, self.n_features, self.n_features)

    def weighted_core(self) -> Any:
        """The entries as the core takes them, with the weights of columns beside them."""
        return self.coded() if self.column_weights is None else self.coded().weighted(self.column_weights)

    def gram(self, other: Rows | None, threads: int) -> np.ndarray:
        if other is None:
            K = _core.GramIndex.of(self.for_core(), False).gram(self.for_core(), threads)
            return K.reshape(len(self), len(self))
        index = _core.GramIndex.of(other.for_core(), True)
        return index.block(self.for_core(), threads).reshape(len(self), len(other))

    def row_products(self) -> Callable[[int], np.ndarray]:
        rows = self.for_core()
        index = _core.GramIndex.of(rows, False)  # inverted, 8 bytes per entry
        return lambda i: index.row(rows, i)

    def lengths(self) -> np.ndarray:
        """The number of features of every example."""
        return np.diff(self.indptr)

    def center(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """See `CenteredRows.center`; nothing is subtracted here."""
        return np.empty(0), np.empty(0), np.empty(0)


def squared_norms(matrix: sp.csr_matrix) -> np.ndarray:
    """The squared norm of every row."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.bincount(rows, matrix.data**2, minlength=matrix.shape[0])


def checked_weights(column_weights: np.ndarray, n_features: int) -> np.ndarray:
    """Weights of columns as float64; refuses another number of them."""
    weights = np.asarray(column_weights, np.float64)
    if weights.shape != (n_features,):
        raise InputError(
            f"column_weights has the shape {weights.shape}, expected {n_features:,} weights, one per feature"
        )
    return weights


def inverse_norms(diagonal: np.ndarray) -> np.ndarray:
    """1 / sqrt(k(x, x)) of every example, 0 where k(x, x) is 0."""
    norms = np.sqrt(diagonal)
    return np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
