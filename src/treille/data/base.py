"""The contract of a data kind: a batch of examples that describes itself; codes of symbols in an alphabet."""

import contextlib
import os
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeVar

import numpy as np

from treille.io.errors import InputError
from treille.io.packed import Deriving, PackedExamples
from treille.io.packed import as_index as as_index
from treille.io.packed import running_sum as running_sum
from treille.io.packed import selection as selection
from treille.registry import known, registered_name, require

T = TypeVar("T")


@dataclass(frozen=True)
class Summary:
    """A description of examples for `treille inspect`: text by field, JSON values, and some examples in a line each."""

    fields: dict[str, str]
    values: dict[str, Any] = field(default_factory=dict)
    samples: list[str] = field(default_factory=list)


class Batch(PackedExamples):
    """Many structured examples of one kind, packed in flat arrays.

    A subclass is a data kind. The class attributes and class methods describe it to the estimators and to the command line; the
    class is found by its export from ``treille.data``, or by `treille.register`.

    >>> import treille
    >>> isinstance(treille.Strings(["abba", "baab"]), treille.Batch)
    True
    """

    packed: ClassVar[type[Any] | None] = (
        None  # what `treille.io.read` returns for files of this kind, if it has a class
    )

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "packed" in vars(cls) and cls.packed is not None:
            cls.packed.batch = cls

    @classmethod
    def recognises(cls, data: Any) -> bool:
        """Returns whether `data` is of this kind, and of no other: the default kernel of the kind is used then."""
        return isinstance(data, cls) or (cls.packed is not None and isinstance(data, cls.packed))

    @classmethod
    def of(cls, data: Any, n_jobs: int | None = None) -> Any:
        """Returns `data` as a batch of this kind, which the constructor builds, with `n_jobs` threads, if necessary."""
        return data if isinstance(data, cls) else cls(data)  # type: ignore[call-arg]

    @classmethod
    def default_kernels(cls, data: Any) -> tuple[tuple[str, str], ...]:
        """Kernels for data of this kind, each an expression with the reason, the best choice first.

        The last one has explicit features, for `treille.Features`. Expressions are written as for the option ``--kernel``.
        """
        raise InputError(f"there is no default kernel for {cls.title}: choose a kernel")

    @classmethod
    def summarise(cls, data: Any, n_samples: int, width: int) -> Summary:
        """A description of data of this kind, with up to `n_samples` examples of up to `width` characters."""
        return Summary({"examples": f"{len(data):,}"})

    @classmethod
    def json_schema(cls, units: Sequence[Any] = ()) -> dict[str, Any]:
        """The JSON schema of an example, for `treille serve`; `units` say how texts are split.

        Its ``title`` names the kind for clients, its ``description`` is said in messages after "expected", and its ``$comment`` is
        shown on the page in an empty field.
        """
        raise InputError(f"{cls.title} have no form in JSON: give the kind json_schema and read_json")

    @classmethod
    def read_json(cls, values: list[Any], reading: Mapping[str, Any]) -> Any:
        """Values of JSON as examples, which kernels read; `reading` is how the examples of the model were read from files."""
        return values

    @classmethod
    def write_json(cls, example: Any) -> Any:
        """One example as `read_json` reads it."""
        return example.tolist() if isinstance(example, np.ndarray) else example

    @property
    def note(self) -> str:
        """A remark on the examples for notes, besides their number; empty for most kinds."""
        return ""

    def take(self, rows: Sequence[int]) -> Any:
        return self[np.asarray(rows, np.int64)]

    @classmethod
    def join(cls, each: Sequence[Any]) -> Any:
        return cls([example for batch in each for example in batch])  # type: ignore[call-arg]

    @property
    def volume(self) -> int:
        return self.nbytes

    @property
    def units(self) -> tuple[Any, ...]:
        """The units by which texts were split into symbols; empty for other kinds."""
        return ()

    @abstractmethod
    def __getitem__(self, key: Any) -> Any:
        """One example for an integer; a batch for a slice, a list of integers or a mask."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes held in memory."""

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The content of a model file: JSON values, and arrays. `Batch.from_state` is the inverse."""
        spec, arrays = self._state()
        return {"batch": registered_name("data", self), **spec}, arrays

    @abstractmethod
    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The state without the name of the kind; `_read_state` is the inverse."""

    @classmethod
    def from_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> "Batch":
        """The batch that `state` describes."""
        batch: Batch = require("data", spec["batch"])._read_state(spec, arrays)
        return batch

    @classmethod
    @abstractmethod
    def _read_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> "Batch": ...

    @property
    def part_offsets(self) -> np.ndarray:
        """The offsets of the parts of each example, which explanations refer to."""
        raise InputError(f"{self.title} have no parts that could be explained")

    def part_names(self, i: int) -> list[str]:
        """The names of the parts of example i."""
        raise InputError(f"{self.title} have no parts that could be explained")

    def svg(self, i: int, shares: Any = None, hints: Sequence[str] | None = None) -> str | None:
        """A drawing of example i, as SVG to put into a page; None for kinds that are not drawn.

        `shares` has one number for each part, from -1 (against a class) to 1 (for it); `hints` a text for each.
        """
        return None

    def chunks(self, n_symbols: int) -> Iterator[Any]:
        """Runs of examples of about `n_symbols` symbols each, to bound the memory of what is computed from them."""
        yield self


