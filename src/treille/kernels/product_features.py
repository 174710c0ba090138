"""Explicit features of products and powers of kernels: all products of the features of the factors."""

from __future__ import annotations

import weakref
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from treille.data import Batch
from treille.features import CenteredRows, FeatureMap, FeatureRows, Rows
from treille.features.feature_map import check_id
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.additive import own_part, part_of
from treille.kernels.base import Kernel

MOST = 1 << 24  # products of features of all examples together: about a gigabyte while they are computed


class ProductKernel(Kernel):
    """A product or a power of kernels.

    For ``left * right``, a feature is a pair z, z' with the value phi_z(x) psi_z'(x). For ``k ** d`` it is a multiset of d features
    with the value sqrt(d! / (m_1! m_2! ...)) phi_z1(x)^m_1 phi_z2(x)^m_2 ... An example with p and q features has p q of the first
    kind, and (p + d - 1 over d) of the second. So features pay off if examples have few: they are preferred if all examples
    together have at most n^2 products of features, n the number of examples, and at most 2^24.
    """

    _kept: tuple[Any, ...] | None = None  # a batch, parameters, and the features of the factors fitted on it

    @abstractmethod
    def factors(self) -> list[Kernel]:
        """The kernels whose features are multiplied: both sides, or the base of a power."""

    @abstractmethod
    def exponent(self) -> int:
        """The degree of a power, 1 for a product."""

    @property
    def has_features(self) -> bool:
        return all(factor.has_features for factor in self.factors())

    @property
    def needs_features(self) -> bool:
        return any(factor.needs_features for factor in self.factors())

    def prefers_features(self, batch: Batch, n_jobs: int | None = None) -> bool:
        if not self.has_features or self.needs_features:
            return self.has_features
        if not all(factor.prefers_features(own_part(factor, batch), n_jobs) for factor in self.factors()):
            return False
        fitted = self._fit_factors(batch, n_jobs)
        few = self._count(fitted[1]) <= min(len(batch) ** 2, MOST)
        if few:  # fit_features, which usually comes next, need not fit the factors again
            self._kept = weakref.ref(batch), self.get_params(), fitted
        return few

    def fit_features(self, batch: Batch, n_jobs: int | None = None) -> tuple[FeatureMap, FeatureRows]:
        for factor in self.factors():
            if not factor.has_features:
                raise InputError(f"{self!r} has no explicit features, since {factor!r} has none")
        maps, rows = self._fit_factors(batch, n_jobs)
        count = self._count(rows)
        if count > MOST:
            raise InputError(
                f"{self!r} has {count:,} products of features in these examples, more than {MOST:,}: use its matrix, kernel(X, Y)"
            )
        return ProductMap.fit(self, maps, rows, effective_n_jobs(n_jobs))

    def _fit_factors(self, batch: Batch, n_jobs: int | None) -> tuple[list[FeatureMap], list[FeatureRows]]:
        kept, self._kept = self._kept, None
        if kept is not None and kept[0]() is batch and _same_parameters(kept[1], self.get_params()):
            return kept[2]
        each = (factor.fit_features(own_part(factor, batch), n_jobs) for factor in self.factors())
        maps, rows = zip(*each, strict=True)
        return list(maps), list(rows)

    def _count(self, rows: list[FeatureRows]) -> int:
        """Number of products of features of all examples together."""
        lengths = [_row_lengths(each).astype(np.float64) for each in rows]
        if self.exponent() == 1:
            products = np.prod(lengths, axis=0)
        else:
            products = np.prod([(lengths[0] + t) / (t + 1) for t in range(self.exponent())], axis=0)
        return int(min(products.sum().round(), 1e18))

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        maps = [
            factor.load_features(own, part_of(arrays, str(place)))
            for place, (factor, own) in enumerate(zip(self.factors(), stored.value(spec, "factors", list), strict=True))
        ]
        tuples = stored.array(arrays, "tuples", np.int64, ndim=2)
        sound = tuples.shape[1] == len(maps) * self.exponent() and tuples.min(initial=0) >= 0
        widths = [each.n_features for each in maps] * self.exponent() if sound else []
        if not sound or (tuples >= np.array(widths)).any() or len(np.unique(tuples, axis=0)) != len(tuples):
            raise InputError("the products in the file do not fit their factors")
        return ProductMap(self, maps, tuples)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_kept"}


def _same_parameters(one: dict[str, Any], other: dict[str, Any]) -> bool:
    same = (
        a is b or (isinstance(a, (str, int, float)) and a == b)
        for a, b in zip(one.values(), other.values(), strict=False)
    )
    return one.keys() == other.keys() and all(same)


