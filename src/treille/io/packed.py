"""The types of `Examples.X`: a list of texts, or packed examples, which can be selected and joined; examples in flat arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import scipy.sparse as sp

from .errors import InputError

T = TypeVar("T")


class Deriving:
    """An immutable object that caches what is derived from it."""

    def derived(self, key: Any, make: Callable[[], T]) -> T:
        """The result of `make`, computed once and cached in this object under `key`; it is not pickled."""
        cached: dict[Any, T] = self.__dict__.setdefault("_derived", {})
        if key not in cached:
            cached[key] = make()
        return cached[key]


def running_sum(lengths: Any) -> np.ndarray:
    """Offsets of examples of these lengths."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def joined_offsets(each: Iterable[np.ndarray]) -> np.ndarray:
    """The offsets of the examples of several batches, one batch after the other."""
    return running_sum(np.concatenate([np.diff(offsets) for offsets in each]))


def are_offsets(array: np.ndarray, end: int) -> bool:
    """Returns whether an array rises from 0 to `end`."""
    sound = array.ndim == 1 and len(array) > 0 and array[0] == 0 and array[-1] == end
    return bool(sound and (array[1:] >= array[:-1]).all())


def selection(offsets: np.ndarray, key: Any) -> tuple[Any, np.ndarray]:
    """The positions of the symbols of the examples that `key` selects, and the offsets of these examples after selection."""
    rows = np.arange(len(offsets) - 1)[key]
    starts, lengths = offsets[rows], np.diff(offsets)[rows]
    ends = running_sum(lengths)
    if isinstance(key, slice) and key.step in (None, 1):
        first = int(starts[0]) if len(rows) else 0
        return slice(first, first + int(ends[-1])), ends
    return np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths), ends


def over_one_alphabet(
    sides: Sequence[tuple[np.ndarray, Sequence[str]]], order: Callable[[Iterable[str]], list[str]] = sorted
) -> tuple[np.ndarray, list[str]]:
    """Codes of labels over several alphabets, as codes over the union of these, and the union.

    >>> codes, names = over_one_alphabet([(np.array([0, 1]), ["b", "c"]), (np.array([0]), ["a"])])
    >>> codes.tolist(), names
    ([1, 2, 0], ['a', 'b', 'c'])
    """
    alphabet = order(dict.fromkeys(name for _, own in sides for name in own))
    position = {name: code for code, name in enumerate(alphabet)}
    each = [np.array([position[name] for name in own] or [0], np.int32)[codes] for codes, own in sides]
    return np.concatenate(each), alphabet


def as_index(key: Any, length: int) -> Any:
    """A key of a sequence of examples: an int of at least 0 for one example, anything else selects several."""
    if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:  # how scikit-learn writes row selection
        key = key[0]
    one = isinstance(key, (int, np.integer)) or (isinstance(key, np.ndarray) and key.ndim == 0)
    return range(length)[int(key)] if one else key


class PackedExamples(ABC):
    """Many examples of one kind, as a file holds them. Every data kind, a `treille.Batch`, is one, too.

    A reader returns a list of texts, or a subclass of this: so files of any kind are read in chunks, joined and divided. It is a
    sequence, which scikit-learn splits.
    """

    title: ClassVar[str] = "examples"  # the plural noun in messages, such as "trees"
    batch: ClassVar[Any] = None  # the data kind that has this class as its `packed`

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} {self.title})"

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    def shape(self) -> tuple[int]:
        """One dimension: this is how scikit-learn's splitters learn that examples can be indexed."""
        return (len(self),)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        """One example for an integer; for a slice, a list of integers or a mask, several as an object like this one."""
        key = as_index(key, len(self))
        return self._item(key) if isinstance(key, int) else self.take(np.arange(len(self))[key].tolist())

    def _item(self, i: int) -> Any:
        """Example i, as its kind of data has it."""
        assert self.batch is not None, f"no data kind has {type(self).__name__} as its `packed`"
        return self.batch(self.take([i]))[0]

    @abstractmethod
    def take(self, rows: Sequence[int]) -> Any:
        """The examples at these positions."""

    @classmethod
    @abstractmethod
    def join(cls, each: Sequence[Any]) -> Any:
        """The examples of several files, one after the other."""

    @property
    @abstractmethod
    def volume(self) -> int:
        """About how many characters these examples take in a file."""

    def traits(self) -> dict[str, str]:
        """Properties in which files that are read together must agree, with their values in this file."""
        return {}


