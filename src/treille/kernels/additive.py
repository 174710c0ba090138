"""Sums of kernels: what `Sum` and `Columns` share. An example has the features of every term, side by side."""

from __future__ import annotations

from abc import abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np

from treille.data import Batch, FeatureRows, SideBySide
from treille.io.errors import InputError
from treille.kernels.base import FeatureMap, Kernel, LinearMap


class Additive(Kernel):
    """k(x, y) = sum over the terms of k_t(x, y). It has features where every term has; they are never multiplied out."""

    @abstractmethod
    def terms(self) -> list[tuple[str, Kernel]]:
        """The kernels that are summed, each with the word that tells its features from those of the others."""

    def batches(self, batch: Batch) -> list[Batch]:
        """What each term reads of a batch: all of it."""
        return [batch] * len(self.terms())

    @property
    def has_features(self) -> bool:
        return all(kernel.has_features for _, kernel in self.terms())

    def fit_features(self, batch: Batch, n_jobs: int | None = None) -> tuple[FeatureMap, FeatureRows]:
        each = [k.fit_features(own, n_jobs) for (_, k), own in zip(self.terms(), self.batches(batch), strict=True)]
        return AdditiveMap(self, [features for features, _ in each]), SideBySide([rows for _, rows in each])

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        maps = [
            kernel.load_features(own, part_of(arrays, str(place)))
            for place, ((_, kernel), own) in enumerate(zip(self.terms(), spec["terms"], strict=True))
        ]
        return AdditiveMap(self, maps)

    def gram(self, left: Batch, right: Batch | None = None, n_jobs: int | None = None) -> np.ndarray:
        rights = [None] * len(self.terms()) if right is None else self.batches(right)
        each = zip(self.terms(), self.batches(left), rights, strict=True)
        return _total(kernel.gram(x, y, n_jobs) for (_, kernel), x, y in each)

    @property
    def has_product(self) -> bool:
        return all(kernel.has_product for _, kernel in self.terms())

    def fit_product(self, batch: Batch, n_jobs: int | None = None) -> LinearMap:
        each = zip(self.terms(), self.batches(batch), strict=True)
        return SummedProduct([kernel.fit_product(own, n_jobs) for (_, kernel), own in each])

    def diagonal(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        each = zip(self.terms(), self.batches(batch), strict=True)
        return _total(kernel.diagonal(own, n_jobs) for (_, kernel), own in each)

    def apply(self, left: Batch, right: Batch, coefficients: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        # Term by term: some kernels know a faster way than by blocks of the matrix.
        each = zip(self.terms(), self.batches(left), self.batches(right), strict=True)
        return _total(kernel.apply(x, y, coefficients, n_jobs) for (_, kernel), x, y in each)


class SummedProduct(LinearMap):
    """The sum of several matrices as a linear map."""

    def __init__(self, terms: list[LinearMap]):
        self.terms = terms

    def product(self, beta: np.ndarray) -> np.ndarray:
        return _total(term.product(beta) for term in self.terms)

    def sizes(self) -> str:
        return "; ".join(term.sizes() for term in self.terms)


class AdditiveMap(FeatureMap):
    """The features of all terms, those of each after those of the terms before it."""

    def __init__(self, kernel: Additive, maps: list[FeatureMap]):
        self.kernel = kernel
        self.maps = maps
        self.labels = [label for label, _ in kernel.terms()]
        self.cuts = np.cumsum([0, *(each.n_features for each in maps)])

    @property
    def n_features(self) -> int:
        return int(self.cuts[-1])

    def transform(self, batch: Batch, n_jobs: int | None = None) -> FeatureRows:
        each = zip(self.maps, self.kernel.batches(batch), strict=True)
        return SideBySide([features.transform(own, n_jobs) for features, own in each])

    def name(self, id: int) -> str:
        if not 0 <= id < self.n_features:
            raise IndexError(f"feature {id} does not exist: there are {self.n_features:,}")
        place = int(np.searchsorted(self.cuts, id, side="right")) - 1
        return f"{self.labels[place]}: {self.maps[place].name(id - int(self.cuts[place]))}"

    def restrict(self, ids: np.ndarray) -> AdditiveMap:
        # A term that loses all its features stays: its part of the norm does.
        owner = np.searchsorted(self.cuts, ids, side="right")
        if (np.diff(owner) < 0).any():
            raise InputError("the ids are in no order that keeps the terms of the sum apart: sort them")
        each = zip(self.maps, pairwise(self.cuts), strict=True)
        return AdditiveMap(self.kernel, [m.restrict(ids[(a <= ids) & (ids < b)] - a) for m, (a, b) in each])

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        states = [each.state() for each in self.maps]
        arrays = {f"{place}.{name}": a for place, (_, own) in enumerate(states) for name, a in own.items()}
        return {"terms": [spec for spec, _ in states]}, arrays


def part_of(arrays: dict[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    """The arrays whose names begin with `name` and a point, without them.

    >>> list(part_of({"0.grams": np.zeros(1), "1.grams": np.zeros(1)}, "1"))
    ['grams']
    """
    return {key.removeprefix(f"{name}."): a for key, a in arrays.items() if key.startswith(f"{name}.")}


def _total(matrices: Any) -> np.ndarray:
    total: np.ndarray = next(matrices)
    for matrix in matrices:
        total += matrix
    return total
