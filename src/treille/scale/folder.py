"""The folder in which a run keeps its files, a temporary one or a checkpoint, and files of arrays that can be mapped."""

import contextlib
import errno
import json
import mmap
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from treille.data.base import readable_size
from treille.io.atomic_write import atomic_write
from treille.io.errors import InputError

ALIGNED = 64  # bytes: where arrays begin
MARK = "treille arrays 1"
SHARE = 20  # of the time between two checkpoints, one may take 1 / SHARE
SECONDS = 5.0  # between two checkpoints, at least
# Files of runs; those being written begin with a dot.
OWN = re.compile(r"(\.?)(rows-\d|scales-\d|(counting|kept|solver)[-\d]*\.state)")


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


class Folder:
    """Files of a run. With `kept`, states are written, and a state of the same run is continued from."""

    def __init__(self, path: Path, kept: bool):
        self.path, self.kept = path, kept
        self.run: dict[str, Any] = {}  # what the states belong to
        self.written, self.took = time.monotonic(), 0.0

    def due(self) -> bool:
        """Returns whether it is time to write a state."""
        return self.kept and time.monotonic() - self.written >= max(SECONDS, SHARE * self.took)

    def save(self, name: str, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Writes a state, in place of an earlier one of this name."""
        if not self.kept:
            return
        begun = time.monotonic()
        write_arrays(self.path / f"{name}.state", arrays, {"run": self.run, "state": spec})
        self.written = time.monotonic()
        self.took = self.written - begun

    def load(self, name: str) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
        """The state of this name, if there is one; refuses the state of another run."""
        path = self.path / f"{name}.state"
        if not self.kept or not path.exists():
            return None
        spec, arrays = read_arrays(path)
        self.check(self.run, spec["run"])
        return spec["state"], arrays

    def check(self, mine: dict[str, Any], theirs: dict[str, Any]) -> None:
        """Refuses a state of a run that differs from this one."""
        for key, value in mine.items():
            if value != theirs.get(key):
                raise InputError(
                    f"{self.path}: holds the checkpoint of another run: {_difference(key, theirs.get(key), value)}. Use the same "
                    "data and parameters to continue, or another folder, or remove this one"
                )

    def clear(self) -> None:
        """Removes all files of runs."""
        for file in self.path.iterdir():
            if OWN.match(file.name):
                file.unlink(missing_ok=True)

    def free_bytes(self) -> int:
        """The number of bytes that can be written to the folder."""
        return shutil.disk_usage(self.path).free


def _difference(key: str, theirs: Any, mine: Any) -> str:
    if key == "files":
        before, now = dict(theirs or {}), dict(mine)
        for name in now:
            if name not in before:
                return f"it was of {', '.join(before) or 'no file'}, not of {name}"
            if before[name] != now[name]:
                sizes = " and ".join(f"{size:,} bytes" for size, _ in (before[name], now[name]))
                return f"{name} has changed since ({sizes})" if before[name][0] != now[name][0] else f"{name} is newer"
        return f"it was of {next(name for name in before if name not in now)}, too"
    if isinstance(mine, dict):
        key = next(name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name))
        theirs, mine = theirs.get(key), mine.get(key)
    if key == "memory":
        theirs, mine = readable_size(theirs), readable_size(mine)
    if key.endswith("digest"):
        return f"the {key.removesuffix(' digest')} differs"
    return f"{key} was {theirs}, and is {mine} now"


@contextlib.contextmanager
def opened_folder(scratch: Path | None, checkpoint: Path | None) -> Iterator[Folder]:
    """The folder of a run; a temporary one is removed in the end."""
    given = checkpoint or scratch
    try:
        if given is not None:
            given.mkdir(parents=True, exist_ok=True)
        if checkpoint is not None:
            with tempfile.TemporaryFile(dir=checkpoint):
                pass
            path = checkpoint
        else:
            path = Path(tempfile.mkdtemp(prefix="treille-", dir=scratch))
    except OSError as error:
        raise InputError(
            f"{given or tempfile.gettempdir()}: cannot be written to: {error.strerror}; name another folder (scratch, or "
            "checkpoint)"
        ) from None
    with contextlib.ExitStack() as opened:
        if checkpoint is None:
            opened.callback(shutil.rmtree, path, ignore_errors=True)
        else:
            opened.enter_context(_locked(path))
            for file in path.iterdir():
                if (found := OWN.match(file.name)) and found[1]:
                    file.unlink(missing_ok=True)  # of a run that was killed while it wrote it
        try:
            yield Folder(path, checkpoint is not None)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            used = sum(file.stat().st_size for file in path.glob("*") if file.is_file())
            free = readable_size(shutil.disk_usage(path).free)
            raise InputError(
                f"{path}: the disk is full: {readable_size(used)} of rows are written, {free} are free. Rows take about three "
                "times the size of texts: name a folder on a larger disk (scratch, or checkpoint)"
            ) from None


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Refuses a folder that another process uses, where the system can lock files."""
    try:
        import fcntl  # not on Windows
    except ImportError:
        yield
        return
    with open(path / "lock", "w", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"{path}: another process uses this checkpoint: wait until it ends, or name another folder"
            ) from None
        yield
