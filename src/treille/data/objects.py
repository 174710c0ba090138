"""Batches for users' own kernels: any objects, or rows of a kernel matrix."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from treille.data.base import Batch, as_index
from treille.io import stored
from treille.io.errors import InputError


class Objects(Batch):
    """Examples of any type, for a kernel that is a function.

    >>> batch = Objects([{"a"}, {"b", "c"}])
    >>> len(batch), batch[1] == {"b", "c"}, batch[:1].items
    (2, True, [{'a'}])
    """

    def __init__(self, data: Any):
        if isinstance(data, (str, bytes)) or not isinstance(data, Iterable):
            raise InputError(f"found {type(data).__name__}, expected a list of examples")
        if getattr(data, "ndim", 1) == 0:
            raise InputError("found a single number, expected a list of examples")
        self.items = data if isinstance(data, np.ndarray) else list(data)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, key: Any) -> Any:
        key = as_index(key, len(self))
        if isinstance(key, int):
            return self.items[key]
        if isinstance(self.items, np.ndarray) or isinstance(key, slice):
            return Objects(self.items[key])
        return Objects([self.items[i] for i in np.arange(len(self))[key]])

    @property
    def nbytes(self) -> int:
        return int(self.items.nbytes) if isinstance(self.items, np.ndarray) else 8 * len(self.items)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        raise InputError("examples of a kernel function cannot be written to a model file: pickle the model instead")

    @classmethod
    def _read_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> Batch:
        raise InputError("a model file holds no objects")


class KernelValues(Batch):
    """Rows of a kernel matrix: one per example, with a column per training example.

    ``ids[i]`` is the column of example i, if the examples are training examples. A model file stores only the ids of its support
    examples, since their kernel values are not needed for prediction.

    >>> batch = KernelValues([[2.0, 1.0], [1.0, 2.0]])
    >>> len(batch), batch.n_columns, batch[1:].ids.tolist()
    (2, 2, [1])
    """

    title = "precomputed kernel values"
    values: np.ndarray
    ids: np.ndarray
    n_columns: int

    def __init__(self, data: Any):
        try:
            values = np.asarray(data, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("the kernel values are not a matrix of numbers") from None
        if values.ndim != 2:
            shape = f"an array of shape {values.shape}" if values.ndim else type(data).__name__
            raise InputError(f"found {shape}, expected a matrix: a row per example, a column per training example")
        bad = ~np.isfinite(values)
        if bad.any():
            i, j = np.argwhere(bad)[0]
            raise InputError(f"the kernel value at row {i}, column {j} is {values[i, j]}, expected a finite number")
        self._set(np.ascontiguousarray(values), np.arange(len(values)), values.shape[1])

    def _set(self, values: np.ndarray, ids: np.ndarray, n_columns: int) -> "KernelValues":
        self.values, self.ids, self.n_columns = values.view(), ids, n_columns
        self.values.flags.writeable = False  # it may be the user's own array
        return self

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, key: Any) -> Any:
        key = as_index(key, len(self))
        if isinstance(key, int):
            return self.values[key]
        values = self.values[key] if len(self.values) else self.values
        return KernelValues.__new__(KernelValues)._set(values, self.ids[key], self.n_columns)

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes + self.ids.nbytes)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"n_columns": self.n_columns}, {"ids": self.ids}

    @classmethod
    def _read_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> "KernelValues":
        n_columns = stored.size(spec, "n_columns", arrays)
        ids = stored.indices(arrays, "ids", n_columns, kind=np.int64)
        return cls.__new__(cls)._set(np.empty((0, n_columns)), ids, n_columns)
