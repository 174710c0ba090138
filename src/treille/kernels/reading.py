"""What a kernel reads: which kind of data, and which columns."""

from collections.abc import Iterator
from typing import Any

from treille.data import Batch
from treille.io.errors import InputError
from treille.kernels.base import Kernel
from treille.kernels.columns import Columns


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
