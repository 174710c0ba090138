"""Explicit features of products and powers of kernels: all products of the features of the factors."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from treille import _core
from treille.data import Batch
from treille.data.base import available_memory, readable_size
from treille.features import Contributions, ExplainingMap, FeatureMap, FeatureRows, MergingMap, Rows, StoredRows
from treille.features.abilities import having
from treille.features.feature_map import check_id
from treille.features.merging import Merged, alike, merged_ids, number_rows
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.additive import Additive, load_each, own_part
from treille.kernels.base import Fitted, Kernel
from treille.kernels.expansion import Expansion, KernelExpansion, expand
from treille.kernels.fitting import FitContext, KnownFeatures, ValueKernel, compose, leaf_kernels
from treille.kernels.wrapped import WrappedKernel

MOST_DEGREE = 1000  # the core computes products of this many factors by recursion


class ProductKernel(ValueKernel):
    """A product or a power of kernels.

    For ``left * right``, a feature is a pair z, z' with the value phi_z(x) psi_z'(x). For ``k ** d`` it is a multiset of d features
    with the value sqrt(d! / (m_1! m_2! ...)) phi_z1(x)^m_1 phi_z2(x)^m_2 ... An example with p and q features has p q of the first
    kind, and (p + d - 1 over d) of the second. So features pay off if examples have few: they are preferred if all examples
    together have at most n^2 products of features, n the number of examples, and these fit in memory.
    """

    limits_rows = True  # the products are estimated before they are computed

    @abstractmethod
    def factors(self) -> list[Kernel]:
        """The kernels whose features are multiplied: both sides, or the base of a power."""

    @abstractmethod
    def exponent(self) -> int:
        """The degree of a power, 1 for a product."""

    def map_type(self) -> type["ProductMap"]:
        """The class of its fitted features."""
        return ProductMap

    @property
    def has_features(self) -> bool:
        return all(factor.has_features for factor in self.factors())

    def prefers_features(self, batch: Any, n_jobs: int | None = None, known: KnownFeatures | None = None) -> bool:
        if not self.has_features or self.needs_features:
            return self.has_features
        if not all(factor.prefers_features(own_part(factor, batch), n_jobs) for factor in self.factors()):
            return False
        if self.exponent() > MOST_DEGREE:
            return False
        fitted = self._fit_factors(batch, n_jobs)
        rows = [own for _, own in fitted]
        count = self._count(rows)
        few = count <= len(batch) ** 2 and self._needed(count, rows, n_jobs) <= available_memory()
        if few and known is not None:
            known.add(self, batch, self._multiplied(fitted, n_jobs))
        return few

    def fit_features(self, batch: Any, n_jobs: int | None = None) -> Fitted:
        for factor in self.factors():
            if not factor.has_features:
                raise InputError(f"{self!r} has no explicit features, since {factor!r} has none")
        if self.exponent() > MOST_DEGREE:
            raise InputError(
                f"{self!r} has the degree {self.exponent()}, and features up to {MOST_DEGREE}: use its matrix, kernel(X, Y)"
            )
        if self.needs_features:
            return super().fit_features(batch, n_jobs)
        return self._multiplied(self._fit_factors(batch, n_jobs), n_jobs)

    def _fit_factors(self, batch: Any, n_jobs: int | None) -> list[Fitted]:
        return [factor.fit_features(own_part(factor, batch), n_jobs) for factor in self.factors()]

    def _multiplied(self, fitted: list[Fitted], n_jobs: int | None) -> Fitted:
        """The products of the features of the factors."""
        rows = [own for _, own in fitted]
        count = self._count(rows)
        needed, available = self._needed(count, rows, n_jobs), available_memory()
        if needed > available:
            raise InputError(
                f"{self!r} has {count:,} products of features in these examples, which would take {readable_size(int(needed))}, "
                f"but {readable_size(available)} are free: use its matrix, kernel(X, Y), or a smaller degree; for features that "
                "are 0 or 1, Conjunctions with a larger min_support"
            )
        return self.map_type().fit(self, [features for features, _ in fitted], rows, effective_n_jobs(n_jobs))

    def leaf_kernels(self, batch: Any) -> list[tuple[Kernel, Batch]]:
        if not self.needs_features:
            return [(self, batch)]  # whose products of parts of the data merge
        return [leaf for factor in self.factors() for leaf in leaf_kernels(factor, own_part(factor, batch))]

    def compose(self, fitted: Iterator[Fitted], context: FitContext, n_jobs: int | None = None) -> Fitted:
        if not self.needs_features:
            return next(fitted)
        return self._multiplied([compose(factor, fitted, context, n_jobs) for factor in self.factors()], n_jobs)

    def _count(self, rows: list[FeatureRows]) -> int:
        """Number of products of features of all examples together."""
        lengths = [
            np.sum([p.lengths() for p in having(each, StoredRows).parts], axis=0).astype(np.float64) for each in rows
        ]
        products = np.ones(len(rows[0]))
        with np.errstate(over="ignore"):
            for step in range(len(rows) * self.exponent()):
                products *= lengths[step] if self.exponent() == 1 else (lengths[0] + step) / (step + 1)
        return int(min(products.sum().round(), 1e18))

    def _needed(self, count: int, rows: list[FeatureRows], n_jobs: int | None) -> float:
        """Bytes for this many products of features: a bound, or an estimate if the bound is more than the free memory."""
        most, least = _bytes(count, count, count), _bytes(count, 1, 1)
        if most <= available_memory():
            return most
        if least > available_memory():
            return least
        threads = effective_n_jobs(n_jobs)
        arrays = [_arrays(each, threads) for each in _unscaled(rows, self.exponent())[0]]
        return _bytes(count, *_core.estimate_products(arrays, self.exponent(), threads))

    def expansion(self, support: Any, coefficients: np.ndarray, n_jobs: int | None = None) -> Expansion:
        return expand(self, support, coefficients, n_jobs, ProductExpansion)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        maps = load_each(self.factors(), spec, "factors", arrays)
        tuples = stored.array(arrays, "tuples", np.int64, ndim=2)
        sound = tuples.shape[1] == len(maps) * self.exponent() <= 2 * MOST_DEGREE and tuples.min(initial=0) >= 0
        widths = [each.n_features for each in maps] * self.exponent() if sound else []
        if sound and not (tuples >= np.array(widths)).any():
            features = self.map_type().of(self, maps, tuples)
            if features.n_features == len(tuples):
                return features
        raise InputError("the products in the file do not fit their factors")


class ProductExpansion(KernelExpansion):
    """Sums over support examples, split factor by factor."""

    def contributions(self, batch: Any, n_jobs: int | None = None) -> Contributions | None:
        parts = [own_part(factor, self.support) for factor in self.kernel.factors()]
        try:
            return Contributions.of_each(
                batch, self.coefficients.shape[1], lambda one: self._of_one(one, parts, n_jobs)
            )
        except InputError:
            return None

    def _of_one(self, example: Batch, support: list[Batch], n_jobs: int | None) -> Contributions:
        """Factors that are not constant receive the same share of each product, and split it as if the others were constant."""
        factors, coefficients, exponent = self.kernel.factors(), self.coefficients, self.kernel.exponent()
        examples = [own_part(factor, example) for factor in factors]
        each = zip(factors, examples, support, strict=True)
        values = [factor.gram(x, y, n_jobs)[0] for factor, x, y in each]
        constants = [constant_of(factor) for factor in factors]
        if len(factors) == 1:
            per_unit = np.ones(len(values[0]))  # (k^d - c^d) / (k - c)
            for step in range(1, exponent):
                per_unit = per_unit * values[0] + constants[0] ** step
            shares = [per_unit]
        else:
            (k, other), (c, constant) = values, constants
            part = n_factors(factors[0]) / (n_factors(factors[0]) + n_factors(factors[1]))
            shares = [constant + part * (other - constant), c + (1 - part) * (k - c)]
        total = Contributions({}, coefficients.sum(axis=0, keepdims=True) * np.prod(constants) ** exponent)
        for factor, x, y, share, constant in zip(factors, examples, support, shares, constants, strict=True):
            beta = share[:, None] * coefficients
            contributions = factor.expansion(y, beta, n_jobs).contributions(x, n_jobs)
            if contributions is None:
                raise InputError(f"{factor!r} is not split by part")
            total += contributions.plus(-constant * beta.sum(axis=0, keepdims=True))
        return total


def constant_of(kernel: Kernel) -> float:
    """The constant terms of a sum: 1 of ``1 + k``."""
    from treille.kernels.algebra import Constant, Scaled

    if isinstance(kernel, Additive):
        return sum(constant_of(term) for _, term in kernel.terms())
    if isinstance(kernel, Scaled):
        return float(kernel.scale) * constant_of(kernel.kernel)
    return float(kernel.value) if isinstance(kernel, Constant) else 0.0


def n_factors(kernel: Kernel) -> int:
    """The number of kernels that are multiplied, including those inside."""
    if isinstance(kernel, ProductKernel):
        return kernel.exponent() * sum(map(n_factors, kernel.factors()))
    return n_factors(kernel.kernel) if isinstance(kernel, WrappedKernel) else 1


def _bytes(count: int, products: float, values: float) -> float:
    """Peak memory for `count` products of features in all examples, `products` of them distinct, with `values` distinct values."""
    row = 8 + 4 * (values > 60) + 4 * (products > 1 << 26)
    return count * row + 20 * products + 50 * values


def _arrays(rows: FeatureRows, threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The entries of a factor as the core takes them."""
    matrix = having(rows, StoredRows).to_csr(threads)
    matrix.sum_duplicates()
    ids = matrix.indices.astype(np.uint32, copy=False)
    return matrix.indptr.astype(np.int64), ids, matrix.data


