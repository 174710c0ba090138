"""Normalised kernels: the cosine of any kernel."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from treille.data import Batch
from treille.features import Contributions, ExplainingMap, FeatureMap, FeatureRows, LocatingMap, MatrixRows, Occurrences
from treille.features.abilities import having
from treille.features.rows import inverse_norms
from treille.io.parameters import effective_n_jobs
from treille.kernels.base import Fitted, LinearOperator, changeable
from treille.kernels.expansion import Expansion
from treille.kernels.fitting import FitContext, ValueKernel
from treille.kernels.wrapped import ChangedKernel, RescaledMap


class Normalized(ChangedKernel, ValueKernel):
    """k(x, y) / sqrt(k(x, x) k(y, y)); 0 if k(x, x) = 0 for one of them.

    The norm of an example includes all its features, also those that no training example has.

    >>> from treille.kernels import NGram
    >>> NGram(1).normalized()(["ab", "", "aab"]).round(3).tolist()
    [[1.0, 0.0, 0.949], [0.0, 0.0, 0.0], [0.949, 0.0, 1.0]]
    """

    def wrap(self, features: FeatureMap, rows: FeatureRows, context: FitContext, n_jobs: int | None = None) -> Fitted:
        return NormalizedMap(features), rows.normalized()

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        return NormalizedMap(self.inside().load_features(spec, arrays))

    def gram(self, left: Batch, right: Batch | None = None, n_jobs: int | None = None) -> np.ndarray:
        if self.needs_features:
            return super().gram(left, right, n_jobs)
        context = FitContext()
        if self.prefers_features(left, n_jobs, context.known):
            features, rows = context.fit(self, left, n_jobs)
            others = None if right is None else features.transform(right, n_jobs)
            return having(rows, MatrixRows).gram(others, effective_n_jobs(n_jobs))
        K = changeable(self.inside().gram(left, right, n_jobs))
        norms = inverse_norms(K.diagonal() if right is None else self.inside().diagonal(left, n_jobs))
        columns = norms if right is None else inverse_norms(self.inside().diagonal(right, n_jobs))
        for start in range(0, len(K), 256):  # the norms are multiplied first: otherwise rounding would break symmetry
            K[start : start + 256] *= np.outer(norms[start : start + 256], columns)
        return K

    def fit_product(self, batch: Batch, n_jobs: int | None = None) -> LinearOperator:
        return ScaledProduct(
            self.inside().fit_product(batch, n_jobs), inverse_norms(self.inside().diagonal(batch, n_jobs))
        )

    def expansion(self, support: Batch, coefficients: np.ndarray, n_jobs: int | None = None) -> Expansion:
        columns = inverse_norms(self.inside().diagonal(support, n_jobs))
        return NormalizedExpansion(self, self.inside().expansion(support, columns[:, None] * coefficients, n_jobs))

    def diagonal(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        # Not always 1: a zero vector stays zero.
        return (self.inside().diagonal(batch, n_jobs) > 0).astype(np.float64)


class NormalizedExpansion(Expansion):
    """A sum over support examples whose coefficients are divided by their norms, divided by the norms of the new examples."""

    def __init__(self, kernel: Normalized, inner: Expansion):
        self.kernel = kernel
        self.inner = inner

    def _scale(self, batch: Batch, n_jobs: int | None) -> np.ndarray:
        return inverse_norms(self.kernel.inside().diagonal(batch, n_jobs))

    def values(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        return self.inner.values(batch, n_jobs) * self._scale(batch, n_jobs)[:, None]

    def contributions(self, batch: Batch, n_jobs: int | None = None) -> Contributions | None:
        found = self.inner.contributions(batch, n_jobs)
        return None if found is None else found.scaled(self._scale(batch, n_jobs))


class ScaledProduct(LinearOperator):
    """D K D as a linear operator, D diagonal."""

    def __init__(self, inner: LinearOperator, scale: np.ndarray):
        self.inner = inner
        self.scale = scale

    def matvec(self, beta: np.ndarray) -> np.ndarray:
        scale = self.scale.reshape(-1, *[1] * (np.ndim(beta) - 1))
        return scale * self.inner.matvec(scale * beta)

    def sizes(self) -> str:
        return self.inner.sizes()


class NormalizedMap(RescaledMap):
    """The features of another map, every row divided by its norm."""

    @cached_property
    def _counting(self) -> FeatureMap:
        """The inner map with only the features that norms need, in most cases none: its rows cost less, and have the same norms."""
        ids = self.inner.ids_for_norms(np.empty(0, np.int64))
        return self.inner if len(ids) == self.inner.n_features else self.inner.restrict(ids)

    def _scale(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        return inverse_norms(self._counting.transform(batch, n_jobs).diag())

    def change(self, rows: FeatureRows, threads: int = 1) -> FeatureRows:
        return rows.normalized()

    def occurrences(self, batch: Batch) -> Occurrences:
        return having(self.inner, LocatingMap).occurrences(batch).scaled(self._scale(batch))

    def contributor(self, weights: np.ndarray) -> Callable[[Batch, int | None], Contributions]:
        inner = having(self.inner, ExplainingMap).contributor(weights)
        return lambda batch, n_jobs: inner(batch, n_jobs).scaled(self._scale(batch, n_jobs))
