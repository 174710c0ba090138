"""Rows in parts on the workers of a Dask cluster. Functions go to them, and sums come back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from treille.features import FeatureRows, RowParts
from treille.scale.cluster import DaskCluster


class DaskRows(RowParts):
    """The futures of the rows of each part."""

    def __init__(self, cluster: DaskCluster, futures: Sequence[Any], lengths: np.ndarray):
        self.cluster, self.futures, self.lengths = cluster, list(futures), lengths

    def each(self, compute: Callable[[FeatureRows, int], Any]) -> list[Any]:
        return self.cluster.gather(self.cluster.map(compute, self.futures, range(len(self.futures))))

    def total(self, compute: Callable[[FeatureRows, int], np.ndarray]) -> np.ndarray:
        total: np.ndarray = self.cluster.total(self.cluster.map(compute, self.futures, range(len(self.futures))))
        return total

    def changed(self, change: Callable[..., FeatureRows], others: Sequence[RowParts] = ()) -> RowParts:
        columns = [self.futures, *(other.futures for other in others)]  # type: ignore[attr-defined]
        return DaskRows(self.cluster, self.cluster.map(change, *columns), self.lengths)