def _unscaled(rows: list[FeatureRows], degree: int) -> tuple[list[FeatureRows], np.ndarray, np.ndarray]:
    """The factors, the scale of the rows of their products, and the squared norms of these without it.

    The factors lose their own scales, so that normalised counts have few different products, unless these may over- or underflow.
    """
    plain = [replace(each, scale=np.ones(len(each))) if isinstance(each, Rows) else each for each in rows]
    with np.errstate(all="ignore"):  # what is not finite is refused where norms are used
        sizes = degree * np.sum([np.log10(each.diag()) for each in plain], axis=0)
        if (np.isfinite(sizes) & (np.abs(sizes) > 200)).any():
            plain = rows
        scale = np.ones(len(rows[0]))
        for own, each in zip(rows, plain, strict=True):
            if isinstance(own, Rows) and own is not each:
                scale *= own.scale**degree
        return plain, scale, np.prod([each.diag() for each in plain], axis=0) ** degree


class ProductMap(ExplainingMap, MergingMap):
    """Products of features: row j of `tuples` holds the ids of the factors of feature j."""

    def __init__(self, kernel: ProductKernel, maps: list[FeatureMap], products: _core.ProductFeatures):
        self.kernel = kernel
        self.maps = maps
        self.degree = kernel.exponent()
        self.products = products

    @classmethod
    def of(cls, kernel: ProductKernel, maps: list[FeatureMap], tuples: np.ndarray) -> "ProductMap":
        """The map with these features; tuples that occur again are left out."""
        flat = np.ascontiguousarray(tuples, np.int64).ravel()
        return cls(kernel, maps, _core.ProductFeatures.of(flat, tuples.shape[1]))

    @classmethod
    def fit(cls, kernel: ProductKernel, maps: list[FeatureMap], rows: list[FeatureRows], threads: int) -> Fitted:
        """The map of all products in the examples with these rows, and the rows of the products."""
        plain, scale, sq_norms = _unscaled(rows, kernel.exponent())
        arrays = [_arrays(each, threads) for each in plain]
        products, coded = _core.ProductFeatures.fit(arrays, kernel.exponent(), threads)
        return cls(kernel, maps, products), Rows(*coded, scale, sq_norms, len(products))

    @property
    def n_features(self) -> int:
        return len(self.products)

    @property
    def tuples(self) -> np.ndarray:
        """The ids of the factors, one row per feature."""
        return self.products.tuples(1).reshape(self.n_features, len(self.maps) * self.degree)

    def transform(self, batch: Any, n_jobs: int | None = None) -> Rows:
        threads = effective_n_jobs(n_jobs)
        factors = zip(self.kernel.factors(), self.maps, strict=True)
        rows = [each.transform(own_part(factor, batch), n_jobs) for factor, each in factors]
        plain, scale, sq_norms = _unscaled(rows, self.degree)
        coded = self.products.transform([_arrays(each, threads) for each in plain], self.degree, threads)
        return Rows(*coded, scale, sq_norms, self.n_features)

    def n_factors(self, ids: np.ndarray) -> np.ndarray:
        return self._factors(ids)[1].sum(axis=1)

    def _factors(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The factors of features, one row each, and how many features each of these multiplies itself."""
        width = len(self.maps) * self.degree
        tuples = self.products.tuples_of(np.ascontiguousarray(ids, np.int64)).reshape(len(ids), width)
        counts = np.empty_like(tuples)
        for step, column in enumerate(tuples.T):
            counts[:, step] = self.maps[step % len(self.maps)].n_factors(column)
        return tuples, counts

    def contributions(self, batch: Any, weights: np.ndarray, n_jobs: int | None = None) -> Contributions:
        """A product is shared equally among the features that it multiplies; each share is divided like that feature alone."""
        return Contributions.of_each(batch, weights.shape[1], lambda one: self._contributions(one, weights, n_jobs))

    def _contributions(self, example: Batch, weights: np.ndarray, n_jobs: int | None) -> Contributions:
        """The contributions in one example."""
        row = self.transform(example, n_jobs).to_csr()
        tuples, counts = self._factors(row.indices)
        total = counts.sum(axis=1)
        terms = row.data[:, None] * weights[row.indices]
        found = Contributions({}, terms[total == 0].sum(axis=0, keepdims=True))
        each = terms / np.maximum(total, 1)[:, None]
        for place, (factor, features) in enumerate(zip(self.kernel.factors(), self.maps, strict=True)):
            part = own_part(factor, example)
            values = having(features.transform(part, n_jobs), StoredRows).to_csr().toarray()[0]
            shares = np.zeros((features.n_features, weights.shape[1]))
            for step in range(place, tuples.shape[1], len(self.maps)):
                np.add.at(shares, tuples[:, step], counts[:, [step]] * each)
            inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values != 0)
            found += having(features, ExplainingMap).contributions(part, shares * inverse[:, None], n_jobs)
        return found

    def with_leaves(self, change: Callable[[FeatureMap], FeatureMap]) -> FeatureMap:
        return type(self)(self.kernel, [each.with_leaves(change) for each in self.maps], self.products)

    def name(self, id: int) -> str:
        check_id(id, self.n_features)
        maps = self.maps * self.degree
        names = [each.name(z) for each, z in zip(maps, self.products.tuple(id), strict=True)]
        # The factors of a power have no order: names do not depend on the numbering of features.
        return ", ".join(sorted(names) if self.degree > 1 else names)

    def restrict(self, ids: np.ndarray) -> FeatureMap:
        tuples = self.tuples[ids]
        used = [np.unique(tuples)] if self.degree > 1 else [np.unique(column) for column in tuples.T]
        used = [each.ids_for_norms(some) for each, some in zip(self.maps, used, strict=True)]
        maps = [each.restrict(some) for each, some in zip(self.maps, used, strict=True)]
        columns = [np.searchsorted(some, c) for some, c in zip(used * self.degree, tuples.T, strict=True)]
        return self.of(self.kernel, maps, np.stack(columns, axis=1))

    def merge(self, other: FeatureMap) -> Merged:
        other = alike(ProductMap, self, other, "kernel")
        each = [having(one, MergingMap).merge(another) for one, another in zip(self.maps, other.maps, strict=True)]
        mine = self._renumbered(self.tuples, [ids for _, ids, _ in each])
        theirs = self._renumbered(other.tuples, [ids for _, _, ids in each])
        ids, new = merged_ids(np.arange(len(mine)), number_rows(mine, theirs))
        merged = self.of(self.kernel, [found[0] for found in each], np.concatenate([mine, theirs[new]]))
        return merged, np.arange(len(mine)), ids

    def _renumbered(self, tuples: np.ndarray, ids: list[np.ndarray]) -> np.ndarray:
        """The tuples with new ids of the features of each factor; the factors of a power rise."""
        columns = [own[column] for own, column in zip(ids * self.degree, tuples.T, strict=True)]
        renumbered = np.stack(columns, axis=1)
        return np.sort(renumbered, axis=1) if self.degree > 1 else renumbered

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        spec, arrays = stored.joined("factors", [each.state() for each in self.maps])
        return spec, arrays | {"tuples": self.tuples}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).of, (self.kernel, self.maps, self.tuples)
