"""Feature maps around other maps: the same features, other values."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from treille.data import Batch, FeatureRows
from treille.kernels.base import FeatureMap


class WrappedMap(FeatureMap):
    """The features of another map, their rows changed."""

    def __init__(self, inner: FeatureMap):
        self.inner = inner

    @abstractmethod
    def around(self, inner: FeatureMap) -> FeatureMap:
        """The same change of another map."""

    @abstractmethod
    def change(self, rows: FeatureRows) -> FeatureRows:
        """What becomes of the inner rows."""

    @property
    def n_features(self) -> int:
        return self.inner.n_features

    def transform(self, batch: Batch, n_jobs: int | None = None) -> FeatureRows:
        return self.change(self.inner.transform(batch, n_jobs))

    def name(self, id: int) -> str:
        return self.inner.name(id)

    def restrict(self, ids: np.ndarray) -> FeatureMap:
        return self.around(self.inner.restrict(ids))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return self.inner.state()