class PackedColumns(PackedExamples):
    """Named columns of the same length, each a list of values or packed examples, for `treille.kernels.Columns`.

    >>> parts = PackedColumns({"title": ["abba", "cab"], "year": [1987, 1991]})
    >>> parts, len(parts), parts["year"]
    (PackedColumns(2 examples, title, year), 2, [1987, 1991])
    """

    title = "several columns"

    def __init__(self, columns: Mapping[str, Any]):
        self.columns = dict(columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, key: Any) -> Any:
        """A column for its name; an example, as a dict, for an integer, or several."""
        return self.columns[key] if isinstance(key, str) else super().__getitem__(key)

    def _item(self, i: int) -> dict[str, Any]:
        return {name: column[i] for name, column in self.columns.items()}

    def __repr__(self) -> str:
        return f"PackedColumns({len(self):,} examples, {', '.join(self.columns)})"

    def take(self, rows: Sequence[int]) -> PackedColumns:
        return PackedColumns({name: selected(column, rows) for name, column in self.columns.items()})

    @classmethod
    def join(cls, each: Sequence[PackedColumns]) -> PackedColumns:
        return cls({name: joined([part[name] for part in each]) for name in each[0].columns})

    @property
    def volume(self) -> int:
        return sum(volume(column) for column in self.columns.values())

    def traits(self) -> dict[str, str]:
        found = {"columns": f"the columns {', '.join(sorted(self.columns))}"}
        for name, column in self.columns.items():
            own = column.traits() if isinstance(column, PackedExamples) else {}
            found |= {f"{name}: {trait}": f"{value} in {name!r}" for trait, value in own.items()}
        return found


@dataclass(frozen=True, repr=False)
class NumberRows(PackedExamples):
    """Rows of numbers with names of their columns, as a file holds them; `treille.Vectors` is made of them."""

    title: ClassVar[str] = "rows of numbers"
    matrix: sp.csr_matrix
    names: list[str]

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def width(self) -> str:
        """The number of columns, for notes."""
        return f"{len(self.names):,} columns"

    def take(self, rows: Sequence[int]) -> NumberRows:
        return NumberRows(self.matrix[np.asarray(rows, np.int64)], self.names)

    @classmethod
    def join(cls, each: Sequence[NumberRows]) -> NumberRows:
        columns, names = over_one_alphabet(
            [(part.matrix.indices, part.names) for part in each],
            lambda names: sorted(names, key=lambda name: (len(name), name)),
        )
        offsets = joined_offsets(part.matrix.indptr for part in each)
        values = np.concatenate([part.matrix.data for part in each])
        matrix = sp.csr_matrix((values, columns, offsets), (len(offsets) - 1, len(names)))
        matrix.sort_indices()
        return cls(matrix, names)

    @property
    def volume(self) -> int:
        return 10 * int(self.matrix.nnz)


class Same:
    """Refuses files that differ from the first in their kind of data, columns, labels or attributes."""

    def __init__(self) -> None:
        self._found = dict[str, tuple[str, str]]()  # the value in the first file with this trait, and the file's name

    def check(self, part: Any, name: str) -> None:
        """Compares the examples of a file, or of a part of it, with the first."""
        packed = isinstance(part, PackedExamples)
        for trait, own in {"kind": part.title if packed else "texts", **(part.traits() if packed else {})}.items():
            known, first = self._found.setdefault(trait, (own, name))
            if known != own:
                raise InputError(
                    f"{first} has {known}, but {name} has {own}: give files of one kind, with the same columns and labels"
                )


def selected(X: Any, rows: Sequence[int]) -> Any:
    """The examples at these positions.

    >>> selected(["a", "b", "c"], [2, 0])
    ['c', 'a']
    """
    return X.take(rows) if isinstance(X, PackedExamples) else [X[i] for i in rows]


def joined(each: Sequence[Any]) -> Any:
    """The examples of several files of one kind, one after the other.

    >>> joined([["a"], ["b", "c"]])
    ['a', 'b', 'c']
    """
    if len(each) == 1:
        return each[0]
    return each[0].join(each) if isinstance(each[0], PackedExamples) else [item for part in each for item in part]


def volume(X: Any) -> int:
    """About how many characters these examples take in a file.

    >>> volume(["a vine", "a fig"])
    11
    """
    if isinstance(X, PackedExamples):
        return X.volume
    return sum(len(item) if isinstance(item, (str, list)) else 8 for item in X)
