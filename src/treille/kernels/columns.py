"""Examples with several columns: the sum of one kernel per column."""

from collections.abc import Iterable, Iterator, Mapping
from numbers import Real
from typing import Any

import numpy as np

from treille.data import Batch, Table
from treille.data.base import from_arrow
from treille.io.errors import InputError
from treille.io.parameters import check_positive
from treille.kernels.additive import Additive, own_part
from treille.kernels.algebra import Scaled
from treille.kernels.base import Kernel
from treille.kernels.reading import Reads
from treille.kernels.wrapped import check_is_kernel


class Columns(Additive):
    """k(x, y) = sum over the columns c of weight_c k_c(x_c, y_c): one kernel per column of an example.

    Examples are a data frame (pandas or similar), a dict of columns, a structured array, a list of dicts, or a `Table`. Columns
    without a kernel are ignored. A column of numbers is read as rows of one number each, for `Linear`.

    Parameters
    ----------
    kernels : dict of str to Kernel
        One kernel per column; ``Columns(title=NGram(2))`` is ``Columns({"title": NGram(2)})``. In a grid search,
        ``kernel__title__n`` is the parameter n of the kernel of the column "title".
    column_weights : dict of str to float, or None
        The weight in k of each column; 1 for columns not in the dict.

    Examples
    --------
    >>> from treille.kernels import Columns, NGram
    >>> kernel = Columns({"title": NGram(2).normalized(), "tags": NGram(1, unit="word")}, column_weights={"tags": 0.5})
    >>> kernel([{"title": "abba", "tags": "new long"}, {"title": "abab", "tags": "new"}]).round(3).tolist()
    [[2.0, 1.275], [1.275, 1.5]]
    """

    def __init__(
        self,
        kernels: dict[str, Kernel] | None = None,
        column_weights: dict[str, float] | None = None,
        **columns: Kernel,
    ):
        if columns and kernels is not None:
            raise InputError("kernels is given, and columns by their names, too: give all in the dict, or all by name")
        self.kernels: dict[str, Kernel] = columns if kernels is None else kernels
        self.column_weights = column_weights

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; if `deep`, also the kernel of each column under the column's name, and its parameters."""
        params: dict[str, Any] = super().get_params(deep=False)
        if deep and isinstance(self.kernels, dict):
            for column, kernel in self.kernels.items():
                params[column] = kernel
                if isinstance(kernel, Kernel):
                    params |= {f"{column}__{name}": value for name, value in kernel.get_params().items()}
        return params

    def set_params(self, **params: Any) -> "Columns":
        """Sets parameters, kernels of columns, and their parameters."""
        for name in ("kernels", "column_weights"):
            if name in params:
                setattr(self, name, params.pop(name))
        named = {column: params.pop(column) for column in self.kernels if column in params}
        self.kernels = {**self.kernels, **named} if named else self.kernels
        super().set_params(**params)
        return self

    def check(self) -> None:
        if not isinstance(self.kernels, dict) or not self.kernels:
            raise InputError(f"kernels is {self.kernels!r}, expected a dict with one kernel per column")
        for column, kernel in self.kernels.items():
            if not isinstance(column, str) or "__" in column or column in ("kernels", "column_weights"):
                raise InputError(
                    f"a column is named {column!r}, expected text without '__' other than 'kernels' and 'column_weights': rename it"
                )
            check_is_kernel(f"the kernel of column {column!r}", kernel)
            kernel.check()
        weights = self.column_weights
        if not (weights is None or isinstance(weights, dict)):
            raise InputError(f"column_weights is {weights!r}, expected a dict with numbers for columns, or None")
        for column, weight in (weights or {}).items():
            if column not in self.kernels:
                names = ", ".join(map(repr, self.kernels))
                raise InputError(f"column_weights has the column {column!r}, which has no kernel: there are {names}")
            check_positive(f"the weight of column {column!r}", weight)

    @property
    def reads(self) -> Reads:
        return Reads((Table,), columns={name: kernel.reads for name, kernel in self.kernels.items()})

    def batch(self, X: Any, n_jobs: int | None = None) -> Table:
        parts: dict[str, Batch] = {}
        columns = _read(X, list(self.kernels))
        for name, kernel in self.kernels.items():
            try:
                parts[name] = kernel.batch(_rows_of_one(columns[name]), n_jobs)
            except InputError as error:
                raise InputError(f"column {name!r}: {error}") from None
        return Table(parts)

    def terms(self) -> list[tuple[str, Kernel]]:
        weights = self.column_weights or {}
        each = self.kernels.items()
        return [(f"{c}: ", Scaled(weights[c], kernel) if c in weights else kernel) for c, kernel in each]

    def batches(self, batch: Table) -> list[Batch]:
        return [own_part(kernel, batch.columns[name]) for name, kernel in self.kernels.items()]


def _read(X: Any, names: list[str]) -> Mapping[str, Any]:
    """The columns `names` of X."""
    if isinstance(X, Table):
        X = X.columns
    X = dict(zip(X.column_names, X.columns, strict=True)) if hasattr(X, "column_names") else X  # a table of pyarrow
    if isinstance(X, Mapping):
        offered = list(X)
    elif isinstance(X, np.ndarray) and X.dtype.names:
        offered = list(X.dtype.names)
    elif hasattr(X, "columns") and hasattr(X, "__getitem__"):
        offered = list(X.columns)
    else:
        return _read_dicts(X, names)
    missing = [name for name in names if name not in offered]
    if missing:
        raise InputError(f"there is no column {missing[0]!r}: there are {', '.join(map(repr, offered)) or 'none'}")
    return {name: X[name] for name in names}


def _rows_of_one(values: Any) -> Any:
    """A column of numbers as a matrix; anything else unchanged."""
    values = from_arrow(values)
    if not isinstance(values, Iterable) or isinstance(values, Batch) or getattr(values, "ndim", 1) != 1:
        return values
    values = list(values) if isinstance(values, Iterator) else values
    if not isinstance(next(iter(values), None), (Real, np.bool_)):
        return values
    try:
        return np.asarray(values, dtype=np.float64)[:, None]
    except (TypeError, ValueError):  # not all are numbers: the kernel reports which
        return values


def _read_dicts(X: Any, names: list[str]) -> dict[str, list[Any]]:
    expected = "a data frame, a dict of columns, a structured array, or a list of dicts"
    try:
        items = list(X)
    except TypeError:
        raise InputError(f"found {type(X).__name__}, expected {expected}") from None
    for i, item in enumerate(items):
        if not isinstance(item, Mapping):
            raise InputError(f"example {i} is a {type(item).__name__}, expected a dict: X must be {expected}")
        for name in names:
            if name not in item:
                raise InputError(f"example {i} has no {name!r}: it has {', '.join(map(repr, item)) or 'nothing'}")
    return {name: [item[name] for item in items] for name in names}
