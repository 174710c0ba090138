"""Atomic writes: to a temporary file in the same folder, which is then renamed."""

import contextlib
import gzip
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from .paths import file_name

STANDARD_OUTPUT = "-"
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def atomic_write(path: str | os.PathLike[str], write: Callable[[IO[bytes]], Any], what: str) -> None:
    """Calls `write` with a temporary file and renames it to `path`; a failure leaves an older file intact.

    Both the file and its folder are on disk before this returns: after a crash of the machine the new file is there.
    """
    with atomic_file(path, what) as file, saving(path, what):
        write(file)


def write_bytes(path: str | os.PathLike[str], data: bytes, what: str) -> None:
    """Writes a file atomically, compressed if its name ends in .gz; `-` is standard output."""
    if file_name(path) == STANDARD_OUTPUT:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    zipped = gzip.compress(data, mtime=0) if file_name(path).endswith(".gz") else data
    atomic_write(path, lambda file: file.write(zipped), what)


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str], what: str) -> Iterator[IO[bytes]]:
    """A temporary file to write to, which is renamed to `path` at the end; any error leaves an older file intact.

    Call its methods within `saving`.
    """
    target = Path(file_name(path))
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(6)}")
    with saving(path, what):
        handle = os.open(temporary, NEW, 0o666)  # the system applies the umask
    file: IO[bytes] | None = None
    try:
        with saving(path, what):
            file = os.fdopen(handle, "wb")
        yield file
        with saving(path, what):
            file.flush()
            os.fsync(file.fileno())
            file.close()
            os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.close(handle) if file is None else file.close()
        with contextlib.suppress(FileNotFoundError):  # Ctrl-C may come when it is renamed already
            os.unlink(temporary)
        raise
    with contextlib.suppress(OSError):  # not every system can write the entries of a folder to disk
        handle = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def saving(path: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Turns an error of the system into one that names the file that could not be saved, and says whether an older one is left."""
    try:
        yield
    except OSError as error:
        kept = "the older file is untouched" if Path(path).is_file() else "nothing was written"
        raise OSError(error.errno, f"cannot save the {what}: {error.strerror or error}; {kept}", str(path)) from None
