"""Examples of several columns on the command line: which columns a kernel reads, and as what."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from treille import Batch, InputError, Vectors
from treille.io import Examples
from treille.io.parameters import to_float
from treille.io.parts import ColumnParts
from treille.kernels import Columns, Kernel
from treille.kernels.parse import format_kernel


def column_kernels(kernel: Any) -> Iterator[tuple[str, Kernel]]:
    """The columns that a kernel reads, with their kernels.

    >>> from treille.kernels import Linear, NGram
    >>> [name for name, _ in column_kernels(Columns({"title": NGram(2), "year": Linear()}).normalized())]
    ['title', 'year']
    """
    if isinstance(kernel, Columns):
        yield from kernel.kernels.items()
    elif isinstance(kernel, Kernel):
        for value in kernel.get_params(deep=False).values():
            for part in value if isinstance(value, (list, tuple)) else [value]:
                yield from column_kernels(part)


def column_names(kernel: Kernel | None) -> tuple[str, ...]:
    """The names of the columns that a kernel reads; none for a kernel of whole examples."""
    return tuple(dict(column_kernels(kernel)))


def reads(kernel: Kernel, X: Any, kind: type[Batch]) -> bool:
    """Whether a kernel reads X as this kind of data."""
    try:
        return isinstance(kernel.batch(X), kind)
    except (InputError, TypeError, ValueError):
        return False


def with_numbers(examples: Examples, kernel: Kernel) -> ColumnParts:
    """The columns of examples, with texts as numbers in the columns whose kernels read numbers."""
    columns = dict(examples.X.columns)
    for name, own in column_kernels(kernel):
        column = columns.get(name)
        if isinstance(column, list) and reads(own, np.zeros((1, 1)), Vectors):
            columns[name] = [_number(examples, i, name, value, own) for i, value in enumerate(column)]
    return ColumnParts(columns)


def _number(examples: Examples, i: int, name: str, value: object, kernel: Kernel) -> float:
    number = to_float(str(value))
    if not np.isfinite(number):
        raise InputError(
            f"{examples.place(i)}: {name!r} is {str(value)[:40]!r}, expected a number, which {format_kernel(kernel)} takes"
        )
    return number
