"""Sums of kernels: the common base of `Sum` and `Columns`. An example has the features of every term, concatenated."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import chain, pairwise
from operator import add
from typing import Any

import numpy as np

from treille.data import Batch, Texts
from treille.features import (
    Contributions,
    ExplainingMap,
    Families,
    FeatureMap,
    FeatureRows,
    LocatingMap,
    MergingMap,
    Occurrences,
    concatenate_rows,
)
from treille.features.abilities import having
from treille.features.feature_map import Leaf, check_id
from treille.features.merging import alike, different
from treille.io import stored
from treille.io.errors import InputError
from treille.kernels.base import Fitted, Kernel, LinearOperator, changeable, operands
from treille.kernels.expansion import Expansion
from treille.kernels.fitting import FitContext, KnownFeatures, ValueKernel, compose, leaf_kernels
from treille.kernels.reading import Reads


class Additive(ValueKernel):
    """k(x, y) = sum over the terms of k_t(x, y). It has features if every term has."""

    def map_of(self, maps: list[FeatureMap]) -> "AdditiveMap":
        """The features of this kernel, made from the features of the terms."""
        return AdditiveMap(self, maps)

    @abstractmethod
    def terms(self) -> list[tuple[str, Kernel]]:
        """The kernels to sum, each with a prefix for the names of its features."""

    def batches(self, batch: Any) -> list[Batch]:
        """The part of a batch that each term reads: all of it, or the texts split by its unit."""
        return [own_part(kernel, batch) for _, kernel in self.terms()]

    def _each(self, batch: Any) -> Iterator[tuple[Kernel, Any]]:
        """The kernel of each term, with the part of a batch that it reads."""
        return ((kernel, own) for (_, kernel), own in zip(self.terms(), self.batches(batch), strict=True))

    @property
    def has_features(self) -> bool:
        return all(kernel.has_features for _, kernel in self.terms())

    def prefers_features(self, batch: Any, n_jobs: int | None = None, known: KnownFeatures | None = None) -> bool:
        if not self.has_features or self.needs_features:
            return self.has_features
        return all(kernel.prefers_features(own, n_jobs, known) for kernel, own in self._each(batch))

    def leaf_kernels(self, batch: Any) -> list[tuple[Kernel, Batch]]:
        return [leaf for kernel, own in self._each(batch) for leaf in leaf_kernels(kernel, own)]

    def compose(self, fitted: Iterator[Fitted], context: FitContext, n_jobs: int | None = None) -> Fitted:
        each = [compose(kernel, fitted, context, n_jobs) for _, kernel in self.terms()]
        return self.map_of([features for features, _ in each]), concatenate_rows([rows for _, rows in each])

    def check_parts(self) -> None:
        for _, kernel in self.terms():
            kernel.check_parts()

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> "AdditiveMap":
        return self.map_of(load_each([kernel for _, kernel in self.terms()], spec, "terms", arrays))

    def gram(self, left: Any, right: Any = None, n_jobs: int | None = None) -> np.ndarray:
        rights = [None] * len(self.terms()) if right is None else self.batches(right)
        return _total(kernel.gram(x, y, n_jobs) for (kernel, x), y in zip(self._each(left), rights, strict=True))

    def multiplies(self, batch: Any) -> bool:
        return all(kernel.multiplies(own) for kernel, own in self._each(batch))

    def fit_product(self, batch: Any, n_jobs: int | None = None) -> LinearOperator:
        return SummedProduct([kernel.fit_product(own, n_jobs) for kernel, own in self._each(batch)])

    def diagonal(self, batch: Any, n_jobs: int | None = None) -> np.ndarray:
        return _total(kernel.diagonal(own, n_jobs) for kernel, own in self._each(batch))

    def expansion(self, support: Any, coefficients: np.ndarray, n_jobs: int | None = None) -> Expansion:
        # Term by term: some kernels have a faster method than blocks of the matrix.
        each = [kernel.expansion(own, coefficients, n_jobs) for kernel, own in self._each(support)]
        return SummedExpansion(self, each)


class AdditiveOver(Additive):
    """A sum whose terms are made from one kernel, and read what it reads."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    @property
    def reads(self) -> Reads:
        return self.kernel.reads

    def batch(self, X: Any, n_jobs: int | None = None) -> Any:
        return self.kernel.batch(X, n_jobs)


class SummedExpansion(Expansion):
    """The sums over support examples of all terms, added."""

    def __init__(self, kernel: Additive, terms: list[Expansion]):
        self.kernel = kernel
        self.terms = terms

    def values(self, batch: Any, n_jobs: int | None = None) -> np.ndarray:
        each = zip(self.terms, self.kernel.batches(batch), strict=True)
        return _total(term.values(own, n_jobs) for term, own in each)

    def contributions(self, batch: Any, n_jobs: int | None = None) -> Contributions | None:
        each = zip(self.terms, self.kernel.batches(batch), strict=True)
        found = [term.contributions(own, n_jobs) for term, own in each]
        return None if any(term is None for term in found) else reduce(add, found)


def unit_of(kernel: Kernel) -> str:
    """The unit of a kernel, such as "word" or "char", to distinguish the features of terms; "" if it has none, or several terms."""
    units, inside = kernel.reads.units, operands(kernel)
    while len(inside) == 1:
        inside = operands(inside[0])
    unit = units[0] if units and not inside else ""
    return unit.partition("+")[0] if isinstance(unit, str) else "token"


class SummedProduct(LinearOperator):
    """The sum of several matrices as a linear operator."""

    def __init__(self, terms: list[LinearOperator]):
        self.terms = terms

    def matvec(self, beta: np.ndarray) -> np.ndarray:
        return _total(term.matvec(beta) for term in self.terms)

    def sizes(self) -> str:
        return "; ".join(term.sizes() for term in self.terms)


