"""Products and powers of kernels by way of explicit features: every product of features, where they are few."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs

from treille.data import Batch, CenteredRows, FeatureRows, Rows
from treille.io.errors import InputError
from treille.kernels.additive import part_of
from treille.kernels.algebra import Power, Product
from treille.kernels.base import FeatureMap, Kernel

MOST = 1 << 24  # products of features, over all examples


class Expanded(Kernel):
    """A product or a power of kernels, the same k, by way of its features: all products of features of the factors.

    For ``left * right`` a feature is a pair z, z' with the value phi_z(x) psi_z'(x). For ``k ** d`` it is a set of d features, some
    perhaps more than once, with the value sqrt(d! / (m_1! m_2! ...)) phi_z1(x)^m_1 phi_z2(x)^m_2 ... An example with p and q
    features has p q of the first kind, and (p + d - 1 over d) of the second: worth it where examples have few features.

    Estimators make this form of a product themselves where it is the cheaper road, see `Kernel.suited`: where the examples have
    at most n^2 products of features together, n the number of examples, and at most 2^24.

    >>> from treille.kernels import NGram
    >>> kernel = Expanded((1 + NGram(1)) ** 2)
    >>> features, rows = kernel.fit_features(kernel.batch(["ab", "a"]))
    >>> [features.name(i) for i in range(features.n_features)][1]
    'Constant(value=1): constant, NGram(n=1): a'
    >>> kernel(["ab", "a"]).round(12).tolist(), kernel.kernel(["ab", "a"]).tolist()
    ([[9.0, 4.0], [4.0, 4.0]], [[9.0, 4.0], [4.0, 4.0]])
    """

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    def check(self) -> None:
        if not isinstance(self.kernel, (Product, Power)):
            raise InputError(f"the kernel to expand is {self.kernel!r}, expected a product or a power of kernels")
        self.kernel.check()
        for factor in _factors(self.kernel):
            if not factor.has_features:
                raise InputError(f"{self.kernel!r} cannot be expanded, since {factor!r} has no explicit features")

    def batch(self, X: Any, n_jobs: int | None = None) -> Batch:
        return self.kernel.batch(X, n_jobs)

    def fit_features(self, batch: Batch, n_jobs: int | None = None) -> tuple[FeatureMap, Rows]:
        self.check()
        maps, rows = zip(*(factor.fit_features(batch, n_jobs) for factor in _factors(self.kernel)), strict=True)
        count = products_of(self.kernel, rows)
        if count > MOST:
            raise InputError(
                f"{self.kernel!r} has {count:,} products of features in these examples, more than {MOST:,}: use it as it is, "
                "by its matrix"
            )
        degree = int(self.kernel.degree) if isinstance(self.kernel, Power) else 1
        return ProductMap.fit(list(maps), degree, rows, effective_n_jobs(n_jobs))

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        factors = _factors(self.kernel)
        maps = [
            factor.load_features(own, part_of(arrays, str(place)))
            for place, (factor, own) in enumerate(zip(factors, spec["factors"], strict=True))
        ]
        degree = int(self.kernel.degree) if isinstance(self.kernel, Power) else 1
        tuples = np.ascontiguousarray(arrays["tuples"], np.int64)
        fitted = ProductMap(maps, degree, tuples)
        widths = [each.n_features for each in maps] * degree
        sound = tuples.ndim == 2 and tuples.shape[1] == len(widths) and tuples.min(initial=0) >= 0
        if not sound or (tuples >= np.array(widths)).any() or len(np.unique(tuples, axis=0)) != len(tuples):
            raise InputError("the products in the file do not fit their factors")
        return fitted

    def gram(self, left: Batch, right: Batch | None = None, n_jobs: int | None = None) -> np.ndarray:
        return self.kernel.gram(left, right, n_jobs)

    def diagonal(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        return self.kernel.diagonal(batch, n_jobs)


def _factors(kernel: Kernel) -> list[Kernel]:
    """Those whose features are multiplied: both sides, or the one that is raised."""
    return [kernel.left, kernel.right] if isinstance(kernel, Product) else [kernel.kernel]


def expanded_where_small(kernel: Kernel, batch: Batch, n_jobs: int | None) -> Kernel:
    """A product or power in the form that is cheaper on these examples. The rule is in the words of `Expanded`."""
    factors = _factors(kernel)
    if not all(factor.has_features for factor in factors):
        return kernel
    rows = tuple(factor.fit_features(batch, n_jobs)[1] for factor in factors)
    if any(isinstance(part, CenteredRows) for each in rows for part in each.parts):  # no zeros, so nothing is small
        return kernel
    return Expanded(kernel) if products_of(kernel, rows) <= min(len(batch) ** 2, MOST) else kernel


def products_of(kernel: Kernel, rows: tuple[FeatureRows, ...]) -> int:
    """How many products of features all examples have together, of factors with these rows."""
    counts = [np.diff(each.to_csr().indptr).astype(np.float64) for each in rows]
    if isinstance(kernel, Power):
        (p,), degree = counts, int(kernel.degree)
        return int(min(np.prod([(p + t) / (t + 1) for t in range(degree)], axis=0).sum().round(), 1e18))
    return int(counts[0] @ counts[1])


@dataclass
class _Found:
    """Products of the first features, one by one: of which row, of which prefix, and their value."""

    row: np.ndarray
    prefix: np.ndarray
    last: np.ndarray  # the feature multiplied last, and how often in a row
    run: np.ndarray
    value: np.ndarray

    def kept(self, some: np.ndarray) -> _Found:
        return _Found(self.row[some], self.prefix[some], self.last[some], self.run[some], self.value[some])


Number = Callable[[int, np.ndarray], np.ndarray]  # (step, keys) -> ids of the keys, -1 where unknown


def _expand(rows: list[sp.csr_matrix], degree: int, number: Number) -> _Found:
    """All products of a feature of each of `rows`, or, where there is one, of `degree` features of it, ids not falling."""
    n = rows[0].shape[0]
    lengths = np.diff(rows[0].indptr)
    columns = rows[0].indices.astype(np.int64)
    found = _Found(np.repeat(np.arange(n), lengths), number(0, columns), columns, np.ones_like(columns), rows[0].data)
    found = found.kept(found.prefix >= 0)
    for step in range(1, len(rows) * degree):
        other = rows[step % len(rows)]
        widths = np.diff(other.indptr)[found.row]
        left = np.repeat(np.arange(len(found.row)), widths)
        ends = np.cumsum(widths)
        right = np.arange(len(left)) - np.repeat(ends - widths, widths) + other.indptr[found.row[left]]
        column = other.indices[right].astype(np.int64)
        if degree > 1:
            rising = column >= found.last[left]
            left, right, column = left[rising], right[rising], column[rising]
        run = np.where(column == found.last[left], found.run[left] + 1, 1)
        factor = np.sqrt((step + 1) / run) if degree > 1 else 1.0
        prefix = number(step, found.prefix[left] * other.shape[1] + column)
        found = _Found(found.row[left], prefix, column, run, found.value[left] * other.data[right] * factor)
        found = found.kept(prefix >= 0)
    return found


class ProductMap(FeatureMap):
    """Products of features with their ids: row j of `tuples` holds the ids of the factors of feature j."""

    def __init__(self, maps: list[FeatureMap], degree: int, tuples: np.ndarray):
        self.maps = maps
        self.degree = degree
        self.tuples = tuples

    @classmethod
    def fit(
        cls, maps: list[FeatureMap], degree: int, rows: tuple[FeatureRows, ...], threads: int
    ) -> tuple[ProductMap, Rows]:
        """The map of all products that examples with these rows have, and the rows of the products."""
        tuples = np.empty((1, 0), np.int64)
        matrices = [each.to_csr(threads) for each in rows]

        def number(step: int, keys: np.ndarray) -> np.ndarray:
            nonlocal tuples
            known, ids = np.unique(keys, return_inverse=True)
            prefix, column = np.divmod(known, matrices[step % len(matrices)].shape[1]) if step else (0 * known, known)
            tuples = np.hstack([tuples[prefix], column[:, None]])
            return ids

        found = _expand(matrices, degree, number)
        holders = np.bincount(found.prefix, minlength=len(tuples))
        order = np.argsort(-holders, kind="stable")
        features = cls(maps, degree, tuples[order])
        ids = np.empty(len(order), np.int64)
        ids[order] = np.arange(len(order))
        return features, features._rows(found, ids, rows, int((holders > 1).sum()), threads)

    @property
    def n_features(self) -> int:
        return len(self.tuples)

    def transform(self, batch: Batch, n_jobs: int | None = None) -> Rows:
        threads = effective_n_jobs(n_jobs)
        rows = tuple(each.transform(batch, n_jobs) for each in self.maps)
        matrices = [each.to_csr(threads) for each in rows]
        steps, ids = [], np.zeros(self.n_features, np.int64)
        for step, column in enumerate(self.tuples.T):
            known, ids = np.unique(ids * matrices[step % len(matrices)].shape[1] + column, return_inverse=True)
            steps.append(known)

        def number(step: int, keys: np.ndarray) -> np.ndarray:
            known = steps[step]
            if len(known) == 0:
                return np.full(len(keys), -1, np.int64)
            at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            return np.where(known[at] == keys, at, -1)

        found = _expand(matrices, self.degree, number)
        feature = np.empty(self.n_features, np.int64)
        feature[ids] = np.arange(self.n_features)
        return self._rows(found, feature, rows, self.n_features, threads)

    def _rows(self, found: _Found, ids: np.ndarray, rows: tuple[FeatureRows, ...], n_shared: int, threads: int) -> Rows:
        n = len(rows[0])
        indptr = np.concatenate([[0], np.cumsum(np.bincount(found.row, minlength=n))])
        matrix = sp.csr_matrix((found.value, found.prefix, indptr), shape=(n, self.n_features))
        sq_norms = np.prod([each.diag() for each in rows], axis=0) ** self.degree
        return Rows.from_csr(matrix, ids, sq_norms, self.n_features, n_shared, threads)

    def name(self, id: int) -> str:
        if not 0 <= id < self.n_features:
            raise IndexError(f"feature {id} does not exist: there are {self.n_features:,}")
        maps = self.maps * self.degree
        return ", ".join(each.name(int(z)) for each, z in zip(maps, self.tuples[id], strict=True))

    def restrict(self, ids: np.ndarray) -> ProductMap:
        tuples = self.tuples[ids]
        used = [np.unique(tuples)] if self.degree > 1 else [np.unique(column) for column in tuples.T]
        maps = [each.restrict(some) for each, some in zip(self.maps, used, strict=True)]
        columns = [np.searchsorted(some, c) for some, c in zip(used * self.degree, tuples.T, strict=True)]
        return ProductMap(maps, self.degree, np.stack(columns, axis=1))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        states = [each.state() for each in self.maps]
        arrays = {f"{place}.{name}": a for place, (_, own) in enumerate(states) for name, a in own.items()}
        return {"factors": [spec for spec, _ in states]}, arrays | {"tuples": self.tuples}
