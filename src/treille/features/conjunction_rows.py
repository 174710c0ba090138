"""Rows of conjunctions that are never stored: they are matched against the conjunctions whenever they are read."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treille import _core
from treille.features.rows import FeatureRows, MatrixRows, Rows
from treille.io.errors import InputError

BLOCK = 1 << 10  # rows written out at a time, for a kernel matrix


@dataclass(frozen=True)
class ConjunctionRows(MatrixRows):
    """Rows as the items of every example, ``items[indptr[i]:indptr[i + 1]]``, rising; ``values[k]``: the value of k items together.

    A product costs one match per row, about what it costs to write the rows; only the items are in memory. Solvers compute the same
    iterates as on stored rows. Weights of columns, and sums with other kernels, need stored rows.

    >>> from treille.kernels import Conjunctions
    >>> batch = Conjunctions(2).batch([{"red": 1, "round": 1}, {"red": 1}])
    >>> features, stored = Conjunctions(2).fit_features(batch)
    >>> rows = features.rows_of(np.array([0, 2, 3]), np.array([0, 1, 1], np.uint32), batch, is_stored=False)
    >>> stored.n_entries, rows.n_entries, rows.diag().tolist(), rows.gram(None, 1).round(12).tolist()
    (6, 3, [9.0, 4.0], [[9.0, 4.0], [4.0, 4.0]])
    """

    patterns: _core.ConjunctionFeatures
    indptr: np.ndarray
    items: np.ndarray
    values: np.ndarray
    scale: np.ndarray
    sq_norms: np.ndarray

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.patterns)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_entries(self) -> int:
        return len(self.items)

    @property
    def nbytes(self) -> int:
        arrays = (self.indptr, self.items, self.values, self.scale, self.sq_norms)
        return sum(a.nbytes for a in arrays) + self.patterns.n_bytes

    def diag(self) -> np.ndarray:
        return self.scale**2 * self.sq_norms

    def scaled(self, factor: float | np.ndarray) -> FeatureRows:
        return replace(self, scale=self.scale * factor)

    def for_core(self) -> _core.ConjunctionRows:
        return _core.ConjunctionRows(self.patterns, self.indptr, self.items, self.values, self.scale)

    def matvec(self, weights: np.ndarray, threads: int = 1) -> np.ndarray:
        flat = np.ascontiguousarray(weights, np.float64).ravel()
        return self.for_core().matvec(flat, weights.shape[1], threads).reshape(len(self), weights.shape[1])

    def rmatvec(self, coefficients: np.ndarray, threads: int = 1, out: np.ndarray | None = None) -> np.ndarray:
        flat, width = np.ascontiguousarray(coefficients, np.float64).ravel(), coefficients.shape[1]
        out = np.empty((self.n_features, width)) if out is None else out
        self.for_core().rmatvec(flat, width, out.reshape(-1), threads)
        return out

    def written(self, start: int, stop: int, threads: int = 1) -> Rows:
        """Some of the rows, stored."""
        indptr = self.indptr[start : stop + 1]
        coded = self.patterns.rows(indptr - indptr[0], self.items[indptr[0] : indptr[-1]], self.values, threads)
        return Rows(*coded, self.scale[start:stop], self.sq_norms[start:stop], self.n_features)

    def gram(self, other: FeatureRows | None, threads: int) -> np.ndarray:
        right = self if other is None else other
        K = np.empty((len(self), len(right)))
        for i in range(0, len(self), BLOCK):
            left = self.written(i, min(i + BLOCK, len(self)), threads)
            if isinstance(right, Rows):
                K[i : i + BLOCK] = left.gram(right, threads)
                continue
            assert isinstance(right, ConjunctionRows)
            for j in range(0, len(right), BLOCK):
                K[i : i + BLOCK, j : j + BLOCK] = left.gram(
                    right.written(j, min(j + BLOCK, len(right)), threads), threads
                )
        return K

    def row_products(self) -> Callable[[int], np.ndarray]:
        return lambda i: self.matvec(self.written(i, i + 1).rmatvec(np.ones((1, 1))))[:, 0]

    def refusal(self, ability: Any) -> InputError:
        return InputError(
            f"the rows of {self.n_features:,} conjunctions do not fit in memory, so they are not stored, but {ability.lacking} "
            "need stored rows: use a larger min_support or a smaller degree, or the kernel by itself with DualCD or "
            "ConjugateGradient"
        )
