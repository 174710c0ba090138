"""Texts split in several ways: for sums and products of kernels with different units."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from treille.data.aligned import AlignedBatches, same_batch
from treille.data.base import Batch
from treille.data.strings import Strings, checked
from treille.io.errors import InputError
from treille.io.units import TextUnit, canonical


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
