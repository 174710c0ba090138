"""Several batches of the same examples: columns of a table, and texts split in several ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from treille.data.base import Batch, Summary, kind_of
from treille.data.format import count
from treille.data.strings import Strings, checked
from treille.io import stored
from treille.io.errors import InputError
from treille.io.packed import PackedColumns
from treille.io.units import TextUnit, canonical


class AlignedBatches(Batch):
    """Named batches of the same length: example i consists of example i of each."""

    noun = "column"  # the noun for one of the batches

    def __init__(self, columns: Mapping[str, Any]):
        self.columns: dict[str, Any] = dict(columns)
        if not self.columns:
            raise InputError(f"a {self.title[:-1]} needs at least one {self.noun}")
        for name, batch in self.columns.items():
            if not isinstance(batch, Batch):
                raise InputError(
                    f"{self.noun} {name!r} is a {type(batch).__name__}, expected a batch such as treille.Strings"
                )
            if len(batch) != len(self):
                first = next(iter(self.columns))
                raise InputError(
                    f"{self.noun} {name!r} has {len(batch):,} examples, {self.noun} {first!r} has {len(self):,}: "
                    "all must have the same number"
                )

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, key: Any) -> Any:
        parts = {name: batch[key] for name, batch in self.columns.items()}
        return type(self)(parts) if all(isinstance(part, Batch) for part in parts.values()) else parts

    @property
    def nbytes(self) -> int:
        return sum(batch.nbytes for batch in self.columns.values())

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        spec, arrays = stored.joined("columns", [batch.state() for batch in self.columns.values()])
        return spec | {"names": list(self.columns)}, arrays

    @classmethod
    def _read_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
        each = enumerate(zip(stored.names(spec, "names"), spec["columns"], strict=True))
        return cls({name: Batch.from_state(own, stored.part(arrays, str(place))) for place, (name, own) in each})

    def chunks(self, n_symbols: int) -> Iterator[Any]:
        step = max(1, 4 * n_symbols * len(self) // max(1, self.nbytes))  # most batches take 4 bytes a symbol
        for start in range(0, max(1, len(self)), step):
            yield self[start : start + step]

    def __repr__(self) -> str:
        inside = ", ".join(f"{name!r}: {batch!r}" for name, batch in self.columns.items())
        return f"{type(self).__name__}({count(len(self), 'example')}, {{{inside}}})"


def leaf_batches(batch: Batch, name: str = "") -> list[tuple[str, Batch]]:
    """The batches that a batch of several columns, or several units, consists of, with their names."""
    if not isinstance(batch, AlignedBatches):
        return [(name, batch)]
    return [leaf for own, column in batch.columns.items() for leaf in leaf_batches(column, str(own))]


def same_batch(one: Batch, other: Batch) -> bool:
    """Returns whether two batches hold the same examples."""
    if one is other:
        return True
    if isinstance(one, AlignedBatches) and isinstance(other, AlignedBatches):
        pairs = ((batch, other.columns.get(name)) for name, batch in one.columns.items())
        return len(one.columns) == len(other.columns) and all(b is not None and same_batch(a, b) for a, b in pairs)
    (mine, arrays), (theirs, others) = one.state(), other.state()
    return mine == theirs and all(np.array_equal(array, others[key]) for key, array in arrays.items())


class Texts(AlignedBatches):
    """The same texts as one `Strings` per unit. Kernels whose parts have different units make it; each part reads its own.

    Parameters
    ----------
    columns : dict of str to Strings
        By unit, as ``Strings.unit`` names it; texts split by a callable by the callable.

    Examples
    --------
    >>> from treille.kernels import NGram
    >>> texts = (NGram(2) + NGram(1, unit="word")).batch(["so long", "hi"])
    >>> len(texts), texts[1], texts[:1].columns["word"][0]
    (2, {'char': 'hi', 'word': ['hi']}, ['so', 'long'])
    """

    title = "texts"
    noun = "unit"

    @property
    def units(self) -> tuple[str, ...]:
        return tuple(part.unit for part in self.columns.values())

    @staticmethod
    def split(data: Any, units: Sequence[str | Callable[[str], Iterable[str]]], n_jobs: int | None) -> Texts | Strings:
        """Texts split by every unit. Token lists and integer arrays are already split: `Strings`, whatever the units."""
        items, kind = checked(data)
        if kind in ("tokens", "integers"):
            return Strings(items)
        return Texts({canonical(unit): Strings(items, unit, n_jobs) for unit in units})

    def part(self, unit: Any) -> Strings:
        """The texts split by a unit."""
        found: Strings | None = self.columns.get(canonical(unit))
        if found is None:
            raise InputError(
                f"the texts are split by {', '.join(map(repr, self.columns))}, but the kernel has unit={unit!r}: give raw texts"
            )
        return found

    @staticmethod
    def joined(one: Batch, other: Batch) -> Texts | None:
        """The units of two batches of the same texts; None where they are not texts split by named units."""
        each = [_by_unit(batch) for batch in (one, other)]
        shared = each[0].keys() & each[1].keys()
        same = all(each) and all(same_batch(each[0][unit], each[1][unit]) for unit in shared)
        return Texts(each[0] | each[1]) if same else None

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        for unit in self.columns:
            if callable(unit):
                raise InputError(f"the unit {unit!r} is a function, which a model file cannot hold")
        return super()._state()

    @classmethod
    def _read_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> Texts:
        read: Texts = super()._read_state(spec, arrays)
        for unit, part in read.columns.items():
            if not isinstance(part, Strings) or part.unit != unit:
                raise InputError(f"the texts of unit {unit!r} in the file are {part!r}")
        return read


def _by_unit(batch: Batch) -> dict[str, Strings]:
    if isinstance(batch, Texts):
        return batch.columns
    named = isinstance(batch, Strings) and TextUnit.of(batch.unit).splits_texts
    return {batch.unit: batch} if named and isinstance(batch, Strings) else {}


class Table(AlignedBatches):
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
    packed = PackedColumns

    @classmethod
    def default_kernels(cls, data: Any) -> tuple[tuple[str, str], ...]:
        """The sum of the default kernels of the columns."""
        own = {name: kind_of(column).default_kernels(column) for name, column in data.columns.items()}
        inside = [", ".join(f"{name!r}: {kernels[k][0]}" for name, kernels in own.items()) for k in (0, -1)]
        why = "the default kernel of each column, added"
        return tuple((f"columns({{{kernels}}})", why) for kernels in dict.fromkeys(inside))

    @classmethod
    def summarise(cls, data: Any, n_samples: int, width: int) -> Summary:
        share = width // len(data.columns)
        each = {name: kind_of(column).summarise(column, n_samples, share) for name, column in data.columns.items()}
        fields = {f"{name}, {key}": text for name, own in each.items() for key, text in own.fields.items()}
        samples = ["  |  ".join(row) for row in zip(*(own.samples for own in each.values()), strict=False)]
        return Summary(fields, {"columns": {name: own.values for name, own in each.items()}}, samples)

    def joined(self, other: Batch) -> Table:
        """The columns of both; columns of the same name must be equal, or texts split by different units.

        >>> from treille import Strings
        >>> list(Table({"a": Strings(["x"])}).joined(Table({"b": Strings(["y"])})).columns)
        ['a', 'b']
        """
        if not isinstance(other, Table):
            raise InputError(f"the same examples are read as a table and as {other!r}: give each part a column")
        columns = self.columns | other.columns
        for name in self.columns.keys() & other.columns.keys():
            if not same_batch(self.columns[name], other.columns[name]):
                both = Texts.joined(self.columns[name], other.columns[name])
                if both is None:
                    raise InputError(f"column {name!r} is read in two ways: make the kernels agree, or name it twice")
                columns[name] = both
        return Table(columns)
