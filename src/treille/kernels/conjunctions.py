"""Conjunctions of binary features: the polynomial kernel by explicit features, all of them or the frequent ones."""

from __future__ import annotations

from math import ceil
from numbers import Integral, Real
from typing import Any

import numpy as np

from treille.data import Vectors
from treille.features import FeatureMap, FeatureRows
from treille.io.errors import InputError
from treille.kernels.base import Kernel
from treille.kernels.conjunction_features import MOST_DEGREE, Powers, conjunction_coefficients, is_binary, not_binary
from treille.kernels.expansion import Expansion
from treille.kernels.fitting import KnownFeatures
from treille.kernels.linear import Linear
from treille.kernels.polynomial import Polynomial
from treille.kernels.reading import Reads


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

    @property
    def needs_features(self) -> bool:
        return not self._is_exact()

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

    def fit_features(self, batch: Vectors, n_jobs: int | None = None) -> tuple[FeatureMap, FeatureRows]:
        return self._powers(len(batch)).fit(self, batch, n_jobs)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        return Powers(int(self.degree), float(self.coef0), exact=self._is_exact()).load(spec, arrays)

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

    def _is_exact(self) -> bool:
        return isinstance(self.min_support, Integral) and self.min_support == 1

    def _polynomial(self) -> Polynomial:
        return Polynomial(self.degree, self.coef0)

    def _powers(self, n_examples: int) -> Powers:
        support = least_support(self.min_support, n_examples)
        return Powers(int(self.degree), float(self.coef0), support, self._is_exact())


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