class FlatBatch(Deriving, Batch):
    """A batch in flat arrays, where the symbols of example i are those from ``offsets[i]`` to ``offsets[i + 1]``."""

    stored: ClassVar[tuple[str, ...]]  # the attributes that are arrays
    offsets: np.ndarray

    def _hold(self, **attributes: Any) -> Any:
        """Sets the attributes, and makes the arrays among them read-only. Returns the batch."""
        self.__dict__.update(attributes)
        for array in self._stored_arrays().values():
            array.flags.writeable = False
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_derived"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._hold(**state)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self._stored_arrays().values())

    @property
    def part_offsets(self) -> np.ndarray:
        return self.offsets

    @property
    def positions(self) -> np.ndarray:
        """The position of each symbol in its example."""
        return np.arange(self.offsets[-1]) - np.repeat(self.offsets[:-1], np.diff(self.offsets))

    def _stored_arrays(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in self.stored}

    def chunks(self, n_symbols: int) -> Iterator[Any]:
        if self.offsets[-1] <= n_symbols:
            yield self
            return
        start = 0
        while start < len(self):
            stop = int(np.searchsorted(self.offsets, self.offsets[start] + n_symbols, side="right")) - 1
            stop = max(stop, start + 1)
            yield self[start:stop]
            start = stop


class PackedBatch(FlatBatch):
    """A flat batch with the same attributes as its `packed`, a dataclass of arrays."""

    def as_packed(self) -> Any:
        """The arrays and alphabets."""
        assert self.packed is not None
        return self.packed(**{each.name: getattr(self, each.name) for each in fields(self.packed)})

    def __getitem__(self, key: Any) -> Any:
        key = as_index(key, len(self))
        return self._item(key) if isinstance(key, int) else type(self)(self.as_packed().take(key))  # type: ignore[call-arg]

    @abstractmethod
    def _item(self, i: int) -> Any:
        """Example i."""


def read_each(items: Any, read: Callable[[Any, str], T]) -> Iterator[T]:
    """Applies `read` to each item; its second argument is the place of the item, for messages."""
    items = from_arrow(items)
    if isinstance(items, (str, bytes, dict, os.PathLike)) or not isinstance(items, Iterable):
        raise InputError(f"one {type(items).__name__} was given, expected a list of them")
    return (read(item, f"item {i}") for i, item in enumerate(items))


def kind_of(data: Any) -> type[Batch]:
    """The kind of a batch, or the first kind that recognises the examples; `treille.Strings` if none does."""
    if isinstance(data, Batch):
        return type(data)
    data = from_arrow(data)
    kinds: dict[str, type[Batch]] = known("data")
    # The constructor of Strings refuses what it cannot read, and names the item.
    return next((kind for kind in kinds.values() if kind.recognises(data)), kinds["Strings"])


