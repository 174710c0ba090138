"""Tables: examples of several columns, each column a batch of its own kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from treille.data.base import Batch, Summary, kind_of
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parts import ColumnParts


class Table(Batch):
    """Named batches of the same length: example i consists of example i of each.

    Parameters
    ----------
    columns : dict of str to Batch
        At least one.

    Examples
    --------
    >>> from treille import Strings
    >>> from treille.data import Table
    >>> table = Table({"title": Strings(["abba", "cab"]), "words": Strings(["so long", "hi"], unit="word")})
    >>> len(table), table[1], table[:1].columns["words"][0]
    (2, {'title': 'cab', 'words': ['hi']}, ['so', 'long'])
    """

    title = "tables"
    parts = ColumnParts

    @classmethod
    def default_kernels(cls, data: Any) -> tuple[tuple[str, str], ...]:
        """The sum of the default kernels of the columns."""
        own = {name: kind_of(column).default_kernels(column) for name, column in data.columns.items()}
        inside = [", ".join(f"{name!r}: {kernels[k][0]}" for name, kernels in own.items()) for k in (0, -1)]
        why = "the default kernel of each column, added"
        return tuple((f"columns({{{kernels}}})", why) for kernels in dict.fromkeys(inside))

    @classmethod
    def summarise(cls, data: Any, n_samples: int, width: int) -> Summary:
        each = {
            name: kind_of(column).summarise(column, n_samples, width // len(data.columns))
            for name, column in data.columns.items()
        }
        fields = {f"{name}, {key}": text for name, own in each.items() for key, text in own.fields.items()}
        samples = ["  |  ".join(row) for row in zip(*(own.samples for own in each.values()), strict=False)]
        return Summary(fields, {"columns": {name: own.values for name, own in each.items()}}, samples)

    def __init__(self, columns: Mapping[str, Batch]):
        self.columns = dict(columns)
        if not self.columns:
            raise InputError("a table needs at least one column")
        for name, batch in self.columns.items():
            if not isinstance(batch, Batch):
                raise InputError(
                    f"column {name!r} is a {type(batch).__name__}, expected a batch such as treille.Strings"
                )
            if len(batch) != len(self):
                first = next(iter(self.columns))
                raise InputError(
                    f"column {name!r} has {len(batch):,} examples, column {first!r} has {len(self):,}: "
                    "all must have the same number"
                )

    def joined(self, other: Batch) -> Table:
        """The columns of both; columns of the same name must be equal.

        >>> from treille import Strings
        >>> list(Table({"a": Strings(["x"])}).joined(Table({"b": Strings(["y"])})).columns)
        ['a', 'b']
        """
        if not isinstance(other, Table):
            raise InputError(f"the same examples are read as a table and as {other!r}: give each part a column")
        for name in self.columns.keys() & other.columns.keys():
            (mine, arrays), (theirs, others) = self.columns[name].state(), other.columns[name].state()
            same = mine == theirs and all(np.array_equal(array, others[key]) for key, array in arrays.items())
            if not same:
                raise InputError(f"column {name!r} is read in two ways: make the kernels agree, or name it twice")
        return Table(self.columns | other.columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, key: Any) -> Any:
        parts = {name: batch[key] for name, batch in self.columns.items()}
        return Table(parts) if all(isinstance(part, Batch) for part in parts.values()) else parts

    @property
    def nbytes(self) -> int:
        return sum(batch.nbytes for batch in self.columns.values())

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        states = [batch.state() for batch in self.columns.values()]
        arrays = {f"{place}.{name}": a for place, (_, own) in enumerate(states) for name, a in own.items()}
        return {"names": list(self.columns), "columns": [spec for spec, _ in states]}, arrays

    @classmethod
    def _read_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> Table:
        columns = {}
        for place, (name, own) in enumerate(zip(stored.names(spec, "names"), spec["columns"], strict=True)):
            mine = {key.removeprefix(f"{place}."): a for key, a in arrays.items() if key.startswith(f"{place}.")}
            columns[name] = Batch.from_state(own, mine)
        return cls(columns)

    def chunks(self, n_symbols: int) -> Iterator[Table]:
        step = max(1, 4 * n_symbols * len(self) // max(1, self.nbytes))  # most batches take 4 bytes a symbol
        for start in range(0, max(1, len(self)), step):
            yield self[start : start + step]

    def __repr__(self) -> str:
        inside = ", ".join(f"{name!r}: {batch!r}" for name, batch in self.columns.items())
        return f"Table({len(self):,} examples, {{{inside}}})"
