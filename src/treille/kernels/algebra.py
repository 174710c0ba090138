"""Sums, products, multiples and powers of kernels, and the constant kernel: the operators ``+``, ``*`` and ``**``."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from treille.data import Batch, Lattices, Strings, Table, Texts
from treille.features import (
    Contributions,
    ExplainingMap,
    FeatureMap,
    FeatureRows,
    LocatingMap,
    MergingMap,
    Occurrences,
    Rows,
)
from treille.features.abilities import having
from treille.features.merging import Merged, alike
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import check_positive
from treille.kernels.additive import Additive, own_part, unit_of
from treille.kernels.base import NAME, POWER, PRODUCT, SUM, Fitted, Kernel, LinearOperator, changeable, plain
from treille.kernels.expansion import Expansion
from treille.kernels.fitting import FitContext, ValueKernel
from treille.kernels.normalized import ScaledProduct
from treille.kernels.product_features import ProductKernel
from treille.kernels.reading import Reads
from treille.kernels.wrapped import (
    ChangedKernel,
    Expression,
    Formatter,
    RescaledMap,
    WrappedKernel,
    check_is_kernel,
    within,
)


class Pair(Expression, Kernel):
    """Two kernels on the same examples."""

    def __init__(self, left: Kernel, right: Kernel):
        self.left = left
        self.right = right

    def check(self) -> None:
        for name, kernel in (("left", self.left), ("right", self.right)):
            check_is_kernel(name, kernel)
            kernel.check()

    @property
    def reads(self) -> Reads:
        return self.left.reads.both(self.right.reads)

    def batch(self, X: Any, n_jobs: int | None = None) -> Batch:
        X = list(X) if isinstance(X, Iterator) else X
        units = self.reads.units
        if len(units) > 1 and isinstance(X, Strings) and X.unit == "char" and X.residues is None:
            X = list(X)  # its characters are the whole texts, which may be split otherwise
        if len(units) > 1 and not isinstance(X, Batch) and not Lattices.recognises(X):
            X = Texts.split(X, units, n_jobs)
        # A constant kernel reads any batch, but cannot build one.
        first, second = (self.right, self.left) if isinstance(self.left, Constant) else (self.left, self.right)
        if isinstance(X, Texts):
            parts = first.batch(X, n_jobs), second.batch(X, n_jobs)
            return parts[0] if parts[0] is parts[1] or isinstance(second, Constant) else X
        batch = first.batch(X, n_jobs)
        if isinstance(batch, Table) and not isinstance(second, Constant):
            return batch.joined(second.batch(X, n_jobs))
        return second.batch(batch, n_jobs)


class Sum(Pair, Additive):
    """k(x, y) = left(x, y) + right(x, y), the result of ``left + right``. It has the features of both.

    >>> from treille.kernels import NGram
    >>> kernel = 0.5 * NGram(2) + NGram(1).normalized()
    >>> kernel
    0.5 * NGram(n=2) + NGram(n=1).normalized()
    >>> kernel(["ab", "abab"]).round(3).tolist()
    [[1.5, 2.0], [2.0, 3.5]]
    >>> kernel.get_params()["left__kernel__n"]
    2
    """

    binds = SUM

    def write(self, format: Formatter) -> str:
        left, right = within(self.left, SUM, format), within(self.right, PRODUCT, format)
        if isinstance(self.right, Constant):
            right = repr(plain(self.right.value))
        elif isinstance(self.left, Constant):
            left = repr(plain(self.left.value))
        return f"{left} + {right}"

    def terms(self) -> list[tuple[str, Kernel]]:
        kernels = self._flat()
        units = [unit_of(kernel) for kernel in kernels]
        distinct = len(set(units)) == len(units) and "" not in units
        names = [f"{unit}:" for unit in units] if distinct else [f"{kernel!r}: " for kernel in kernels]
        return list(zip(names, kernels, strict=True))

    def _flat(self) -> list[Kernel]:
        sides = (self.left, self.right)
        return [kernel for side in sides for kernel in (side._flat() if isinstance(side, Sum) else (side,))]


class Product(ProductKernel, Pair):
    """k(x, y) = left(x, y) * right(x, y), the result of ``left * right``.

    A feature is a pair of a feature of the left and one of the right. With too many pairs, estimators use the kernel matrix.

    >>> from treille.kernels import NGram
    >>> (NGram(1) * NGram(2))(["ab", "abab"]).tolist()
    [[2.0, 8.0], [8.0, 40.0]]
    """

    binds = PRODUCT

    def write(self, format: Formatter) -> str:
        return f"{within(self.left, PRODUCT, format)} * {within(self.right, POWER, format)}"

    def factors(self) -> list[Kernel]:
        return [self.left, self.right]

    def exponent(self) -> int:
        return 1

    def gram(self, left: Batch, right: Batch | None = None, n_jobs: int | None = None) -> np.ndarray:
        K, other = (
            kernel.gram(own_part(kernel, left), None if right is None else own_part(kernel, right), n_jobs)
            for kernel in self.factors()
        )
        K = changeable(K)
        K *= other
        return K

    def diagonal(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        left, right = (kernel.diagonal(own_part(kernel, batch), n_jobs) for kernel in self.factors())
        return left * right


class Power(ProductKernel, WrappedKernel):
    """k(x, y) ** degree, the result of ``k ** 3``; ``(1 + k) ** 3`` is the polynomial kernel.

    A feature is a multiset of `degree` features of k. With too many, estimators use the kernel matrix.

    >>> from treille.kernels import NGram
    >>> kernel = (1 + NGram(1)) ** 2
    >>> kernel
    (1 + NGram(n=1)) ** 2
    >>> kernel(["a", "ab"]).tolist()
    [[4.0, 4.0], [4.0, 9.0]]
    """

    binds = POWER

    def __init__(self, kernel: Kernel, degree: int):
        super().__init__(kernel)
        self.degree = degree

    def write(self, format: Formatter) -> str:
        return f"{within(self.kernel, NAME, format)} ** {plain(self.degree)!r}"

    def check(self) -> None:
        super().check()
        if not isinstance(self.degree, Integral) or isinstance(self.degree, bool) or self.degree < 1:
            raise InputError(f"the degree of a power is {self.degree!r}, expected a positive integer")

    def factors(self) -> list[Kernel]:
        return [self.kernel]

    def exponent(self) -> int:
        return int(self.degree)

    def gram(self, left: Batch, right: Batch | None = None, n_jobs: int | None = None) -> np.ndarray:
        return raise_to(changeable(self.kernel.gram(left, right, n_jobs)), int(self.degree))

    def diagonal(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        return raise_to(np.array(self.kernel.diagonal(batch, n_jobs), np.float64), int(self.degree))


class Scaled(ChangedKernel, ValueKernel):
    """scale * k(x, y), the result of ``2.5 * k``.

    >>> from treille.kernels import NGram
    >>> 2.5 * NGram(1), (2.5 * NGram(1))(["ab"]).tolist()
    (2.5 * NGram(n=1), [[5.0]])
    """

    binds = PRODUCT

    def __init__(self, scale: float, kernel: Kernel):
        super().__init__(kernel)
        self.scale = scale

    def write(self, format: Formatter) -> str:
        return f"{plain(self.scale)!r} * {within(self.kernel, POWER, format)}"

    def check(self) -> None:
        super().check()
        check_positive("the number a kernel is multiplied by", self.scale)

    def wrap(self, features: FeatureMap, rows: FeatureRows, context: FitContext, n_jobs: int | None = None) -> Fitted:
        root = float(np.sqrt(self.scale))
        return ScaledMap(features, root), rows.scaled(root)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        return ScaledMap(self.kernel.load_features(spec, arrays), float(np.sqrt(self.scale)))

    def gram(self, left: Batch, right: Batch | None = None, n_jobs: int | None = None) -> np.ndarray:
        K = changeable(self.kernel.gram(left, right, n_jobs))
        K *= self.scale
        return K

    def fit_product(self, batch: Batch, n_jobs: int | None = None) -> LinearOperator:
        return ScaledProduct(self.kernel.fit_product(batch, n_jobs), np.full(len(batch), np.sqrt(self.scale)))

    def diagonal(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        return self.scale * self.kernel.diagonal(batch, n_jobs)

    def expansion(self, support: Batch, coefficients: np.ndarray, n_jobs: int | None = None) -> Expansion:
        return self.kernel.expansion(support, self.scale * coefficients, n_jobs)


@dataclass(eq=False, repr=False)
class ScaledMap(RescaledMap):
    """The features of another map, every value times a number."""

    factor: float

    def change(self, rows: FeatureRows, threads: int = 1) -> FeatureRows:
        return rows.scaled(self.factor)

    def occurrences(self, batch: Batch) -> Occurrences:
        return having(self.inner, LocatingMap).occurrences(batch).scaled(self.factor)

    def contributor(self, weights: np.ndarray) -> Callable[[Batch, int | None], Contributions]:
        return having(self.inner, ExplainingMap).contributor(self.factor * weights)


class Constant(Kernel):
    """k(x, y) = value, the constant term of ``1 + k``: one feature, the same for all examples. It reads batches of any kind.

    >>> from treille.kernels import NGram
    >>> kernel = 1 + NGram(2)
    >>> kernel.left, kernel(["ab", "ba"]).tolist()
    (Constant(value=1), [[2.0, 1.0], [1.0, 2.0]])
    """

    def __init__(self, value: float = 1.0):
        self.value = value

    reads = Reads()

    def check(self) -> None:
        check_positive("the value of a constant kernel", self.value)

    def batch(self, X: Any, n_jobs: int | None = None) -> Batch:
        if not isinstance(X, Batch):
            raise InputError(
                f"found {type(X).__name__}, expected a batch, such as treille.Strings(X): a constant kernel reads "
                "batches of any kind, so it does not know which kind to build"
            )
        return X

    def fit_features(self, batch: Batch, n_jobs: int | None = None) -> Fitted:
        features = ConstantMap(float(self.value))
        return features, features.transform(batch)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        return ConstantMap(float(self.value), stored.whole(spec, "n_features", most=1))

    def gram(self, left: Batch, right: Batch | None = None, n_jobs: int | None = None) -> np.ndarray:
        return np.full((len(left), len(left if right is None else right)), float(self.value))

    def diagonal(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        return np.full(len(batch), float(self.value))


class ConstantMap(ExplainingMap, MergingMap):
    """One feature with the same value for every example, or none, if restricted to none."""

    def __init__(self, value: float, n_features: int = 1):
        self.value = value
        self.count = n_features

    @property
    def n_features(self) -> int:
        return self.count

    def transform(self, batch: Batch, n_jobs: int | None = None) -> Rows:
        values = np.full((len(batch), self.count), np.sqrt(self.value))
        return Rows.from_csr(sp.csr_matrix(values), np.full(len(batch), self.value))

    def contributions(self, batch: Batch, weights: np.ndarray, n_jobs: int | None = None) -> Contributions:
        own = np.sqrt(self.value) * weights.sum(axis=0)
        return Contributions({}, np.tile(own, (len(batch), 1)))

    def with_leaves(self, change: Callable[[FeatureMap], FeatureMap]) -> FeatureMap:
        return self  # it does not depend on examples

    def n_factors(self, ids: np.ndarray) -> np.ndarray:
        return np.zeros(len(ids), np.int64)

    def name(self, id: int) -> str:
        return "constant"

    def restrict(self, ids: np.ndarray) -> FeatureMap:
        return ConstantMap(self.value, len(ids))

    def merge(self, other: FeatureMap) -> Merged:
        other = alike(ConstantMap, self, other, "value")
        larger = self if self.count else other
        return larger, np.arange(self.count), np.arange(other.count)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"n_features": self.count}, {}


def raise_to(values: np.ndarray, degree: int) -> np.ndarray:
    """The values to the power of a positive integer, in place, by repeated squaring: much faster than ``**``."""
    with np.errstate(over="ignore", under="ignore"):  # values that are not finite are refused where they are used
        for row in values if values.ndim > 1 else values[None]:
            base = row.copy()
            for bit in f"{degree:b}"[1:]:
                row *= row
                if bit == "1":
                    row *= base
    return values
