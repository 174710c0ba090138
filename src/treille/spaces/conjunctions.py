"""Binary examples with conjunctions of their features: rows for solvers, and functions that score new examples fast."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from treille import _core
from treille.data.base import available_memory, readable_size
from treille.data.format import count
from treille.features.compaction import Representation
from treille.features.rows import Rows
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.conjunction_features import STEPS, occurrences
from treille.spaces.space import RowsSpace

# Bytes of a conjunction, and of an entry of a row, at the peak of training; cells have fewer of both.
CELL, ENTRY = 24, 4
NONE_LATE = 2**32 - 1


@dataclass(frozen=True, eq=False)
class ConjunctionSpace(RowsSpace):
    """Binary examples with the features sqrt(c_k) for each conjunction of k columns that occurs in `min_support` examples or more.

    Conjunctions that occur in the same examples share one column, a cell, so rows have about a third of the entries. Made by `of`.
    """

    cells: Any = field(kw_only=True)
    n_items: int = field(kw_only=True)
    squares: np.ndarray = field(kw_only=True)  # c_1, c_2, ...

    @classmethod
    def of(
        cls,
        indptr: np.ndarray,
        columns: np.ndarray,
        item_of: np.ndarray,
        squares: np.ndarray,
        min_support: int = 1,
        n_jobs: int | None = None,
    ) -> "ConjunctionSpace":
        """The space of examples that have the columns ``columns[indptr[i]:indptr[i + 1]]``.

        Column j is item ``item_of[j]``, rare items first.

        Values are divided by the root of their mean square, so that C means the same for every degree.

        >>> space = ConjunctionSpace.of(
        ...     np.array([0, 2, 3]), np.array([0, 1, 0], np.int32), np.array([1, 0], np.uint32), np.array([3.0, 2.0])
        ... )
        >>> space.sizes(), space.rows.diag().round(3).tolist()
        ('2 examples, 3 conjunctions in 3 cells, 3 entries, 100 bytes of rows', [1.455, 0.545])
        """
        threads = effective_n_jobs(n_jobs)
        _check_size(indptr, columns, item_of, len(squares), min_support)
        cells = _core.ConjunctionCells(indptr, columns, item_of, len(item_of), len(squares), min_support, threads)
        entries = cells.take_rows()
        values = cells.squares(squares)
        n, ones = len(indptr) - 1, np.ones(len(indptr) - 1)
        norms = _core.matvec(_core.CodedRows(*entries, ones, len(values), len(values)), values, 1, threads)
        scale = 1 / np.sqrt(norms.mean()) if norms.any() else 1.0
        rows = Rows(*entries, np.full(n, scale), norms, len(values), np.sqrt(values))
        return cls(rows, n_jobs=n_jobs, cells=cells, n_items=len(item_of), squares=squares)

    @property
    def scale(self) -> float:
        """The factor of all values."""
        return float(self.rows.scale[0]) if len(self.rows) else 1.0

    def represented(self, representation: str, n_problems: int) -> Representation:
        """The rows by cell, for any representation: none is smaller."""
        rows = self.rows
        arrays = (rows.indptr, rows.entries, rows.code_bits, rows.codebook, rows.scale)
        core = _core.CodedRows(*arrays, rows.n_features, self.cells.n_shared).weighted(rows.column_weights)
        sizes = f"{count(self.cells.n_patterns, 'conjunction')} in {count(rows.n_features, 'cell')}, {rows.n_entries:,} entries"
        return Representation(
            "cells", "because conjunctions of the same examples share one", sizes, core, weights=False
        )

    def weights_of(self, coefficients: np.ndarray, first_late: int = NONE_LATE) -> "ConjunctionWeights":
        """The functions sum_i coefficients[i, k] k(x_i, x), as weights of the conjunctions that have some.

        Items from ``first_late`` on become known last, when others are scored already.
        """
        n_functions = coefficients.shape[1]
        scaled = np.ascontiguousarray(coefficients * self.scale).ravel()
        words, at = _core.weight_lists(self.rows.coded(), scaled, n_functions)
        levels, items, lists = self.cells.patterns(at)
        arrays = (levels, items, lists, words)
        return ConjunctionWeights(*arrays, self.n_items, n_functions, self.squares, self.scale, first_late)

    def sizes(self) -> str:
        rows = self.rows
        return (
            f"{count(len(rows), 'example')}, {count(self.cells.n_patterns, 'conjunction')} in {count(rows.n_features, 'cell')}, "
            f"{rows.n_entries:,} entries, {readable_size(rows.nbytes)} of rows"
        )


@dataclass(frozen=True, eq=False)
class ConjunctionWeights:
    """Functions of sets of items: f_k(x) = scale sum over the conjunctions P in x of squares[|P| - 1] v_k(P).

    Conjunctions are nodes of trees in depth-first order: ``levels`` and ``items``. ``lists`` say where the weights of each begin
    in ``words``, as the core reads them.
    """

    levels: np.ndarray
    items: np.ndarray
    lists: np.ndarray
    words: np.ndarray
    n_items: int
    n_functions: int
    squares: np.ndarray
    scale: float
    first_late: int = NONE_LATE

    @cached_property
    def scorer(self) -> Any:
        """The functions as the core evaluates them."""
        arrays = (self.levels, self.items, self.lists, self.words)
        return _core.ConjunctionScorer(*arrays, self.n_items, self.n_functions, self.squares, self.first_late)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "scorer"}

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The content of a model file; `load` is the inverse."""
        arrays = {name: getattr(self, name) for name in ("levels", "items", "lists", "words", "squares")}
        return {"scale": self.scale}, arrays  # whose sizes follow from the features beside them

    @classmethod
    def load(
        cls,
        spec: dict[str, Any],
        arrays: dict[str, np.ndarray],
        n_items: int,
        n_functions: int,
        first_late: int = NONE_LATE,
    ) -> "ConjunctionWeights":
        """The functions that `state` describes, checked before the core reads them."""
        squares, words = stored.array(arrays, "squares", np.float64), stored.array(arrays, "words", np.uint32)
        levels, items = stored.array(arrays, "levels", np.uint8), stored.array(arrays, "items", np.uint32)
        lists = stored.array(arrays, "lists", np.uint32)
        scale = stored.number(spec, "scale")
        weights = cls(levels, items, lists, words, n_items, n_functions, squares, scale, first_late)
        try:
            weights.scorer  # noqa: B018 (computed here, so that what does not fit is refused)
        except ValueError as error:
            raise InputError(f"{error} in the file") from None
        return weights


def _check_size(indptr: np.ndarray, columns: np.ndarray, item_of: np.ndarray, degree: int, min_support: int) -> None:
    """Refuses conjunctions that would not fit in memory: by a bound first, then by an estimate."""
    available = available_memory()
    bound = occurrences(np.diff(indptr), degree)
    if ENTRY * bound + CELL * bound / min_support <= available:
        return
    rows = _core.recode_items(indptr, columns, item_of)
    patterns, entries = _core.estimate_conjunctions(*rows, len(item_of), degree, min_support, STEPS)
    if ENTRY * entries + CELL * patterns > available:
        raise InputError(
            f"there are about {patterns:,.0f} conjunctions of up to {degree} features, {entries:,.0f} in all examples, which "
            f"would take {readable_size(int(ENTRY * entries + CELL * patterns))}, but {readable_size(available)} are free: "
            "use a larger min_support, a smaller degree, or fewer features"
        )
