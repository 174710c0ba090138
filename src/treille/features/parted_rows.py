"""Rows in parts, which are not in memory together: on disk, or on the workers of a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from treille.data.base import running_sum
from treille.features.abilities import having
from treille.features.concatenated_rows import ConcatenatedRows, PerProblemRows
from treille.features.rows import CountableRows, FeatureRows, Rows, WeighableRows
from treille.io.errors import InputError

P = TypeVar("P", bound="RowParts[Any]")


class RowParts(ABC, Generic[P]):
    """The place of the parts of rows, and computations with one part after another, or with all at once.

    >>> import treille
    >>> class InMemory(DiskRows):
    ...     def __init__(self, *parts):
    ...         self.parts, self.lengths = parts, np.array([len(rows) for rows in parts])
    ...     def load(self, part):
    ...         return self.parts[part]
    ...     def bytes_of(self, part):
    ...         return self.parts[part].nbytes
    >>> rows = treille.Features(treille.kernels.NGram(1)).fit_rows(["aab", "b"])
    >>> InMemory(rows, rows).changed(lambda rows: rows.scaled(2.0)).total(lambda rows, part: rows.diag()).tolist()
    [40.0, 8.0]
    """

    lengths: np.ndarray  # rows of each part

    @abstractmethod
    def each(self, compute: Callable[[FeatureRows, int], Any]) -> list[Any]:
        """``compute(rows, part)`` for every part, in their order."""

    @abstractmethod
    def total(self, compute: Callable[[FeatureRows, int], np.ndarray]) -> np.ndarray:
        """The sum of ``compute(rows, part)`` over the parts."""

    @abstractmethod
    def changed(self, change: Callable[..., FeatureRows], others: Sequence[P] = ()) -> P:
        """The parts with ``change(rows, *rows of others)`` for the rows of each."""


class DiskRows(RowParts["DiskRows"]):
    """Parts on disk, which are read one after another."""

    @abstractmethod
    def load(self, part: int) -> FeatureRows:
        """The rows of a part. They are read from disk when they are used."""

    @abstractmethod
    def bytes_of(self, part: int) -> int:
        """The memory that the rows of a part take."""

    def each(self, compute: Callable[[FeatureRows, int], Any]) -> list[Any]:
        return [compute(self.load(part), part) for part in range(len(self.lengths))]

    def total(self, compute: Callable[[FeatureRows, int], np.ndarray]) -> np.ndarray:
        sums = np.asarray(compute(self.load(0), 0))
        for part in range(1, len(self.lengths)):
            sums += compute(self.load(part), part)
        return sums

    def changed(self, change: Callable[..., FeatureRows], others: Sequence[DiskRows] = ()) -> DiskRows:
        return ChangedRows((self, *others), change)


class ChangedRows(DiskRows):
    """Rows that are computed from others whenever they are read."""

    def __init__(self, stores: Sequence[DiskRows], change: Callable[..., FeatureRows]):
        self.stores, self.change, self.lengths = tuple(stores), change, stores[0].lengths

    def load(self, part: int) -> FeatureRows:
        return self.change(*(store.load(part) for store in self.stores))

    def bytes_of(self, part: int) -> int:
        return sum(store.bytes_of(part) for store in self.stores)


class PartedRows(CountableRows, Generic[P]):
    """The rows of all parts, one after another. What needs all rows at once is refused; sums over rows are sums over parts.

    >>> import treille
    >>> from treille.scale import Parts
    >>> space = []
    >>> class Kept(treille.solvers.BlockMinimization):
    ...     def solve(self, problem, given, **options):
    ...         space.append((type(given.rows).__name__, given.rows.offsets.tolist(), given.rows.diag().tolist()))
    ...         return super().solve(problem, given, **options)
    >>> parts = Parts.of([(["aab", "b"], [0, 1]), (["b"], [1])])
    >>> _ = treille.SVC(treille.kernels.NGram(1), solver=Kept()).fit(parts)
    >>> space
    [('PartedRows', [0, 2, 3], [5.0, 1.0, 1.0])]
    """

    lacking = "training in parts"

    n_features: int

    def __init__(self, store: P, n_features: int, n_problems: int = 0):
        self.store = store
        self.n_features = n_features
        self.n_problems = n_problems  # whose values differ, as in `PerProblemRows`; 0: none
        self.offsets = running_sum(store.lengths)

    @property
    def problems(self) -> tuple[PartedRows[P], ...]:
        if not self.n_problems:
            return (self,)
        each = (self.store.changed(lambda rows, k=k: rows.problems[k]) for k in range(self.n_problems))
        return tuple(PartedRows(store, self.n_features) for store in each)

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @property
    def n_entries(self) -> int:
        return int(sum(self.store.each(lambda rows, part: rows.n_entries)))

    @cached_property
    def nbytes(self) -> int:
        return int(sum(self.store.each(lambda rows, part: rows.nbytes)))

    def __sizeof__(self) -> int:
        return object.__sizeof__(self)  # the rows are elsewhere

    def diag(self) -> np.ndarray:
        return np.concatenate(self.store.each(lambda rows, part: rows.diag()))

    def scaled(self, factor: float) -> PartedRows[P]:
        return self.changed(lambda rows: rows.scaled(factor))

    def normalized(self) -> PartedRows[P]:
        return self.changed(lambda rows: rows.normalized())

    def weighted(self, column_weights: np.ndarray, unseen: float = 1.0, threads: int = 1) -> PartedRows[P]:
        return self.changed(lambda rows: having(rows, WeighableRows).weighted(column_weights, unseen, threads))

    def weighted_by_problem(self, column_weights: np.ndarray, unseen: float = 1.0, threads: int = 1) -> PartedRows[P]:
        n, given = len(column_weights), (column_weights, unseen, threads)
        return self.changed(lambda rows: having(rows, WeighableRows).weighted_by_problem(*given), n)

    def renumbered(self, ids: np.ndarray, n_features: int, threads: int = 1) -> PartedRows[P]:
        """See `Rows.renumbered`."""
        changed = self.store.changed(lambda rows: having(rows, Rows).renumbered(ids, n_features, threads))
        return PartedRows(changed, n_features, self.n_problems)

    def frequencies(self, groups: np.ndarray, threads: int = 1) -> np.ndarray:
        each = np.split(groups, self.offsets[1:-1])
        return self.store.total(lambda rows, part: having(rows, CountableRows).frequencies(each[part], threads))

    def matvec(self, weights: np.ndarray, threads: int = 1) -> np.ndarray:
        return np.concatenate(self.store.each(lambda rows, part: rows.matvec(weights, threads)))

    def rmatvec(self, coefficients: np.ndarray, threads: int = 1, out: np.ndarray | None = None) -> np.ndarray:
        at = self.offsets
        sums = self.store.total(lambda rows, part: rows.rmatvec(coefficients[at[part] : at[part + 1]], threads))
        if out is None:
            return sums
        out[:] = sums
        return out

    def refusal(self, ability: Any) -> InputError:
        return InputError(
            f"the rows are in parts that are not in memory together, so they do not offer {ability.lacking}"
        )

    def changed(self, change: Callable[[FeatureRows], FeatureRows], n_problems: int = 0) -> PartedRows[P]:
        """``change(rows)`` for the rows of each part, whose values then differ between `n_problems` problems, or as before."""
        return PartedRows(self.store.changed(change), self.n_features, n_problems or self.n_problems)


def concatenate_rows(terms: Sequence[FeatureRows]) -> FeatureRows:
    """The features of several terms, in this order. Terms may differ from problem to problem, or be in the same parts.

    >>> import treille
    >>> one, two = (treille.Features(treille.kernels.NGram(n)).fit_rows(["aab", "b"]) for n in (1, 2))
    >>> concatenate_rows([one, two]).to_csr().toarray().tolist()
    [[1.0, 2.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0]]
    """
    parted = [rows for rows in terms if isinstance(rows, PartedRows)]
    if parted:
        first, *others = parted
        changed = first.store.changed(lambda *rows: concatenate_rows(rows), [rows.store for rows in others])
        return PartedRows(changed, sum(rows.n_features for rows in terms), max(rows.n_problems for rows in parted))
    most = max(len(rows.problems) for rows in terms)
    if most == 1:
        return ConcatenatedRows(terms)
    each = [rows.problems if len(rows.problems) > 1 else (rows,) * most for rows in terms]
    return PerProblemRows([ConcatenatedRows(own) for own in zip(*each, strict=True)])
