"""Several batches of the same examples: the common base of `Table` and `Texts`."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from treille.data.base import Batch
from treille.io import stored
from treille.io.errors import InputError


class AlignedBatches(Batch):
    """Named batches of the same length: example i consists of example i of each."""

    noun = "column"  # what one of the batches is called

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
        states = [batch.state() for batch in self.columns.values()]
        arrays = {f"{place}.{name}": a for place, (_, own) in enumerate(states) for name, a in own.items()}
        return {"names": list(self.columns), "columns": [spec for spec, _ in states]}, arrays

    @classmethod
    def _read_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
        columns = {}
        for place, (name, own) in enumerate(zip(stored.names(spec, "names"), spec["columns"], strict=True)):
            mine = {key.removeprefix(f"{place}."): a for key, a in arrays.items() if key.startswith(f"{place}.")}
            columns[name] = Batch.from_state(own, mine)
        return cls(columns)

    def chunks(self, n_symbols: int) -> Iterator[Any]:
        step = max(1, 4 * n_symbols * len(self) // max(1, self.nbytes))  # most batches take 4 bytes a symbol
        for start in range(0, max(1, len(self)), step):
            yield self[start : start + step]

    def __repr__(self) -> str:
        inside = ", ".join(f"{name!r}: {batch!r}" for name, batch in self.columns.items())
        return f"{type(self).__name__}({len(self):,} examples, {{{inside}}})"


def leaf_batches(batch: Batch, name: str = "") -> list[tuple[str, Batch]]:
    """The batches that a batch of several columns, or several units, consists of, with their names."""
    if not isinstance(batch, AlignedBatches):
        return [(name, batch)]
    return [leaf for own, column in batch.columns.items() for leaf in leaf_batches(column, str(own))]


def same_batch(one: Batch, other: Batch) -> bool:
    """Whether two batches hold the same examples."""
    if one is other:
        return True
    if isinstance(one, AlignedBatches) and isinstance(other, AlignedBatches):
        pairs = ((batch, other.columns.get(name)) for name, batch in one.columns.items())
        return len(one.columns) == len(other.columns) and all(b is not None and same_batch(a, b) for a, b in pairs)
    (mine, arrays), (theirs, others) = one.state(), other.state()
    return mine == theirs and all(np.array_equal(array, others[key]) for key, array in arrays.items())
