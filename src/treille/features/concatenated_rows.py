"""Rows made of other rows: concatenated for sums of kernels, centred, or with values that differ from problem to problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from treille import _core
from treille.data.base import readable_size
from treille.features.abilities import having
from treille.features.rows import (
    CountableRows,
    DivisibleRows,
    FeatureRows,
    MatrixRows,
    Rows,
    StoredRows,
    WeighableRows,
    checked_weights,
)
from treille.io.errors import InputError

DENSE = 1 << 27  # largest number of values of centred rows that is written out: a gigabyte


class ConcatenatedRows(CountableRows, DivisibleRows, StoredRows):
    """The features of several parts, one part after another. Nothing is copied: every part keeps its codebook and scale.

    >>> import treille
    >>> rows = treille.Features(treille.kernels.NGram(1) + treille.kernels.NGram(2)).fit_rows(["aab", "b"])
    >>> len(rows.parts), rows.to_csr().toarray().tolist()
    (2, [[1.0, 2.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0]])
    """

    def __init__(self, rows: Sequence[FeatureRows]):
        self._parts = tuple(chain.from_iterable(having(each, MatrixRows).parts for each in rows))

    @property
    def parts(self) -> tuple[Any, ...]:
        return self._parts

    def __len__(self) -> int:
        return len(self.parts[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return sum(part.n_features for part in self.parts)

    @property
    def n_entries(self) -> int:
        return sum(part.n_entries for part in self.parts)

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)

    def diag(self) -> np.ndarray:
        return np.sum([part.diag() for part in self.parts], axis=0)

    def scaled(self, factor: float | np.ndarray) -> ConcatenatedRows:
        return ConcatenatedRows([part.scaled(factor) for part in self.parts])

    def weighted(self, column_weights: np.ndarray, unseen: float = 1.0, threads: int = 1) -> ConcatenatedRows:
        weights = checked_weights(column_weights, self.n_features)
        return ConcatenatedRows(
            [having(part, WeighableRows).weighted(weights[a:b], unseen, threads) for part, (a, b) in self._ranges()]
        )

    def taken(self, which: np.ndarray) -> ConcatenatedRows:
        return ConcatenatedRows([having(part, DivisibleRows).taken(which) for part in self.parts])

    def frequencies(self, groups: np.ndarray, threads: int = 1) -> np.ndarray:
        return np.concatenate([having(part, CountableRows).frequencies(groups, threads) for part in self.parts])

    def _ranges(self) -> list[tuple[Any, tuple[int, int]]]:
        """Every part with the first id of its features and the end of them."""
        cuts = np.cumsum([0, *(part.n_features for part in self.parts)]).tolist()
        return list(zip(self.parts, pairwise(cuts), strict=True))

    def to_csr(self, threads: int = 1) -> sp.csr_matrix:
        return sp.hstack([having(part, StoredRows).to_csr(threads) for part in self.parts], format="csr")

    def matvec(self, weights: np.ndarray, threads: int = 1) -> np.ndarray:
        return np.sum([part.matvec(weights[a:b], threads) for part, (a, b) in self._ranges()], axis=0)

    def rmatvec(self, coefficients: np.ndarray, threads: int = 1, out: np.ndarray | None = None) -> np.ndarray:
        out = np.empty((self.n_features, coefficients.shape[1])) if out is None else out
        for part, (a, b) in self._ranges():
            part.rmatvec(coefficients, threads, out[a:b])
        return out

    def gram(self, other: ConcatenatedRows | None, threads: int) -> np.ndarray:
        others = [None] * len(self.parts) if other is None else other.parts
        K, *rest = (part.gram(each, threads) for part, each in zip(self.parts, others, strict=True))
        for each in rest:
            K += each
        return K

    def row_products(self) -> Callable[[int], np.ndarray]:
        each = [part.row_products() for part in self.parts]
        return lambda i: np.sum([row(i) for row in each], axis=0)

    def for_core(self) -> _core.ConcatenatedRows:
        return concatenated(self.parts)


@dataclass(frozen=True)
class CenteredRows(WeighableRows, StoredRows):
    """Rows minus a dense vector: row i is ``rows[i] - shift[i] * mean``, which is never written out.

    A product costs what one with `rows` costs, and a few operations more: ``(r - s m).w = r.w - s (m.w)``. `dots` are the products
    of `rows` with the mean. With `kept`, the features are only those ids; the norms are still computed from the whole rows.

    >>> import treille
    >>> rows = treille.Features(treille.kernels.NGram(1).centered()).fit_rows(["aab", "b"])
    >>> rows.n_entries, rows.to_csr().toarray().tolist()
    (3, [[0.0, 1.0], [0.0, -1.0]])
    """

    rows: Rows
    mean: np.ndarray
    shift: np.ndarray
    dots: np.ndarray
    kept: np.ndarray | None = None

    @classmethod
    def of(cls, rows: Rows, mean: np.ndarray, threads: int, kept: np.ndarray | None = None) -> CenteredRows:
        """Rows minus the mean."""
        return cls(rows, mean, np.ones(len(rows)), rows.matvec(mean[:, None], threads)[:, 0], kept)

    def center(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The centre that is subtracted, for the core."""
        return self.mean, self.shift, self.dots

    def for_core(self) -> _core.ConcatenatedRows:
        return concatenated([self])

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.mean) if self.kept is None else len(self.kept)

    @property
    def n_entries(self) -> int:
        return self.rows.n_entries

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes + sum(a.nbytes for a in (self.mean, self.shift, self.dots))

    def diag(self) -> np.ndarray:
        distances = self.rows.diag() - 2 * self.shift * self.dots + self.shift**2 * (self.mean @ self.mean)
        return np.maximum(distances, 0.0)

    def scaled(self, factor: float | np.ndarray) -> CenteredRows:
        return replace(self, rows=self.rows.scaled(factor), shift=self.shift * factor, dots=self.dots * factor)

    def weighted(self, column_weights: np.ndarray, unseen: float = 1.0, threads: int = 1) -> CenteredRows:
        """Weighs the columns. Features that are not `kept` count as parts outside the features: they get the weight `unseen`."""
        weights = np.full(len(self.mean), float(unseen))
        weights[slice(None) if self.kept is None else self.kept] = checked_weights(column_weights, self.n_features)
        rows, mean = self.rows.weighted(weights, unseen, threads), weights * self.mean
        return replace(self, rows=rows, mean=mean, dots=rows.matvec(mean[:, None], threads)[:, 0])

    def refusal(self, ability: Any) -> InputError:
        return InputError("centred features occur in every example: count and weigh them before .centered()")

    @property
    def sparse(self) -> Rows:
        return self.rows

    def lengths(self) -> np.ndarray:
        """The number of features of every example."""
        return np.full(len(self), self.n_features)

    def to_csr(self, threads: int = 1) -> sp.csr_matrix:
        if len(self) * self.n_features > DENSE:
            raise InputError(
                f"centred rows have no zeros: {len(self):,} x {self.n_features:,} values would take "
                f"{readable_size(8 * len(self) * self.n_features)}: remove .centered(), and centre what is computed from the rows"
            )
        kept = slice(None) if self.kept is None else self.kept
        return sp.csr_matrix(self.rows.to_csr(threads)[:, kept].toarray() - np.outer(self.shift, self.mean[kept]))

    def matvec(self, weights: np.ndarray, threads: int = 1) -> np.ndarray:
        whole = weights
        if self.kept is not None:
            whole = np.zeros((len(self.mean), weights.shape[1]))
            whole[self.kept] = weights
        return self.rows.matvec(whole, threads) - np.outer(self.shift, self.mean @ whole)

    def rmatvec(self, coefficients: np.ndarray, threads: int = 1, out: np.ndarray | None = None) -> np.ndarray:
        kept = slice(None) if self.kept is None else self.kept
        shifts = np.outer(self.mean[kept], self.shift @ coefficients)
        return np.subtract(self.rows.rmatvec(coefficients, threads)[kept], shifts, out=out)

    def gram(self, other: CenteredRows | None, threads: int) -> np.ndarray:
        right = self if other is None else other
        K = self.rows.gram(None if other is None else other.rows, threads)
        K -= np.outer(self.shift, right.dots)
        K -= np.outer(self.dots, right.shift)
        K += (self.mean @ self.mean) * np.outer(self.shift, right.shift)
        return K

    def row_products(self) -> Callable[[int], np.ndarray]:
        row, (shift, dots), square = self.rows.row_products(), (self.shift, self.dots), self.mean @ self.mean
        return lambda i: row(i) - shift[i] * dots + (square * shift[i] - dots[i]) * shift


