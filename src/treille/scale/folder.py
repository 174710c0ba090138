"""The folder in which a run keeps its files: a temporary one, or a checkpoint that the next run continues from."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from treille.data.base import readable_size
from treille.io.errors import InputError
from treille.scale.flat_files import free_bytes, read_arrays, write_arrays

SHARE = 20  # of the time between two checkpoints, one may take 1 / SHARE
SECONDS = 5.0  # between two checkpoints, at least


class Folder:
    """Files of a run. With `kept`, states are written, and a state of the same run is continued from."""

    def __init__(self, path: Path, kept: bool):
        self.path, self.kept = path, kept
        self.run: dict[str, Any] = {}  # what the states belong to
        self.written, self.took = time.monotonic(), 0.0

    def due(self) -> bool:
        """Whether it is time to write a state."""
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
        """The state of this name, if there is one; refuses that of another run."""
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

    def remove(self, *names: str) -> None:
        """Removes states that are of no use any more."""
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                (self.path / f"{name}.state").unlink()


def _difference(key: str, theirs: Any, mine: Any) -> str:
    if isinstance(theirs, list) and isinstance(mine, list) and len(theirs) == len(mine):
        theirs, mine = next((a, b) for a, b in zip(theirs, mine, strict=True) if a != b)
    return f"{key} was {theirs!r}, and is {mine!r} now"


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
            f"{given or tempfile.gettempdir()}: cannot be written to: {error.strerror}; name another folder"
        ) from None
    try:
        yield Folder(path, checkpoint is not None)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        used = sum(file.stat().st_size for file in path.glob("*") if file.is_file())
        raise InputError(
            f"{path}: the disk is full: {readable_size(used)} of rows are written, {readable_size(free_bytes(path))} are free. "
            "Rows take about three times the size of texts: name a folder on a larger disk (scratch, or checkpoint)"
        ) from None
    finally:
        if checkpoint is None:
            shutil.rmtree(path, ignore_errors=True)


def file_facts(paths: tuple[str, ...]) -> list[list[Any]]:
    """Name, size and time of each file, to notice that one changes."""
    facts = []
    for path in paths:
        with contextlib.suppress(OSError):
            status = os.stat(path)
            facts.append([path, status.st_size, status.st_mtime_ns])
    return facts
