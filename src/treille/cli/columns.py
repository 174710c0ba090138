"""Examples of several columns on the command line: which of them are numbers."""

import numpy as np

from treille import InputError, Vectors
from treille.io import Examples
from treille.io.parameters import to_float
from treille.io.parts import ColumnParts
from treille.kernels import Kernel


def with_numbers(examples: Examples, kernel: Kernel) -> ColumnParts:
    """The columns of examples, with texts as numbers in the columns whose kernels read numbers."""
    columns = dict(examples.X.columns)
    for name, own in kernel.reads.columns.items():
        column = columns.get(name)
        if isinstance(column, list) and Vectors in own.kinds:
            columns[name] = [_number(examples, i, name, value) for i, value in enumerate(column)]
    return ColumnParts(columns)


def _number(examples: Examples, i: int, name: str, value: object) -> float:
    number = to_float(str(value))
    if not np.isfinite(number):
        raise InputError(
            f"{examples.place(i)}: {name!r} is {str(value)[:40]!r}, expected a number, which the kernel of this column reads"
        )
    return number
