"""N-grams: contiguous runs of symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from treille import _core
from treille.data import Batch, Lattices, Strings
from treille.data.base import running_sum
from treille.features import FeatureMap, FeatureStrings, Occurrences, Rows
from treille.io import stored
from treille.io.errors import InputError
from treille.kernels.sequences import CountMap, SequenceKernel, narrow, whole
from treille.kernels.suffix import SubstringProduct, longest


class NGram(SequenceKernel):
    """Counts of contiguous n-grams: k(x, y) = sum over z of weight(|z|) count_x(z) count_y(z), min_n <= |z| <= n.

    Exact for any order and alphabet: n-grams are compared symbol by symbol, never by a hash alone. One pass over the text per
    order. For lattices, it uses expected counts.

    Parameters
    ----------
    n : int
        The (longest) order.
    min_n : int or None
        The shortest order; None: only n.
    order_weights : sequence of float or None
        The weight in k of each order, min_n first; None: 1 each.
    unit : {"char", "word", "byte"} or callable
        How texts are split into symbols, see `treille.Strings`. Not used for batches and lists of tokens.

    Examples
    --------
    >>> from treille.kernels import NGram
    >>> NGram(2)(["ababa", "abbab"]).tolist()
    [[8.0, 6.0], [6.0, 6.0]]
    >>> NGram(2, min_n=1, order_weights=[0.5, 1.0]).diag(["ab"]).tolist()
    [2.0]
    """

    def __init__(
        self,
        n: int = 5,
        min_n: int | None = None,
        order_weights: Sequence[float] | None = None,
        unit: str | Callable[[str], Iterable[str]] = "char",
    ):
        self.n = n
        self.min_n = min_n
        self.order_weights = order_weights
        self.unit = unit

    @property
    def reads_lattices(self) -> bool:
        return True

    def check(self) -> None:
        self._orders()

    def fit_features(self, batch: Batch, n_jobs: int | None = None) -> tuple[NGramMap, Rows]:
        return _fitted(batch, *self._orders(), n_jobs)

    def multiplies(self, batch: Batch) -> bool:
        return not isinstance(batch, Lattices)

    def fit_product(self, batch: Batch, n_jobs: int | None = None) -> SubstringProduct:
        min_n, n, scales = self._orders()
        if isinstance(batch, Lattices):
            raise InputError("the fast product needs sequences, found lattices: use explicit features, solver='auto'")
        weights = np.zeros(min(n, longest(batch)) + 1)
        weights[min_n:] = scales[: max(0, len(weights) - min_n)] ** 2
        return SubstringProduct(batch, min_n, np.cumsum(weights), n_jobs)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> NGramMap:
        min_n, n, scales = self._orders()
        ngrams = stored.array(arrays, "grams", np.int32, ndim=2)
        lengths = stored.array(arrays, "orders", np.int32) if "orders" in arrays else np.empty(0, np.int32)
        return _checked(ngrams, lengths, min_n, n, scales, *stored.alphabet(spec))

    def _orders(self) -> tuple[int, int, np.ndarray]:
        """Shortest and longest order, and the factor of the counts of each order in phi."""
        min_n = self.n if self.min_n is None else self.min_n
        whole("n", self.n)
        whole("min_n", min_n)
        if min_n > self.n:
            raise InputError(f"min_n is {min_n}, more than n, which is {self.n}")
        count = int(self.n) - int(min_n) + 1
        given = self.order_weights
        if not (given is None or isinstance(given, (list, tuple, np.ndarray))):
            raise InputError(f"order_weights is {given!r}, expected a list with one number per order")
        weights = [1.0] * count if given is None else list(given)
        if len(weights) != count:
            raise InputError(
                f"order_weights has {len(weights)} numbers, expected {count}: one for each order from {min_n} to {self.n}"
            )
        for weight in weights:
            if not isinstance(weight, Real) or not 0 < float(weight) < np.inf:
                raise InputError(f"order_weights contains {weight!r}, expected positive numbers")
        return int(min_n), int(self.n), np.sqrt(np.asarray(weights, dtype=np.float64))


class NGramMap(CountMap):
    """N-grams and their ids. Unseen n-grams have none."""

    features: _core.NGramFeatures

    def spell(self, id: int) -> str:
        return self.joined(self.alphabet[s] for s in self.features.gram(id))

    def restrict(self, ids: np.ndarray) -> NGramMap:
        return _rebuild(self._parts(ids), self.alphabet, self.unit)

    def merge(self, other: FeatureMap) -> tuple[NGramMap, np.ndarray, np.ndarray]:
        if not isinstance(other, NGramMap) or not self._agrees(other):
            raise InputError("the features are of different kernels or units: merge features of the same kernel")
        alphabet = list(dict.fromkeys([*self.alphabet, *other.alphabet]))
        codes = {symbol: code for code, symbol in enumerate(alphabet)}
        recode = np.array([codes[symbol] for symbol in other.alphabet], np.int32)
        features, mine, theirs = self.features.merge(other.features, recode)
        return NGramMap(features, alphabet, self.unit), mine, theirs

    def extend(self, batch: Batch, n_jobs: int | None = None) -> NGramMap:
        f = self.features
        return self.merge(_fitted(batch, f.min_order, f.max_order, f.weights, n_jobs)[0])[0]

    def occurrences(self, batch: Batch) -> Occurrences:
        if not isinstance(batch, Strings):
            raise InputError("occurrences have positions in sequences, found lattices: use X.best()")
        f, codes = self.features, self.recode(batch)
        ids, starts, examples = f.occurrences(batch.symbols, batch.offsets, codes, 1)
        lengths = f.orders()[ids] if f.min_order < f.max_order else np.full(len(ids), f.max_order)
        offsets = running_sum(lengths)
        parts = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        return Occurrences(ids, f.weights[lengths - f.min_order], offsets, parts, examples)

    def _agrees(self, other: NGramMap) -> bool:
        a, b = self.features, other.features
        same = (a.min_order, a.max_order) == (b.min_order, b.max_order) and np.array_equal(a.weights, b.weights)
        return same and self.unit == other.unit

    def _parts(self, ids: Any = slice(None)) -> tuple[Any, ...]:
        """The arguments that the core rebuilds the features from."""
        f = self.features
        ngrams = np.ascontiguousarray(f.grams().reshape(-1, f.max_order)[ids])
        lengths = f.orders()[ids] if f.min_order < f.max_order else np.empty(0, np.int32)
        return ngrams.ravel(), lengths, f.min_order, f.max_order, f.weights, len(self.alphabet)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        ngrams, lengths, _, max_order, _, size = self._parts()
        arrays = {"grams": narrow(ngrams.reshape(-1, max_order), size)}
        if len(lengths):
            arrays["orders"] = lengths
        return {"alphabet": self.alphabet, "unit": self.unit}, arrays

    def strings(self) -> FeatureStrings:
        ngrams, lengths, _, max_order, _, _ = self._parts()
        return FeatureStrings.of_matrix(ngrams.reshape(-1, max_order), self.symbol_names(), lengths)

    def with_strings(self, strings: FeatureStrings) -> NGramMap:
        f = self.features
        ngrams, lengths = strings.matrix(f.max_order, f.min_order)
        lengths = lengths if f.min_order < f.max_order else lengths[:0]
        return _checked(ngrams, lengths, f.min_order, f.max_order, f.weights, self.alphabet, self.unit)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._parts(), self.alphabet, self.unit)


def _fitted(batch: Batch, min_n: int, n: int, scales: np.ndarray, n_jobs: int | None) -> tuple[NGramMap, Rows]:
    assert isinstance(batch, (Strings, Lattices))
    orders = (min_n, n, scales, len(batch.alphabet), effective_n_jobs(n_jobs))
    if isinstance(batch, Lattices):
        features, rows = _core.NGramFeatures.fit_lattices(batch.for_core(), *orders)
    else:
        features, rows = _core.NGramFeatures.fit(batch.symbols, batch.offsets, *orders)
    fitted = NGramMap(features, batch.alphabet, batch.unit)
    return fitted, Rows.from_core(rows, fitted.n_features)


def _checked(
    ngrams: np.ndarray, lengths: np.ndarray, min_n: int, n: int, scales: np.ndarray, alphabet: list[Any], unit: str
) -> NGramMap:
    """The map of n-grams from a model file, whose content is not trusted."""
    sound = ngrams.ndim == 2 and ngrams.shape[1] == n and len(lengths) == (0 if min_n == n else len(ngrams))
    if sound and len(ngrams):
        sound = ngrams.min() >= 0 and ngrams.max() < len(alphabet)
        sound = sound and (len(lengths) == 0 or (min_n <= lengths.min() and lengths.max() <= n))
    if not sound:
        raise InputError("the n-grams in the file do not fit its kernel")
    return _rebuild((ngrams.ravel(), lengths, min_n, n, scales, len(alphabet)), alphabet, unit)


def _rebuild(parts: tuple[Any, ...], alphabet: list[Any], unit: str) -> NGramMap:
    return NGramMap(_core.NGramFeatures.from_grams(*parts), alphabet, unit)
