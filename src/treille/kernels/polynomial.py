"""The polynomial kernel on rows of numbers."""

from __future__ import annotations

from math import inf
from numbers import Real
from typing import Any

import numpy as np

from treille.data import Vectors
from treille.features import FeatureMap, FeatureRows
from treille.features.feature_map import check_id
from treille.features.merging import different
from treille.io.errors import InputError
from treille.io.parameters import check_whole
from treille.kernels.additive import AdditiveMap
from treille.kernels.algebra import Constant, ConstantMap, Sum, raise_to
from treille.kernels.base import Kernel, changeable
from treille.kernels.conjunction_features import MOST_DEGREE, ConjunctionMap, Powers, depends_on_numbers, is_binary
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
        """How conjunctions give the kernel on these rows; None if they do not."""
        binary = self.exponent() <= MOST_DEGREE and is_binary(batch)
        return Powers(self.exponent(), float(self.coef0)) if binary else None

    def prefers_features(self, batch: Vectors, n_jobs: int | None = None, known: KnownFeatures | None = None) -> bool:
        powers = self._powers(batch)
        return super().prefers_features(batch, n_jobs, known) if powers is None else powers.prefers_features(batch)

    def fit_features(self, batch: Vectors, n_jobs: int | None = None) -> tuple[FeatureMap, FeatureRows]:
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

    def merge(self, other: FeatureMap) -> tuple[FeatureMap, np.ndarray, np.ndarray]:
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
        if isinstance(base, Sum):
            maps = [AdditiveMap(base, [ConstantMap(float(base.left.value)), other.columns])]
        constant = np.zeros((int(other.patterns.constant), self.degree), np.int64)
        return PolynomialMap.of(self.kernel, maps, constant)
