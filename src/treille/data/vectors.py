"""Vectors: rows of numbers, dense or sparse, with or without names of their columns."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from treille.data.base import (
    FlatBatch,
    Summary,
    as_index,
    available_memory,
    codes_of,
    first_item,
    from_arrow,
    is_frame,
    per_column,
    running_sum,
)
from treille.data.format import count, listed
from treille.io import stored
from treille.io.errors import InputError
from treille.io.packed import NumberRows

MOST_COLUMNS = 2**31 - 1


class Vectors(FlatBatch):
    """Many rows of numbers, without zeros: row i has ``values[offsets[i]:offsets[i + 1]]`` in ``columns[...]``.

    Parameters
    ----------
    data : 2-D array, sparse matrix, DataFrame, list of rows, list of dicts, list of sets, or what `treille.io` read
        A row per example. A dict holds the numbers that are not zero, by name; names of other dicts are zero in it. A str in a
        dict is the column ``name=value`` with the number 1, as are the str of a list or a set in it. A set, list or tuple of str
        is a row of binary features: 1 in these columns. (Most kernels read lists of str as sequences of symbols.)
    names : list of str or None
        Names of the columns. A DataFrame and dicts have theirs; without names, columns are identified by position.

    Attributes
    ----------
    values : float64 array
        The numbers that are not zero.
    columns : int32 array
        The column of each, rising within a row.
    offsets : int64 array
        Where each row begins, and one more for the end of the last.
    names : list of str or None
        Names of the columns, if they have some. Those of dicts are sorted.
    n_columns : int
        How many columns there are.

    Examples
    --------
    >>> from treille import Vectors
    >>> batch = Vectors([[1.5, 0.0], [0.0, 2.0]])
    >>> len(batch), batch[0].tolist(), batch.columns.tolist()
    (2, [1.5, 0.0], [0, 1])
    >>> named = Vectors([{"length": 12, "gc": 0.5}, {"length": 7}])
    >>> named.names, named[1], named[:1]
    (['gc', 'length'], {'length': 7.0}, Vectors(1 row of 2 columns, 2 numbers not zero))
    >>> Vectors([{"word=The", "title"}, ["word=cat"]]).names, Vectors([{"word": "The", "title": True}])[0]
    (['title', 'word=The', 'word=cat'], {'title': 1.0, 'word=The': 1.0})
    """

    title = "rows of numbers"
    packed = NumberRows
    stored = ("values", "columns", "offsets")
    values: np.ndarray
    columns: np.ndarray
    names: list[str] | None
    n_columns: int

    def __init__(self, data: Any, names: Sequence[str] | None = None):
        matrix, own = _read(data)
        if names is not None and own is not None:
            raise InputError("names were given, but the columns have names already: leave one out")
        own = _checked_names(names, matrix.shape[1]) if own is None else own
        self._hold(**_arrays(matrix, own), names=own, n_columns=matrix.shape[1])

    @classmethod
    def recognises(cls, data: Any) -> bool:
        """Returns whether data are rows of numbers, and nothing else.

        >>> Vectors.recognises([[0.5, 1.0]]), Vectors.recognises([{"gc": 0.5}]), Vectors.recognises([["a", "b"]])
        (True, True, False)
        """
        if isinstance(data, (Vectors, NumberRows)) or sp.issparse(data) or is_frame(data):
            return True
        if isinstance(data, np.ndarray):
            return data.ndim == 2 and data.dtype.kind in "fb"
        first = first_item(data)
        if isinstance(first, (list, tuple, np.ndarray)):
            return any(isinstance(v, (float, np.floating)) for v in first)
        return isinstance(first, Mapping) or (isinstance(first, Set) and all(isinstance(v, str) for v in first))

    @classmethod
    def json_schema(cls, units: Sequence[Any] = ()) -> dict[str, Any]:
        words = {"title": "vectors", "description": "a list of numbers, or an object of numbers by name"}
        words["$comment"] = 'Numbers with blanks or commas between them, or JSON: {"name": 1.5}'
        number = {"type": "number"}
        names = {"type": "array", "items": {"type": "string"}}
        return words | {"anyOf": [{"type": "array", "items": number}, {"type": "object"}, names, number]}

    @classmethod
    def default_kernels(cls, data: Any) -> tuple[tuple[str, str], ...]:
        return (("linear()", "rows of numbers get a weight for each column"),)

    @classmethod
    def summarise(cls, data: Any, n_samples: int, width: int) -> Summary:
        batch = data if isinstance(data, Vectors) else cls(data)
        numbers, cells = len(batch.values), len(batch) * batch.n_columns
        low, high = (float(batch.values.min()), float(batch.values.max())) if numbers else (0.0, 0.0)
        share = f"{numbers / max(cells, 1):.2%} of all, {low:.4g} to {high:.4g}"
        names = batch.names or [str(j) for j in range(batch.n_columns)]
        fields = {
            "columns": f"{batch.n_columns:,}, {listed(names, 10)}",
            "numbers": f"{numbers:,} are not zero, {share}",
        }
        rows = batch.to_csr()[:n_samples]
        samples = [" ".join(f"{names[j]}:{v:g}" for j, v in zip(r.indices, r.data, strict=True)) for r in rows]
        return Summary(fields, {"columns": batch.n_columns, "numbers": numbers, "range": [low, high]}, samples)

    def to_csr(self) -> sp.csr_matrix:
        """The same rows as a scipy matrix; it shares their memory.

        >>> from treille import Vectors
        >>> Vectors([[0, 3], [1, 0]]).to_csr().toarray().tolist()
        [[0.0, 3.0], [1.0, 0.0]]
        """
        return sp.csr_matrix((self.values, self.columns, self.offsets), shape=(len(self), self.n_columns))

    def part_names(self, i: int) -> list[str]:
        """The columns of row i whose numbers are stored."""
        columns = self.columns[self.offsets[i] : self.offsets[i + 1]].tolist()
        return [f"x{column}" if self.names is None else self.names[column] for column in columns]

    def __getitem__(self, key: Any) -> Any:
        key = as_index(key, len(self))
        if isinstance(key, int):
            row = slice(self.offsets[key], self.offsets[key + 1])
            if self.names is not None:
                return {self.names[j]: float(v) for j, v in zip(self.columns[row], self.values[row], strict=True)}
            dense = np.zeros(self.n_columns)
            dense[self.columns[row]] = self.values[row]
            return dense
        matrix = self.to_csr()[np.arange(len(self))[key]]
        arrays = {"values": matrix.data, "columns": matrix.indices, "offsets": matrix.indptr.astype(np.int64)}
        return Vectors.__new__(Vectors)._hold(**arrays, names=self.names, n_columns=self.n_columns)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"names": self.names, "n_columns": self.n_columns}, self._stored_arrays()

    @classmethod
    def _read_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> "Vectors":
        width, values = stored.whole(spec, "n_columns", most=MOST_COLUMNS), stored.array(arrays, "values", np.float64)
        if (
            8 * width > available_memory()
        ):  # few columns of many may occur, as in hashed features: no array bounds their number
            raise InputError(f"the field 'n_columns' is {width:,}, which needs more memory than there is")
        columns, offsets = stored.indices(arrays, "columns", width), stored.offsets(arrays, "offsets", len(values))
        if len(columns) != len(values):
            raise InputError("the vectors in the file do not have one column for each number")
        names = None if spec.get("names", 0) is None else stored.names(spec, "names")
        return cls(sp.csr_matrix((values, columns, offsets), shape=(len(offsets) - 1, width)), names)

    def __repr__(self) -> str:
        shape = f"{count(len(self), 'row')} of {count(self.n_columns, 'column')}"
        return f"Vectors({shape}, {len(self.values):,} numbers not zero)"


def _read(data: Any) -> tuple[sp.csr_matrix, list[str] | None]:
    """The numbers as a CSR matrix of float64, and the names of the columns if they have some."""
    data = from_arrow(data)
    if isinstance(data, Vectors):
        return data.to_csr().copy(), data.names
    if isinstance(data, NumberRows):
        return data.matrix.copy(), data.names
    if sp.issparse(data):
        if data.dtype.kind not in "fiub":
            raise InputError(f"found a sparse matrix of {data.dtype}, expected numbers")
        return sp.csr_matrix(data, dtype=np.float64, copy=True), None
    if is_frame(data):
        names = _checked_names([str(name) for name in data.columns], len(data.columns))
        try:
            columns = [_floats(data[name], f"column {str(name)!r}") for name in data.columns]
        except InputError as error:
            raise InputError(f"{error}; {per_column(data)}") from None
        return sp.csr_matrix(np.column_stack(columns) if columns else np.empty((len(data), 0))), names
    if isinstance(data, np.ndarray) and data.dtype.kind in "fiub":
        if data.ndim != 2:
            raise InputError(
                f"found an array of shape {data.shape}, expected two dimensions: a row per example, a column per number"
            )
        return sp.csr_matrix(data, dtype=np.float64), None
    if not isinstance(data, Iterable) or isinstance(data, (str, bytes, Mapping)):
        raise InputError(
            f"found {type(data).__name__}, expected rows of numbers: an array, a sparse matrix, a DataFrame, a list of"
            " lists, of dicts or of sets"
        )
    rows = list(data)
    if rows and isinstance(rows[0], Mapping):
        return _from_dicts(rows)
    if _are_names(rows):
        return _from_names(rows)
    return sp.csr_matrix(_from_lists(rows)), None


def _from_dicts(rows: list[Any]) -> tuple[sp.csr_matrix, list[str]]:
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(f"row {i} is {type(row).__name__}, expected a dict like the rows before it")
        for name in row:
            if not isinstance(name, str):
                raise InputError(f"row {i}: the name {name!r} is {type(name).__name__}, expected str")
    kinds = set(map(type, chain.from_iterable(row.values() for row in rows)))
    if any(issubclass(kind, (str, list, tuple, Set)) for kind in kinds):
        rows = [_with_names(row) for row in rows]
    columns, offsets, names = _coded(rows)
    values = np.array([_float(v, f"row {i}, {n!r}") for i, row in enumerate(rows) for n, v in row.items()], np.float64)
    return sp.csr_matrix((values, columns, offsets), shape=(len(rows), len(names))), names


def _with_names(row: Mapping[str, Any]) -> dict[str, Any]:
    """A dict in which a str is the column ``name=value`` with the number 1."""
    numbers: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, str):
            numbers[f"{name}={value}"] = 1.0
        elif isinstance(value, (list, tuple, Set)) and all(isinstance(each, str) for each in value):
            numbers.update((f"{name}={each}", 1.0) for each in value)
        else:
            numbers[name] = value
    return numbers


def _are_names(rows: list[Any]) -> bool:
    """Returns whether rows are lists or sets of str: the first that is not empty decides between lists of str and of numbers."""
    if not all(issubclass(kind, (list, tuple, Set)) for kind in set(map(type, rows))):
        return bool(rows) and isinstance(rows[0], Set)
    first = next((row for row in rows if row), ())
    return any(isinstance(row, Set) for row in rows) or isinstance(next(iter(first), None), str)


def _from_names(rows: list[Any]) -> tuple[sp.csr_matrix, list[str]]:
    """Binary features: a 1 for each str, however often a list has it."""
    for i, row in enumerate(rows):
        if not isinstance(row, (list, tuple, Set)):
            raise InputError(f"row {i} is {type(row).__name__}, expected a list or set of str like the rows before it")
    try:
        columns, offsets, names = _coded(rows)
    except TypeError:  # a value that is not a str
        i, value = next((i, v) for i, row in enumerate(rows) for v in row if not isinstance(v, str))
        raise InputError(
            f"row {i}: {str(value)[:40]!r} is {type(value).__name__}, expected str like the features before it"
        ) from None
    matrix = sp.csr_matrix((np.ones(len(columns)), columns, offsets), shape=(len(rows), len(names)))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix, names


def _coded(rows: list[Any]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Columns and offsets of rows of names, and the names, sorted. Costs no Python code per name."""
    names = sorted(set().union(*rows))
    if not all(isinstance(name, str) for name in names):
        raise TypeError
    place, lengths = codes_of(names), list(map(len, rows))
    columns = np.fromiter(map(place.__getitem__, chain.from_iterable(rows)), np.int32, sum(lengths))
    return columns, running_sum(lengths), names