class AdditiveMap(LocatingMap, MergingMap):
    """The features of all terms, one term after another."""

    def __init__(self, kernel: Additive, maps: list[FeatureMap]):
        self.kernel = kernel
        self.maps = maps
        self.prefixes = [prefix for prefix, _ in kernel.terms()]
        self.cuts = np.cumsum([0, *(each.n_features for each in maps)])

    @property
    def n_features(self) -> int:
        return int(self.cuts[-1])

    def transform(self, batch: Any, n_jobs: int | None = None) -> FeatureRows:
        each = zip(self.maps, self.kernel.batches(batch), strict=True)
        return concatenate_rows([features.transform(own, n_jobs) for features, own in each])

    def name(self, id: int) -> str:
        check_id(id, self.n_features)
        place = int(np.searchsorted(self.cuts, id, side="right")) - 1
        return self.prefixes[place] + self.maps[place].name(id - int(self.cuts[place]))

    def ids_for_norms(self, ids: np.ndarray) -> np.ndarray:
        each = zip(self.maps, pairwise(self.cuts), strict=True)
        return np.concatenate([m.ids_for_norms(ids[(a <= ids) & (ids < b)] - a) + a for m, (a, b) in each])

    def problem_counts(self) -> set[int]:
        return set().union(*(each.problem_counts() for each in self.maps))

    def restrict(self, ids: np.ndarray) -> FeatureMap:
        # A term that loses all its features remains, because its part of the norm remains.
        owner = np.searchsorted(self.cuts, ids, side="right")
        if (np.diff(owner) < 0).any():
            raise InputError("the ids are not sorted by the terms of the sum: sort them")
        each = zip(self.maps, pairwise(self.cuts), strict=True)
        return self.kernel.map_of([m.restrict(ids[(a <= ids) & (ids < b)] - a) for m, (a, b) in each])

    def families(self) -> tuple[Families | None, ...]:
        return tuple(chain.from_iterable(each.families() for each in self.maps))

    def occurrences(self, batch: Any) -> Occurrences:
        batches = self.kernel.batches(batch)
        if any(own is not batch for own in batches):
            raise InputError(
                "the terms read different columns or units, so that positions are not those of one example: ask every term"
            )
        return Occurrences.concatenated(
            [having(each, LocatingMap).occurrences(batch) for each in self.maps], self.cuts[:-1].tolist()
        )

    def contributor(self, weights: np.ndarray) -> Callable[[Batch, int | None], Contributions]:
        each = [
            having(own, ExplainingMap).contributor(weights[a:b])
            for own, (a, b) in zip(self.maps, pairwise(self.cuts), strict=True)
        ]

        def summed(batch: Any, n_jobs: int | None) -> Contributions:
            return reduce(add, (find(own, n_jobs) for find, own in zip(each, self.kernel.batches(batch), strict=True)))

        return summed

    def contributions(self, batch: Any, weights: np.ndarray, n_jobs: int | None = None) -> Contributions:
        return self.contributor(weights)(batch, n_jobs)

    def with_leaves(self, change: Callable[[FeatureMap], FeatureMap]) -> FeatureMap:
        return self.kernel.map_of([each.with_leaves(change) for each in self.maps])

    def leaves(self, columns: np.ndarray, batch: Any, prefix: str = "") -> Iterator[Leaf]:
        batches = [None] * len(self.maps) if batch is None else self.kernel.batches(batch)
        for each, read, own, (a, b) in zip(self.maps, batches, self.prefixes, pairwise(self.cuts), strict=True):
            yield from each.leaves(columns[a:b], read, prefix + own)

    def n_factors(self, ids: np.ndarray) -> np.ndarray:
        counts = np.empty(len(ids), np.int64)
        for each, (a, b) in zip(self.maps, pairwise(self.cuts), strict=True):
            own = (a <= ids) & (ids < b)
            counts[own] = each.n_factors(ids[own] - a)
        return counts

    def merge(self, other: FeatureMap) -> tuple["AdditiveMap", np.ndarray, np.ndarray]:
        other = alike(AdditiveMap, self, other)
        if other.prefixes != self.prefixes:
            raise different("terms", *(" + ".join(p.rstrip(": ") for p in each.prefixes) for each in (self, other)))
        each = [having(one, MergingMap).merge(another) for one, another in zip(self.maps, other.maps, strict=True)]
        both = AdditiveMap(self.kernel, [merged for merged, _, _ in each])
        firsts = both.cuts[:-1]
        mine = np.concatenate([ids + first for (_, ids, _), first in zip(each, firsts, strict=True)])
        theirs = np.concatenate([ids + first for (_, _, ids), first in zip(each, firsts, strict=True)])
        return both, mine, theirs

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return stored.joined("terms", [each.state() for each in self.maps])


def own_part(kernel: Kernel, batch: Any) -> Batch:
    """The part that a kernel reads of a batch shared by several kernels: the texts split by its own unit, or all of it."""
    return kernel.batch(batch) if isinstance(batch, Texts) else batch


def load_each(
    kernels: list[Kernel], spec: dict[str, Any], name: str, arrays: dict[str, np.ndarray]
) -> list[FeatureMap]:
    """The maps of several kernels from a model file."""
    each = enumerate(zip(kernels, stored.value(spec, name, list), strict=True))
    return [kernel.load_features(own, stored.part(arrays, str(place))) for place, (kernel, own) in each]


def _total(matrices: Any) -> np.ndarray:
    total = changeable(next(matrices))
    for matrix in matrices:
        total += matrix
    return total
