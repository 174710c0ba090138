"""Arrays in flat files: a line of JSON that says what is where, then the bytes of each array, so that they can be mapped."""

import json
import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from treille.io.atomic_write import atomic_write
from treille.io.errors import InputError

ALIGNED = 64  # bytes: where arrays begin
MARK = "treille arrays 1"


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], spec: dict[str, Any] | None = None) -> None:
    """Writes arrays and JSON values to a file; it is complete, or not there.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.bin"
    >>> write_arrays(path, {"ids": np.arange(3)}, {"bits": 2})
    >>> read_arrays(path)
    ({'bits': 2}, {'ids': array([0, 1, 2])})
    """
    places, at = {}, 0
    for name, array in arrays.items():
        places[name] = {"at": at, "dtype": array.dtype.str, "shape": list(array.shape)}
        at += -(-array.nbytes // ALIGNED) * ALIGNED
    head = json.dumps({"format": MARK, "spec": spec or {}, "arrays": places}).encode()

    def write(file: IO[bytes]) -> None:
        file.write(head + b" " * (-(len(head) + 1) % ALIGNED) + b"\n")
        for array in arrays.values():
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
            file.write(bytes(-array.nbytes % ALIGNED))

    atomic_write(path, write, "part of the data")


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The values and arrays of a file. Arrays are mapped: they are read when they are used, and cannot be written to."""
    try:
        with open(path, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        line = data.readline()
        head = json.loads(line)
        if head["format"] != MARK:
            raise ValueError
        arrays = {}
        for name, place in head["arrays"].items():
            dtype, shape = np.dtype(place["dtype"]), tuple(place["shape"])
            values = np.frombuffer(data, dtype, int(np.prod(shape)), len(line) + place["at"])
            arrays[name] = values.reshape(shape)
    except FileNotFoundError:
        raise InputError(
            f"{path}: is gone, while it was in use: leave the scratch folder alone until training ends, and remove a checkpoint "
            "only as a whole"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise InputError(
            f"{path}: was not written by treille, or is damaged: remove the folder and start again"
        ) from None
    return head["spec"], arrays
