"""Functions that are sums over support examples. Values that do not depend on the new examples are computed once."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from treille.data import Batch
from treille.features import Contributions, ExplainingMap, FeatureMap
from treille.features.abilities import having
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.base import Kernel
from treille.kernels.fitting import FitContext

BLOCK = 1 << 24  # kernel values in memory at a time


class Expansion(ABC):
    """The functions f_j(x) = sum over i of coefficients[i, j] k(x, support[i]), see `Kernel.expansion`.

    >>> from treille.kernels import NGram
    >>> kernel = NGram(1)
    >>> found = kernel.expansion(kernel.batch(["ab", "b"]), np.array([[1.0], [2.0]]))
    >>> found.values(kernel.batch(["aab"])).tolist()
    [[5.0]]
    """

    @abstractmethod
    def values(self, batch: Any, n_jobs: int | None = None) -> np.ndarray:
        """One row per example, one column per function. The kernel matrix is never in memory as a whole."""

    def contributions(self, batch: Any, n_jobs: int | None = None) -> Contributions | None:
        """The contribution of each part of the examples to the values; None if k is not split by part."""
        return None


def expand(
    kernel: Kernel,
    support: Any,
    coefficients: np.ndarray,
    n_jobs: int | None = None,
    by_values: "type[KernelExpansion] | None" = None,
) -> Expansion:
    """Expands by weights of features, if features cost less than kernel values; otherwise by kernel values."""
    context = FitContext()
    if not kernel.prefers_features(support, n_jobs, context.known):
        return (by_values or KernelExpansion)(kernel, support, np.ascontiguousarray(coefficients, np.float64))
    features, rows = context.fit(kernel, support, n_jobs)
    return LinearExpansion(features, rows.rmatvec(coefficients, effective_n_jobs(n_jobs)))


@dataclass(frozen=True, eq=False)
class FeatureWeights:
    """Weights of features. What multiplications by the weights need is built once, and not pickled."""

    features: FeatureMap
    weights: np.ndarray  # one row per feature, one column per function

    @cached_property
    def _products(self) -> Callable[[Batch, int | None], np.ndarray]:
        return self.features.row_products(self.weights)

    @cached_property
    def _contributor(self) -> Callable[[Batch, int | None], Contributions]:
        return having(self.features, ExplainingMap).contributor(self.weights)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_products", "_contributor")}


@dataclass(frozen=True, eq=False)
class LinearExpansion(FeatureWeights, Expansion):
    """The sum over examples as weights of features."""

    def values(self, batch: Any, n_jobs: int | None = None) -> np.ndarray:
        return self._products(batch, n_jobs)

    def contributions(self, batch: Any, n_jobs: int | None = None) -> Contributions | None:
        try:
            return self._contributor(batch, n_jobs)
        except InputError:
            return None


@dataclass(frozen=True, eq=False)
class KernelExpansion(Expansion):
    """Blocks of kernel values, each multiplied by the coefficients."""

    kernel: Any
    support: Any
    coefficients: np.ndarray

    def values(self, batch: Any, n_jobs: int | None = None) -> np.ndarray:
        out = np.zeros((len(batch), self.coefficients.shape[1]))
        step = max(1, BLOCK // max(1, len(self.support)))
        columns = np.ascontiguousarray(self.coefficients.T)
        for start in range(0, len(batch), step):
            for i, row in enumerate(self.kernel.gram(batch[start : start + step], self.support, n_jobs), start):
                # Not a matrix product: its rounding would depend on the number of rows.
                out[i] = (columns * row).sum(axis=1)
        return out

    def contributions(self, batch: Any, n_jobs: int | None = None) -> Contributions | None:
        values = self.kernel._shares(batch, self.support, self.coefficients, effective_n_jobs(n_jobs))
        return None if values is None else Contributions.of(batch, values)