def _from_lists(rows: list[Any]) -> np.ndarray:
    dense = []
    for i, row in enumerate(rows):
        if isinstance(row, (str, bytes, Mapping)) or not isinstance(row, Iterable):
            raise InputError(f"row {i} is {type(row).__name__} ({str(row)[:40]!r}), expected a list of numbers")
        dense.append(_floats(row, f"row {i}", "column"))
        if len(dense[i]) != len(dense[0]):
            raise InputError(f"row {i} has {len(dense[i])} numbers, expected {len(dense[0])} like the rows before it")
    return np.array(dense, dtype=np.float64).reshape(len(rows), -1 if rows else 0)


def _floats(values: Any, place: str, inner: str = "row") -> np.ndarray:
    """One row or column as float64."""
    array = np.asarray(values) if not isinstance(values, (list, tuple)) else np.empty(0, dtype=object)
    if array.ndim == 1 and array.dtype.kind in "fiub":
        return array.astype(np.float64)
    return np.array([_float(v, f"{place}, {inner} {k}") for k, v in enumerate(values)], dtype=np.float64)


def _float(value: Any, place: str) -> float:
    if not isinstance(value, (Real, np.number, np.bool_)):
        missing = value is None or type(value).__name__ in ("NAType", "NaTType")
        shown = "missing" if missing else f"{str(value)[:40]!r} ({type(value).__name__})"
        raise InputError(f"{place} is {shown}, expected a number{': fill it in or leave the row out' * missing}")
    return float(value)


