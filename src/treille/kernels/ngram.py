"""N-grams: contiguous runs of symbols."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from treille import _core
from treille.data import Lattices, Strings
from treille.data.base import running_sum, united
from treille.features import FeatureMap, FeatureStrings, LocatingMap, MergingMap, Occurrences, Rows, StringMap
from treille.features.merging import Merged, alike
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.base import Fitted
from treille.kernels.counts import Counts, check_counts, check_raw, lattices_to_count, transformed
from treille.kernels.sequences import CountMap, SequenceKernel, Sequences, Unit, narrow, whole
from treille.kernels.suffix import TreeProduct, longest, substring_product

MOST_PARTS = 100  # orders of a balanced kernel


@dataclass(eq=False, repr=False)
class NGram(SequenceKernel):
    """Counts of contiguous n-grams: k(x, y) = sum over z of weight(|z|) t(count_x(z)) t(count_y(z)), min_n <= |z| <= n.

    t(c) = c by default, see `counts`. Exact for any order and alphabet: n-grams are compared symbol by symbol, never by a hash
    alone. One pass over the text per order. For lattices, it uses expected counts.

    Parameters
    ----------
    n : int
        The (longest) order.
    min_n : int or None
        The shortest order; None: only n.
    order_weights : sequence of float or None
        The weight in k of each order, min_n first; None: 1 each.
    unit : {"char", "char_wb", "word", "byte"}, one of these with modifiers such as "word+lower", or callable
        How texts are split into symbols, see `treille.Strings`. Not used for batches and lists of tokens.
    counts : {"raw", "log", "binary"}
        t(c) = c, 1 + log(c), or 1 if c > 0, so that frequent n-grams dominate less. For the expected counts of lattices, "log" is
        log(1 + c).

    Examples
    --------
    >>> from treille.kernels import NGram
    >>> NGram(2)(["ababa", "abbab"]).tolist()
    [[8.0, 6.0], [6.0, 6.0]]
    >>> NGram(2, min_n=1, order_weights=[0.5, 1.0]).diag(["ab"]).tolist()
    [2.0]
    >>> NGram(1, counts="binary")(["aaaab", "aac"]).tolist()  # how often a occurs does not matter
    [[2.0, 1.0], [1.0, 2.0]]
    """

    n: int = 5
    min_n: int | None = None
    order_weights: Sequence[float] | None = None
    unit: Unit = "char"
    counts: Counts = "raw"

    reads_lattices = stops_at_borders = True

    def check(self) -> None:
        self._orders()

    def fit_features(self, batch: Sequences, n_jobs: int | None = None) -> Fitted:
        orders = self._orders()
        parts = *orders.parts(*orders.within(batch)), len(batch.alphabet), effective_n_jobs(n_jobs)
        if isinstance(batch, Lattices):
            features, rows = _core.NGramFeatures.fit_lattices(lattices_to_count(batch, self.counts), *parts)
        else:
            features, rows = _core.NGramFeatures.fit(batch.symbols, batch.offsets, batch.border, *parts)
        fitted = NGramMap(orders, features, batch.alphabet, batch.unit)
        return fitted, Rows.from_core(rows, fitted.n_features)

    def multiplies(self, batch: Sequences) -> bool:
        return self.counts == "raw" and isinstance(batch, Strings) and batch.border < 0

    def fit_product(self, batch: Sequences, n_jobs: int | None = None) -> TreeProduct:
        orders = self._orders()
        if isinstance(batch, Lattices):
            raise InputError("the fast product needs sequences, found lattices: use explicit features, solver='auto'")
        check_raw(self.counts)
        if not self.multiplies(batch):
            raise InputError(
                "the fast product does not stop at the borders of words: use explicit features, solver='auto'"
            )
        last = min(orders.n, longest(batch))
        weights = np.zeros(last + 1)
        weights[orders.min_n :] = orders.scales(last) ** 2
        return substring_product(batch, orders.min_n, np.cumsum(weights), n_jobs)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        ngrams = stored.array(arrays, "grams", np.int32, ndim=2)
        lengths = stored.array(arrays, "orders", np.int32) if "orders" in arrays else np.empty(0, np.int32)
        return _checked(ngrams, lengths, self._orders(), *stored.alphabet(spec))

    def single_orders(self) -> list[tuple["NGram", float]]:
        """The kernel of each order by itself, and its weight in k."""
        orders = self._orders()
        count = orders.n - orders.min_n + 1
        if count > MOST_PARTS:
            raise InputError(
                f"a balanced kernel has a part for each order, here {count:,}, expected at most {MOST_PARTS}"
            )
        weights = orders.weights or (1.0,) * count
        each = range(orders.min_n, orders.n + 1)
        params = self.get_params() | {"min_n": None, "order_weights": None}
        return [(NGram(**params | {"n": n}), weight) for n, weight in zip(each, weights, strict=True)]

    def _orders(self) -> "Orders":
        check_counts(self.counts)
        min_n = self.n if self.min_n is None else self.min_n
        whole("n", self.n)
        whole("min_n", min_n)
        if min_n > self.n:
            raise InputError(f"min_n is {min_n}, more than n, which is {self.n}")
        count, given = int(self.n) - int(min_n) + 1, self.order_weights
        if given is None:
            return Orders(int(min_n), int(self.n), None, self.counts)
        if not isinstance(given, (list, tuple, np.ndarray)):
            raise InputError(f"order_weights is {given!r}, expected a list with one number per order")
        if len(given) != count:
            raise InputError(
                f"order_weights has {len(given)} numbers, expected {count}: one for each order from {min_n} to {self.n}"
            )
        for weight in given:
            if not isinstance(weight, Real) or not 0 < float(weight) < np.inf:
                raise InputError(f"order_weights contains {weight!r}, expected positive numbers")
        return Orders(int(min_n), int(self.n), tuple(float(weight) for weight in given), self.counts)


class Orders(NamedTuple):
    """The shortest and the longest order of a kernel, the weight of each in k (None: 1 each), and how counts become values."""

    min_n: int
    n: int
    weights: tuple[float, ...] | None
    counts: Counts

    def scales(self, last: int) -> np.ndarray:
        """The factor in phi of the counts of each order up to `last`."""
        count = max(0, last - self.min_n + 1)
        return np.ones(count) if self.weights is None else np.sqrt(np.array(self.weights[:count]))

    def within(self, batch: Sequences) -> tuple[int, int]:
        """The first and the last order to count in a batch. Those beyond its longest example cost nothing.

        Where all are beyond it, the first is one that does not occur.
        """
        longest_order = int(np.diff(batch.states).max(initial=1)) - 1 if isinstance(batch, Lattices) else longest(batch)
        first = min(self.min_n, longest_order + 1)
        return first, first if self.min_n == self.n else min(self.n, max(longest_order, first + 1))

    def parts(self, first: int, last: int) -> tuple[int, int, np.ndarray, _core.Counts]:
        """The arguments of the core for counting these orders."""
        scales = self.scales(last) if first == self.min_n else np.ones(last - first + 1)
        return first, last, scales, check_counts(self.counts)

    def map_of(self, parts: tuple[Any, ...], alphabet: list[Any], unit: str) -> "NGramMap":
        """The map of these n-grams, see `NGramMap.parts`."""
        ngrams, *others = parts
        features = _core.NGramFeatures.from_grams(ngrams.astype(np.int32, copy=False), *others)
        return NGramMap(self, features, alphabet, unit)


class NGramMap(CountMap, LocatingMap, MergingMap, StringMap):
    """N-grams and their ids. Unseen n-grams have none."""

    features: _core.NGramFeatures  # of the orders that the training data contain

    @property
    def orders(self) -> Orders:
        """The orders of the kernel, which make the map."""
        return self.kernel

    @property
    def counts(self) -> Counts:
        return self.orders.counts

    def transform(self, batch: Sequences, n_jobs: int | None = None) -> Rows:
        # Longer n-grams than the training data contain are no features, but count in the norm.
        wide = self._counting(*self.orders.within(batch))
        options = (batch.border,) if isinstance(batch, Strings) else ()
        return self._rows(batch, wide.features, n_jobs, *options)

    def _counting(self, first: int, last: int) -> "NGramMap":
        """The same features, with orders from `first` to at least `last` counted."""
        f = self.features
        if (last <= f.max_order and len(f)) or (first, last) == (f.min_order, f.max_order):
            return self
        ngrams = np.zeros((len(f), last), np.int32)
        if len(f):
            ngrams[:, : f.max_order] = f.grams().reshape(-1, f.max_order)
        lengths = f.orders() if first < last else np.empty(0, np.int32)
        parts = ngrams.ravel(), lengths, *self.orders.parts(f.min_order if len(f) else first, last), len(self.alphabet)
        return self.orders.map_of(parts, self.alphabet, self.unit)

    def feature_name(self, id: int) -> str:
        return self.joined(self.alphabet[s] for s in self.features.gram(id))

    def merge(self, other: FeatureMap) -> Merged:
        other = alike(NGramMap, self, other, "orders")
        unit = self.merged_unit(other, bool(self.alphabet), bool(other.alphabet))
        alphabet, recode = united(self.alphabet, other.alphabet)
        first, last = (max(pair) for pair in zip(self._span(), other._span(), strict=True))
        features, mine, theirs = self._counting(first, last).features.merge(
            other._counting(first, last).features, recode
        )
        return replace(self, features=features, alphabet=alphabet, unit=unit), mine, theirs

    def absorb(self, other: FeatureMap) -> Merged:
        if not isinstance(other, NGramMap) or self._span() != other._span():
            return super().absorb(other)
        alike(NGramMap, self, other, "orders")
        unit = self.merged_unit(other, bool(self.alphabet), bool(other.alphabet))
        alphabet, recode = united(self.alphabet, other.alphabet)
        known, theirs = np.arange(self.n_features), self.features.absorb(other.features, recode)
        return replace(self, alphabet=alphabet, unit=unit), known, theirs

    def occurrences(self, batch: Sequences) -> Occurrences:
        if not isinstance(batch, Strings):
            raise InputError("occurrences have positions in sequences, found lattices: use X.best()")
        f, codes = self.features, self.recode(batch)
        ids, starts, examples = f.occurrences(batch.symbols, batch.offsets, codes, 1)
        lengths = f.orders()[ids] if f.min_order < f.max_order else np.full(len(ids), f.max_order)
        offsets = running_sum(lengths)
        parts = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        values = f.weights[lengths - f.min_order]
        if self.counts != "raw":  # the occurrences of a feature share its value
            example = np.repeat(np.arange(len(batch)), np.diff(examples))
            _, which, counts = np.unique(example * len(f) + ids, return_inverse=True, return_counts=True)
            values = values * (transformed(self.counts, counts.astype(np.float64)) / counts)[which]
        return Occurrences(ids, values, offsets, parts, examples)

    def _span(self) -> tuple[int, int]:
        return self.features.min_order, self.features.max_order

    def parts(self, ids: Any = None) -> tuple[Any, ...]:
        """The arguments that the core rebuilds the features from; n-grams in the fewest bytes."""
        f, ids, size = self.features, slice(None) if ids is None else ids, len(self.alphabet)
        ngrams = narrow(f.grams().reshape(-1, f.max_order)[ids].ravel(), size)
        lengths = f.orders()[ids] if f.min_order < f.max_order else np.empty(0, np.int32)
        return ngrams, lengths, f.min_order, f.max_order, f.weights, check_counts(self.counts), size

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        ngrams, lengths, _, max_order, *_ = self.parts()
        arrays = {"grams": ngrams.reshape(-1, max_order)}
        if len(lengths):
            arrays["orders"] = lengths
        return {"alphabet": self.alphabet, "unit": self.unit}, arrays

    def strings(self) -> FeatureStrings:
        ngrams, lengths, _, max_order, *_ = self.parts()
        return FeatureStrings.of_matrix(ngrams.reshape(-1, max_order), self.symbol_names(), lengths)

    def with_strings(self, strings: FeatureStrings) -> FeatureMap:
        min_n, n, *_ = self.orders
        if len(strings) == 0:
            return self.restrict(np.empty(0, np.int64))
        last = max(min(n, min_n + 1), int(np.diff(strings.offsets).max(initial=0)))
        ngrams, lengths = strings.matrix(last, min_n)
        return _checked(ngrams, lengths if min_n < n else lengths[:0], self.orders, self.alphabet, self.unit)


def _checked(ngrams: np.ndarray, lengths: np.ndarray, orders: Orders, alphabet: list[Any], unit: str) -> NGramMap:
    """The map of n-grams from a model file, whose content is not trusted."""
    min_n, n, last = orders.min_n, orders.n, ngrams.shape[1]
    if len(ngrams) == 0 and len(lengths) == 0:  # of any width
        last = 1 if min_n == n else 2
        return orders.map_of((ngrams.ravel(), lengths, *orders.parts(1, last), len(alphabet)), alphabet, unit)
    sound = last <= n and (last > min_n or min_n == n == last) and len(lengths) == (0 if min_n == n else len(ngrams))
    if sound:
        sound = ngrams.min() >= 0 and ngrams.max() < len(alphabet)
        sound = sound and (len(lengths) == 0 or (min_n <= lengths.min() and lengths.max() <= last))
    if not sound:
        raise InputError("the n-grams in the file do not fit its kernel")
    return orders.map_of((ngrams.ravel(), lengths, *orders.parts(min_n, last), len(alphabet)), alphabet, unit)
