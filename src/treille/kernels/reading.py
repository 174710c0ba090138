"""Declarations of what kernels read: kinds of data, units of texts, and columns."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from treille.data import Batch, Table
from treille.data.base import other_kind
from treille.io import stored
from treille.io.errors import InputError
from treille.io.units import TextUnit
from treille.registry import known


@dataclass(frozen=True)
class Reads:
    """Declares what a kernel reads. Its batches, command line, server, model files and scikit-learn's tags follow it.

    >>> from treille import Lattices, Strings
    >>> from treille.kernels import Linear, NGram
    >>> NGram(2, unit="word").reads == Reads((Strings, Lattices), ("word",))
    True
    >>> (NGram(2) + NGram(1, unit="word")).normalized().reads.units
    ('char', 'word')
    """

    kinds: tuple[type[Batch], ...] = ()  # other data become the first; the last describes all in JSON; none: any batch
    units: tuple[Any, ...] = ()  # how texts are split into symbols: names, or functions; none where there are no texts
    columns: Mapping[str, Reads] = field(default_factory=dict)  # of examples with several columns

    def both(self, other: Reads) -> Reads:
        """The joint declaration of two kernels that read the same examples."""
        if not self.kinds or not other.kinds:  # one of them reads everything
            return self if self.kinds else other
        shared = tuple(kind for kind in self.kinds if kind in other.kinds)
        columns = {**self.columns, **other.columns}
        for name in self.columns.keys() & other.columns.keys():
            columns[name] = self.columns[name].both(other.columns[name])
        return Reads(shared or self.kinds, tuple(dict.fromkeys(self.units + other.units)), columns)

    def fitted(self, batch: Batch) -> Reads:
        """The declaration of a model fitted on this batch: symbols that were given are not split by the kernel's unit."""
        inside = batch.columns if isinstance(batch, Table) else {}
        columns = {name: own.fitted(inside[name]) for name, own in self.columns.items()}
        return replace(self, units=batch.units, columns=columns)

    def spec(self) -> dict[str, Any]:
        """The names of kinds and units as JSON values, for model files."""
        units = [unit for unit in self.units if isinstance(unit, str)]
        columns = {"columns": {name: own.spec() for name, own in self.columns.items()}} if self.columns else {}
        return {"kinds": [kind.__name__ for kind in self.kinds], "units": units} | columns

    def restored(self, spec: Any) -> Reads:
        """The declaration of a model, from its file. Files of earlier versions have none: then the kernel's own units hold."""
        if spec is None:
            return self
        units = stored.names(spec, "units")
        for unit in units:
            TextUnit.of(unit)  # which refuses an unknown one
        columns = stored.value(spec, "columns", dict) if self.columns else {}
        return replace(
            self, units=tuple(units), columns={name: own.restored(columns[name]) for name, own in self.columns.items()}
        )


def refuse_other_kinds(data: Any, kind: type[Batch]) -> None:
    """Raises an `InputError` for data of another kind, which names the kernels that read it."""
    other = other_kind(data, kind)
    if other is not None:
        declared = ((name, cls.reads) for name, cls in known("kernels").items())  # a property if parameters matter
        readers = [name for name, reads in declared if isinstance(reads, Reads) and other in reads.kinds]
        hints = [f"{', '.join(readers)} read{'s' * (len(readers) == 1)} {other.title}"] * bool(readers)
        with suppress(InputError):  # there may be no default kernel
            hints.insert(0, f"the default kernel for {other.title} is {other.default_kernels(data)[0][0]}")
        raise InputError(f"found {other.title}, expected {kind.title}{': ' * bool(hints)}{'; '.join(hints)}")