def concatenated(parts: Sequence[Any]) -> _core.ConcatenatedRows:
    """Parts, centred or not, as solvers in the core take them."""
    each = [(part, having(part.sparse, Rows)) for part in parts]
    return _core.ConcatenatedRows([_core.RowsTerm(rows.for_core(), *part.center()) for part, rows in each])


class PerProblemRows(CountableRows, DivisibleRows):
    """The rows of several problems, such as one class against the rest. They share their entries; nothing is copied.

    Column k of weights and of coefficients belongs to problem k.

    >>> import treille
    >>> rows = treille.Features(treille.kernels.NGram(1)).fit_rows(["aab", "b"])
    >>> each = PerProblemRows([rows.weighted(np.array([1.0, 0.5])), rows.weighted(np.array([0.0, 1.0]))])
    >>> each.matvec(np.ones((2, 2))).tolist()
    [[2.0, 2.0], [1.0, 0.0]]
    """

    def __init__(self, problems: Sequence[FeatureRows]):
        self.each = tuple(problems)

    @property
    def problems(self) -> tuple[FeatureRows, ...]:
        return self.each

    def __len__(self) -> int:
        return len(self.each[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.each[0].n_features

    @property
    def n_entries(self) -> int:
        return self.each[0].n_entries

    @property
    def nbytes(self) -> int:
        return self.each[0].nbytes

    def diag(self) -> np.ndarray:
        return np.stack([rows.diag() for rows in self.each], axis=1)

    def scaled(self, factor: float) -> PerProblemRows:
        return PerProblemRows([rows.scaled(factor) for rows in self.each])

    def normalized(self) -> PerProblemRows:
        return PerProblemRows([rows.normalized() for rows in self.each])

    def weighted(self, column_weights: np.ndarray, unseen: float = 1.0, threads: int = 1) -> PerProblemRows:
        return PerProblemRows(
            [having(rows, WeighableRows).weighted(column_weights, unseen, threads) for rows in self.each]
        )

    def taken(self, which: np.ndarray) -> PerProblemRows:
        return PerProblemRows([having(rows, DivisibleRows).taken(which) for rows in self.each])

    def frequencies(self, groups: np.ndarray, threads: int = 1) -> np.ndarray:
        return having(self.each[0], CountableRows).frequencies(groups, threads)

    def matvec(self, weights: np.ndarray, threads: int = 1) -> np.ndarray:
        columns = zip(self.each, weights.T, strict=True)
        return np.hstack([rows.matvec(column[:, None], threads) for rows, column in columns])

    def rmatvec(self, coefficients: np.ndarray, threads: int = 1, out: np.ndarray | None = None) -> np.ndarray:
        columns = zip(self.each, coefficients.T, strict=True)
        return np.concatenate([rows.rmatvec(column[:, None], threads) for rows, column in columns], axis=1, out=out)

    def refusal(self, ability: Any) -> InputError:
        what, other = "cannot be multiplied or centred, and are no single matrix", ""
        if ability is MatrixRows:
            what, other = "have no single kernel matrix", "the solver DualCD, or "
        return InputError(
            f"the features have other weights for each of {len(self.each)} classes, so they {what}: use {other}"
            "weights that are the same for all classes, .weighted('idf')"
        )
