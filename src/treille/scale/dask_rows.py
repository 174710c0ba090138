"""Rows in parts on the workers of a Dask cluster. They stay there; functions go to them, and sums come back."""

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
        return self.cluster.gather(self._submitted(compute))

    def total(self, compute: Callable[[FeatureRows, int], np.ndarray]) -> np.ndarray:
        total: np.ndarray = self.cluster.reduced(self._submitted(compute), _add_all)
        return total

    def changed(self, change: Callable[..., FeatureRows], others: Sequence[RowParts] = ()) -> RowParts:
        function = self.cluster.keep(change)
        columns = [self.futures, *(other.futures for other in others)]  # type: ignore[attr-defined]
        return DaskRows(
            self.cluster, self.cluster.submit_all(_call, [function] * len(self.futures), *columns), self.lengths
        )

    def _submitted(self, compute: Callable[[FeatureRows, int], Any]) -> list[Any]:
        function = self.cluster.keep(compute)
        n = len(self.futures)
        return self.cluster.submit_all(_call, [function] * n, self.futures, range(n))


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _add_all(*arrays: np.ndarray) -> np.ndarray:
    total = np.array(arrays[0], copy=True)
    for array in arrays[1:]:
        total += array
    return total
