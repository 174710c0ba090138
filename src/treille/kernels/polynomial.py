"""The polynomial kernel: of rows of numbers, and of binary features by conjunctions, all of them or the frequent ones."""

from math import ceil, inf
from numbers import Integral, Real
from typing import Any

import numpy as np

from treille.data import Vectors
from treille.features import FeatureMap
from treille.features.feature_map import check_id
from treille.features.merging import Merged, different
from treille.io.errors import InputError
from treille.io.parameters import check_whole
from treille.kernels.additive import AdditiveMap
from treille.kernels.algebra import Constant, ConstantMap, Sum, raise_to
from treille.kernels.base import Fitted, Kernel, changeable
from treille.kernels.conjunction_features import (
    MOST_DEGREE,
    ConjunctionMap,
    Powers,
    conjunction_coefficients,
    depends_on_numbers,
    is_binary,
    not_binary,
)
from treille.kernels.expansion import Expansion
from treille.kernels.fitting import KnownFeatures
from treille.kernels.linear import ColumnMap, Linear
from treille.kernels.product_features import ProductKernel, ProductMap
from treille.kernels.reading import Reads


class Polynomial(ProductKernel):
    """The polynomial kernel on rows of numbers: k(x, y) = (coef0 + x . y) ** degree.

    Its features are the products of up to `degree` columns (of exactly `degree` if `coef0` is 0), so a linear solver
    trains the exact polynomial SVM. An example with p nonzero numbers has (p + degree over degree) of them; with too
    many, estimators use the kernel matrix. If all numbers of the training examples are 0 or 1, products with the same
    columns are one feature, the conjunction of these columns, as in `Conjunctions`.

    Parameters
    ----------
    degree : int
        At least 1. With 1 and ``coef0=0`` it is `Linear`.
    coef0 : float
        At least 0. The larger it is, the less products of many columns count against those of few.

    Examples
    --------
    >>> from treille.kernels import Polynomial
    >>> Polynomial(2)([[1.0, 2.0], [0.0, 3.0]]).tolist()
    [[36.0, 49.0], [49.0, 100.0]]
    >>> features, rows = Polynomial(2).fit_features(Polynomial(2).batch([{"red": 2, "round": 1}]))
    >>> [features.name(i) for i in range(features.n_features)]
    ['constant', 'red', 'round', 'red * red', 'red * round', 'round * round']
    >>> features, rows = Polynomial(2).fit_features(Polynomial(2).batch([{"red": 1, "round": 1}]))
    >>> [features.name(i) for i in range(features.n_features)]
    ['constant', 'red', 'red & round', 'round']
    """

    reads = Reads((Vectors,))

    def __init__(self, degree: int = 2, coef0: float = 1.0):
        self.degree = degree
        self.coef0 = coef0

    def check(self) -> None:
        check_whole("degree", self.degree)
        if not isinstance(self.coef0, Real) or isinstance(self.coef0, bool) or not 0 <= float(self.coef0) < inf:
            raise InputError(f"coef0 is {self.coef0!r}, expected a number of at least 0")

    def factors(self) -> list[Kernel]:
        return [Sum(Constant(float(self.coef0)), Linear()) if self.coef0 else Linear()]

    def exponent(self) -> int:
        return int(self.degree)

    def map_type(self) -> type[ProductMap]:
        return PolynomialMap

    def _powers(self, batch: Vectors) -> Powers | None:
        """The conjunctions that give the kernel on binary rows; None for other rows, or a degree that is too large."""
        binary = self.exponent() <= MOST_DEGREE and is_binary(batch)
        return Powers(self.exponent(), float(self.coef0)) if binary else None

    def prefers_features(self, batch: Vectors, n_jobs: int | None = None, known: KnownFeatures | None = None) -> bool:
        powers = self._powers(batch)
        return super().prefers_features(batch, n_jobs, known) if powers is None else powers.prefers_features(batch)

    def fit_features(self, batch: Vectors, n_jobs: int | None = None) -> Fitted:
        powers = self._powers(batch)
        return super().fit_features(batch, n_jobs) if powers is None else powers.fit(self, batch, n_jobs)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        if "factors" in spec:
            return super().load_features(spec, arrays)
        return Powers(self.exponent(), float(self.coef0)).load(spec, arrays)

    def gram(self, left: Vectors, right: Vectors | None = None, n_jobs: int | None = None) -> np.ndarray:
        K = changeable(Linear().gram(left, right, n_jobs))
        K += float(self.coef0)
        return raise_to(K, self.exponent())

    def diagonal(self, batch: Vectors, n_jobs: int | None = None) -> np.ndarray:
        return raise_to(Linear().diagonal(batch, n_jobs) + float(self.coef0), self.exponent())