def other_kind(data: Any, cls: type[Batch]) -> type[Batch] | None:
    """The kind of `data` if it is certainly not `cls`; None if it may be `cls`.

    Rows of numbers, lists of words and columns of a DataFrame may be meant as sequences: the constructor of `cls` says what is
    wrong.
    """
    first = first_item(data)
    flat = isinstance(first, (list, tuple, np.ndarray)) and not any(isinstance(each, (list, tuple)) for each in first)
    if (flat or is_frame(data)) and not isinstance(data, PackedExamples):
        return None
    kind = kind_of(data)
    return None if issubclass(kind, cls) else kind


def from_arrow(data: Any) -> Any:
    """An array or table of pyarrow as a list of Python's values; anything else unchanged."""
    return data.to_pylist() if hasattr(data, "to_pylist") else data


def first_item(data: Any) -> Any:
    """The first item of a sequence that is not one text; None for an empty one, and for anything else."""
    data = from_arrow(data[:1]) if hasattr(data, "to_pylist") else data
    data = data.iloc[:1].to_numpy() if hasattr(data, "iloc") and data.ndim == 1 else data  # a Series of pandas
    if isinstance(data, np.ndarray):
        return data[0] if data.ndim and len(data) else None
    return data[0] if isinstance(data, Sequence) and not isinstance(data, (str, bytes)) and len(data) else None


def readable_size(n_bytes: int) -> str:
    """A number of bytes as text."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= scale:
            return f"{n_bytes / scale:.1f} {unit}"
    return f"{n_bytes} bytes"


def available_memory() -> int:
    """Bytes that can be allocated without swapping; no limit if the system does not report it."""
    with contextlib.suppress(OSError, ValueError, StopIteration), open("/proc/meminfo", encoding="ascii") as lines:
        return 1024 * int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1])
    with contextlib.suppress(AttributeError, ValueError, OSError):  # all memory: the memory in use is not reported
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return sys.maxsize


def resident_bytes() -> int:
    """The memory that this process holds now; 0 where the system does not report it."""
    with contextlib.suppress(OSError, ValueError, StopIteration), open("/proc/self/status", encoding="ascii") as lines:
        return 1024 * int(next(line for line in lines if line.startswith("VmRSS:")).split()[1])
    return 0


def is_frame(data: Any) -> bool:
    """Returns whether this is a DataFrame, of pandas or another library."""
    return hasattr(data, "columns") and hasattr(data, "to_numpy") and hasattr(data, "__getitem__")


def per_column(frame: Any) -> str:
    """Advice for a DataFrame whose columns are of several kinds."""
    first = str(frame.columns[0]) if len(frame.columns) else "text"
    return f"give each column a kernel, treille.kernels.Columns({{{first!r}: NGram(3), ...}}), or use one column, X[{first!r}]"


def codes_of(alphabet: Iterable[Any]) -> dict[Any, int]:
    """The code of each symbol: its position."""
    return {symbol: code for code, symbol in enumerate(alphabet)}


def united(alphabet: Sequence[Any], other: Sequence[Any]) -> tuple[list[Any], np.ndarray]:
    """The union of two alphabets, which begins with the first, and the codes in it of the second, as int32.

    >>> symbols, codes = united(["a", "b"], ["c", "b"])
    >>> symbols, codes.tolist()
    (['a', 'b', 'c'], [2, 1])
    """
    codes = align(other, alphabet)
    return [*alphabet, *(symbol for symbol, code in zip(other, codes, strict=True) if code >= len(alphabet))], codes


def align(
    symbols: Sequence[Any], alphabet: Sequence[Any] | Mapping[Any, int], unknown: int | None = None
) -> np.ndarray:
    """The code that each of `symbols` has in `alphabet`, which may be given by its codes, as int32.

    A symbol that is not in the alphabet gets the code `unknown`. If `unknown` is None, each such symbol gets its own new code,
    from the size of the alphabet on, as the norm of an example requires.
    """
    if symbols is alphabet:
        return np.arange(len(symbols), dtype=np.int32)
    codes = alphabet if isinstance(alphabet, Mapping) else codes_of(alphabet)
    found = np.array([codes.get(symbol, -1) for symbol in symbols], np.int32)
    missing = found < 0
    found[missing] = np.arange(len(codes), len(codes) + missing.sum()) if unknown is None else unknown
    return found