def _checked_names(names: Sequence[str] | None, n_columns: int) -> list[str] | None:
    if names is None:
        return None
    if len(names) != n_columns:
        raise InputError(f"{len(names)} names were given for {n_columns} columns")
    twice = next((name for name, n in Counter(names).items() if n > 1), None)
    if twice is not None:
        raise InputError(f"two columns have the name {twice!r}: rename one")
    return list(names)


def _arrays(matrix: sp.csr_matrix, names: list[str] | None) -> dict[str, np.ndarray]:
    """Values, columns and offsets: no zeros, columns increasing, every number finite."""
    if matrix.shape[1] > MOST_COLUMNS:
        raise InputError(f"there are {matrix.shape[1]:,} columns, expected at most {MOST_COLUMNS:,}")
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    for e in np.flatnonzero(~np.isfinite(matrix.data))[:1]:
        row, column = int(np.searchsorted(matrix.indptr, e, side="right")) - 1, int(matrix.indices[e])
        raise InputError(
            f"row {row}, column {column if names is None else repr(names[column])} is {matrix.data[e]}, expected a"
            " finite number: fill it in or leave the row out"
        )
    columns, offsets = matrix.indices.astype(np.int32, copy=False), matrix.indptr.astype(np.int64)
    return {"values": matrix.data, "columns": columns, "offsets": offsets}