class PolynomialMap(ProductMap):
    """Products of columns; the constant counts as one."""

    kernel: Polynomial

    def name(self, id: int) -> str:
        check_id(id, self.n_features)
        columns, first = self._columns()
        factors = sorted((z - first for z in self.products.tuple(id) if z >= first), key=columns.place)
        return " * ".join(map(columns.name, factors)) or "constant"

    def _columns(self) -> tuple[ColumnMap, int]:
        """The columns, and the id of the first of them among the factors, after the constant."""
        inner, first = self.maps[0], 0
        if isinstance(inner, AdditiveMap):
            constant, inner = inner.maps
            first = constant.n_features
        assert isinstance(inner, ColumnMap)
        return inner, first

    def merge(self, other: FeatureMap) -> Merged:
        if isinstance(other, ConjunctionMap):
            if (other.powers.degree, other.powers.coef0) != (self.degree, float(self.kernel.coef0)):
                raise different("kernel", repr(self.kernel), repr(other.powers))
            other = self._of_constant(other)
        return super().merge(other)

    def _of_constant(self, other: ConjunctionMap) -> ProductMap:
        """The map of examples whose numbers are all 0: its features are the constant, which is a product, too, or none."""
        if other.n_features > other.patterns.constant:
            raise depends_on_numbers(other.powers)
        base: Kernel = self.kernel.factors()[0]
        maps: list[FeatureMap] = [other.columns]
        if isinstance(base, Sum) and isinstance(base.left, Constant):
            maps = [AdditiveMap(base, [ConstantMap(float(base.left.value)), other.columns])]
        constant = np.zeros((int(other.patterns.constant), self.degree), np.int64)
        return PolynomialMap.of(self.kernel, maps, constant)