def _row_lengths(rows: FeatureRows) -> np.ndarray:
    """Number of features of every example."""
    dense = [np.full(len(p), p.n_features) if isinstance(p, CenteredRows) else np.diff(p.indptr) for p in rows.parts]
    return np.sum(dense, axis=0)


@dataclass
class _Found:
    """Products of the first features: the row, the id of the product so far, and the value of each."""

    row: np.ndarray
    prefix: np.ndarray
    last: np.ndarray  # the last factor, and how many times in a row it occurs
    run: np.ndarray
    value: np.ndarray

    def kept(self, some: np.ndarray) -> _Found:
        return _Found(self.row[some], self.prefix[some], self.last[some], self.run[some], self.value[some])


Number = Callable[[int, np.ndarray], np.ndarray]  # (step, keys) -> ids of the keys, -1 where unknown


def _expand(rows: list[sp.csr_matrix], degree: int, number: Number) -> _Found:
    """All products of one feature of each of `rows`, or, if there is only one, of `degree` features of it in order of their ids."""
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
        with np.errstate(over="ignore"):  # what is not finite is refused where the rows are used
            value = found.value[left] * other.data[right] * factor
        found = _Found(found.row[left], prefix, column, run, value)
        found = found.kept(prefix >= 0)
    return found


class ProductMap(FeatureMap):
    """Products of features: row j of `tuples` holds the ids of the factors of feature j."""

    def __init__(self, kernel: ProductKernel, maps: list[FeatureMap], tuples: np.ndarray):
        self.kernel = kernel
        self.maps = maps
        self.degree = kernel.exponent()
        self.tuples = tuples

    @classmethod
    def fit(
        cls, kernel: ProductKernel, maps: list[FeatureMap], rows: list[FeatureRows], threads: int
    ) -> tuple[ProductMap, Rows]:
        """The map of all products in the examples with these rows, and the rows of the products."""
        tuples = np.empty((1, 0), np.int64)
        matrices = [each.to_csr(threads) for each in rows]

        def number(step: int, keys: np.ndarray) -> np.ndarray:
            nonlocal tuples
            known, ids = np.unique(keys, return_inverse=True)
            prefix, column = np.divmod(known, matrices[step % len(matrices)].shape[1]) if step else (0 * known, known)
            tuples = np.hstack([tuples[prefix], column[:, None]])
            return ids

        found = _expand(matrices, kernel.exponent(), number)
        features = cls(kernel, maps, tuples)
        return features, features._rows(found, np.arange(len(tuples)), rows, threads)

    @property
    def n_features(self) -> int:
        return len(self.tuples)

    def transform(self, batch: Batch, n_jobs: int | None = None) -> Rows:
        threads = effective_n_jobs(n_jobs)
        factors = zip(self.kernel.factors(), self.maps, strict=True)
        rows = [each.transform(own_part(factor, batch), n_jobs) for factor, each in factors]
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
        return self._rows(found, feature, rows, threads)

    def _rows(self, found: _Found, ids: np.ndarray, rows: list[FeatureRows], threads: int) -> Rows:
        n = len(rows[0])
        indptr = np.concatenate([[0], np.cumsum(np.bincount(found.row, minlength=n))])
        matrix = sp.csr_matrix((found.value, found.prefix, indptr), shape=(n, self.n_features))
        with np.errstate(over="ignore"):
            sq_norms = np.prod([each.diag() for each in rows], axis=0) ** self.degree
        return Rows.from_csr(matrix, sq_norms, ids=ids, n_features=self.n_features, threads=threads)

    def name(self, id: int) -> str:
        check_id(id, self.n_features)
        maps = self.maps * self.degree
        return ", ".join(each.name(int(z)) for each, z in zip(maps, self.tuples[id], strict=True))

    def restrict(self, ids: np.ndarray) -> ProductMap:
        tuples = self.tuples[ids]
        used = [np.unique(tuples)] if self.degree > 1 else [np.unique(column) for column in tuples.T]
        used = [each.needed(some) for each, some in zip(self.maps, used, strict=True)]
        maps = [each.restrict(some) for each, some in zip(self.maps, used, strict=True)]
        columns = [np.searchsorted(some, c) for some, c in zip(used * self.degree, tuples.T, strict=True)]
        return ProductMap(self.kernel, maps, np.stack(columns, axis=1))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        states = [each.state() for each in self.maps]
        arrays = {f"{place}.{name}": a for place, (_, own) in enumerate(states) for name, a in own.items()}
        return {"factors": [spec for spec, _ in states]}, arrays | {"tuples": self.tuples}
