"""Examples of several columns, as files hold them; selection and concatenation of what `read` returns in `Examples.X`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .errors import InputError
from .graph_parts import Alike, GraphParts, joined_graphs
from .machine import MachineList
from .records import NumberRows
from .symbols import over_one_table
from .tree_parts import TreeParts


class ColumnParts:
    """Named columns of the same length, each a list of values, trees or rows of numbers, for `treille.kernels.Columns`.

    >>> parts = ColumnParts({"title": ["abba", "cab"], "year": [1987, 1991]})
    >>> parts, len(parts), parts["year"]
    (ColumnParts(2 examples, title, year), 2, [1987, 1991])
    """

    def __init__(self, columns: Mapping[str, Any]):
        self.columns = dict(columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __repr__(self) -> str:
        return f"ColumnParts({len(self):,} examples, {', '.join(self.columns)})"


def selected(X: Any, rows: Sequence[int]) -> Any:
    """The examples at these positions.

    >>> selected(["a", "b", "c"], [2, 0])
    ['c', 'a']
    """
    if isinstance(X, ColumnParts):
        return ColumnParts({name: selected(column, rows) for name, column in X.columns.items()})
    if isinstance(X, MachineList):
        return MachineList([X.machines[i] for i in rows])
    if isinstance(X, NumberRows):
        return NumberRows(X.matrix[np.asarray(rows, np.int64)], X.names)
    if isinstance(X, GraphParts):
        return X.take(np.asarray(rows, np.int64))
    if isinstance(X, TreeParts):
        spans = [np.arange(X.offsets[i], X.offsets[i + 1]) for i in rows]
        nodes = np.concatenate([np.empty(0, np.int64), *spans])
        offsets = np.cumsum([0, *map(len, spans)])
        return TreeParts(X.labels[nodes], X.parents[nodes], offsets, X.alphabet)
    return [X[i] for i in rows]


class Same:
    """Refuses files of different kinds of data, and those of other columns, labels or attributes than the first."""

    def __init__(self) -> None:
        self._first: tuple[str, str, list[str]] | None = None  # its name, its kind, its columns
        self._graphs = Alike()

    def check(self, part: Any, name: str) -> None:
        """Compares the examples of a file, or of a part of it, with the first."""
        kind, columns = _kind(part), list(part.columns) if isinstance(part, ColumnParts) else []
        self._first = self._first or (name, kind, columns)
        first, first_kind, first_columns = self._first
        if kind != first_kind:
            raise InputError(f"{first} holds {first_kind}, but {name} {kind}: give files of one kind")
        if set(columns) != set(first_columns):
            own, other = ", ".join(first_columns), ", ".join(columns)
            raise InputError(f"{first} has the columns {own}, but {name} {other}: give files of the same columns")
        if isinstance(part, GraphParts):
            self._graphs.check(part, name)


def concatenated(parts: Sequence[Any], names: Sequence[str]) -> Any:
    """The examples of several files, one after the other; `names` are those of the files, for messages.

    >>> concatenated([["a"], ["b", "c"]], ["one.txt", "two.txt"])
    ['a', 'b', 'c']
    """
    same = Same()
    for part, name in zip(parts, names, strict=True):
        same.check(part, name)
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    if isinstance(first, ColumnParts):
        return ColumnParts({name: concatenated([part[name] for part in parts], names) for name in first.columns})
    if isinstance(first, MachineList):
        return MachineList(over_one_table([machine for part in parts for machine in part.machines]))
    if isinstance(first, NumberRows):
        return _stacked(parts)
    if isinstance(first, TreeParts):
        return _forest(parts)
    if isinstance(first, GraphParts):
        return joined_graphs(parts)
    return [item for part in parts for item in part]


def volume(X: Any) -> int:
    """About how many characters these examples take in a file.

    >>> volume(["a vine", "a fig"])
    11
    """
    if isinstance(X, ColumnParts):
        return sum(volume(column) for column in X.columns.values())
    if isinstance(X, MachineList):
        return 30 * sum(len(machine.sources) for machine in X.machines)
    if isinstance(X, NumberRows):
        return 10 * int(X.matrix.nnz)
    if isinstance(X, GraphParts):
        return 8 * (len(X.labels) + len(X.targets))
    if isinstance(X, TreeParts):
        return 8 * len(X.labels)
    return sum(len(item) if isinstance(item, (str, list)) else 8 for item in X)


def _kind(part: Any) -> str:
    kinds = {ColumnParts: "several columns", MachineList: "lattices", NumberRows: "rows of numbers"}
    return (kinds | {GraphParts: "graphs", TreeParts: "trees"}).get(type(part), "texts")


def _stacked(parts: Sequence[NumberRows]) -> NumberRows:
    names = sorted({name for part in parts for name in part.names}, key=lambda name: (len(name), name))
    codes = {name: code for code, name in enumerate(names)}
    blocks = []
    for part in parts:
        columns = np.array([codes[name] for name in part.names], np.int64)[part.matrix.indices]
        shape = (len(part), len(names))
        blocks.append(sp.csr_matrix((part.matrix.data, columns, part.matrix.indptr), shape=shape))
    matrix = sp.csr_matrix(sp.vstack(blocks))
    matrix.sort_indices()
    return NumberRows(matrix, names)


def _forest(parts: Sequence[TreeParts]) -> TreeParts:
    alphabet = sorted({label for part in parts for label in part.alphabet})
    codes = {label: code for code, label in enumerate(alphabet)}
    labels = [np.array([codes[label] for label in part.alphabet], np.int32)[part.labels] for part in parts]
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return TreeParts(np.concatenate(labels), np.concatenate([part.parents for part in parts]), offsets, alphabet)
