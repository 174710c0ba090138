"""Explicit features of conjunctions of binary columns: all that occur, or the frequent ones."""

from dataclasses import dataclass, replace
from math import comb, inf
from typing import Any

import numpy as np
import scipy.sparse as sp

from treille import _core
from treille.data import Vectors
from treille.data.base import available_memory, readable_size, running_sum
from treille.features import Contributions, ExplainingMap, FeatureMap, FeatureRows, MergingMap, Rows, StoredRows
from treille.features.abilities import having
from treille.features.conjunction_rows import ConjunctionRows
from treille.features.feature_map import DependentFeaturesError, check_id
from treille.features.merging import Merged, alike
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.algebra import raise_to
from treille.kernels.base import Fitted
from treille.kernels.linear import ColumnMap, Linear
from treille.kernels.product_features import ProductMap

MOST_DEGREE = 100  # above it, values of conjunctions are too large or too different to be useful
STORED_BYTES = inf  # of rows; larger ones, and those that do not fit in memory, are matched whenever they are read
TABLE = 16  # bytes of a conjunction in hash tables, at most
STEPS = 3e7  # of an estimate of sizes: less than a second
PATTERN, ENTRY = 32, 8  # bytes of a conjunction with its weight, and of an entry of a row, at the peak of training


@dataclass(frozen=True)
class Powers:
    """(coef0 + x . y) ** degree on rows of zeros and ones, and the least number of examples in which a conjunction occurs.

    With ``exact``, this number is 1, and the features of new examples that no training example has count in their norms.
    """

    degree: int
    coef0: float
    min_support: int = 1
    exact: bool = True

    @property
    def squares(self) -> np.ndarray:
        """c_0 .. c_d: the squared values of conjunctions of 0 .. d columns."""
        return conjunction_coefficients(self.degree, self.coef0)

    def fit(self, kernel: Any, batch: Vectors, n_jobs: int | None = None) -> Fitted:
        """The frequent conjunctions of binary rows, and the rows by conjunction."""
        sizes = Sizes.of(self, batch)
        available = available_memory()
        if sizes.patterns_bytes > available or sizes.patterns >= 2**32:
            raise InputError(
                f"{kernel!r} has about {sizes.patterns:,.0f} conjunctions in these examples, which would take "
                f"{readable_size(int(sizes.patterns_bytes))}, but {readable_size(available)} are free: use a larger min_support "
                "(Conjunctions), a smaller degree, or the matrix, Polynomial(degree)(X, Y)"
            )
        threads, n_items = effective_n_jobs(n_jobs), sizes.columns.n_features
        most = int(min(available / 8, 2**32 - 2))
        try:
            patterns = _core.ConjunctionFeatures.mine(
                *(sizes.indptr, sizes.items, n_items, self.degree, self.min_support, most, self.coef0 > 0, threads),
                long_array=_core.ConjunctionFeatures.long_array,
            )
        except ValueError as error:
            raise InputError(f"{kernel!r}: {error}: use a larger min_support or a smaller degree") from None
        features = ConjunctionMap(self, sizes.columns, patterns)
        return features, features.rows_of(sizes.indptr, sizes.items, batch, sizes.is_stored, n_jobs)

    def prefers_features(self, batch: Vectors) -> bool:
        """Returns whether the examples have at most n^2 conjunctions altogether, n their number, and these fit in memory."""
        if occurrences(np.diff(batch.offsets), self.degree) > len(batch) ** 2:
            return False
        return Sizes.of(self, batch).patterns_bytes <= available_memory()

    def load(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        """The inverse of ``ConjunctionMap.state``."""
        columns = Linear().load_features(stored.value(spec, "columns", dict), arrays)
        constant = stored.value(spec, "constant", bool)
        levels, items = stored.array(arrays, "levels", np.uint8), stored.array(arrays, "items", np.uint32)
        kept = stored.array(arrays, "kept", np.uint8) if "kept" in arrays else np.empty(0, np.uint8)
        if constant and not self.coef0 > 0:
            raise InputError("the file has a constant, but coef0 of its kernel is 0")
        try:
            patterns = _core.ConjunctionFeatures.of(levels, items, kept, columns.n_features, self.degree, constant)
        except ValueError as error:
            raise InputError(f"the conjunctions in the file do not fit its kernel: {error}") from None
        return ConjunctionMap(self, columns, patterns)


@dataclass(frozen=True)
class Sizes:
    """Examples as items, rare ones first, and how many conjunctions they have: a bound, or an estimate if that does not fit."""

    columns: ColumnMap
    indptr: np.ndarray
    items: np.ndarray
    patterns: float
    occurrences: float

    @classmethod
    def of(cls, powers: Powers, batch: Vectors) -> "Sizes":
        """The sizes for binary rows."""
        support = np.bincount(batch.columns, minlength=batch.n_columns)
        frequent = np.flatnonzero(support >= powers.min_support)
        order = frequent[np.argsort(support[frequent], kind="stable")]
        names = None if batch.names is None else [batch.names[j] for j in order]
        columns = ColumnMap(order, names, batch.n_columns)
        indptr, items = items_of(columns, batch)
        lengths = np.diff(indptr)
        every = occurrences(lengths, powers.degree)
        sizes = cls(columns, indptr, items, every / powers.min_support, every)
        if sizes.patterns_bytes + sizes.rows_bytes <= min(STORED_BYTES, available_memory()):
            return sizes
        # All conjunctions of one example occur.
        least = occurrences(lengths[[np.argmax(lengths)]], powers.degree) if powers.min_support == 1 else 0.0
        if PATTERN * least > available_memory():
            return replace(sizes, patterns=least)
        arguments = (indptr, items, columns.n_features, powers.degree, powers.min_support)
        patterns, found = _core.estimate_conjunctions(*arguments, STEPS)
        return replace(sizes, patterns=max(least, patterns), occurrences=found if powers.min_support > 1 else every)

    @property
    def patterns_bytes(self) -> float:
        """Memory for the conjunctions and their weights."""
        return PATTERN * self.patterns

    @property
    def rows_bytes(self) -> float:
        """Memory for the rows by conjunction."""
        return (ENTRY + 4 * (self.patterns > 1 << 26)) * self.occurrences

    @property
    def is_stored(self) -> bool:
        """Whether rows by conjunction fit."""
        return self.rows_bytes <= STORED_BYTES and self.rows_bytes + self.patterns_bytes <= available_memory()


def occurrences(lengths: np.ndarray, degree: int) -> float:
    """The total number of conjunctions of up to `degree` columns in rows with this many columns."""
    total, each = 0.0, np.ones(len(lengths))
    with np.errstate(over="ignore"):
        for k in range(min(degree, int(lengths.max(initial=0)))):
            each = each * np.maximum(lengths - k, 0) / (k + 1)
            total += each.sum()
    return total


def items_of(columns: ColumnMap, batch: Vectors) -> tuple[np.ndarray, np.ndarray]:
    """Rows as items: item z is column z of `columns`; others are left out."""
    return _core.recode_items(batch.offsets, batch.columns, columns.ids_of(batch).astype(np.uint32))


class ConjunctionMap(ExplainingMap, MergingMap):
    """Conjunctions of columns. `columns` are those that occur in one, rare ones first: the items of the core."""

    def __init__(self, powers: Powers, columns: ColumnMap, patterns: _core.ConjunctionFeatures):
        self.powers = powers
        self.columns = columns
        self.patterns = patterns

    @property
    def n_features(self) -> int:
        return len(self.patterns)

    def transform(self, batch: Vectors, n_jobs: int | None = None) -> FeatureRows:
        if not is_binary(batch):
            return self._real_rows(batch, effective_n_jobs(n_jobs))
        indptr, items = items_of(self.columns, batch)
        most = ENTRY * occurrences(np.diff(indptr), self.powers.degree)
        return self.rows_of(indptr, items, batch, most <= min(STORED_BYTES, available_memory()), n_jobs)

    def rows_of(
        self, indptr: np.ndarray, items: np.ndarray, batch: Vectors, is_stored: bool, n_jobs: int | None = None
    ) -> FeatureRows:
        """The rows of binary examples, given as items: stored, or matched whenever they are read."""
        threads, powers = effective_n_jobs(n_jobs), self.powers
        squares, ones, none = powers.squares, np.ones(len(batch)), np.empty(0)
        values = np.sqrt(squares)
        rows: Rows | ConjunctionRows
        if is_stored:
            rows = Rows(*self.patterns.rows(indptr, items, values, threads), ones, none, self.n_features)
        else:
            rows = ConjunctionRows(self.patterns, indptr, items, values, ones, none)
        if powers.exact:
            return replace(rows, sq_norms=raise_to(np.diff(batch.offsets) + powers.coef0, powers.degree))
        if isinstance(rows, Rows):
            return replace(rows, sq_norms=rows.squares(threads))
        counts = self.patterns.level_counts(indptr, items, powers.degree, threads)
        return replace(rows, sq_norms=counts @ squares[1:] + squares[0] * self.patterns.constant)

    def n_factors(self, ids: np.ndarray) -> np.ndarray:
        return np.diff(self.patterns.items_of_all(np.ascontiguousarray(ids, np.int64))[0])

    def contributions(self, batch: Vectors, weights: np.ndarray, n_jobs: int | None = None) -> Contributions:
        """A conjunction is shared equally among its columns."""
        return Contributions.of_each(batch, weights.shape[1], lambda one: self._contributions(one, weights, n_jobs))

    def _contributions(self, example: Vectors, weights: np.ndarray, n_jobs: int | None) -> Contributions:
        """The contributions in one example."""
        rows = self.transform(example, n_jobs)
        row = having(rows.written(0, 1) if isinstance(rows, ConjunctionRows) else rows, StoredRows).to_csr()
        offsets, items = self.patterns.items_of_all(row.indices.astype(np.int64))
        sizes = np.diff(offsets)
        terms = row.data[:, None] * weights[row.indices]
        shares = np.zeros((self.columns.n_features, weights.shape[1]))
        np.add.at(shares, items, np.repeat(terms / np.maximum(sizes, 1)[:, None], sizes, axis=0))
        ids = self.columns.ids_of(example)[example.columns]
        values = np.where(ids[:, None] >= 0, shares[ids], 0.0) if len(shares) else np.zeros((len(ids), terms.shape[1]))
        return Contributions.of(example, values).plus(terms[sizes == 0].sum(axis=0))

    def row_products(self, weights: np.ndarray) -> "ConjunctionProducts":
        return ConjunctionProducts(self, weights)

    def _real_rows(self, batch: Vectors, threads: int) -> Rows:
        """Rows of other numbers than 0 and 1, projected on the features of binary rows: products with those are exact."""
        if not self.powers.exact:
            raise not_binary(batch)
        matrix, ids = batch.to_csr(), self.columns.ids_of(batch)
        known = ids[matrix.indices] >= 0
        counts = np.add.reduceat(np.append(known, False), batch.offsets[:-1]) * (np.diff(batch.offsets) > 0)
        kept = sp.csr_matrix(
            (matrix.data[known], ids[matrix.indices[known]], np.append(0, np.cumsum(counts))),
            shape=(len(batch), self.columns.n_features),
        )
        kept.sort_indices()
        indptr, items = kept.indptr.astype(np.int64), kept.indices.astype(np.uint32)
        values = np.sqrt(self.powers.squares)
        coded = self.patterns.real_rows(indptr, items, kept.data, float(self.powers.coef0), values, threads)
        norms = raise_to(Linear().diagonal(batch) + self.powers.coef0, self.powers.degree)
        return Rows(*coded, np.ones(len(batch)), norms, self.n_features)

    def name(self, id: int) -> str:
        check_id(id, self.n_features)
        items = sorted(self.patterns.items_of(id), key=self.columns.place)
        return " & ".join(map(self.columns.name, items)) or "constant"

    def ids_for_norms(self, ids: np.ndarray) -> np.ndarray:
        return ids if self.powers.exact else np.arange(self.n_features)

    def restrict(self, ids: np.ndarray) -> FeatureMap:
        levels, items, kept = self.patterns.restricted(np.ascontiguousarray(ids, np.int64))
        used, renumbered = np.unique(items, return_inverse=True)
        constant = self.patterns.constant and len(ids) > 0 and ids[0] == 0
        arrays = (levels, renumbered.astype(np.uint32), kept)
        patterns = _core.ConjunctionFeatures.of(*arrays, len(used), self.powers.degree, bool(constant))
        return ConjunctionMap(self.powers, self.columns.restrict(used), patterns)

    def merge(self, other: FeatureMap) -> Merged:
        if isinstance(other, ProductMap):  # of numbers other than 0 and 1
            merged, theirs, mine = other.merge(self)
            return merged, mine, theirs
        if not self.powers.exact:
            raise DependentFeaturesError(
                "in how many examples a conjunction occurs depends on all examples: fit on all of them, or use min_support=1, "
                "whose features merge"
            )
        other = alike(ConjunctionMap, self, other, "powers")
        columns, *items = self.columns.merge(other.columns)
        sets = [each._sets(own, self.powers.degree) for each, own in zip((self, other), items, strict=True)]
        trees, numbers = _in_trees(np.concatenate(sets))
        constant = self.patterns.constant or other.patterns.constant
        patterns = _core.ConjunctionFeatures.of(*trees, columns.n_features, self.powers.degree, constant)
        each = np.split(numbers + constant, [len(sets[0])])
        mine, theirs = (
            np.append(np.zeros(int(own.patterns.constant), np.int64), ids)
            for own, ids in zip((self, other), each, strict=True)
        )
        return ConjunctionMap(self.powers, columns, patterns), mine, theirs

    def _sets(self, renumbered: np.ndarray, width: int) -> np.ndarray:
        """The items of the features but the constant, renumbered: one row per feature, rising, with -1 after the last."""
        levels, items, kept = self.patterns.trees()
        sets, nodes, none = np.full((len(levels), width), -1), np.arange(len(levels)), len(renumbered) + 2**32
        for level in range(1, int(levels.max(initial=0)) + 1):
            above = np.maximum.accumulate(np.where(levels == level, nodes, 0))  # the node of this level above each
            inside = levels >= level
            sets[inside, level - 1] = renumbered[items[above[inside]]]
        sets = np.sort(np.where(sets < 0, none, sets), axis=1)
        sets[sets == none] = -1
        return sets[kept > 0] if len(kept) else sets

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        spec, arrays = self.columns.state()
        levels, items, kept = self.patterns.trees()
        arrays = arrays | {"levels": levels, "items": items} | ({"kept": kept} if len(kept) else {})
        return {"columns": spec, "constant": self.patterns.constant}, arrays

    def __reduce__(self) -> tuple[Any, ...]:
        return self.powers.load, self.state()


def _in_trees(sets: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    """Trees that hold these conjunctions, as the core takes them, and the number of each among the different ones, depth first.

    Each row has the items of a conjunction, rising, and -1 after the last. So rows in lexicographic order are in depth-first
    order, and what a row does not share with the row before it are new nodes; only the last of these is a conjunction itself.
    """
    width = sets.shape[1]
    order = np.lexsort(sets.T[::-1]) if len(sets) else np.empty(0, np.int64)
    rows = sets[order]
    shared = np.zeros(len(rows), np.int64)
    shared[1:] = np.cumprod(rows[1:] == rows[:-1], axis=1).sum(axis=1)
    first = shared < width
    numbers = np.empty(len(rows), np.int64)
    numbers[order] = np.cumsum(first) - 1
    rows, shared = rows[first], shared[first]
    sizes = (rows >= 0).sum(axis=1)
    ends = running_sum(sizes - shared)
    owners = np.repeat(np.arange(len(rows)), sizes - shared)
    levels = np.arange(ends[-1]) - (ends[:-1] - shared)[owners] + 1
    kept = levels == sizes[owners]
    trees = levels.astype(np.uint8), rows[owners, levels - 1].astype(np.uint32), kept.astype(np.uint8)
    return (*trees[:2], trees[2][:0] if kept.all() else trees[2]), numbers


class ConjunctionProducts:
    """Rows times weights: at first by the rows; by hash tables once as many conjunctions were looked up as the tables have."""

    def __init__(self, features: ConjunctionMap, weights: np.ndarray):
        self.features = features
        self.weights = np.ascontiguousarray(weights, np.float64)
        self.looked_up = 0.0
        self.tables: _core.ConjunctionProducts | None = None

    def __call__(self, batch: Vectors, n_jobs: int | None = None) -> np.ndarray:
        features, threads = self.features, effective_n_jobs(n_jobs)
        if self.tables is None and self._are_worth_it(batch):
            values = np.sqrt(features.powers.squares)
            self.tables = _core.ConjunctionProducts(
                features.patterns, self.weights.ravel(), self.weights.shape[1], values
            )
        if self.tables is None or not is_binary(batch):
            return features.transform(batch, n_jobs).matvec(self.weights, threads)
        return self.tables.matvec(*items_of(features.columns, batch), threads)

    def _are_worth_it(self, batch: Vectors) -> bool:
        n_features = self.features.n_features
        self.looked_up += occurrences(np.diff(batch.offsets), self.features.powers.degree)
        return self.looked_up >= n_features and 2 * TABLE * n_features <= available_memory()


def depends_on_numbers(powers: Powers) -> DependentFeaturesError:
    """Why conjunctions and products of columns do not merge."""
    base = f"({powers.coef0:g} + Linear())" if powers.coef0 else "Linear()"
    return DependentFeaturesError(
        "the features of one part are conjunctions of columns, since all its numbers are 0 or 1, and those of another are products "
        f"of columns: which of the two depends on all examples; use {base} ** {powers.degree}, whose features are always products"
    )


def is_binary(batch: Vectors) -> bool:
    """Returns whether all numbers are 0 or 1."""
    return bool((batch.values == 1).all())


def not_binary(batch: Vectors) -> InputError:
    """The error for rows in which a number is neither 0 nor 1."""
    e = int(np.argmax(batch.values != 1))
    row, column = int(np.searchsorted(batch.offsets, e, side="right")) - 1, int(batch.columns[e])
    name = column if batch.names is None else repr(batch.names[column])
    return InputError(
        f"row {row}, column {name} is {batch.values[e]:g}, expected 0 or 1, since conjunctions are of binary features: binarise "
        "the columns, or use Polynomial, which multiplies numbers"
    )


def conjunction_coefficients(degree: int, coef0: float = 1.0) -> np.ndarray:
    """c_0 .. c_d such that (coef0 + s) ** d = sum over k of c_k (s over k), for whole numbers s >= 0.

    For rows x and y of zeros and ones, s = x . y counts their common features, and (s over k) their common conjunctions
    of k features. So one feature of value sqrt(c_k) per conjunction of k features gives the polynomial kernel exactly.
    c_k is the sum over r of (d over r) coef0^(d - r) k! S(r, k), S the Stirling numbers of the second kind.

    >>> conjunction_coefficients(2).tolist(), conjunction_coefficients(3).tolist()
    ([1.0, 3.0, 2.0], [1.0, 7.0, 12.0, 6.0])
    """
    d, c = int(degree), int(coef0) if float(coef0).is_integer() else float(coef0)
    onto, sums = [1] + d * [0], (d + 1) * [0 * c]  # onto[k] = k! S(r, k), the number of maps of r elements onto k
    for r in range(d + 1):
        sums = [total + comb(d, r) * c ** (d - r) * each for total, each in zip(sums, onto, strict=True)]
        onto = [0] + [k * (onto[k] + onto[k - 1]) for k in range(1, d + 1)]
    try:
        return np.array([float(each) for each in sums])
    except OverflowError:
        raise InputError(f"the degree {d} has coefficients too large for a float64: use a smaller degree") from None