class Conjunctions(Kernel):
    """The polynomial kernel on binary features, by conjunctions that occur in at least `min_support` training examples.

    k(x, y) = sum over k of c_k n_k(x, y), where n_k is the number of frequent conjunctions of k columns that both examples have,
    and c_k the coefficients for which all conjunctions give ``(coef0 + x . y) ** degree``. So with ``min_support=1`` it is
    `Polynomial`. With a larger value conjunctions that are rare among the training examples are no features, and do not count in
    the norms of new examples either; training takes less time and memory, models are smaller.

    Rows by conjunction that do not fit in memory are not stored: conjunctions are matched whenever a row is read.

    Parameters
    ----------
    degree : int
        The largest number of columns of a conjunction, at least 1.
    min_support : int or float
        In how many training examples a conjunction must occur; a number between 0 and 1 is a share of them.
    coef0 : float
        At least 0. The larger it is, the less conjunctions of many columns count against those of few.

    References
    ----------
    Wu, Yang, Lee: An approximate approach for training polynomial kernel SVMs in linear time. ACL 2007.

    Examples
    --------
    >>> from treille.kernels import Conjunctions
    >>> rows = [{"red": 1, "round": 1}, {"red": 1, "round": 1, "small": 1}, {"round": 1}]
    >>> Conjunctions(2)(rows).tolist()
    [[9.0, 9.0, 4.0], [9.0, 16.0, 4.0], [4.0, 4.0, 4.0]]
    >>> kernel = Conjunctions(2, min_support=2)
    >>> features, _ = kernel.fit_features(kernel.batch(rows))
    >>> [features.name(i) for i in range(features.n_features)]
    ['constant', 'red', 'red & round', 'round']
    """

    reads = Reads((Vectors,))

    def __init__(self, degree: int = 2, min_support: int | float = 1, coef0: float = 1.0):
        self.degree = degree
        self.min_support = min_support
        self.coef0 = coef0

    def check(self) -> None:
        self._polynomial().check()
        if self.degree > MOST_DEGREE:
            raise InputError(f"degree is {self.degree}, expected at most {MOST_DEGREE}")
        share = self.min_support
        whole = isinstance(share, Integral) and not isinstance(share, bool) and share >= 1
        if not whole and not (isinstance(share, Real) and not isinstance(share, Integral) and 0 < float(share) < 1):
            raise InputError(
                f"min_support is {share!r}, expected a number of examples, at least 1, or a share of them between 0 and 1"
            )

    limits_rows = True  # conjunctions that do not fit are matched whenever rows are read

    @property
    def needs_features(self) -> bool:
        return not (isinstance(self.min_support, Integral) and self.min_support == 1)

    def check_parts(self) -> None:
        if self.needs_features:
            raise InputError(
                f"in how many examples the conjunctions of {self!r} occur depends on all examples, so it cannot be trained on data "
                "in parts: use min_support=1"
            )
        super().check_parts()

    def batch(self, X: Any, n_jobs: int | None = None) -> Vectors:
        batch: Vectors = super().batch(X, n_jobs)
        if not is_binary(batch):
            raise not_binary(batch)
        return batch

    def prefers_features(self, batch: Vectors, n_jobs: int | None = None, known: KnownFeatures | None = None) -> bool:
        return self.needs_features or self._powers(len(batch)).prefers_features(batch)

    def fit_features(self, batch: Vectors, n_jobs: int | None = None) -> Fitted:
        return self._powers(len(batch)).fit(self, batch, n_jobs)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        return Powers(int(self.degree), float(self.coef0), exact=not self.needs_features).load(spec, arrays)

    def gram(self, left: Vectors, right: Vectors | None = None, n_jobs: int | None = None) -> np.ndarray:
        if self.needs_features:
            return super().gram(left, right, n_jobs)
        return self._polynomial().gram(left, right, n_jobs)

    def diagonal(self, batch: Vectors, n_jobs: int | None = None) -> np.ndarray:
        return super().diagonal(batch, n_jobs) if self.needs_features else self._polynomial().diagonal(batch, n_jobs)

    def expansion(self, support: Vectors, coefficients: np.ndarray, n_jobs: int | None = None) -> Expansion:
        if self.needs_features:
            raise InputError(
                f"{self!r} of new examples is defined by the conjunctions of the training examples: use a solver on rows, "
                "solver='auto'"
            )
        return super().expansion(support, coefficients, n_jobs)

    def _polynomial(self) -> Polynomial:
        return Polynomial(self.degree, self.coef0)

    def _powers(self, n_examples: int) -> Powers:
        support = least_support(self.min_support, n_examples)
        return Powers(int(self.degree), float(self.coef0), support, not self.needs_features)


def least_support(min_support: int | float, n_examples: int) -> int:
    """`min_support` as a number of examples."""
    if isinstance(min_support, Integral):
        if min_support > max(n_examples, 1):
            raise InputError(
                f"min_support is {min_support}, but there are {n_examples} examples: use a smaller one, or a share such as 0.01"
            )
        return int(min_support)
    return max(1, ceil(min_support * n_examples - 1e-9))


def conjunctions_of(kernel: Any, n_examples: int) -> tuple[np.ndarray, int]:
    """The squared values c_1, c_2, ... of conjunctions of 1, 2, ... features, and in how many of the examples they must occur."""
    if isinstance(kernel, Linear):
        return np.ones(1), 1
    if not isinstance(kernel, (Polynomial, Conjunctions)):
        raise InputError(
            f"kernel is {kernel!r}, expected Linear, Polynomial or Conjunctions of the features of a token"
        )
    support = least_support(kernel.min_support, n_examples) if isinstance(kernel, Conjunctions) else 1
    return conjunction_coefficients(kernel.degree, kernel.coef0)[1:], support
