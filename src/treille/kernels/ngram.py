"""N-grams: contiguous runs of symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from treille import _core
from treille.data import Batch, FeatureStrings, Lattices, Rows, Strings
from treille.io.errors import InputError
from treille.kernels.sequences import CountMap, SequenceKernel, narrow, whole
from treille.kernels.suffix import SubstringProduct, longest


class NGram(SequenceKernel):
    """Counts of contiguous n-grams: k(x, y) = sum over z of weight(|z|) count_x(z) count_y(z), min_n <= |z| <= n.

    Exact for any order and alphabet: n-grams are told apart symbol by symbol, never by a hash alone. One pass over the text per
    order.

    Parameters
    ----------
    n : int
        The (longest) order.
    min_n : int or None
        The shortest order; None: only n.
    weights : sequence of float or None
        The weight in k of each order, min_n first; None: 1 each.
    unit : {"char", "word", "byte"} or callable
        How texts are cut into symbols, see `treille.Strings`. Batches and token lists are cut already.

    Examples
    --------
    >>> from treille.kernels import NGram
    >>> NGram(2)(["ababa", "abbab"]).tolist()
    [[8.0, 6.0], [6.0, 6.0]]
    >>> NGram(2, min_n=1, weights=[0.5, 1.0]).diag(["ab"]).tolist()
    [2.0]
    """

    def __init__(
        self,
        n: int = 5,
        min_n: int | None = None,
        weights: Sequence[float] | None = None,
        unit: str | Callable[[str], Iterable[str]] = "char",
    ):
        self.n = n
        self.min_n = min_n
        self.weights = weights
        self.unit = unit

    @property
    def reads_lattices(self) -> bool:
        return True

    def check(self) -> None:
        self._orders()

    def fit_features(self, batch: Batch, n_jobs: int | None = None) -> tuple[NGramMap, Rows]:
        min_n, n, scales = self._orders()
        assert isinstance(batch, (Strings, Lattices))
        orders = (min_n, n, scales, len(batch.alphabet), effective_n_jobs(n_jobs))
        if isinstance(batch, Lattices):
            features, rows = _core.NGramFeatures.fit_lattices(batch.for_core(), *orders)
        else:
            features, rows = _core.NGramFeatures.fit(batch.symbols, batch.offsets, *orders)
        fitted = NGramMap(features, batch.alphabet, batch.unit)
        return fitted, fitted.rows(rows, features.n_shared)

    def fit_product(self, batch: Batch, n_jobs: int | None = None) -> SubstringProduct:
        min_n, n, scales = self._orders()
        if isinstance(batch, Lattices):
            raise InputError(
                "the fast product is for sequences, found lattices: use the features of NGram, solver='auto'"
            )
        weights = np.zeros(min(n, longest(batch)) + 1)
        weights[min_n:] = scales[: max(0, len(weights) - min_n)] ** 2
        return SubstringProduct(batch, min_n, np.cumsum(weights), n_jobs)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> NGramMap:
        min_n, n, scales = self._orders()
        alphabet, unit = spec["alphabet"], spec["unit"]
        grams = np.ascontiguousarray(arrays["grams"], np.int32)
        lengths = np.ascontiguousarray(arrays.get("orders", np.empty(0)), np.int32)
        sound = grams.ndim == 2 and grams.shape[1] == n and len(lengths) == (0 if min_n == n else len(grams))
        if sound and len(grams):
            sound = grams.min() >= 0 and grams.max() < len(alphabet)
            sound = sound and (len(lengths) == 0 or (min_n <= lengths.min() and lengths.max() <= n))
        if not sound:
            raise InputError("the n-grams in the file do not fit its kernel")
        return _rebuild((grams.ravel(), lengths, min_n, n, scales, len(alphabet)), alphabet, unit)

    def string_arrays(self, strings: FeatureStrings) -> dict[str, np.ndarray]:
        min_n, n, _ = self._orders()
        grams, lengths = strings.matrix(n, min_n)
        return {"grams": grams} if min_n == n else {"grams": grams, "orders": lengths}

    def _orders(self) -> tuple[int, int, np.ndarray]:
        """Shortest and longest order, and by how much a count of each order is scaled in phi."""
        min_n = self.n if self.min_n is None else self.min_n
        whole("n", self.n)
        whole("min_n", min_n)
        if min_n > self.n:
            raise InputError(f"min_n is {min_n}, more than n, which is {self.n}")
        count = int(self.n) - int(min_n) + 1
        if not (self.weights is None or isinstance(self.weights, (list, tuple, np.ndarray))):
            raise InputError(f"weights is {self.weights!r}, expected a list with one number for each order")
        weights = [1.0] * count if self.weights is None else list(self.weights)
        if len(weights) != count:
            raise InputError(
                f"{len(weights)} weights were given, expected {count}: one for each order from {min_n} to {self.n}"
            )
        for weight in weights:
            if not isinstance(weight, Real) or not 0 < float(weight) < np.inf:
                raise InputError(f"a weight is {weight!r}, expected positive numbers")
        return int(min_n), int(self.n), np.sqrt(np.asarray(weights, dtype=np.float64))


class NGramMap(CountMap):
    """N-grams with their ids. Unseen n-grams have none."""

    features: _core.NGramFeatures

    def spell(self, id: int) -> str:
        return self.joined(self.alphabet[s] for s in self.features.gram(id))

    def restrict(self, ids: np.ndarray) -> NGramMap:
        return _rebuild(self._parts(ids), self.alphabet, self.unit)

    def _parts(self, ids: Any = slice(None)) -> tuple[Any, ...]:
        """What the core builds the features from again."""
        f = self.features
        grams = np.ascontiguousarray(f.grams().reshape(-1, f.max_order)[ids])
        lengths = f.orders()[ids] if f.min_order < f.max_order else np.empty(0, np.int32)
        return grams.ravel(), lengths, f.min_order, f.max_order, f.weights, len(self.alphabet)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        grams, lengths, _, max_order, _, size = self._parts()
        arrays = {"grams": narrow(grams.reshape(-1, max_order), size)}
        if len(lengths):
            arrays["orders"] = lengths
        return {"alphabet": self.alphabet, "unit": self.unit}, arrays

    def strings(self) -> FeatureStrings:
        grams, lengths, _, max_order, _, _ = self._parts()
        return FeatureStrings.of_matrix(grams.reshape(-1, max_order), self.symbol_names(), lengths)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._parts(), self.alphabet, self.unit)


def _rebuild(parts: tuple[Any, ...], alphabet: list[Any], unit: str) -> NGramMap:
    return NGramMap(_core.NGramFeatures.from_grams(*parts), alphabet, unit)
