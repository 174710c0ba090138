"""The cosine of any kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from treille.data import Batch, Rows
from treille.kernels.base import FeatureMap, Kernel


class Normalized(Kernel):
    """k(x, y) / sqrt(k(x, x) k(y, y)); 0 where an example has k(x, x) = 0.

    The norm of an example is its own, over all its features, also those that no training example has.

    >>> from treille.kernels import NGram
    >>> NGram(1).normalized()(["ab", "", "aab"]).round(3).tolist()
    [[1.0, 0.0, 0.949], [0.0, 0.0, 0.0], [0.949, 0.0, 1.0]]
    """

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    def check(self) -> None:
        self.kernel.check()

    def batch(self, X: Any, n_jobs: int | None = None) -> Batch:
        return self.kernel.batch(X, n_jobs)

    def fit_features(self, batch: Batch, n_jobs: int | None = None) -> tuple[FeatureMap, Rows]:
        features, rows = self.kernel.fit_features(batch, n_jobs)
        return NormalizedFeatures(features), rows.normalized()

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        return NormalizedFeatures(self.kernel.load_features(spec, arrays))


class NormalizedFeatures(FeatureMap):
    """The features of another map, every row divided by its norm."""

    def __init__(self, inner: FeatureMap):
        self.inner = inner

    @property
    def n_features(self) -> int:
        return self.inner.n_features

    def transform(self, batch: Batch, n_jobs: int | None = None) -> Rows:
        return self.inner.transform(batch, n_jobs).normalized()

    def name(self, id: int) -> str:
        return self.inner.name(id)

    def restrict(self, ids: np.ndarray) -> NormalizedFeatures:
        return NormalizedFeatures(self.inner.restrict(ids))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return self.inner.state()
