"""Kernels that wrap another kernel, shown as expressions, and their feature maps: the same features, other values."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from treille.data import Batch
from treille.features import (
    Contributions,
    Families,
    FeatureMap,
    FeatureRows,
    FeatureStrings,
    LocatingMap,
    MergingMap,
    StringMap,
)
from treille.features.abilities import having
from treille.features.feature_map import Leaf
from treille.features.merging import Merged, alike
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.base import NAME, Fitted, Kernel
from treille.kernels.fitting import CompositeKernel, FitContext, KnownFeatures, compose, leaf_kernels
from treille.kernels.reading import Reads

Formatter = Callable[[Kernel], str]


class Expression(ABC):
    """Is shown as an expression such as ``0.5 * NGram(n=3)``."""

    @abstractmethod
    def write(self, format: Formatter) -> str:
        """The expression, with operands written by `format`."""

    def __repr__(self) -> str:
        return self.write(repr)


def within(kernel: Kernel, level: int, format: Formatter) -> str:
    """An operand, in parentheses if its precedence is lower than `level`."""
    text = format(kernel)
    return f"({text})" if kernel.binds < level else text


class WrappedKernel(Expression, CompositeKernel):
    """A kernel computed from another one, `kernel`. It offers the spaces that both support."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    def write(self, format: Formatter) -> str:
        # The default is a call of a method, such as k.normalized().
        return f"{within(self.kernel, NAME, format)}.{type(self).__name__.lower()}()"

    def set_params(self, **params: Any) -> Any:
        """Sets parameters of this kernel, or of the kernel inside: ``n`` is ``kernel__n`` where this one has no ``n``."""
        own = self.get_params(deep=False)
        inner = {name: value for name, value in params.items() if name.partition("__")[0] not in own}
        super().set_params(**{name: value for name, value in params.items() if name not in inner})
        if inner:
            self.kernel.set_params(**inner)
        return self

    def check(self) -> None:
        check_is_kernel("kernel", self.kernel)
        self.kernel.check()

    def batch(self, X: Any, n_jobs: int | None = None) -> Batch:
        return self.kernel.batch(X, n_jobs)

    @property
    def reads(self) -> Reads:
        return self.kernel.reads

    def multiplies(self, batch: Any) -> bool:
        return super().multiplies(batch) and self.kernel.multiplies(batch)


class ChangedKernel(WrappedKernel):
    """A kernel whose features are those of another one, changed."""

    def inside(self) -> Kernel:
        """The kernel whose features are changed."""
        return self.kernel

    @abstractmethod
    def wrap(self, features: FeatureMap, rows: FeatureRows, context: FitContext, n_jobs: int | None = None) -> Fitted:
        """The features and rows of this kernel, made from those of the kernel inside."""

    def leaf_kernels(self, batch: Any) -> list[tuple[Kernel, Batch]]:
        return leaf_kernels(self.inside(), batch)

    def compose(self, fitted: Iterator[Fitted], context: FitContext, n_jobs: int | None = None) -> Fitted:
        return self.wrap(*compose(self.inside(), fitted, context, n_jobs), context, n_jobs)

    def check_parts(self) -> None:
        self.kernel.check_parts()

    @property
    def has_features(self) -> bool:
        return self.kernel.has_features

    def prefers_features(self, batch: Any, n_jobs: int | None = None, known: KnownFeatures | None = None) -> bool:
        return self.has_features and (self.needs_features or self.inside().prefers_features(batch, n_jobs, known))


@dataclass(eq=False, repr=False)
class WrappedMap(LocatingMap):
    """The features of another map with changed values."""

    inner: FeatureMap

    def around(self, inner: FeatureMap) -> FeatureMap:
        """The same change applied to another map."""
        return replace(self, inner=inner)

    @abstractmethod
    def change(self, rows: FeatureRows, threads: int = 1) -> FeatureRows:
        """The changed rows."""

    @property
    def n_features(self) -> int:
        return self.inner.n_features

    def transform(self, batch: Any, n_jobs: int | None = None) -> FeatureRows:
        return self.change(self.inner.transform(batch, n_jobs), effective_n_jobs(n_jobs))

    def name(self, id: int) -> str:
        return self.inner.name(id)

    def ids_for_norms(self, ids: np.ndarray) -> np.ndarray:
        return self.inner.ids_for_norms(ids)

    def problem_counts(self) -> set[int]:
        return self.inner.problem_counts()

    @abstractmethod
    def contributor(self, weights: np.ndarray) -> Callable[[Batch, int | None], Contributions]: ...

    def contributions(self, batch: Any, weights: np.ndarray, n_jobs: int | None = None) -> Contributions:
        return self.contributor(weights)(batch, n_jobs)

    def n_factors(self, ids: np.ndarray) -> np.ndarray:
        return self.inner.n_factors(ids)

    def restrict(self, ids: np.ndarray) -> FeatureMap:
        return self.around(self.inner.restrict(ids))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return self.inner.state()

    def with_leaves(self, change: Callable[[FeatureMap], FeatureMap]) -> FeatureMap:
        return self.around(self.inner.with_leaves(change))

    def leaves(self, columns: np.ndarray, batch: Any, prefix: str = "") -> Iterator[Leaf]:
        return self.inner.leaves(columns, batch, prefix)


class RescaledMap(WrappedMap, MergingMap, StringMap):
    """The features of another map, every row times a number."""

    def has_strings(self) -> bool:
        return isinstance(self.inner, StringMap) and self.inner.has_strings()

    def strings(self) -> FeatureStrings:
        return having(self.inner, StringMap).strings()

    def with_strings(self, strings: FeatureStrings) -> FeatureMap:
        return self.around(having(self.inner, StringMap).with_strings(strings))

    def families(self) -> tuple[Families | None, ...]:
        return self.inner.families()

    def merge(self, other: FeatureMap) -> Merged:
        other = alike(type(self), self, other, *(field.name for field in fields(self) if field.name != "inner"))
        merged, mine, theirs = having(self.inner, MergingMap).merge(other.inner)
        return self.around(merged), mine, theirs


def check_is_kernel(name: str, value: Any) -> None:
    """Refuses anything that is not a kernel."""
    if not isinstance(value, Kernel):
        raise InputError(f"{name} is {value!r}, expected a kernel such as treille.kernels.NGram(5)")
