"""Kernels around another kernel, and their feature maps: the same examples, the same features, other values."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from treille.data import Batch, FeatureRows, FeatureStrings
from treille.io.errors import InputError
from treille.kernels.base import FeatureMap, Kernel
from treille.kernels.expression import Expression


class WrappedKernel(Expression, Kernel):
    """A kernel made of another one, `kernel`. It offers those spaces that it has a way for and that the other offers."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    def check(self) -> None:
        check_is_kernel("kernel", self.kernel)
        self.kernel.check()

    def batch(self, X: Any, n_jobs: int | None = None) -> Batch:
        return self.kernel.batch(X, n_jobs)

    def string_arrays(self, strings: FeatureStrings) -> dict[str, np.ndarray]:
        return self.kernel.string_arrays(strings)

    @property
    def has_features(self) -> bool:
        return super().has_features and self.kernel.has_features

    @property
    def has_product(self) -> bool:
        return super().has_product and self.kernel.has_product


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

    @property
    def has_strings(self) -> bool:
        return self.inner.has_strings

    def strings(self) -> FeatureStrings:
        return self.inner.strings()


def check_is_kernel(name: str, value: Any) -> None:
    """Refuses what is no kernel."""
    if not isinstance(value, Kernel):
        raise InputError(f"{name} is {value!r}, expected a kernel such as treille.kernels.NGram(5)")
