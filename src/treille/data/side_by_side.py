"""Feature rows of several kinds side by side, and rows with a centre: what sums and centred kernels make of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from treille import _core
from treille.data.base import readable_size
from treille.data.rows import FeatureRows, Rows
from treille.io.errors import InputError

DENSE = 1 << 27  # values of centred rows written out at most: a gigabyte


class SideBySide(FeatureRows):
    """Rows of several parts: an example has the features of each. No value is multiplied out: a part keeps its palette and scale.

    >>> import treille
    >>> rows = treille.Features(treille.kernels.NGram(1) + treille.kernels.NGram(2)).fit_rows(["aab", "b"])
    >>> len(rows.parts), rows.to_csr().toarray().tolist()
    (2, [[1.0, 2.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0]])
    """

    def __init__(self, rows: Sequence[FeatureRows]):
        self._parts = tuple(chain.from_iterable(each.parts for each in rows))

    @property
    def parts(self) -> tuple[Any, ...]:
        return self._parts

    def __len__(self) -> int:
        return len(self.parts[0])

    @property
    def n_features(self) -> int:
        """How many features there are, of all parts."""
        return sum(part.n_features for part in self.parts)

    @property
    def n_entries(self) -> int:
        return sum(part.n_entries for part in self.parts)

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)

    def diag(self) -> np.ndarray:
        return np.sum([part.diag() for part in self.parts], axis=0)

    def scaled(self, factor: float | np.ndarray) -> SideBySide:
        return SideBySide([part.scaled(factor) for part in self.parts])

    def to_csr(self, threads: int = 1) -> sp.csr_matrix:
        return sp.hstack([part.to_csr(threads) for part in self.parts], format="csr")

    def outputs(self, weights: np.ndarray, threads: int) -> np.ndarray:
        cuts = np.cumsum([0, *(part.n_features for part in self.parts)])
        each = zip(self.parts, pairwise(cuts), strict=True)
        return np.sum([part.outputs(weights[a:b], threads) for part, (a, b) in each], axis=0)

    def combine(self, coefficients: np.ndarray, threads: int, out: np.ndarray | None = None) -> np.ndarray:
        out = np.empty((self.n_features, coefficients.shape[1])) if out is None else out
        first = 0
        for part in self.parts:
            part.combine(coefficients, threads, out[first : first + part.n_features])
            first += part.n_features
        return out

    def gram(self, other: SideBySide | None, threads: int) -> np.ndarray:
        others = [None] * len(self.parts) if other is None else other.parts
        K, *rest = (part.gram(each, threads) for part, each in zip(self.parts, others, strict=True))
        for each in rest:
            K += each
        return K

    def row_products(self) -> Callable[[int], np.ndarray]:
        each = [part.row_products() for part in self.parts]
        return lambda i: np.sum([row(i) for row in each], axis=0)

    def for_core(self) -> _core.SideBySide:
        return _core.SideBySide([part.part() for part in self.parts])


@dataclass(frozen=True)
class CenteredRows(FeatureRows):
    """Rows minus a dense vector: row i is ``rows[i] - shift[i] * mean``, and is never written out.

    A product with it costs what one with `rows` costs, and a few operations more: ``(r - s m).w = r.w - s (m.w)``. `dots` are the
    products of `rows` with the mean. Where `kept` is given, the features are those ids alone, and norms stay those of whole rows.

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
    def of(cls, rows: Rows, mean: np.ndarray, threads: int) -> CenteredRows:
        """Rows minus the mean."""
        return cls(rows, mean, np.ones(len(rows)), rows.outputs(mean[:, None], threads)[:, 0])

    def keeping(self, ids: np.ndarray | None) -> CenteredRows:
        """The features `ids` alone; None: all."""
        return replace(self, kept=ids)

    @property
    def parts(self) -> tuple[Any, ...]:
        return (self,)

    def part(self) -> _core.RowsPart:
        """The rows as one part of several."""
        return _core.RowsPart(self.rows.for_core(), self.mean, self.shift, self.dots)

    def for_core(self) -> _core.SideBySide:
        return _core.SideBySide([self.part()])

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_features(self) -> int:
        """How many features there are."""
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

    def to_csr(self, threads: int = 1) -> sp.csr_matrix:
        if len(self) * self.n_features > DENSE:
            raise InputError(
                f"centred rows have no zeros: {len(self):,} x {self.n_features:,} values would take "
                f"{readable_size(8 * len(self) * self.n_features)}: leave out .centered(), and centre what is made of the rows"
            )
        kept = slice(None) if self.kept is None else self.kept
        return sp.csr_matrix(self.rows.to_csr(threads)[:, kept].toarray() - np.outer(self.shift, self.mean[kept]))

    def outputs(self, weights: np.ndarray, threads: int) -> np.ndarray:
        whole = weights
        if self.kept is not None:
            whole = np.zeros((len(self.mean), weights.shape[1]))
            whole[self.kept] = weights
        return self.rows.outputs(whole, threads) - np.outer(self.shift, self.mean @ whole)

    def combine(self, coefficients: np.ndarray, threads: int, out: np.ndarray | None = None) -> np.ndarray:
        sums = self.rows.combine(coefficients, threads) - np.outer(self.mean, self.shift @ coefficients)
        sums = sums if self.kept is None else sums[self.kept]
        if out is None:
            return sums
        out[:] = sums
        return out

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
